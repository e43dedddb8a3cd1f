// What code in a cell may try, as source text: each a function of the targets that gives what it got. It counts as an
// escape when that is the secret (or `true`, where there is nothing to read). The helpers are in `PRELUDE`.
// `control`: the same attempt is made outside of the jail as well and must succeed there, or it proves nothing.

export type CellAttempt = { readonly name: string; readonly control: boolean; readonly code: string };

export const PRELUDE = `
const fs = require('node:fs'), net = require('node:net'), os = require('node:os'), dgram = require('node:dgram');
const { execFileSync } = require('node:child_process');
const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8', timeout: 5000, stdio: ['ignore', 'pipe', 'ignore'] });
const perl = (code) => run('/usr/bin/perl', '-e', code);
const pids = () => fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
const readAll = (paths) => paths.map((path) => { try { return fs.readFileSync(path, 'utf8'); } catch { return ''; } }).join('\\n');
const ask = (options) => new Promise((resolve, reject) => {
  let text = '';
  const socket = net.connect(options, () => { if (options.port) socket.write('GET / HTTP/1.0\\r\\n\\r\\n'); });
  socket.setTimeout(2000, () => socket.destroy(new Error('timeout')));
  socket.on('data', (data) => (text += data)).on('end', () => resolve(text)).on('error', reject);
});
`;

const X64 = `process.arch === 'x64'`;

