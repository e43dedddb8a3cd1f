// Attempts to take the machine down instead of leaving the jail: each ends at a limit, and the host goes on.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createScratchFolder, jailNode, spawnJailed, type JailLimits } from '../../src/sandbox/index.ts';
import { isProcessAlive } from '../../src/util/index.ts';
import { descendants, noJail, runInJail, runProgramInJail, whyNot } from '../sandbox/jail.ts';

const MIB = 1024 * 1024;
const LIMITS: Partial<JailLimits> = { memoryBytes: 300 * MIB, processes: 64, wallMs: 25_000 };

describe.skipIf(noJail)(`bombs${whyNot}`, { timeout: 60_000 }, () => {
  test('a fork bomb stays within its processes and is gone with its jail', async () => {
    await using jailed = spawnJailed({
      command: '/usr/bin/perl',
      args: ['-e', 'fork while 1'],
      stdio: ['ignore', 'ignore', 'ignore'],
      limits: LIMITS,
    });
    let most: readonly number[] = [];
    for (let i = 0; i < 20 && most.length < 40; i++) {
      const now = (await descendants(jailed.child.pid!)).map(({ pid }) => pid);
      if (now.length > most.length) most = now;
    }
    expect(most.length).toBeGreaterThan(40);
    expect(most.length).toBeLessThan(64 + 8); // beside the bomb there are bubblewrap's own
    await jailed.kill();
    expect(most.filter(isProcessAlive)).toEqual([]);
  });

  test('a thread bomb ends at the same limit', async () => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const start = () => new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', (e) => { console.log(e.code ?? e.message); process.exit(3); });
      setInterval(start, 1);
    `;
    const run = await runInJail(script, { limits: { ...LIMITS, memoryBytes: 4096 * MIB } });
    expect(run.code !== 0 || run.signal !== null).toBe(true);
    expect(run.breach).toBeUndefined();
  });

  test('a heap that only grows ends its process', async () => {
    const node = jailNode();
    const args = ['--max-old-space-size=64', '-e', `const kept = []; for (;;) kept.push(new Array(1000).fill({}));`];
    const run = await runProgramInJail({ command: node.command, args, readOnly: node.readOnly, limits: LIMITS });
    expect(run.stderr).toContain('heap out of memory');
    expect(run.breach).toBeUndefined();
  });

  test.each([
    ['buffers', `const kept = []; setInterval(() => kept.push(Buffer.alloc(8 << 20, 1)), 10)`],
    [
      'shared memory',
      `const kept = []; setInterval(() => kept.push(new Uint8Array(new SharedArrayBuffer(8 << 20)).fill(1)), 10)`,
    ],
  ])('%s beyond the memory of the jail end it', async (_name, script) => {
    const run = await runInJail(script, { limits: LIMITS });
    expect(run.breach).toMatchObject({ limit: 'memoryBytes' });
    expect(run.error).toMatchObject({ code: 'jail-limit-exceeded' });
  });

  test.each(['/home/jail', '/dev/shm', '/tmp'])('the memory file system %s has an end', async (folder) => {
    const script = `
      let written = 0;
      try { for (let i = 0; ; i++) { fs.writeFileSync('${folder}/' + i, Buffer.alloc(1 << 20, 1)); written++; } }
      catch (error) { console.log(error.code, written); }
    `;
    const run = await runInJail(script, { limits: { ...LIMITS, tmpfsBytes: 16 * MIB } });
    expect(run.stdout).toMatch(/^ENOSPC 1[0-6]$/);
  });

  test('one file has an end', async () => {
    using scratch = createScratchFolder();
    const script = `
      process.on('SIGXFSZ', () => {});
      const file = fs.openSync('/tmp/large', 'w');
      try { for (;;) fs.writeSync(file, Buffer.alloc(1 << 20, 1)); } catch (error) { console.log(error.code, fs.fstatSync(file).size); }
    `;
    const run = await runInJail(script, { scratch, limits: { ...LIMITS, fileBytes: 20 * MIB } });
    expect(run.stdout).toBe(`EFBIG ${20 * MIB}`);
  });

  test.each([
    ['many small files', 'scratchEntries', `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + i, '')`],
    [
      'folders in folders',
      'scratchEntries',
      `let at = '/tmp'; for (let i = 0; i < 3000; i++) { if (at.length > 3000) at = '/tmp/' + i; at += '/d'; fs.mkdirSync(at, { recursive: true }); } for (;;);`,
    ],
    [
      'large files',
      'scratchBytes',
      `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + (i % 50), Buffer.alloc(4 << 20, 1))`,
    ],
    [
      'folders deeper than a path can be',
      'scratchEntries',
      `process.chdir('/tmp'); for (let i = 0; i < 60; i++) { fs.mkdirSync('d'.repeat(200)); process.chdir('d'.repeat(200)); } for (;;);`,
    ],
    [
      'files without a name',
      'scratchBytes',
      `for (let i = 0; i < 50; i++) { const file = fs.openSync('/tmp/x', 'w'); fs.unlinkSync('/tmp/x'); fs.writeSync(file, Buffer.alloc(4 << 20, 1)); } for (;;);`,
    ],
  ])('%s in the scratch folder end the jail', async (_name, limit, script) => {
    using scratch = createScratchFolder();
    const limits = { ...LIMITS, scratchBytes: 64 * MIB, scratchEntries: 1000 };
    expect((await runInJail(script, { scratch, limits })).breach).toMatchObject({ limit });
  });

  test('open files have an end', async () => {
    const script = `let n = 0; try { for (;;) { fs.openSync('/dev/null'); n++; } } catch (error) { console.log(error.code, n < 128); }`;
    expect((await runInJail(script, { limits: { ...LIMITS, openFiles: 128 } })).stdout).toBe('EMFILE true');
  });

  test('a flood of output does not fill the memory of the host', async () => {
    const before = process.memoryUsage().rss;
    const run = await runInJail(`for (;;) fs.writeSync(1, 'x'.repeat(65536))`, {
      limits: { ...LIMITS, wallMs: 1_500 },
    });
    expect(run.breach).toMatchObject({ limit: 'wallMs' });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  });

  test('a program that spins and answers no signal is gone within a second of its kill', async () => {
    const node = jailNode();
    const script = `for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); console.log('up'); for (;;);`;
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      await using jailed = spawnJailed({
        command: node.command,
        args: ['-e', script],
        stdio: ['ignore', 'pipe', 'ignore'],
        readOnly: node.readOnly,
      });
      await once(jailed.child.stdout!, 'data');
      const start = performance.now();
      await jailed.kill();
      times.push(performance.now() - start);
    }
    expect(times.sort((a, b) => a - b)[2]).toBeLessThan(1000);
  });

  test('a folder that its owner has closed is removed all the same', async () => {
    const scratch = createScratchFolder();
    await runInJail(`fs.mkdirSync('/tmp/a/b', { recursive: true }); fs.chmodSync('/tmp/a', 0)`, {
      scratch,
      limits: LIMITS,
    });
    scratch[Symbol.dispose]();
    expect(existsSync(scratch.folder)).toBe(false);
  });

  test('a program that kills all it can see kills its own jail only', async () => {
    const before = process.pid;
    const run = await runInJail(`process.kill(-1, 'SIGKILL'); setTimeout(() => {}, 500)`, { limits: LIMITS });
    expect(run.breach).toBeUndefined();
    expect(isProcessAlive(before)).toBe(true);
  });

  test('a daemon that left its parent is gone with the jail', async () => {
    const node = jailNode();
    const script = `
      const { spawn } = require('node:child_process');
      spawn('/usr/bin/setsid', ['/bin/sh', '-c', '/usr/bin/sleep 1000 & /usr/bin/sleep 1000'], { detached: true, stdio: 'ignore' }).unref();
      setTimeout(() => { console.log('left'); }, 300);
      setTimeout(() => {}, 600);
    `;
    await using jailed = spawnJailed({
      command: node.command,
      args: ['-e', script],
      stdio: ['ignore', 'pipe', 'ignore'],
      readOnly: node.readOnly,
    });
    await once(jailed.child.stdout!, 'data');
    const inside = await descendants(jailed.child.pid!);
    const sleepers = inside.filter(({ command }) => command.includes('sleep 1000'));
    expect(sleepers.length).toBeGreaterThanOrEqual(2);
    expect((await jailed.ended).code).toBe(0);
    expect(sleepers.filter(({ pid }) => isProcessAlive(pid))).toEqual([]);
  });
});
