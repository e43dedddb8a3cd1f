// WebArena-Verified's and REAL's rows in a real Chromium: requests are written down by the host from the first page on,
// browsers are signed in, sites are set up and brought back before an episode. Rows and site are made for the purpose.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedActor } from '../../src/chat/index.ts';
import { TabwrightError, type Outcome } from '../../src/core/index.ts';
import {
  createWebTaskEnv,
  loadTasks,
  parseRows,
  readStorageState,
  taskFileBegin,
  taskFileVerifier,
  webTasksOf,
  withSites,
  type LoadedTask,
  type TaskFileBeginOptions,
} from '../../src/envs/index.ts';
import { createLocalProvider, type SessionProvider } from '../../src/repl/index.ts';
import { DEFAULT_DEADLINES, runActorEpisodes } from '../../src/rollout/index.ts';
import { probe } from '../sandbox/jail.ts';
import { VERIFIED } from './task-file-rows.ts';

const { signal } = new AbortController();
const html = (body: string): string => `<!doctype html><link rel=icon href=data:,><title>t</title>${body}`;
const PAGES: Readonly<Record<string, string>> = {
  '/': html(`<a id=next href=/groups/12>next</a><a id=tab href=/groups/12 target=_blank>tab</a>
    <form method=post action=/groups><input name=group[name] value="web agents"><button id=make>make</button></form>
    <form method=post action=/upload enctype=multipart/form-data><input name=note value=hello><button id=up>up</button></form>`),
  '/groups/12': html(
    '<h1>Group 12</h1><script>fetch("/api/seen", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ user: { names: ["Ann"] } }) })</script>',
  ),
  '/config': html('<script>localStorage.setItem("set", location.search)</script>'),
};
let server: Server;
let site: string;
/** Requests that the server saw. */
let posted = 0;
let provider: SessionProvider;
beforeAll(async () => {
  server = createServer((request: IncomingMessage, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const page = PAGES[pathname];
    request.resume();
    if (request.method === 'POST' && pathname === '/groups') {
      posted++;
      response.writeHead(302, { location: '/groups/12', 'set-cookie': ['mode=is%20dark; Path=/', 'b=2'] }).end();
    } else if (request.method === 'POST') {
      response.setHeader('content-type', 'application/json').end('{"ok":true}');
    } else if (pathname === '/me') response.end(request.headers.cookie ?? 'nobody');
    else if (page === undefined) response.writeHead(404).end();
    else response.setHeader('content-type', 'text/html').end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  site = `http://127.0.0.1:${port}`;
  provider = createLocalProvider({
    jail: probe.available ? probe : 'unsafe-local',
    egress: [{ host: '127.0.0.1', port }],
    sessions: 1,
    episodes: 100,
  });
}, 120_000);
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  server?.closeAllConnections();
  server?.close();
}, 60_000);

const ANSWER = JSON.stringify({ task_type: 'mutate', status: 'SUCCESS', retrieved_data: null });
type Asked = { readonly [key: string]: unknown; readonly expected: object };

async function verified(asked: Asked, taskType = 'mutate'): Promise<LoadedTask> {
  const [typed] = VERIFIED.eval;
  const answer = { ...typed, expected: { task_type: taskType, status: 'SUCCESS', retrieved_data: null } };
  const row = { ...VERIFIED, eval: [answer, { evaluator: 'NetworkEventEvaluator', ...asked }] };
  const tasks = loadTasks(await parseRows('t', Buffer.from(JSON.stringify([row]))));
  return withSites(tasks, new Map([['GITLAB', site]]))[0];
}

type Preparation = Omit<TaskFileBeginOptions, 'tasks'>;

const given = (cell: string): { readonly code: string } =>
  cell.startsWith('{') ? (JSON.parse(cell) as { readonly code: string }) : { code: cell };

