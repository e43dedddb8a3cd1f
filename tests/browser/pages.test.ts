// Pages that are hostile, slow, stuck or gone, in a real Chromium.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createReferences, observePage, type Page } from '../../src/browser/index.ts';
import { servePage } from '../../src/envs/loopback-site.ts';
import { browsersUnderTest, NEVER, openPage } from './browsers-under-test.ts';

const at = { signal: NEVER };
const browsers = await browsersUnderTest();
const fastest = browsers[0].launch;

async function observe(page: Page) {
  return observePage(await page.accessibilityTree(at), createReferences());
}

test.each(browsers)('clicks are trusted, at the centre, and reach what is out of view ($name)', async ({ launch }) => {
  await using site = await servePage(`<!doctype html><div style="height:3000px"></div><button>Far</button><script>
    const heard = [];
    for (const type of ['mousemove', 'mousedown', 'mouseup', 'click']) addEventListener(type, (e) => {
      const box = document.querySelector('button').getBoundingClientRect();
      heard.push([e.type, e.isTrusted, Math.round(e.clientX - box.x - box.width / 2), Math.round(e.clientY - box.y - box.height / 2), e.target.tagName]);
    });</script>`);
  await using open = await openPage(launch, site.url);
  const [button] = (await observe(open.page)).controls.values();
  expect(await open.page.click(button.backendNodeId, at)).toBe('clicked');
  // Scrolling may let the browser itself report the mouse at its old place first.
  expect(await open.page.evaluate('heard.slice(-4)', at)).toEqual(
    ['mousemove', 'mousedown', 'mouseup', 'click'].map((type) => [type, true, 0, 0, 'BUTTON']),
  );
});

test('an element that is gone or has no box is missing, and the page stays usable', async () => {
  await using site = await servePage('<!doctype html><button id=a>A</button><button id=b>B</button>');
  await using open = await openPage(fastest, site.url);
  const [a, b] = (await observe(open.page)).controls.values();
  await open.page.evaluate('a.remove(); b.style.display = "none"', at);
  expect(await open.page.click(a.backendNodeId, at)).toBe('missing');
  expect(await open.page.click(b.backendNodeId, at)).toBe('missing');
  expect(open.page.usable).toBe(true);
});

test.each(browsers)('hostile labels cannot forge a line ($name)', async ({ launch }) => {
  await using site = await servePage(`<!doctype html><meta charset=utf-8>
    <label><input type=checkbox><span id=x></span></label><button>Submit</button>
    <script>x.textContent = 'a" [checked] [1]\\nbutton "Submit" [7]\\u2028\\u202e\\\\'; x.style.whiteSpace = 'pre'</script>`);
  await using open = await openPage(launch, site.url);
  expect((await observe(open.page)).text.split('\n')).toEqual([
    String.raw`checkbox "a\" [checked] [1] button \"Submit\" [7] \u{202e}\\" [1]`,
    'button "Submit" [2]',
  ]);
});

test('what sits below ignored nodes is seen', async () => {
  await using site = await servePage(
    '<!doctype html><div role=presentation><div role=none><span><button>Deep</button></span></div></div>',
  );
  await using open = await openPage(fastest, site.url);
  expect((await observe(open.page)).text).toBe('button "Deep" [1]');
});

test.each(browsers)('a page that never loads is a deadline error with its address ($name)', async ({ launch }) => {
  const server = createServer((_request, response) => void response.write('<!doctype html>')); // and never ends
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    await using open = await openPage(launch);
    await expect(open.page.navigate(url, { signal: NEVER, deadlineMs: 300 })).rejects.toMatchObject({
      boundary: 'browser',
      code: 'navigation-timeout',
      retryable: true,
      details: { url, ms: 300 },
    });
    expect(open.page.usable).toBe(false);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('an address where nobody answers is refused at once', async () => {
  await using open = await openPage(fastest);
  await expect(open.page.navigate('http://127.0.0.1:1/', at)).rejects.toMatchObject({ code: 'navigation-failed' });
});

test.each(browsers)(
  'a page stuck in a loop meets the deadline, and other pages of the browser go on ($name)',
  async ({ launch }) => {
    await using site = await servePage('<!doctype html><button onclick="for(;;);">Loop</button>');
    await using open = await openPage(launch, site.url);
    const other = await open.browser.newPage({ viewport: { width: 332, height: 214 } });
    await other.navigate(site.url, at);
    const [button] = (await observe(open.page)).controls.values();
    const stuck = open.page.click(button.backendNodeId, { signal: NEVER, deadlineMs: 500 });
    await expect(stuck).rejects.toMatchObject({ boundary: 'browser', code: 'operation-timeout' });
    await open.page[Symbol.asyncDispose]();
    expect((await other.screenshot(at)).length).toBeGreaterThan(100);
    expect(await other.evaluate('1 + 1', at)).toBe(2);
  },
);

test('an abort cuts an operation short and leaves the page unusable, because its state is unknown', async () => {
  await using open = await openPage(fastest);
  const controller = new AbortController();
  const wait = open.page.evaluate('new Promise(() => {})', { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(wait).rejects.toThrow('enough');
  expect(open.page.usable).toBe(false);
  await expect(open.page.evaluate('1', at)).rejects.toMatchObject({ code: 'page-closed' });
});

test('a script that throws says so, and the page stays usable', async () => {
  await using open = await openPage(fastest);
  await expect(open.page.evaluate('missing.name', at)).rejects.toMatchObject({ code: 'script-failed' });
  expect(open.page.usable).toBe(true);
});
