import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isProcessAlive } from './process-alive.ts';

test('this process is alive, and one that has ended is not', async () => {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  expect([isProcessAlive(process.pid), isProcessAlive(child.pid!)]).toEqual([true, false]);
});

test.skipIf(process.platform !== 'linux')('a zombie, which nobody has reaped, is dead', async () => {
  // The shell becomes `sleep`, which never reaps the `cat` that the shell had started.
  const parent = spawn('/bin/sh', ['-c', 'cat <&3 & echo $!; exec sleep 60 3<&-'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  try {
    const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
    expect(isProcessAlive(zombie)).toBe(true);
    parent.stdio[3]!.destroy(); // ends `cat`
    await expect.poll(() => isProcessAlive(zombie)).toBe(false);
    expect(process.kill(zombie, 0)).toBe(true); // its id is still taken
  } finally {
    parent.kill('SIGKILL');
  }
});
