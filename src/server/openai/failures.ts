// Failures in the shape that OpenAI's clients read.

import { isAbort } from '../../core/index.ts';
import { refusalOf, type RefusalStatus } from '../tinker/refusals.ts';
import { TabwrightError } from '../../core/index.ts';

export type OpenAiFailure = {
  readonly status: RefusalStatus;
  readonly body: { readonly error: { message: string; type: string; param: null; code: string | null } };
};

export function openAiFailure(error: unknown): OpenAiFailure {
  // What a chat format cannot say is the fault of whoever asked.
  const unsayable = error instanceof TabwrightError && error.boundary === 'policy';
  const { status, body } = refusalOf(error);
  const shown = unsayable ? 400 : status;
  const type = shown === 401 ? 'authentication_error' : shown === 429 ? 'rate_limit_error' : 'invalid_request_error';
  const message = unsayable ? error.message : body.error;
  const code = error instanceof TabwrightError ? error.code.replaceAll('-', '_') : isAbort(error) ? 'aborted' : null;
  return { status: shown, body: { error: { message, type: shown >= 500 ? 'server_error' : type, param: null, code } } };
}
