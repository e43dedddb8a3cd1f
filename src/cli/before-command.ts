// A command of the user's that is run before tasks: the sites are theirs, and only they know how to bring them back to
// their first state. It runs in a shell with this user's rights, is given the task by environment variables, and has a
// deadline; one that fails ends what it was to prepare.

import { TabwrightError } from '../core/index.ts';
import { abortable, spawnOwned, withDeadline } from '../util/index.ts';

export type BeforeOptions = {
  readonly command: string;
  readonly seconds: number;
  /** For the command, beside what every program of this machine is given. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

/** Of its last words. */
const SHOWN_CHARACTERS = 400;
const KEPT_CHARACTERS = 10_000;

/** Resolves when it ends well; rejects (boundary `env`) with its last words. Its whole process group ends with it. */
export async function runBefore({ command, seconds, env, signal }: BeforeOptions): Promise<void> {
  signal.throwIfAborted();
  await using owned = spawnOwned({ command: '/bin/sh', args: ['-c', command], env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [owned.child.stdout!, owned.child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-KEPT_CHARACTERS)));
  }
  const failed = (how: string): TabwrightError => {
    const words = said.trim().slice(-SHOWN_CHARACTERS);
    return new TabwrightError(
      'env',
      `The command before the task ${how}: ${command}${words === '' ? '' : `\n${words}`}`,
      { code: 'before-failed', details: { command, how, said: words } },
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
