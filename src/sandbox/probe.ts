// Whether the jail holds on this machine, found out by trying: a program is started in it and reports what it can
// reach; another is killed. Nothing is assumed from versions. Takes about a quarter of a second.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemEnvironment, withDeadline } from '../util/index.ts';
import { jailUnavailable } from './failures.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import { jailNode } from './jail-node.ts';
import { PROBE_PROGRAM, type ProbeReport } from './probe-program.ts';
import { installRemedy, machineFacts, namespaceRemedy, versionRemedy } from './remedy.ts';
import { seccompProgram } from './seccomp.ts';
import { spawnJailed } from './spawn-jailed.ts';

export type ProbeCheck = { readonly name: string; readonly ok: boolean; readonly detail: string };

export type SandboxProbe = {
  readonly available: boolean;
  /** What is wrong, where it is not available. */
  readonly reason?: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly checks: readonly ProbeCheck[];
  /** Whether a program in the jail can make a sandbox of its own, as Chromium does for its pages. A second layer. */
  readonly nestedSandbox: boolean;
};

export type ProbeOptions = {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole probe; default 15000. */
  readonly deadlineMs?: number;
  /** Where `bwrap` is looked for. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
};

/** Never throws for a jail that does not hold; rejects with the signal's reason alone. */
export async function probeSandbox(options: ProbeOptions = {}): Promise<SandboxProbe> {
  const bubblewrap = process.platform === 'linux' ? findBubblewrap(options.env) : undefined;
  if (bubblewrap === undefined) {
    const reason =
      process.platform === 'linux' ? 'bubblewrap (bwrap) is not installed' : `no jail on ${process.platform}`;
    return refusal([{ name: 'bubblewrap', ok: false, detail: reason }], installRemedy());
  }
  const found = await versionCheck(bubblewrap);
  if (!found.ok) return refusal([found], installRemedy());
  if (seccompProgram({ arch: process.arch, nestedSandbox: false }) === undefined) {
    const detail = `there is no table of system calls for ${process.arch}`;
    return refusal(
      [found, { name: 'system calls', ok: false, detail }],
      'Use a machine with an x64 or arm64 processor.',
    );
  }
  const ms = options.deadlineMs ?? 15_000;
  const late = (): Error => new Error(`the probe did not end within ${ms} ms`);
  const deadline = { ms, onExpiry: late, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  let checks: readonly ProbeCheck[];
  let nestedSandbox: boolean;
  try {
    [checks, nestedSandbox] = await withDeadline(deadline, (signal) =>
      Promise.all([tryJail(signal), tryNested(signal)]),
    );
  } catch (error) {
    options.signal?.throwIfAborted();
    const detail = error instanceof Error ? error.message : String(error);
    const remedy = detail.includes('Unknown option') ? versionRemedy() : namespaceRemedy(machineFacts());
    return refusal([found, { name: 'start', ok: false, detail }], remedy);
  }
  const all = [found, { name: 'start', ok: true, detail: 'a program runs in it' }, ...checks];
  return checks.every(({ ok }) => ok)
    ? { available: true, checks: all, nestedSandbox }
    : refusal(
        all,
        'The jail starts here and does not hold. Use a virtual machine, and report what `tabwright doctor` prints.',
      );
}

/** Throws `jail-unavailable` with the remedy unless the probe found the jail to hold. */
export function requireJail(probe: SandboxProbe): void {
  if (!probe.available) throw jailUnavailable(probe.reason ?? 'unknown', probe.remedy ?? '');
}

function refusal(checks: readonly ProbeCheck[], remedy: string): SandboxProbe {
  const wrong = checks.filter(({ ok }) => !ok);
  return {
    available: false,
    reason: wrong.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
    remedy,
    checks,
    nestedSandbox: false,
  };
}

async function versionCheck(path: string): Promise<ProbeCheck> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { env: systemEnvironment(), timeout: 5_000 });
    return { name: 'bubblewrap', ok: true, detail: `${stdout.trim()} at ${path}` };
  } catch (error) {
    return { name: 'bubblewrap', ok: false, detail: `${path} does not run: ${(error as Error).message}` };
  }
}

