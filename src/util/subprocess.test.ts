import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { spawnOwned } from './subprocess.ts';

const MODULE = fileURLToPath(new URL('./subprocess.ts', import.meta.url));
const LONG = 'setInterval(() => {}, 1000)';

/** Starts a child and a grandchild, prints both ids, and stays. */
const FAMILY = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(LONG)}], { stdio: 'ignore' });
  console.log(process.pid + ' ' + child.pid);
  ${LONG};
`;

/** A zombie is dead: where nothing reaps orphans (some containers) its id stays taken. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('kill ends the process and what it started, and no handler stays behind', async () => {
  const before = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
  let cleaned = 0;
  const owned = spawnOwned({
    command: process.execPath,
    args: ['-e', FAMILY],
    stdio: ['ignore', 'pipe', 'ignore'],
    cleanup: () => cleaned++,
  });
  const [line] = (await once(owned.child.stdout!, 'data')) as [Buffer];
  const pids = String(line).trim().split(' ').map(Number);
  await owned.kill();
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  expect(cleaned).toBe(1);
  expect(['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name))).toEqual(before);
});

test('a command that cannot be started ends with its error', async () => {
  const owned = spawnOwned({ command: '/no/such/command', args: [], stdio: 'ignore' });
  const end = await owned.ended;
  expect((end.error as NodeJS.ErrnoException).code).toBe('ENOENT');
});

test("the child gets the variables it is given and the system's, and no others of this process", async () => {
  process.env.SOME_API_KEY = 'a secret';
  try {
    const owned = spawnOwned({
      command: process.execPath,
      args: ['-e', 'console.log(JSON.stringify([process.env.PATH, process.env.GIVEN, process.env.SOME_API_KEY]))'],
      env: { GIVEN: 'this' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(owned.child.stdout!, 'data')) as [Buffer];
    expect(JSON.parse(String(line))).toEqual([process.env.PATH, 'this', null]);
    await owned.ended;
  } finally {
    delete process.env.SOME_API_KEY;
  }
});

/** Runs a parent that owns a family, does `then`, and returns the family's ids and how the parent ended. */
async function parentThat(then: string): Promise<{ pids: number[]; code: number | null; signal: string | null }> {
  const script = `
    import { spawnOwned } from ${JSON.stringify(MODULE)};
    const owned = spawnOwned({ command: process.execPath, args: ['-e', ${JSON.stringify(FAMILY)}], stdio: ['ignore', 'pipe', 'ignore'] });
    owned.child.stdout.once('data', (line) => { process.stdout.write(line, () => { ${then} }); });
  `;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const [code, signal] = (await once(parent, 'exit')) as [number | null, string | null];
  return { pids: String(line).trim().split(' ').map(Number), code, signal };
}

test('the process does not outlive a normal exit of its parent', async () => {
  const { pids, code } = await parentThat('process.exit(3)');
  expect(code).toBe(3);
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

test('the process does not outlive SIGINT, which still ends the parent as it would have', async () => {
  const { pids, signal } = await parentThat(`process.kill(process.pid, 'SIGINT')`);
  expect(signal).toBe('SIGINT');
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

test('an application that handles SIGINT itself keeps its child until it exits', async () => {
  const { pids, code } = await parentThat(`
    process.on('SIGINT', () => { owned.child.exitCode === null && process.exit(isAlive(owned.child.pid) ? 7 : 8); });
    const isAlive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };
    process.kill(process.pid, 'SIGINT');
  `);
  expect(code).toBe(7);
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
});

test('many children at a time are not taken for a leak, and the limit of listeners is as before when they are gone', async () => {
  const limit = process.getMaxListeners();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): number => warnings.push(warning);
  process.on('warning', onWarning);
  try {
    const children = Array.from({ length: 15 }, () => spawnOwned({ command: 'sleep', args: ['600'], stdio: 'ignore' }));
    await Promise.all(children.map((owned) => owned.kill()));
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
    expect(process.getMaxListeners()).toBe(limit);
  } finally {
    process.off('warning', onWarning);
  }
});
