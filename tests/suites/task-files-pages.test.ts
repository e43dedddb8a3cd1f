// Tasks of a file as episodes in a real Chromium: what is looked at when a page is the evidence, and that looking at it
// neither moves the model's tab, nor runs anything in it, nor asks it anything that it could answer falsely.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedActor } from '../../src/chat/index.ts';
import type { Outcome } from '../../src/core/index.ts';
import {
  createWebTaskEnv,
  loadTasks,
  parseRows,
  taskFileVerifier,
  webTasksOf,
  withSites,
  type LoadedTask,
} from '../../src/envs/index.ts';
import { freezeAt } from '../../src/envs/task-files/pages/index.ts';
import { createLocalProvider, type SessionLease, type SessionProvider } from '../../src/repl/index.ts';
import { DEFAULT_DEADLINES, runActorEpisodes } from '../../src/rollout/index.ts';
import { probe } from '../sandbox/jail.ts';
import { REAL, WEBARENA } from './task-file-rows.ts';

const { signal } = new AbortController();
const PAGES: Readonly<Record<string, string>> = {
  '/lamp': `<title>Lamp</title><h1>Green Lamp</h1><style>.up { text-transform: uppercase } .gone { display: none }</style>
    <p id=price>$24.50</p><p id=shout class=up>sale</p><p id=both>seen <span class=gone>hidden</span></p>
    <table><tr><td data-label=Account><span class=gl-avatar-labeled-sublabel>@bob</span><td class=col-max-role><span>Owner</span>
      <tr><td data-label=Account><span class=gl-avatar-labeled-sublabel>@ann</span><td class=col-max-role><span>Guest</span></table>
    <form><input id=name value=first><textarea id=note>first</textarea><input type=checkbox id=box>
    <select id=pick><option value=a>A<option value=b>B</select></form>
    <script>document.cookie = 'who=ann'; localStorage.state = 'made here'; addEventListener('visibilitychange', () => fetch('/noticed'));</script>`,
  '/lies': `<title>Lies</title><h1>nothing</h1><script>
    Object.defineProperty(Document.prototype, 'querySelector', { value: () => ({ outerText: 'Green Lamp' }) });
    Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'Green Lamp' });
    String.prototype.toLowerCase = () => 'green lamp';
    </script><div onload="x" onclick="x">plain</div>`,
  '/account': `<title>Account</title><h1 id=who></h1><script>fetch('/me').then(r => r.text()).then(t => { who.textContent = t })</script>`,
  '/finish': `<pre id=out></pre><script>out.textContent = JSON.stringify({ cart: { items: [{ name: localStorage.state }] } })</script>`,
  '/f/books/12/title/comments': `<title>Comments</title>`,
  '/f/books/12/': `<title>Post</title><h1>The post</h1>`,
  '/stuck': `<title>Stuck</title><script>addEventListener('load', () => setTimeout(() => { for (;;); }, 50))</script>`,
  '/busy': `<title>Busy</title><button id=go>go</button>`,
};
const asked: string[] = [];
let server: Server;
let site: string;
let provider: SessionProvider;
beforeAll(async () => {
  server = createServer((request: IncomingMessage, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    asked.push(pathname);
    const page = PAGES[pathname];
    if (pathname === '/me') response.end(/who=ann/.test(request.headers.cookie ?? '') ? 'Ann is here' : 'nobody');
    else if (page === undefined) response.writeHead(404).end();
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
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
}, 60_000);
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  server?.closeAllConnections();
  server?.close();
}, 60_000);

const webarena = async (evaluation: object): Promise<LoadedTask> => {
  const row = { ...WEBARENA, start_url: '__SHOPPING__/lamp', eval: { ...WEBARENA.eval, ...evaluation } };
  const [task] = withSites(
    loadTasks(await parseRows('t', Buffer.from(JSON.stringify([row])))),
    new Map([['SHOPPING', site]]),
  );
  return task;
};
const pages = (
  ...targets: readonly (readonly [url: string, locator: string, required: object, prepare?: readonly string[]])[]
): Promise<LoadedTask> =>
  webarena({
    eval_types: ['program_html'],
    program_html: targets.map(([url, locator, required_contents, prep_actions = []]) => ({
      url,
      locator,
      required_contents,
      prep_actions,
    })),
  });

type Played = { readonly outcome: Outcome; readonly url: string; readonly askedAfter: readonly string[] };

