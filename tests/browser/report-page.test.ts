// The report in a real Chromium: it looks as its style sheet says, shows its pictures, asks for nothing, runs nothing.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, type Browser, type Page } from '../../src/browser/index.ts';
import { buildReport, chooseReplays, renderReportHtml } from '../../src/experiments/index.ts';
import { MACHINE, playMany } from '../../src/experiments/fixtures/episodes.ts';

const EVALUATION = { first: 1, count: 40 };
// One transparent pixel.
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);

const requests: string[] = [];
let content = '';
const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.setHeader('content-type', 'text/html; charset=utf-8').end(content);
});
let browser: Browser;
let page: Page;
const signal = AbortSignal.timeout(60_000);

beforeAll(async () => {
  const stages = [
    { name: 'base', title: 'Base', trajectories: playMany({ diligence: 0.4, slip: 0.3 }, EVALUATION) },
    { name: 'rl', title: 'GRPO', trajectories: playMany({ diligence: 0.99, slip: 0.05 }, EVALUATION) },
  ];
  const report = buildReport({
    env: 'click-checkboxes',
    model: 'nano',
    stages,
    baselines: [{ title: 'Blind Submit', exact: 0.0969, lenient: 0.3813 }],
    seconds: 60,
    seeds: { run: 1, evaluation: EVALUATION },
    machine: MACHINE,
    commit: null,
    config: { note: '<img src="/stolen" onerror="document.title = 1">' },
    resamples: 200,
  });
  const replays = chooseReplays(stages).map((choice) => ({
    ...choice,
    pictures: choice.trajectory.turns.map(() => PNG),
  }));
  const curves = Array.from({ length: 10 }, (_, step) => ({ stage: 'rl', step, 'optim/entropy': 1 / (1 + step) }));
  // What a page could smuggle in if escaping failed; the policy of the document has to stop it on its own.
  const smuggled = '<img src="/smuggled.png"><script src="/smuggled.js"></script><style>body { display: none }</style>';
  content = renderReportHtml(report, { curves, replays }).replace('</main>', `${smuggled}</main>`);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await launchBrowser({ signal });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, signal });
  await page.navigate(`http://127.0.0.1:${(server.address() as AddressInfo).port}/report.html`, { signal });
});

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('the style sheet is let in by the policy, and no other one is', async () => {
  const styles = await page.evaluate(
    `(() => { const h1 = getComputedStyle(document.querySelector('h1')); return [h1.fontSize, getComputedStyle(document.body).display]; })()`,
    { signal },
  );
  expect(styles).toEqual(['30px', 'block']);
});

test('nothing is asked for but the page itself', () => {
  expect(requests.filter((url) => url !== '/favicon.ico')).toEqual(['/report.html']);
});

test('every picture of the replays is decoded', async () => {
  const widths = await page.evaluate(
    `[...document.querySelectorAll('ol.steps img')].map((image) => image.naturalWidth)`,
    { signal },
  );
  expect(widths).not.toHaveLength(0);
  expect(new Set(widths as number[])).toEqual(new Set([1]));
});

test('the page is as wide as the window at laptop width', async () => {
  expect(await page.evaluate('document.documentElement.scrollWidth', { signal })).toBe(1280);
});

test('a setting that looks like markup is shown as text', async () => {
  const text = await page.evaluate(`document.querySelector('.settings dd').textContent`, { signal });
  expect(text).toBe('<img src="/stolen" onerror="document.title = 1">');
});
