// `tabwright browsers serve`: Kernel's API over browsers of this machine, until it is stopped.

import { z } from 'zod';
import { onAbort } from '../../util/index.ts';
import { localBrowsers, localBrowserSettings } from '../local-browsers.ts';
import { describeFailure, type CommandSpec } from '../run-command.ts';

const schema = z.strictObject({
  port: z.int().min(0).max(65_535).default(8484).describe('port to listen on; 0 takes a free one'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address to listen on; beyond loopback TABWRIGHT_BROWSERS_TOKEN must be set'),
  maxBrowsers: z.int().min(1).max(1_000).default(8).describe('browsers at one time, over all pools and beside them'),
  ...localBrowserSettings,
});

export const browsersServe: CommandSpec<typeof schema> = {
  name: 'serve',
  summary: "Serve browsers of this machine by Kernel's API, for the official client.",
  examples: ['browsers serve', 'browsers serve --port 9000 --allow example.com,localhost:3000'],
  schema,
  flags: [],
  async action({ config, given, listener, signal, print }) {
    const { host, port, maxBrowsers } = config;
    const token = process.env.TABWRIGHT_BROWSERS_TOKEN;
    const openSession = await localBrowsers(config, signal);
    const { serveKernel } = await loadServer();
    await using server = await serveKernel({
      openSession,
      host,
      port,
      maxBrowsers,
      ...(token === undefined || token === '' ? {} : { token }),
      onFailure: (error) =>
        listener({ kind: 'note', level: 'warning', message: describeFailure(error, given.debug ?? false) }),
    });
    print(`Serving browsers on ${server.url}. Ctrl-C ends them all.`, { url: server.url });
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      onAbort(signal, resolve);
    });
  },
};

/** Its libraries are loaded by whoever serves; not in a function with `await using`, where tsc 6.0.3 leaves the `.ts`. */
function loadServer() {
  return import('../../server/index.ts');
}
