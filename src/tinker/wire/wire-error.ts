// Failures of reading and writing messages: every one is a TabwrightError, so that random bytes can raise nothing else.
// A server answers them with 400 or 413, a client reports a peer that does not speak the protocol.

import { TabwrightError } from '../../core/index.ts';

/** What arrived is no message of the protocol. `where` is a path such as `data[3].loss_fn_inputs.weights`. */
export function malformed(where: string, problem: string): TabwrightError {
  return new TabwrightError('backend', `${where}: ${problem}`, { code: 'malformed-message', details: { where } });
}

/** What arrived is larger than this side is willing to read. */
export function tooLarge(what: string, size: number, limit: number): TabwrightError {
  return new TabwrightError('backend', `${what}: ${size} is more than the limit of ${limit}; send less at a time.`, {
    code: 'message-too-large',
    details: { what, size, limit },
  });
}

/** Something that cannot be put on the wire. */
export function unsendable(where: string, problem: string): TabwrightError {
  return new TabwrightError('backend', `${where}: ${problem}`, { code: 'unsendable-message', details: { where } });
}