/** Runs each cell, which must come to its end, then answers. */
async function play(task: LoadedTask, cells: readonly string[], more: Preparation = {}, answer = ANSWER) {
  const { begin, network } = taskFileBegin({ tasks: [task], ...more });
  const verify = taskFileVerifier([task], { network });
  await using env = createWebTaskEnv({
    provider: {
      kind: 'local',
      acquire: (wait) => provider.acquire(wait),
      [Symbol.asyncDispose]: async () => undefined,
    },
    tasks: webTasksOf([task]),
    capacity: 1,
    acquireMs: 240_000,
    begin,
    verify,
  });
  const actor = createScriptedActor('script', [
    ...cells.map(given).map((cell, i) => ({
      text: '',
      calls: [
        {
          id: `c${i}`,
          name: 'browser_repl',
          arguments: JSON.stringify({
            ...cell,
            code: `${cell.code};\nrepl.write('cell ' + ${i} + ' came to its end')`,
          }),
        },
      ],
    })),
    { text: answer, calls: [] },
  ]);
  const { trajectories } = await runActorEpisodes([{ task: env.task(0), member: 0 }], {
    env,
    actor,
    runSeed: 1,
    stage: 'eval',
    deadlines: { ...DEFAULT_DEADLINES, openMs: 300_000, operationMs: 200_000, turnMs: 240_000, episodeMs: 480_000 },
    maxRetries: 0,
    screenshots: { wants: () => false, prefix: 'eval', save: () => Promise.resolve() },
    listener: () => undefined,
    signal,
  });
  const turns = JSON.stringify(trajectories[0].turns);
  if (trajectories[0].outcome.kind === 'finished')
    cells.forEach((_, i) => expect(turns).toContain(`cell ${i} came to its end`));
  return trajectories[0];
}

const said = ({ outcome }: { readonly outcome: Outcome }): boolean | string =>
  outcome.kind === 'finished' ? outcome.success : `${outcome.boundary}/${outcome.code}`;
const problemOf = ({ outcome }: { readonly outcome: Outcome }): unknown =>
  outcome.kind === 'finished' ? JSON.stringify(outcome.details) : outcome;
/** Cells have no sleep of their own. */
const PAUSE = 'await new Promise((done) => setTimeout(done, 300))';
const click = (id: string): string =>
  `await js("document.querySelector('#${id}').click()"); ${PAUSE}; await waitForLoad();`;
const MADE: Asked = {
  expected: {
    url: '__GITLAB__/groups',
    http_method: 'POST',
    post_data: { 'group[name]': 'web agents' },
    response_status: 302,
    headers: { referer: '__GITLAB__/' },
    response_cookies: { mode: '^.*dark.*$' },
  },
};
/** Holds the requests that match, has `act` make one, and lets each go as `go` says; what is refused is written out. */
const holding = (patterns: readonly object[], act: string, go: string): string => `
  await cdp('Fetch.enable', { patterns: ${JSON.stringify(patterns)} });
  js(${JSON.stringify(act)}).catch(() => undefined);
  let held = 0;
  for (let looks = 0; looks < 100 && held < ${patterns.length}; looks++) {
    for (const { method, params } of await drainEvents()) {
      if (method !== 'Fetch.requestPaused') continue;
      held++;
      const { requestId, responseStatusCode } = params;
      try { await cdp(${go}); } catch (error) { repl.write(error.message); await cdp('Fetch.continueRequest', { requestId }); }
    }
    ${PAUSE};
  }
  await cdp('Fetch.disable'); ${PAUSE};
  repl.write('held ' + held);`;
const MAKE = "document.querySelector('#make').click()";
const GROUPS = { urlPattern: '*/groups' };
const PAGE = "[{ name: 'location', value: '/groups/12' }, { name: 'set-cookie', value: 'mode=is%20dark' }]";

