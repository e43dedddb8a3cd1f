// Reading a browser's version before a command starts: from a pool it waits like an episode, no longer and no shorter.

import Kernel from '@onkernel/sdk';
import { expect, test } from 'vitest';
import { browserProduct } from '../../src/cli/session-provider.ts';
import { createKernelProvider } from '../../src/repl/index.ts';
import { cleanAlready, startKernelService, type KernelServiceOptions } from '../repl/kernel-service.ts';

const { signal } = new AbortController();

async function start(options: KernelServiceOptions) {
  const service = await startKernelService(options);
  const client = new Kernel({ apiKey: 'none', baseURL: service.url });
  const provider = createKernelProvider({ client, pool: 'training', retryMs: 1 });
  return {
    provider,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

test('a pool that has no browser yet is waited for, as long as the command allows', { timeout: 60_000 }, async () => {
  await using busy = await start({ acquire: [204], cell: cleanAlready });
  await expect(browserProduct(busy.provider, { acquireMs: 50, signal })).rejects.toMatchObject({
    code: 'session-acquire-timeout',
    message: expect.stringMatching(/\b50\b/) as string,
  });
  await using free = await start({
    acquire: [204, { session_id: 'one', cdp_ws_url: '' }],
    cell: async (body) =>
      body.code.includes('Browser.getVersion')
        ? { success: true, repl_id: 'r', content: [{ type: 'text', text: 'Chrome/1', channel: 'write' }] }
        : cleanAlready(body),
  });
  expect(await browserProduct(free.provider, { acquireMs: 30_000, signal })).toBe('Chrome/1');
});
