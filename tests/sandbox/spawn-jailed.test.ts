// The jail itself: what a program in it gets, what ends it, and that nothing of it stays.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createScratchFolder, jailNode, probeSandbox, requireJail, spawnJailed } from '../../src/sandbox/index.ts';
import { isProcessAlive } from '../../src/util/index.ts';
import { descendants, noJail, runInJail, runProgramInJail, whyNot } from './jail.ts';

const MIB = 1024 * 1024;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe.skipIf(noJail)(`a program in the jail${whyNot}`, () => {
  test('gets its arguments, its variables, and its exit code out', async () => {
    const script = `console.log(JSON.stringify([process.argv[1], process.env.GIVEN, process.cwd()])); process.exitCode = 7`;
    const node = jailNode();
    const run = await runProgramInJail({
      command: node.command,
      args: ['-e', script, 'an argument'],
      env: { GIVEN: 'a variable' },
      readOnly: node.readOnly,
    });
    expect(JSON.parse(run.stdout)).toEqual(['an argument', 'a variable', '/home/jail']);
    expect(run.code).toBe(7);
  });

  test('speaks over an extra descriptor, and has no other', async () => {
    const node = jailNode();
    const script = `
      const fs = require('node:fs');
      const open = fs.readdirSync('/proc/self/fd').map(Number).filter((fd) => {
        try { return fs.readlinkSync('/proc/self/fd/' + fd).startsWith('socket:'); } catch { return false; }
      });
      fs.writeSync(3, JSON.stringify(open));
    `;
    await using jailed = spawnJailed({
      command: node.command,
      args: ['-e', script],
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      readOnly: node.readOnly,
    });
    const [answer] = (await once(jailed.child.stdio[3] as Duplex, 'data')) as [Buffer];
    expect(JSON.parse(String(answer))).toEqual([3]);
  });

  test('shares its scratch folder with the host, both ways', async () => {
    using scratch = createScratchFolder();
    writeFileSync(join(scratch.folder, 'question'), '6 * 7');
    const script = `fs.writeFileSync('/tmp/answer', String(eval(fs.readFileSync('/tmp/question', 'utf8')))); fs.unlinkSync('/tmp/question')`;
    expect((await runInJail(script, { scratch })).stderr).toBe('');
    expect(readFileSync(join(scratch.folder, 'answer'), 'utf8')).toBe('42');
    expect(readdirSync(scratch.folder)).toEqual(['answer']);
  });

  test('two jails of one session read what the other wrote', async () => {
    using scratch = createScratchFolder();
    await runInJail(`fs.writeFileSync('/tmp/download', 'bytes')`, { scratch });
    const { stdout } = await runInJail(
      `console.log(fs.readFileSync('/tmp/download', 'utf8')); fs.rmSync('/tmp/download')`,
      {
        scratch,
      },
    );
    expect(stdout).toBe('bytes');
  });

  test('is killed with everything that it started', async () => {
    const node = jailNode();
    const script = `
      const { spawn } = require('node:child_process');
      const sleeper = spawn('/usr/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' });
      sleeper.once('spawn', () => console.log('up'));
      setInterval(() => {}, 1000);
    `;
    const jailed = spawnJailed({
      command: node.command,
      args: ['-e', script],
      stdio: ['ignore', 'pipe', 'ignore'],
      readOnly: node.readOnly,
    });
    await once(jailed.child.stdout!, 'data');
    const inside = (await descendants(jailed.child.pid!)).map(({ pid }) => pid);
    expect(inside.length).toBeGreaterThanOrEqual(3); // bubblewrap's first process, node, sleep
    await jailed.kill();
    expect(inside.filter(isProcessAlive)).toEqual([]);
  });

  test('is killed by its signal', async () => {
    const controller = new AbortController();
    const run = runInJail(`setInterval(() => {}, 1000)`, { signal: controller.signal });
    controller.abort();
    expect((await run).signal).toBe('SIGKILL');
  });

  test('does not outlive SIGKILL of the process that started it', async () => {
    const script = `
      import { spawnJailed } from './src/sandbox/index.ts';
      const jailed = spawnJailed({ command: '/usr/bin/sleep', args: ['1000'], stdio: ['ignore', 'ignore', 'ignore'] });
      setTimeout(() => console.log(jailed.child.pid), 300);
    `;
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    const parent = execFile(process.execPath, args, { cwd: ROOT });
    const [line] = (await once(parent.stdout!, 'data')) as [string];
    const inside = (await descendants(Number(line))).map(({ pid }) => pid);
    expect(inside.length).toBeGreaterThanOrEqual(2);
    parent.kill('SIGKILL');
    await expect.poll(() => inside.filter(isProcessAlive), { timeout: 5_000 }).toEqual([]);
  });

  test('is killed over its memory, all processes together', async () => {
    const script = `
      const { spawn } = require('node:child_process');
      const eat = 'const kept = []; setInterval(() => kept.push(Buffer.alloc(4 << 20, 1)), 20)';
      for (let i = 0; i < 2; i++) spawn(process.execPath, ['-e', eat]);
      setInterval(() => {}, 1000);
    `;
    const run = await runInJail(script, { limits: { memoryBytes: 200 * MIB } });
    expect(run.breach).toMatchObject({ limit: 'memoryBytes', allowed: 200 * MIB });
  });

  test('cannot have more private memory than one process may', async () => {
    const script = `const kept = []; for (let i = 0; i < 64; i++) kept.push(Buffer.alloc(16 << 20, 1)); console.log('kept')`;
    const run = await runInJail(script, { limits: { dataBytes: 512 * MIB, memoryBytes: 8192 * MIB } });
    expect(run.stdout).toBe('');
    expect(run.code === 0 && run.signal === null).toBe(false);
    expect(run.breach).toBeUndefined();
  });

  test('is killed when its time is over', async () => {
    const run = await runInJail(`for (;;);`, { limits: { wallMs: 300 } });
    expect(run.breach).toMatchObject({ limit: 'wallMs' });
  });

  test('is killed over the size of its scratch folder', async () => {
    using scratch = createScratchFolder();
    const script = `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + (i % 100), Buffer.alloc(1 << 20, 1))`;
    const run = await runInJail(script, { scratch, limits: { scratchBytes: 20 * MIB } });
    expect(run.breach).toMatchObject({ limit: 'scratchBytes' });
  });

  test('reports a program that is not there', async () => {
    const run = await runProgramInJail({ command: '/usr/bin/no-such-program', args: [] });
    expect(run.code).not.toBe(0);
    expect(run.stderr).toContain('no-such-program');
  });
});

test('without bubblewrap the probe says so and how to get it, and code is refused', async () => {
  const probe = await probeSandbox({ env: { PATH: '/nonexistent' } });
  expect(probe.available).toBe(false);
  expect(() => requireJail(probe)).toThrow(probe.remedy);
  expect(() => requireJail(probe)).toThrow(expect.objectContaining({ boundary: 'config', code: 'jail-unavailable' }));
});
