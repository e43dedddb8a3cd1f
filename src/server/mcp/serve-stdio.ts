// The tool's server over standard input and output, as clients start it: it lives as long as its input.

import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { onAbort } from '../../util/index.ts';
import { serveMcp } from './serve-mcp.ts';
import type { McpSettings } from './settings.ts';

export type McpStdioOptions = McpSettings & {
  readonly input: Readable;
  /** Carries the protocol and nothing else. */
  readonly output: Writable;
  readonly signal: AbortSignal;
};

/** Resolves when the client has gone or the signal has fired, and every browser has ended. */
export async function serveMcpStdio({ input, output, signal, ...settings }: McpStdioOptions): Promise<void> {
  signal.throwIfAborted();
  // The transport itself does not notice that its input has ended.
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close']) input.once(event, () => resolve());
    output.on('error', () => resolve()); // the client reads no more
    onAbort(signal, resolve);
  });
  await using _server = await serveMcp(new StdioServerTransport(input, output), settings);
  await ended;
}