describe('requests of an episode', () => {
  it('are compared with what the row asks for: form, status, headers, cookies', { timeout: 900_000 }, async () => {
    const task = await verified(MADE);
    const right = await play(task, [click('make')]);
    expect([said(right), problemOf(right)]).toEqual([true, expect.anything()]);
    expect(said(await play(task, [`'looked'`]))).toBe(false);
    expect(
      said(await play(task, [`await js("document.querySelector('input').value = 'other'");`, click('make')])),
    ).toBe(false);
  });

  it('count from every tab and runtime: a reset of the runtime loses none', { timeout: 900_000 }, async () => {
    const seen: Asked = {
      expected: {
        url: '__GITLAB__/api/seen',
        http_method: 'POST',
        response_status: 200,
        post_data: { '$.user.names[0]': 'Ann' },
        response_content: { ok: true },
      },
    };
    const task = await verified(seen);
    expect(said(await play(task, [JSON.stringify({ reset: true, code: `1` }), click('tab')]))).toBe(true);
    const upload: Asked = {
      expected: { url: '__GITLAB__/upload', http_method: 'POST', post_data: { note: 'hello' } },
    };
    expect(said(await play(await verified(upload), [click('up')]))).toBe(true);
  });

  it.each([
    ['answered', [GROUPS], `'Fetch.fulfillRequest', { requestId, responseCode: 302, responseHeaders: ${PAGE} }`],
    ['sent elsewhere', [GROUPS], `'Fetch.continueRequest', { requestId, url: away, method: 'GET' }`],
    [
      'sent elsewhere, with another answer,',
      [GROUPS, { ...GROUPS, requestStage: 'Response' }],
      `...(responseStatusCode === undefined
        ? ['Fetch.continueRequest', { requestId, url: away, method: 'GET' }]
        : ['Fetch.continueResponse', { requestId, responseCode: 302, responseHeaders: ${PAGE} }])`,
    ],
  ])('that would be %s by the cell are refused', { timeout: 900_000 }, async (_, patterns, go) => {
    posted = 0;
    const cell = `const away = '${site}/me';${holding(patterns, MAKE, go)}`;
    const forged = await play(
      await verified({ expected: { ...MADE.expected, post_data: { 'group[name]': 'none' } } }),
      [cell],
    );
    expect(JSON.stringify(forged.turns)).toContain('refused: the requests of this episode are recorded as evidence');
    expect(JSON.stringify(forged.turns)).toContain(`held ${patterns.length}`);
    // It was let go as it was, and the server saw what the record says.
    expect([said(forged), problemOf(forged), posted]).toEqual([
      false,
      expect.stringContaining('the field group[name] was another one'),
      1,
    ]);
  });

  it('hide behind no other: what must not be sent is not sent in its place', { timeout: 900_000 }, async () => {
    const never = await verified({
      should_not_exist: true,
      expected: { url: '__GITLAB__/groups', http_method: 'POST' },
    });
    posted = 0;
    const go = `'Fetch.continueRequest', { requestId, url: '${site}/groups', method: 'POST' }`;
    const hidden = await play(never, [holding([{ urlPattern: '*/harmless' }], "fetch('/harmless')", go)]);
    expect([posted, said(hidden)]).toEqual([0, true]);
    expect(JSON.stringify(hidden.turns)).toContain('held 1');
  });

  it('are none outside the browser, where nobody would know of them', { timeout: 900_000 }, async () => {
    const never = await verified({ should_not_exist: true, expected: { url: '__GITLAB__/me', http_method: 'GET' } });
    const cell = `try { repl.write(await httpGet('${site}/me')); } catch (error) { repl.write(error.message); }`;
    const refused = await play(never, [cell]);
    expect(JSON.stringify(refused.turns)).toContain('what is asked for in this task is written down in the browser');
    expect(said(refused)).toBe(true);
    expect(said(await play(never, [`await js("fetch('/me')"); ${PAUSE}`]))).toBe(false);
  });

  it('that must not be sent, and the page that was opened last', { timeout: 900_000 }, async () => {
    const never = await verified({
      should_not_exist: true,
      expected: { url: '__GITLAB__/groups', http_method: 'POST' },
    });
    expect(said(await play(never, [`'looked'`]))).toBe(true);
    expect(said(await play(never, [click('make')]))).toBe(false);
    const there = await verified(
      { expected: { url: '__GITLAB__/groups/12', http_method: 'GET', response_status: 200 } },
      'navigate',
    );
    const answer = ANSWER.replace('mutate', 'navigate');
    expect(said(await play(there, [click('next')], {}, answer))).toBe(true);
    expect(
      said(await play(there, [click('next'), `await gotoUrl('${site}/'); await waitForLoad();`], {}, answer)),
    ).toBe(false);
    // Neither a page's own request nor its frame opens a page, nor do they make one no longer the last.
    const asks = (path: string): string =>
      `await js("fetch('${path}', { headers: { accept: 'text/html' } }).then(r => r.text()).then(() => new Promise(done => { const frame = document.createElement('iframe'); frame.onload = done; frame.src = '${path}'; document.body.append(frame); }))")`;
    expect(said(await play(there, [asks('/groups/12')], {}, answer))).toBe(false);
    expect(said(await play(there, [click('next'), asks('/')], {}, answer))).toBe(true);
  });
});

