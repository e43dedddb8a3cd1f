// The program that the probe runs inside the jail, as source text: it tries to reach the host and prints what it got.
// It gets the path of a file of the host, a port on the host's loopback and the id of a process of the host.

export type ProbeReport = {
  /** Paths that it could read or write and should not. */
  readonly filesReached: readonly string[];
  /** Names of variables, its own and those of every process that it can look at. */
  readonly variables: readonly string[];
  readonly networkReached: readonly string[];
  readonly processesReached: readonly string[];
  /** From /proc/self/status. */
  readonly capabilities: string;
  readonly noNewPrivileges: string;
  readonly seccomp: string;
  /** From /proc/self/limits. */
  readonly processLimit: string;
};

export const PROBE_PROGRAM = `
const fs = require('node:fs'), net = require('node:net'), os = require('node:os');
const [canary, port, hostPid] = process.argv.slice(1);
const tried = (work) => { try { return work(); } catch { return undefined; } };
const filesReached = [
  ...[canary, '/etc/passwd', '/etc/hostname', '/root', '/proc/1/root/etc/passwd', '/proc/1/cwd/etc/passwd'].filter(
    (path) => tried(() => fs.statSync(path)) !== undefined,
  ),
  ...['/usr/tabwright', '/dev/tabwright', '/tabwright', canary + '.new'].filter(
    (path) => tried(() => { fs.writeFileSync(path, ''); return true; }),
  ),
];
const pids = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
const environments = pids.map((pid) => tried(() => fs.readFileSync('/proc/' + pid + '/environ', 'utf8')) ?? '');
const variables = [...Object.keys(process.env), ...environments.flatMap((text) =>
  text.split('\\0').filter((line) => line !== '').map((line) => line.split('=')[0]))];
const processesReached = [
  ...(pids.length > 4 ? [pids.length + ' processes are seen'] : []),
  ...(tried(() => process.kill(Number(hostPid), 0)) && Number(hostPid) > 64 ? ['process ' + hostPid + ' can be signalled'] : []),
];
const status = fs.readFileSync('/proc/self/status', 'utf8');
const field = (name) => new RegExp('^' + name + ':\\\\s+(\\\\S+)$', 'm').exec(status)?.[1] ?? 'unknown';
const interfaces = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo').map((name) => 'interface ' + name);
const socket = net.connect({ host: '127.0.0.1', port: Number(port) });
const finish = (reached) => {
  socket.destroy();
  console.log(JSON.stringify({
    filesReached, variables: [...new Set(variables)], processesReached,
    networkReached: [...interfaces, ...(reached ? ["the host's loopback"] : [])],
    capabilities: field('CapEff'), noNewPrivileges: field('NoNewPrivs'), seccomp: field('Seccomp'),
    processLimit: /^Max processes\\s+(\\S+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 'unknown',
  }));
};
socket.once('connect', () => finish(true)).once('error', () => finish(false));
`;
