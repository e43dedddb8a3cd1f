// Entry of a cell process. Messages come on descriptor 3 and leave on descriptor 4; standard output and error are not
// part of the protocol. Writing blocks, so that an answer is out before the process ends, however it ends.

import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { CdpEndpoint } from './cdp-endpoint.ts';
import { createCellRuntime, type CellRuntime } from './cell-runtime.ts';
import { createFrameReader, encodeFrame } from './frames.ts';
import type { CellMessage, HostMessage, StartMessage } from './messages.ts';
import type { TextChannel } from './output.ts';

const RECEIVE = 3;
const SEND = 4;

// Taken before any cell runs: cells share these objects and may change them.
const write = writeSync;
const exit = process.exit.bind(process);
const { stringify, parse } = JSON;

// Calls of the host pass several frames of this program before they show where the cell made them.
Error.stackTraceLimit = 30;

let runtime: CellRuntime | undefined;
let endpoint: CdpEndpoint | undefined;

function send(message: CellMessage): void {
  const frame = encodeFrame(stringify(message));
  for (let at = 0; at < frame.length;) at += write(SEND, frame, at);
}

function receive(json: string): void {
  const message = parse(json) as HostMessage;
  switch (message.type) {
    case 'start':
      void start(message);
      return;
    case 'execute':
      runtime!.execute(message);
      return;
    case 'result':
      runtime!.settle(message);
      return;
    case 'note':
      runtime!.output.text('stderr', message.text);
      return;
    case 'cdp-message':
    case 'cdp-ended':
      endpoint?.receive(message);
      return;
    default:
      message satisfies never;
  }
}

async function start(message: StartMessage): Promise<void> {
  if (message.cdpEndpoint) {
    const { startCdpEndpoint } = await import('./cdp-endpoint.ts');
    endpoint = await startCdpEndpoint(send);
    process.env.CDP_ENDPOINT = endpoint.url;
  }
  runtime = createCellRuntime(message, send);
  send({ type: 'ready' });
}

for (const channel of ['stdout', 'stderr'] satisfies TextChannel[]) {
  const stream = process[channel];
  stream.write = (chunk: unknown, ...rest: unknown[]) => {
    runtime?.output.text(channel, typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString());
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}

process.on('unhandledRejection', (reason) => runtime?.unhandledRejection(reason));
process.on('uncaughtException', (error) => {
  runtime?.fail(error);
  exit(1);
});

const input = new Socket({ fd: RECEIVE, readable: true, writable: false });
input.on('data', createFrameReader(Infinity, receive));
// The host is gone: nobody is left to run cells for.
input.on('close', () => exit(0));
