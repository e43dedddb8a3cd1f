// Where the sessions of episodes on websites come from: jailed browsers of this machine, or a pool at Kernel or at
// whatever speaks its API (`tabwright browsers serve`).

import { locateChromium } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { createKernelClient, createKernelProvider, createLocalProvider, type SessionProvider } from '../repl/index.ts';
import type { EgressRule } from '../sandbox/index.ts';
import { checkKeyChannel, isLoopback } from '../tinker/index.ts';
import { jailFor } from './local-browsers.ts';
import { readSecret } from './secrets.ts';

export type ProviderOptions = {
  /** Kernel's pool by id or name. Default: browsers of this machine. */
  readonly pool?: string | undefined;
  readonly sessions: number;
  /** What local browsers may reach; a pool's are not this program's to bound. */
  readonly egress: readonly EgressRule[];
  readonly profile: 'kernel' | 'train';
  readonly unsafeLocal: boolean;
  /** Episodes that a browser serves, made as new between them. Default 20. */
  readonly episodes?: number;
  readonly signal: AbortSignal;
};

export async function openProvider(options: ProviderOptions): Promise<SessionProvider> {
  const { pool, sessions, egress, profile, unsafeLocal, episodes = 20, signal } = options;
  if (pool !== undefined) return createKernelProvider({ client: await kernelClient(), pool, episodes });
  const jail = await jailFor(unsafeLocal, signal);
  const location = await locateChromium({ prefer: 'chrome', signal });
  return createLocalProvider({ jail, egress, location, cell: { profile }, sessions, episodes });
}

/** Of KERNEL_API_KEY and KERNEL_BASE_URL, as the official client reads them; servers of this machine ask for no key. */
async function kernelClient(): Promise<ReturnType<typeof createKernelClient>> {
  const baseUrl = process.env['KERNEL_BASE_URL'] || undefined;
  const apiKey = await readSecret('KERNEL_API_KEY');
  if (apiKey !== undefined) {
    if (baseUrl !== undefined) checkKeyChannel({ baseUrl, name: 'KERNEL_API_KEY' });
    return createKernelClient({ apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) });
  }
  if (baseUrl !== undefined && isLoopback(baseUrl)) return createKernelClient({ apiKey: 'none', baseUrl });
  throw new TabwrightError(
    'config',
    'A pool at Kernel needs a key: set KERNEL_API_KEY in the environment or in a file .env here.',
    { code: 'no-key', details: { key: 'KERNEL_API_KEY' } },
  );
}

/** What the browser calls itself; one that is with others is waited for as long as an episode would wait. */
export async function browserProduct(
  provider: SessionProvider,
  { acquireMs, signal }: { readonly acquireMs: number; readonly signal: AbortSignal },
): Promise<string> {
  await using lease = await provider.acquire({ signal, deadlineMs: acquireMs });
  const code = `repl.write((await cdp('Browser.getVersion')).product);`;
  const { success, content = [], error = '' } = await lease.execute({ code, signal });
  const [item] = content;
  if (success && item?.type === 'text') return item.text;
  throw new TabwrightError('browser', `the browser does not tell its version: ${error}`, { code: 'no-version' });
}
