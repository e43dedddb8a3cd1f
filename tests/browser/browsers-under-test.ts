// Every way in which this machine can drive a browser: the preferred headless shell in both frame modes, and a full
// Chrome where one is installed.

import { launchBrowser, locateChromium, type LaunchOptions } from '../../src/browser/index.ts';

export type BrowserUnderTest = { readonly name: string; readonly launch: LaunchOptions };

export async function browsersUnderTest(): Promise<readonly BrowserUnderTest[]> {
  const shell = await locateChromium();
  const chrome = await locateChromium({ prefer: 'chrome' });
  return [
    ...(shell.likely === 'headless-shell'
      ? [{ name: 'shell, begin-frame', launch: { location: shell, mode: 'begin-frame' as const } }]
      : []),
    { name: `${shell.likely}, ordinary`, launch: { location: shell, mode: 'ordinary' } },
    ...(chrome.path === shell.path
      ? []
      : [{ name: 'full Chrome, ordinary', launch: { location: chrome, mode: 'ordinary' as const } }]),
  ];
}

export const { signal: NEVER } = new AbortController();

/** A page at `url` in a browser of its own; both end with the scope. */
export async function openPage(launch: LaunchOptions, url?: string) {
  const browser = await launchBrowser(launch);
  const page = await browser.newPage({ viewport: { width: 332, height: 214 } });
  if (url !== undefined) await page.navigate(url, { signal: NEVER });
  return { browser, page, [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose]() };
}
