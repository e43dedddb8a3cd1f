// The failures of this folder, one function each, so that codes and wording are in one place.
// All belong to the boundary `browser`; those that a fresh page or browser may cure are retryable.

import { TabwrightError } from '../core/index.ts';

export function browserClosed(details: { readonly method?: string; readonly stderr?: string } = {}): TabwrightError {
  const during = details.method === undefined ? '' : ` during ${details.method}`;
  return new TabwrightError(
    'browser',
    `Chromium ended unexpectedly${during}; the episode cannot go on, a new browser can`,
    {
      code: 'browser-closed',
      details,
      retryable: true,
    },
  );
}

export function pageClosed(method: string): TabwrightError {
  return new TabwrightError('browser', `the page was closed or crashed during ${method}; open another one`, {
    code: 'page-closed',
    details: { method },
    retryable: true,
  });
}

export function protocolError(method: string, code: number, message: string): TabwrightError {
  return new TabwrightError('browser', `Chromium refused ${method}: ${message} (code ${code})`, {
    code: 'protocol-error',
    details: { method, protocolCode: code, protocolMessage: message },
    retryable: true,
  });
}

export function operationTimeout(operation: string, ms: number): TabwrightError {
  return new TabwrightError('browser', `the browser did not finish "${operation}" within ${ms} ms`, {
    code: 'operation-timeout',
    details: { operation, ms },
    retryable: true,
  });
}

export function navigationTimeout(url: string, ms: number): TabwrightError {
  return new TabwrightError(
    'browser',
    `the page ${url} did not load within ${ms} ms; check that its server answers, or raise the deadline`,
    {
      code: 'navigation-timeout',
      details: { url, ms },
      retryable: true,
    },
  );
}

export function navigationFailed(url: string, reason: string): TabwrightError {
  return new TabwrightError('browser', `the page ${url} could not be loaded: ${reason}`, {
    code: 'navigation-failed',
    details: { url, reason },
    retryable: true,
  });
}

export function scriptFailed(reason: string): TabwrightError {
  return new TabwrightError('browser', `a script in the page failed: ${reason}`, {
    code: 'script-failed',
    details: { reason },
  });
}

export function chromiumNotFound(platform: string, looked: readonly string[]): TabwrightError {
  const how =
    platform === 'darwin'
      ? 'install Chrome from https://www.google.com/chrome or with "brew install --cask google-chrome"'
      : platform === 'win32'
        ? 'install Chrome from https://www.google.com/chrome'
        : 'install the package chromium or chromium-headless-shell (Debian, Ubuntu) or Chrome';
  return new TabwrightError(
    'browser',
    `no Chromium found for ${platform}-${process.arch}: ${how}, or set CHROME_PATH to its executable`,
    {
      code: 'chromium-not-found',
      details: { platform, looked },
    },
  );
}

export function chromePathInvalid(path: string, reason: string): TabwrightError {
  return new TabwrightError(
    'browser',
    `CHROME_PATH names ${path}, which ${reason}; correct it, or unset it to use an installed Chromium`,
    {
      code: 'chrome-path-invalid',
      details: { path, reason },
    },
  );
}

/** A browser that crashed before it said a word: Debian's 156 does that now and then, and the next start is well. */
export function launchCrashed(path: string, reason: string, stderr: string): TabwrightError {
  const { message, details } = launchFailed(path, reason, stderr);
  return new TabwrightError('browser', message, { code: 'launch-crashed', details, retryable: true });
}

export function launchFailed(path: string, reason: string, stderr: string, cause?: unknown): TabwrightError {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const last = lines.length === 0 ? '' : `; its last words: ${lines.at(-1)!.trim().slice(0, 300)}`;
  return new TabwrightError('browser', `Chromium at ${path} did not start: ${reason}${last}`, {
    code: 'launch-failed',
    details: { path, reason, stderr: lines.slice(-20).join('\n') },
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Addresses of remote browsers may hold a key in their query, which is told to nobody. */
export function remoteUnreachable(endpoint: string, reason: string, cause?: unknown): TabwrightError {
  const where = endpoint.replace(/[?#].*$/s, '');
  return new TabwrightError('browser', `the browser at ${where} cannot be reached: ${reason}`, {
    code: 'remote-unreachable',
    details: { endpoint: where, reason },
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function browserNotEnded(pid: number | undefined, ms: number): TabwrightError {
  return new TabwrightError(
    'browser',
    `Chromium (process ${pid ?? 'unknown'}) was killed and has not ended within ${ms} ms; end it by hand`,
    { code: 'browser-not-ended', details: { pid: pid ?? null, ms } },
  );
}

export function profileNotCreated(folder: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError(
    'browser',
    `no temporary profile can be made in ${folder}: ${reason}; free some space there, or set TMPDIR`,
    {
      code: 'profile-not-created',
      details: { folder, reason },
      cause,
    },
  );
}

export function unpackFailed(folder: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError(
    'browser',
    `the Chromium that comes with the package could not be unpacked into ${folder}: ${reason}; ` +
      'make 250 MB available there, name another cache with XDG_CACHE_HOME, or set CHROME_PATH',
    { code: 'unpack-failed', details: { folder, reason }, cause },
  );
}
