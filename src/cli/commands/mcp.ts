// `tabwright mcp`: the tool `browser_repl` for any client of the Model Context Protocol, over standard input and output.

import { z } from 'zod';
import { toolDescription } from '../../repl/index.ts';
import { localBrowsers, localBrowserSettings } from '../local-browsers.ts';
import type { CommandSpec } from '../run-command.ts';
import { packageVersion } from '../version.ts';

const schema = z.strictObject({
  maxSessions: z.int().min(1).max(100).default(4).describe('browsers at one time'),
  idleSec: z
    .number()
    .positive()
    .max(259_200)
    .default(600)
    .describe('seconds without a cell after which a browser is ended'),
  ...localBrowserSettings,
});

export const mcp: CommandSpec<typeof schema> = {
  name: 'mcp',
  summary: 'Serve the tool browser_repl by the Model Context Protocol, over standard input and output.',
  examples: ['mcp', 'mcp --allow example.com'],
  schema,
  flags: [],
  async action({ config, signal }) {
    const openSession = await localBrowsers(config, signal);
    const { serveMcpStdio } = await import('../../server/index.ts'); // its libraries are loaded by whoever serves
    await serveMcpStdio({
      openSession,
      version: packageVersion(),
      description: toolDescription(),
      maxSessions: config.maxSessions,
      idleMs: config.idleSec * 1000,
      input: process.stdin,
      output: process.stdout,
      signal,
    });
  },
};