describe('before an episode', () => {
  const state = readStorageState(
    JSON.stringify({
      cookies: [
        {
          name: 'who',
          value: 'ann',
          domain: '127.0.0.1',
          path: '/',
          expires: -1,
          httpOnly: true,
          secure: false,
          sameSite: 'Lax',
        },
        { name: 'old', value: 'gone', domain: '127.0.0.1', path: '/', expires: 1 },
      ],
      origins: [{ origin: 'ORIGIN', localStorage: [{ name: 'token', value: 't-1' }] }],
    }).replace('ORIGIN', 'http://127.0.0.1:1'),
    'state.json',
  );
  /** Of many sites, none of which there is: only the last is asked later on. */
  const own = () => ({
    ...state,
    origins: [...Array(30).keys(), site].map((at) => ({
      ...state.origins[0],
      origin: typeof at === 'string' ? at : `http://h${at}.test`,
    })),
  });
  const LOOK = `repl.write(await js("fetch('/me').then(r => r.text()).then(t => JSON.stringify([t, localStorage.token, localStorage.set]))"));`;

  it('the browser is signed in, the site set up; the next one starts without', { timeout: 900_000 }, async () => {
    const [task] = [await verified(MADE)].map((one) => ({
      ...one,
      needs: { ...one.needs, setupUrls: [`${site}/config?run_id=0`] },
    }));
    const signedIn = await play(task, [LOOK], { states: new Map([['gitlab', own()]]) });
    expect(JSON.stringify(signedIn.turns)).toContain(
      JSON.stringify(JSON.stringify(['who=ann', 't-1', '?run_id=0'])).slice(1, -1),
    );
    const plain = await play(await verified(MADE), [LOOK], { states: new Map([['shopping', own()]]) });
    expect(JSON.stringify(plain.turns)).toContain(JSON.stringify(JSON.stringify(['nobody', null, null])).slice(1, -1));
  });

  it('a site that is not brought back is no failure of the model’s', { timeout: 900_000 }, async () => {
    const asked: string[] = [];
    const reset = ({ id }: LoadedTask): Promise<void> => {
      asked.push(id);
      return Promise.reject(new TabwrightError('env', 'the site did not come back', { code: 'before-failed' }));
    };
    expect(said(await play(await verified(MADE), [click('make')], { reset }))).toBe('env/before-failed');
    expect(asked).toEqual(['2001']);
  });

  it.each([
    ['{', /is no storage state: .*Playwright writes one/s],
    ['{}', /it holds no cookies/],
    ['{"cookies":[{"name":"a","value":"b"}]}', /cookies\.0\.domain/],
  ])('%s is no storage state', (text, message) => {
    expect(() => readStorageState(text, 'state.json')).toThrow(message);
  });
});