/** Runs one cell and answers; tells where the model's tab was after it was graded. */
async function play(task: LoadedTask, code: string, answer = 'done'): Promise<Played> {
  let url = '';
  let before = 0;
  const verify = taskFileVerifier([task]);
  await using env = createWebTaskEnv({
    provider: {
      kind: 'local',
      acquire: (wait) => provider.acquire(wait),
      [Symbol.asyncDispose]: async () => undefined,
    },
    tasks: webTasksOf([task]),
    capacity: 1,
    async verify(end, call) {
      before = asked.length;
      try {
        return await verify(end, call);
      } finally {
        url = await addressOf(end.session);
      }
    },
  });
  const call = { id: 'c', name: 'browser_repl', arguments: JSON.stringify({ code }) };
  const actor = createScriptedActor('script', [
    { text: '', calls: [call] },
    { text: answer, calls: [] },
  ]);
  const { trajectories } = await runActorEpisodes([{ task: env.task(0), member: 0 }], {
    env,
    actor,
    runSeed: 1,
    stage: 'eval',
    deadlines: { ...DEFAULT_DEADLINES, operationMs: 120_000, turnMs: 240_000, episodeMs: 480_000 },
    maxRetries: 0,
    screenshots: { wants: () => false, prefix: 'eval', save: () => Promise.resolve() },
    listener: () => undefined,
    signal,
  });
  return { outcome: trajectories[0].outcome, url, askedAfter: asked.slice(before) };
}

async function addressOf(session: SessionLease): Promise<string> {
  return (await session.tab?.({ signal, deadlineMs: 10_000 }))?.url ?? 'no tab';
}
const success = ({ outcome }: Played): boolean | string =>
  outcome.kind === 'finished' ? outcome.success : `${outcome.boundary}/${outcome.code}`;

describe('the page at the end', () => {
  it('is read as it is shown, with what was typed and chosen', async () => {
    const task = await pages(
      ['last', "document.querySelector('h1').outerText", { exact_match: 'Green Lamp' }],
      ['last', "document.querySelector('#price').innerText", { must_include: ['24.5'] }],
      ['last', "document.querySelector('#both').innerText", { exact_match: 'seen' }],
      ['last', "document.querySelector('#name').value", { exact_match: 'Ann' }],
      ['last', "document.querySelector('#note').value", { exact_match: 'a note' }],
      ['last', "document.querySelector('#box').checked", { exact_match: 'true' }],
      ['last', "document.querySelector('#pick').value", { exact_match: 'b' }],
      ['last', "[...document.querySelectorAll('p')].map(p => p.id).join()", { exact_match: 'price,shout,both' }],
      ['last', '', { must_include: ['<h1>Green Lamp</h1>'] }],
      ['last', "func:get_query_text(__page__, '#both')", { exact_match: 'seen hidden' }],
      ['last', "func:gitlab_get_project_memeber_role(__page__, 'ann')", { exact_match: 'Guest' }],
      [
        'last',
        "document.querySelector('#shout').outerText",
        { must_include: ['sale'] },
        ["document.querySelector('#price').remove()"],
      ],
    );
    const played = await play(
      task,
      `await js(() => { document.querySelector('#name').value = 'Ann'; document.querySelector('#note').value = 'a note';
         document.querySelector('#box').checked = true; document.querySelector('#pick').value = 'b'; });`,
    );
    expect([played.outcome, success(played)]).toEqual([expect.anything(), true]);
    expect(played.url).toBe(`${site}/lamp`);
    // Nothing was asked of the site for it, and the page noticed nothing.
    expect(played.askedAfter).toEqual([]);
  }, 240_000);

  it('is wrong where it holds something else or not the thing at all', async () => {
    const idle = `'looked'`;
    const gone = await pages(['last', "document.querySelector('#none').outerText", { must_exclude: ['x'] }]);
    expect(success(await play(gone, idle))).toBe(false);
    const hidden = await pages(['last', "document.querySelector('#both').innerText", { must_include: ['hidden'] }]);
    expect(success(await play(hidden, idle))).toBe(false);
  }, 240_000);

  it('cannot answer for itself: its scripts have no say in what is read', async () => {
    const task = await pages(
      ['last', "document.querySelector('h1').outerText", { exact_match: 'nothing' }],
      ['last', '', { must_exclude: ['Green Lamp</h1>'] }],
    );
    expect(success(await play(task, `await gotoUrl('${site}/lies'); await waitForLoad();`))).toBe(true);
  }, 240_000);

  it('that does not answer any more is a failure, and no way out', async () => {
    const task = await pages(['last', "document.querySelector('h1').outerText", { exact_match: 'Green Lamp' }]);
    expect(success(await play(task, `await js('setTimeout(() => { for (;;); }, 50)'); await sleep(0.5);`))).toBe(false);
    expect(success(await play(task, `await js("setTimeout(() => alert('stay'), 50)"); await sleep(0.5);`))).toBe(true);
  }, 240_000);
});