async function tryJail(signal: AbortSignal): Promise<readonly ProbeCheck[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tabwright-probe-'));
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const canary = join(folder, 'canary');
    writeFileSync(canary, 'a file of the host', { mode: 0o644 });
    const report = await runReport({ canary, port: portOf(server), signal });
    return [...judge(report), await killCheck(signal)];
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryNested(signal: AbortSignal): Promise<boolean> {
  await using jailed = spawnJailed({
    command: '/usr/bin/unshare',
    args: ['--user', '/usr/bin/true'],
    stdio: ['ignore', 'ignore', 'ignore'],
    nestedSandbox: true,
    signal,
  });
  return (await jailed.ended).code === 0;
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

type ReportOptions = { readonly canary: string; readonly port: number; readonly signal: AbortSignal };

async function runReport({ canary, port, signal }: ReportOptions): Promise<ProbeReport> {
  const node = jailNode();
  await using jailed = spawnJailed({
    command: node.command,
    args: ['-e', PROBE_PROGRAM, canary, String(port), String(process.pid)],
    stdio: ['ignore', 'pipe', 'pipe'],
    readOnly: node.readOnly,
    limits: { processes: PROBE_PROCESSES },
    signal,
  });
  const texts = ['', ''];
  [jailed.child.stdout!, jailed.child.stderr!].forEach((stream, i) =>
    stream.setEncoding('utf8').on('data', (chunk: string) => (texts[i] = (texts[i] + chunk).slice(-65_536))),
  );
  const closed = [jailed.child.stdout!, jailed.child.stderr!].map((stream) => once(stream, 'close'));
  const [end] = await Promise.all([jailed.ended, ...closed]);
  if (end.error !== undefined) throw end.error;
  if (end.code !== 0) throw new Error(texts[1].trim().split('\n').at(-1) || `it ended with code ${end.code}`);
  return JSON.parse(texts[0]) as ProbeReport;
}

const PROBE_PROCESSES = 97;

/** What the jail's environment may hold. */
const VARIABLES = ['HOME', 'LANG', 'PATH', 'PWD'];

function judge(report: ProbeReport): readonly ProbeCheck[] {
  const check = (name: string, leaks: readonly string[], good: string): ProbeCheck =>
    leaks.length === 0 ? { name, ok: true, detail: good } : { name, ok: false, detail: leaks.join(', ') };
  const foreign = report.variables.filter((name) => !VARIABLES.includes(name));
  const rights = [
    ...(/^0+$/.test(report.capabilities) ? [] : [`it has capabilities ${report.capabilities}`]),
    ...(report.noNewPrivileges === '1' ? [] : ['it may gain rights']),
    ...(report.seccomp === '2' ? [] : ['system calls are not filtered']),
    ...(report.processLimit === String(PROBE_PROCESSES) ? [] : [`its limit of processes is ${report.processLimit}`]),
  ];
  return [
    check('files', report.filesReached, "no file of the host's is seen or written"),
    check('environment', foreign, 'no variable of this process is seen'),
    check('network', report.networkReached, 'there is none but its own loopback'),
    check('processes', report.processesReached, 'no process of the host is seen'),
    check('rights', rights, 'no capabilities, few system calls, limits in force'),
  ];
}

async function killCheck(signal: AbortSignal): Promise<ProbeCheck> {
  const node = jailNode();
  const program = `console.log('up'); for (;;);`;
  await using jailed = spawnJailed({
    command: node.command,
    args: ['-e', program],
    stdio: ['ignore', 'pipe', 'ignore'],
    readOnly: node.readOnly,
    signal,
  });
  await Promise.race([once(jailed.child.stdout!, 'data'), jailed.ended]);
  const start = performance.now();
  await jailed.kill();
  const ms = Math.round(performance.now() - start);
  return { name: 'kill', ok: ms < 1000, detail: `a spinning program is gone after ${ms} ms` };
}
