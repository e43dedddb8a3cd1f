// A command of the user's that is run before tasks: the sites are theirs, and only they know how to bring them back to
// their first state. It runs in a shell with this user's rights, is given the task by environment variables, and has a
// deadline; one that fails ends what it was to prepare, and none outlives this process.

import { TabwrightError } from '../core/index.ts';
import { abortable, spawnOwned, withDeadline } from '../util/index.ts';

export type BeforeOptions = {
  readonly command: string;
  readonly seconds: number;
  /** For the command, beside what every program of this machine is given. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

/**
 * Ends the command's group where this process is gone without a word (SIGKILL): a pipe that only this process holds open
 * is closed then. The command itself does not get it.
 */
const WATCHED = '(cat <&3 >/dev/null; kill -KILL 0) & exec /bin/sh -c "$1" 3<&-';

/**
 * Resolves when it ends well; rejects (boundary `env`) with how it ended. What it says goes to this terminal's stderr and
 * nowhere else: failures are written into run folders, and passwords may be in it. Its whole process group ends with it.
 */
export async function runBefore({ command, seconds, env, signal }: BeforeOptions): Promise<void> {
  signal.throwIfAborted();
  await using owned = spawnOwned({
    command: '/bin/sh',
    args: ['-c', WATCHED, 'sh', command],
    env,
    stdio: ['ignore', process.stderr.fd, process.stderr.fd, 'pipe'],
  });
  const failed = (how: string): TabwrightError => {
    const [word] = command.trim().split(/\s/u);
    return new TabwrightError(
      'env',
      `The command before the task (${word} …) ${how}. What it said is on the terminal, and kept nowhere.`,
      { code: 'before-failed', details: { command: word, how } },
    );
  };
  const onExpiry = (): Error => failed(`did not end within ${seconds} s (--before-seconds)`);
  const {
    code,
    signal: by,
    error,
  } = await withDeadline({ ms: seconds * 1000, signal, onExpiry }, (inner) => abortable(owned.ended, inner));
  if (error !== undefined) throw failed(`could not be started (${error.message})`);
  if (code !== 0) throw failed(code === null ? `was ended by ${by}` : `ended with ${code}`);
}
