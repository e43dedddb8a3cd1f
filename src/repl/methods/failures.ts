// The failures that a cell sees, one function each. Their texts are part of the contract: a policy that was trained
// here reads the same sentences elsewhere. Source: Kernel's Browser REPL, as its documentation and tests describe it.

import { TabwrightError, type JsonObject } from '../../core/index.ts';

/** A wrong argument, or a state in which the helper cannot work. */
export function helperFailed(helper: string, reason: string, cause?: unknown): TabwrightError {
  return new TabwrightError('browser', `${helper}: ${reason}`, {
    code: 'helper-failed',
    details: { helper, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Code in the page threw: what it says of itself is the message. */
export function pageThrew(description: string): TabwrightError {
  return new TabwrightError('browser', description, { code: 'page-threw', details: {} });
}

export function cdpFailed(method: string, protocolCode: number, protocolMessage: string): TabwrightError {
  return new TabwrightError('browser', `CDP ${method} failed: ${protocolMessage} (code ${protocolCode})`, {
    code: 'cdp-failed',
    details: { method, protocolCode, protocolMessage },
  });
}

export function cdpTimedOut(method: string, ms: number, inPage: boolean): TabwrightError {
  const hint = inPage
    ? '; the page may be showing a dialog (answer it with Page.handleJavaScriptDialog) or be busy ' +
      '(stop its script with Runtime.terminateExecution, or try Page.reload)'
    : '';
  return new TabwrightError('browser', `CDP ${method} timed out after ${ms}ms${hint}`, {
    code: 'cdp-timeout',
    details: { method, ms },
  });
}

export function dialogOpen({ type, message }: { readonly type: string; readonly message: string }): TabwrightError {
  return new TabwrightError(
    'browser',
    `a dialog is open (${type} ${JSON.stringify(message)}); answer it first with cdp("Page.handleJavaScriptDialog", {accept: true})`,
    { code: 'dialog-open', details: { type, message } },
  );
}

/** The connection ended with a command in flight that may or may not have been carried out. */
export function outcomeUnknown(method: string, cause: unknown): TabwrightError {
  return new TabwrightError('browser', `the connection to the browser was lost; ${method} outcome is unknown`, {
    code: 'outcome-unknown',
    details: { method },
    cause,
  });
}

export function cdpRefused(method: string, reason: string): TabwrightError {
  return new TabwrightError('browser', `CDP ${method} refused: ${reason}`, {
    code: 'cdp-refused',
    details: { method, reason },
  });
}

/** What a request to a WebMCP tool can end in; `properties` are set on the error in the cell. */
export function webmcpFailed(statusCode: number, message: string, more: JsonObject = {}): TabwrightError {
  const { code, invocationId } = more;
  const body = {
    message,
    ...(code === undefined ? {} : { code }),
    ...(invocationId === undefined ? {} : { invocation_id: invocationId }),
  };
  const about = [`WebMCP ${typeof code === 'string' ? code : 'error'}`];
  if (typeof invocationId === 'string') about.push(`invocation ${invocationId}`);
  return new TabwrightError('browser', `${about.join(', ')}: ${message}`, {
    code: 'webmcp-failed',
    details: { name: 'WebMCPRequestError', properties: { statusCode, ...more, body } },
  });
}

export function isCdpTimeout(error: unknown): boolean {
  return error instanceof TabwrightError && error.code === 'cdp-timeout';
}

export function isCdpFailure(error: unknown): boolean {
  return error instanceof TabwrightError && error.code === 'cdp-failed';
}

export function isPageGone(error: unknown): boolean {
  return error instanceof TabwrightError && error.code === 'page-closed';
}