describe('other pages', () => {
  it('are opened beside the model’s tab, with its cookies', async () => {
    const task = await pages([
      '__SHOPPING__/account',
      "document.querySelector('#who').textContent",
      { exact_match: 'Ann is here' },
    ]);
    const played = await play(task, `'looked'`);
    expect(success(played)).toBe(true);
    expect(played.url).toBe(`${site}/lamp`);
    expect(played.askedAfter.filter((path) => path !== '/favicon.ico')).toEqual(['/account', '/me']);
  }, 240_000);

  it('that cannot be opened make it invalid', async () => {
    const task = await pages(['http://127.0.0.1:9/gone', 'document.title', { exact_match: 'x' }]);
    expect(success(await play(task, `'looked'`))).toBe('browser/check-page-failed');
  }, 240_000);

  it('whose address is the actor’s doing are a failure where they are dead, and no way out', async () => {
    const dead = `await gotoUrl('http://127.0.0.1:9/f/gone/1').catch(() => undefined); await sleep(0.5);`;
    for (const url of ['__last_url__', "func:reddit_get_post_url('__last_url__')"]) {
      const played = await play(await pages([url, 'document.title', { exact_match: 'x' }]), dead);
      expect([url, played.url, success(played)]).toEqual([url, expect.stringMatching(/^(?!.*\/lamp)/), false]);
    }
  }, 240_000);

  it('are given up by the host, whichever step never ends', async () => {
    const session = await provider.acquire({ signal, deadlineMs: 120_000 });
    try {
      await session.execute({ code: `await gotoUrl('${site}/lamp'); await waitForLoad();`, timeoutMs: 60_000, signal });
      const tab = (await session.tab!({ signal, deadlineMs: 30_000 }))!;
      const never = (): Promise<never> => new Promise(() => undefined);
      const { root } = tab.connection;
      const send = ((method, ...params) =>
        method === 'Target.createTarget' ? never() : root.send(method, ...params)) as typeof root.send;
      const noTarget = { ...tab, connection: { ...tab.connection, closed: false, root: { ...root, send } } };
      const given = { signal, openMs: 2_000, quietMs: 500, freezeMs: 2_000 };
      const tried = { code: 'check-page-failed', boundary: 'browser', retryable: true };
      await expect(freezeAt(noTarget, `${site}/lamp`, given)).rejects.toMatchObject(tried);
      await expect(freezeAt({ ...tab, attach: never }, `${site}/lamp`, given)).rejects.toMatchObject(tried);
      const stuck = freezeAt(tab, `${site}/stuck`, { ...given, openMs: 30_000 });
      await expect(stuck).rejects.toMatchObject({ ...tried, message: expect.stringContaining('its tree') as string });
    } finally {
      await session[Symbol.asyncDispose]();
    }
  }, 240_000);

  it('the post that the last address belongs to', async () => {
    const task = await pages([
      "func:reddit_get_post_url('__last_url__')",
      "document.querySelector('h1').outerText",
      { exact_match: 'The post' },
    ]);
    const played = await play(task, `await gotoUrl('${site}/f/books/12/title/comments'); await waitForLoad();`);
    expect([success(played), played.url]).toEqual([true, `${site}/f/books/12/title/comments`]);
  }, 240_000);
});

it('the last address is the browser’s word', async () => {
  const task = await webarena({ eval_types: ['url_match'], reference_url: '__SHOPPING__/account' });
  expect(success(await play(task, `await gotoUrl('${site}/account'); await waitForLoad();`))).toBe(true);
  expect(success(await play(task, `'looked'`))).toBe(false);
}, 240_000);

it('a site’s state is asked for on a page of the host’s own, and queried', async () => {
  const row = {
    ...REAL,
    website: { ...REAL.website, url: `${site}/` },
    evals: [{ type: 'jmespath', query: 'cart.items[0].name', expected_value: 'made here' }],
  };
  const [loaded] = loadTasks(await parseRows('t', Buffer.from(JSON.stringify([row]))));
  const played = await play({ ...loaded, startUrls: [`${site}/lamp`] }, `'looked'`);
  expect([success(played), played.url]).toEqual([true, `${site}/lamp`]);
}, 240_000);

it('what needs a judge and has none is no failure', async () => {
  const fuzzy = await webarena({ eval_types: ['string_match'], reference_answers: { fuzzy_match: ['cheap'] } });
  expect(success(await play(fuzzy, `'looked'`, 'not dear'))).toBe('judge/no-judge');
}, 240_000);
