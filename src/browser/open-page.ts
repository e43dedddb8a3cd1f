// Opens a page at an address. A page that does not load is closed here, because nobody else knows of it.

import type { Browser, NewPageOptions } from './browser.ts';
import type { Page } from './page.ts';

export type OpenPageOptions = NewPageOptions & { readonly url: string; readonly signal: AbortSignal };

export async function openPage(browser: Browser, { url, ...options }: OpenPageOptions): Promise<Page> {
  const page = await browser.newPage(options);
  try {
    await page.navigate(url, options);
    return page;
  } catch (error) {
    // Left open, it would be given frames until it loads, which is never.
    await page[Symbol.asyncDispose]();
    throw error;
  }
}
