// What happens when nobody reads any more, or the disk behind a redirection is full. A run is worth more than what
// it says: it goes on.

import type { Writable } from 'node:stream';

type Streams = { readonly stdout: Writable; readonly stderr: Writable };

/**
 * A reader that has gone (`| head -1`) is not told anything, and that is all. Any other failure to write standard output is said
 * once on standard error; `failed` is called so that the exit code can tell it too.
 */
export function surviveOutputErrors({ stdout, stderr }: Streams, failed: () => void): void {
  stderr.on('error', () => undefined); // there is no other place to say it
  let said = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || said) return;
    said = true;
    stderr.write(
      `error: standard output could not be written (${error.code ?? error.message}); check what it goes to.\n`,
    );
    failed();
  });
}
