// The jail's end of the way out: a jail has no network, but its own loopback; a program that knows proxies by host
// and port (Chromium) finds one there, which hands bytes to the unix socket of the egress proxy and knows nothing
// else. It starts the program once it listens, and ends with it.

import type { Bind } from './jail-command.ts';
import { jailNode } from './jail-node.ts';

/** Inside the jail. Nobody else is on that loopback, so the port is free. */
export const JAIL_PROXY = 'http://127.0.0.1:3128';

const SOCKET = '/run/egress';

/** Source text, because the jail holds neither the sources of this project nor a compiler. */
const PROGRAM = `
const net = require('node:net'), os = require('node:os'), { spawn } = require('node:child_process');
const [socket, port, descriptors, command, ...args] = process.argv.slice(1);
const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const out = net.connect({ path: socket, allowHalfOpen: true });
  const end = () => { client.destroy(); out.destroy(); };
  client.on('error', end).pipe(out).on('error', end).pipe(client);
});
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(command, args, { stdio: Array.from({ length: Number(descriptors) }, (_, i) => i) });
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + os.constants.signals[signal]));
});
`;

export type ForwardedCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly readOnly: readonly Bind[];
};

export type ForwardOptions = {
  readonly command: string;
  readonly args: readonly string[];
  /** How many descriptors the program inherits. */
  readonly descriptors: number;
  /** Of the egress proxy, on the host. */
  readonly socket: string;
};

/** The command that starts the forwarder and then the program. */
export function forwarded({ command, args, descriptors, socket }: ForwardOptions): ForwardedCommand {
  const node = jailNode();
  const flags = ['--max-old-space-size=32', '--max-semi-space-size=1', '-e', PROGRAM];
  return {
    command: node.command,
    args: [...flags, SOCKET, new URL(JAIL_PROXY).port, String(descriptors), command, ...args],
    readOnly: [...node.readOnly, { from: socket, to: SOCKET }],
  };
}