export const CELL_ATTEMPTS: readonly CellAttempt[] = [
  // Files
  { name: 'reads a file of the host', control: true, code: `fs.readFileSync(t.file, 'utf8')` },
  { name: 'reads it through a child process', control: true, code: `run('/usr/bin/cat', t.file)` },
  {
    name: 'reads it through the root of its own process',
    control: true,
    code: `fs.readFileSync('/proc/self/root' + t.file, 'utf8')`,
  },
  {
    name: 'reads it through the root of the first process',
    control: false,
    code: `fs.readFileSync('/proc/1/root' + t.file, 'utf8')`,
  },
  {
    name: 'reads it through the root of a process of the host',
    control: true,
    code: `fs.readFileSync('/proc/' + t.pid + '/root' + t.file, 'utf8')`,
  },
  {
    name: 'reads it through the working folder of any process',
    control: true,
    code: `readAll(pids().map((pid) => '/proc/' + pid + '/cwd/' + '../'.repeat(20) + t.file))`,
  },
  {
    name: 'reads it through a symbolic link',
    control: true,
    code: `(() => { const link = os.tmpdir() + '/to-' + t.secret; try { fs.symlinkSync(t.file, link); return fs.readFileSync(link, 'utf8'); } finally { fs.rmSync(link, { force: true }); } })()`,
  },
  {
    name: 'reads it by climbing out of its folder',
    control: true,
    code: `fs.readFileSync('../'.repeat(40) + t.file, 'utf8')`,
  },
  {
    name: "reads it by Node's internal binding",
    control: true,
    code: `(() => { const fs = process.binding('fs'); const fd = fs.open(t.file, 0, 0o666); const b = Buffer.alloc(64); const n = fs.read(fd, b, 0, 64, -1); return b.toString('utf8', 0, n); })()`,
  },
  { name: 'lists the home folder of the user', control: true, code: `fs.readdirSync(t.home).length >= 0` },
  { name: 'lists the folder of the secret', control: true, code: `fs.readdirSync(t.folder).includes('secret.txt')` },
  { name: 'reads the accounts of the host', control: true, code: `fs.readFileSync('/etc/passwd', 'utf8').length > 0` },
  {
    name: 'reads the name of the machine',
    control: false,
    code: `fs.readFileSync('/etc/hostname', 'utf8').length > 0 || os.hostname() !== 'jail'`,
  },
  {
    name: 'reads the resolver of the host',
    control: false,
    code: `fs.readFileSync('/etc/resolv.conf', 'utf8').length > 0`,
  },
  { name: 'writes a file of the host', control: false, code: `(fs.writeFileSync(t.file, 'x'), true)` },
  { name: 'writes a new file beside it', control: false, code: `(fs.writeFileSync(t.folder + '/new.txt', 'x'), true)` },
  { name: 'writes among the programs', control: false, code: `(fs.writeFileSync('/usr/tabwright-escape', 'x'), true)` },
  {
    name: 'overwrites the program it runs',
    control: false,
    code: `(fs.closeSync(fs.openSync(process.execPath, 'r+')), true)`,
  },
  {
    name: "overwrites bubblewrap through the first process's image",
    control: false,
    code: `(fs.closeSync(fs.openSync('/proc/1/exe', 'r+')), true)`,
  },
  {
    name: 'makes the loader load its library everywhere',
    control: false,
    code: `(fs.writeFileSync('/etc/ld.so.preload.tabwright', ''), true)`,
  },
  { name: 'renames a folder of the root', control: false, code: `(fs.renameSync('/home', '/house'), true)` },
  {
    name: 'fills memory by a folder without a size',
    control: false,
    code: `['/dev/x', '/x', '/run/x', '/etc/x'].map((path) => { try { fs.writeFileSync(path, 'x'); return true; } catch { return false; } }).includes(true)`,
  },
  {
    name: 'opens a disk of the host',
    control: false,
    code: `['vda', 'sda', 'nvme0n1', 'mem', 'kmem', 'kmsg', 'fuse', 'net/tun', 'vsock', 'kvm'].map((name) => { try { fs.closeSync(fs.openSync('/dev/' + name, 'r')); return true; } catch { return false; } }).includes(true)`,
  },
  {
    name: 'makes a device of its own',
    control: false,
    code: `(run('/usr/bin/mknod', os.tmpdir() + '/disk', 'b', '254', '0'), fs.closeSync(fs.openSync(os.tmpdir() + '/disk', 'r')), true)`,
  },
  {
    name: 'puts something into the shared memory of the host',
    control: false,
    code: `(fs.writeFileSync('/dev/shm/tabwright-escape', 'x'), undefined)`,
  },

  // Environment and keys
  { name: 'finds a key in its environment', control: true, code: `process.env[t.variable]` },
  {
    name: 'finds it in the environment of any process',
    control: true,
    code: `readAll(pids().map((pid) => '/proc/' + pid + '/environ'))`,
  },
  { name: 'finds it through a child that prints its environment', control: true, code: `run('/usr/bin/env')` },
  {
    name: 'finds a secret on the command line of any process',
    control: true,
    code: `readAll(pids().map((pid) => '/proc/' + pid + '/cmdline'))`,
  },
  {
    name: 'finds it in the memory of the first process',
    control: false,
    code: `fs.readFileSync('/proc/1/mem', 'utf8')`,
  },
  {
    name: 'finds the paths of the host in the arguments of the jail',
    control: false,
    code: `readAll(pids().map((pid) => '/proc/' + pid + '/cmdline')).includes('--ro-bind')`,
  },
  {
    name: 'reads through a descriptor that it inherited',
    control: false,
    code: `fs.readdirSync('/proc/self/fd').map(Number).filter((fd) => fd > 2).map((fd) => { try { const link = fs.readlinkSync('/proc/self/fd/' + fd); return /^\\/(?!proc|dev)/.test(link) || link.startsWith('socket:') ? link : ''; } catch { return ''; } }).join('') !== ''`,
  },
  {
    name: 'uses the keyring of the user',
    control: false,
    code: `${X64} && Number(perl('print syscall(250, 0, -3, 1)')) > 0`,
  },

  // Processes
  {
    name: 'sees a process of the host',
    control: true,
    code: `fs.existsSync('/proc/' + t.pid) && readAll(['/proc/' + t.pid + '/cmdline']).includes(t.secret)`,
  },
  {
    name: 'signals a process of the host',
    control: true,
    code: `process.kill(t.pid, 0) && readAll(['/proc/' + t.pid + '/cmdline']).includes(t.secret)`,
  },
  {
    name: 'enters the namespaces of the first process',
    control: false,
    code: `(run('/usr/bin/nsenter', '--target', '1', '--mount', '--net', '/usr/bin/true'), true)`,
  },
  {
    name: 'traces another process',
    control: false,
    code: `${X64} && Number(perl('print syscall(101, 16, 1, 0, 0)')) === 0`,
  },

  // Network
  {
    name: 'reaches a server on loopback by address',
    control: true,
    code: `ask({ host: '127.0.0.1', port: t.httpPort })`,
  },
  { name: 'reaches it by name', control: true, code: `ask({ host: 'localhost', port: t.httpPort })` },
  { name: 'reaches it by IPv6', control: false, code: `ask({ host: '::1', port: t.httpPort })` },
  {
    name: 'reaches it by another loopback address',
    control: true,
    code: `ask({ host: '127.9.9.9', port: t.httpPort })`,
  },
  {
    name: 'reaches it by the address of the machine',
    control: false,
    code: `ask({ host: t.ownAddress ?? '127.0.0.1', port: t.httpPort })`,
  },
  {
    name: 'reaches it by fetch',
    control: true,
    code: `fetch('http://127.0.0.1:' + t.httpPort).then((response) => response.text())`,
  },
  {
    name: 'reaches a server by UDP',
    control: true,
    code: `new Promise((resolve, reject) => { const socket = dgram.createSocket('udp4'); const done = (work) => () => { socket.close(); work(); }; const timer = setTimeout(done(() => reject(new Error('silence'))), 1000); socket.on('error', reject).on('message', (text) => { clearTimeout(timer); done(() => resolve(String(text)))(); }); socket.send('hello', t.udpPort, '127.0.0.1'); })`,
  },
  { name: 'reaches a unix socket of the host', control: true, code: `ask({ path: t.unixSocket })` },
  { name: 'reaches an abstract unix socket of the host', control: true, code: `ask({ path: t.abstractSocket })` },
  {
    name: 'reaches the metadata service of a cloud',
    control: false,
    code: `ask({ host: '169.254.169.254', port: 80 }).then(() => true)`,
  },
  { name: 'reaches the public internet', control: false, code: `ask({ host: '1.1.1.1', port: 80 }).then(() => true)` },
  {
    name: 'looks a name up',
    control: false,
    code: `require('node:dns').promises.lookup('example.com').then(() => true)`,
  },
  {
    name: 'asks a name server itself',
    control: false,
    code: `(() => { const resolver = new (require('node:dns').promises.Resolver)({ timeout: 500, tries: 1 }); resolver.setServers(['1.1.1.1']); return resolver.resolve4('example.com').then(() => true); })()`,
  },
  {
    name: 'has an interface beside loopback',
    control: false,
    code: `Object.keys(os.networkInterfaces()).some((name) => name !== 'lo') || fs.readdirSync('/proc/net/dev_snmp6').some((name) => name !== 'lo')`,
  },
  { name: 'opens a socket to the hypervisor', control: false, code: `perl('socket(S, 40, 1, 0) and print 1') === '1'` },
  {
    name: 'opens a raw socket',
    control: false,
    code: `perl('socket(S, 2, 3, 1) and print 1') === '1' || perl('socket(S, 17, 3, 768) and print 1') === '1'`,
  },
  {
    name: 'opens a socket to the crypto API of the kernel',
    control: false,
    code: `perl('socket(S, 38, 5, 0) and print 1') === '1'`,
  },

  // Rights and the kernel
  { name: 'becomes root', control: false, code: `perl('$> = 0; $< = 0; print 1 if $> == 0 or $< == 0') === '1'` },
  {
    name: 'becomes root by a program with that right',
    control: false,
    code: `run('/usr/bin/su', '-c', 'echo escaped').includes('escaped')`,
  },
  {
    name: 'makes a user namespace to be root in',
    control: false,
    code: `(run('/usr/bin/unshare', '--user', '--map-root-user', '/usr/bin/true'), true)`,
  },
  {
    name: 'mounts a file system',
    control: false,
    code: `(run('/usr/bin/mount', '-t', 'tmpfs', 'none', '/home/jail'), true)`,
  },
  {
    name: 'makes the root writable again',
    control: false,
    code: `(run('/usr/bin/mount', '-o', 'remount,rw', '/'), true)`,
  },
  {
    name: 'has the kernel start a program of its choice',
    control: false,
    code: `(fs.writeFileSync('/proc/sys/kernel/core_pattern', '|/tmp/evil'), true)`,
  },
  { name: 'restarts the machine', control: false, code: `(fs.writeFileSync('/proc/sysrq-trigger', 'h'), true)` },
  {
    name: 'raises its own limits',
    control: false,
    code: `(run('/usr/bin/prlimit', '--pid', String(process.pid), '--nproc=100000:100000'), true)`,
  },
  {
    name: 'reads the log or the memory of the kernel',
    control: false,
    code: `(() => { try { if (run('/usr/bin/dmesg').length > 0) return true; } catch {} const fd = fs.openSync('/proc/kcore', 'r'); fs.readSync(fd, Buffer.alloc(16)); return true; })()`,
  },
  {
    name: 'reaches calls in which faults of the kernel are found',
    control: false,
    code: `${X64} && ['425, 1, 0', '321, 0, 0, 0', '323, 0', '298, 0, 0, -1, -1, 0', '310, 1, 0, 0, 0, 0, 0'].some((call) => /^(?!1$|38$)/.test(perl('$! = 0; syscall(' + call + '); print $!+0')))`,
  },
  {
    name: 'calls the kernel by numbers of another architecture',
    control: false,
    code: `${X64} && Number(perl('print syscall(0x40000000 + 39)')) > 0`,
  },
  {
    name: 'changes the clock or the name of the machine',
    control: false,
    code: `(run('/usr/bin/hostname', 'escaped'), true)`,
  },
];
