import { describe, expect, it } from 'vitest';
import { TabwrightError, type Env, type Policy, type ProgressEvent, type Trajectory } from '../core/index.ts';
import {
  createFakeTrainer,
  createScriptedSampler,
  createToyCheckboxes,
  createToyRenderer,
  TOY_SUBMIT,
  toyModel,
  type ToyMoment,
} from '../testing/index.ts';
import { runEpisodes, runGroups, type RolloutOptions } from './run-episodes.ts';

const renderer = createToyRenderer();
const basePolicy = async (): Promise<Policy> => ({
  renderer,
  sampler: await createFakeTrainer(toyModel()).saveWeightsAndGetSampler(),
});
const scripted = (...tokens: number[]): Policy => ({
  renderer,
  sampler: createScriptedSampler({ answer: () => tokens }),
});
const options = (env: Env, policy: Policy, more: Partial<RolloutOptions> = {}): RolloutOptions => ({
  env,
  policy,
  sampling: { temperature: 1 },
  runSeed: 7,
  stage: 'test',
  signal: new AbortController().signal,
  ...more,
});
const requests = (env: Env, count: number) =>
  Array.from({ length: count }, (_, i) => ({ task: env.task(i), member: 0 }));
const untimed = (trajectories: readonly Trajectory[]) =>
  trajectories.map((trajectory) => ({ ...trajectory, seconds: 0 }));
const crash = (retryable = true) =>
  new TabwrightError('browser', 'The browser is gone.', { code: 'browser-gone', retryable });
const hang = (signal: AbortSignal) =>
  new Promise<void>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('runEpisodes', () => {
  it('tells the policy the words of the episode where only it knows them, and keeps them with the task', async () => {
    const toy = createToyCheckboxes();
    const env: Env = {
      ...toy,
      open: async (task, at) => ({ ...(await toy.open(task, at)), instruction: 'Words of the page.' }),
    };
    const told: string[] = [];
    const policy = scripted(TOY_SUBMIT);
    const spy: Policy = {
      ...policy,
      renderer: {
        ...renderer,
        render: (conversation) => {
          told.push(conversation.instruction);
          return renderer.render(conversation);
        },
      },
    };
    const { trajectories } = await runEpisodes(requests(env, 1), options(env, spy));
    expect(new Set(told)).toEqual(new Set(['Words of the page.']));
    expect(trajectories[0].task).toEqual({ ...env.task(0), instruction: 'Words of the page.' });
  });

  it('gives the same episodes whatever order they are done in', async () => {
    const policy = await basePolicy();
    const one = createToyCheckboxes({ capacity: 1 });
    let delay = 0;
    const many = createToyCheckboxes({
      capacity: 8,
      disturb: async () => {
        for (let i = 0; i < (delay = (delay * 5 + 3) % 7); i++) await turnOfLoop();
      },
    });
    const inOrder = await runEpisodes(requests(one, 40), options(one, policy));
    const mixed = await runEpisodes(requests(many, 40), options(many, policy));
    expect(many.peak).toBe(8);
    expect(untimed(mixed.trajectories)).toEqual(untimed(inOrder.trajectories));
  });

  it('replaces episodes that half of the openings killed: the data is that of a world without faults', async () => {
    const policy = await basePolicy();
    const clean = createToyCheckboxes();
    const faulty = createToyCheckboxes({
      disturb: async ({ at, task, attempt }) => {
        if (at === 'open' && task.seed % 2 === 0 && attempt === 0) throw crash();
      },
    });
    const expected = await runEpisodes(requests(clean, 20), options(clean, policy));
    const found = await runEpisodes(requests(faulty, 20), options(faulty, policy, { toleratedInvalid: 10 }));
    expect(untimed(found.trajectories)).toEqual(untimed(expected.trajectories));
    expect(found.failures).toEqual({ 'browser/browser-gone': 10 });
  });

  it('leaves an episode invalid when trying again cannot help, and after its last try', async () => {
    for (const retryable of [false, true]) {
      const attempts: number[] = [];
      const env = createToyCheckboxes({
        disturb: async ({ at, task, attempt, actions }) => {
          if (at !== 'step' || task.seed !== 1 || actions < 1) return;
          attempts.push(attempt);
          throw crash(retryable);
        },
      });
      const { trajectories } = await runEpisodes(requests(env, 3), options(env, scripted(1, 0)));
      expect(attempts).toEqual(retryable ? [0, 1, 2] : [0]);
      expect(trajectories[1].outcome).toEqual({
        kind: 'invalid',
        boundary: 'browser',
        code: 'browser-gone',
        message: 'The browser is gone.',
      });
      expect(trajectories[1].turns).toHaveLength(1);
      expect(env.openEpisodes).toBe(0);
    }
  });

  it.each([
    ['fails', () => Promise.reject(crash())],
    ['hangs', () => new Promise<void>(() => undefined)],
  ])('keeps a finished episode whose closing %s, counts the failure, and does not run it again', async (_, close) => {
    const toy = createToyCheckboxes();
    let opened = 0;
    const env: Env = {
      ...toy,
      async open(task, call) {
        opened++;
        const episode = await toy.open(task, call);
        return { ...episode, [Symbol.asyncDispose]: close };
      },
    };
    const more = { deadlines: { operationMs: 15 } };
    const { trajectories, failures } = await runEpisodes(requests(env, 1), options(env, scripted(TOY_SUBMIT, 0), more));
    expect(trajectories[0].outcome.kind).toBe('finished');
    expect(Object.values(failures)).toEqual([1]);
    expect(opened).toBe(1);
  });

  it('tells what ended an episode, not that closing it failed too', async () => {
    const toy = createToyCheckboxes({
      disturb: ({ at }) => (at === 'step' ? Promise.reject(crash(false)) : Promise.resolve()),
    });
    const env: Env = {
      ...toy,
      async open(task, call) {
        const episode = await toy.open(task, call);
        return { ...episode, [Symbol.asyncDispose]: () => Promise.reject(new TypeError('a bug of closing')) };
      },
    };
    const { failures } = await runEpisodes(requests(env, 1), options(env, scripted(TOY_SUBMIT, 0)));
    expect(failures).toEqual({ 'browser/browser-gone': 1 });
  });

  it('stops the run when failures are more than weather, and says what failed how often', async () => {
    const env = createToyCheckboxes({
      disturb: async ({ at }) => (at === 'open' ? Promise.reject(crash()) : undefined),
    });
    await expect(runEpisodes(requests(env, 100), options(env, scripted(TOY_SUBMIT, 0)))).rejects.toMatchObject({
      boundary: 'browser',
      code: 'too-many-invalid',
      details: { failures: { 'browser/browser-gone': 6 } },
    });
    expect(env.openEpisodes).toBe(0);
  });

  it('says what helps where nothing failed but deadlines', async () => {
    const env = createToyCheckboxes({ disturb: async ({ at }, signal) => (at === 'open' ? hang(signal) : undefined) });
    const played = runEpisodes(requests(env, 40), options(env, scripted(TOY_SUBMIT, 0), { deadlines: { openMs: 15 } }));
    await expect(played).rejects.toThrow(
      /open-timeout \d+ times.*fewer episodes at once \(--pages\), then go on with --resume/,
    );
  });

  it.each([
    ['open', 'env', 'open-timeout'],
    ['step', 'env', 'operation-timeout'],
  ] as const)('gives up an environment that hangs in %s, and its place is free again', async (at, boundary, code) => {
    const env = createToyCheckboxes({
      capacity: 1,
      disturb: (moment: ToyMoment, signal) =>
        moment.at === at && moment.attempt === 0 && moment.task.seed === 0 ? hang(signal) : Promise.resolve(),
    });
    const { failures, trajectories } = await runEpisodes(
      requests(env, 2),
      options(env, scripted(TOY_SUBMIT, 0), { deadlines: { openMs: 15, operationMs: 15 } }),
    );
    expect(failures).toEqual({ [`${boundary}/${code}`]: 1 });
    expect(trajectories.every(({ outcome }) => outcome.kind === 'finished')).toBe(true);
    expect(env.openEpisodes).toBe(0);
  });

  it('waiting for a place counts neither as the environment nor as the episode: more episodes than places queue', async () => {
    let clock = 0;
    const inner = createToyCheckboxes({
      capacity: 2,
      disturb: async ({ at }) => {
        if (at === 'step') clock += 40;
        await turnOfLoop();
      },
    });
    // More episodes at once than there are places: the others wait in `open`, as they do for a browser of a shared pool.
    const env: Env = { ...inner, capacity: 12 };
    const { failures, trajectories } = await runEpisodes(
      requests(env, 12),
      options(env, scripted(TOY_SUBMIT, 0), {
        now: () => clock,
        deadlines: { operationMs: 60_000, episodeMs: 100, openMs: 60_000 },
        maxRetries: 0,
      }),
    );
    expect(failures).toEqual({});
    expect(trajectories.every(({ outcome }) => outcome.kind === 'finished')).toBe(true);
    expect(inner.peak).toBe(2);
  });

  it('closes an episode that opens after it was given up', async () => {
    let open: () => void = () => undefined;
    const env = createToyCheckboxes({
      capacity: 2,
      disturb: ({ at, attempt }) =>
        at === 'open' && attempt === 0 ? new Promise((resolve) => (open = resolve)) : Promise.resolve(),
    });
    await runEpisodes(requests(env, 1), options(env, scripted(TOY_SUBMIT, 0), { deadlines: { openMs: 15 } }));
    expect(env.openEpisodes).toBe(1);
    open();
    await turnOfLoop();
    expect(env.openEpisodes).toBe(0);
  });

  it('gives up a sampler that hangs as a failure of the backend, and names the tightest deadline', async () => {
    const env = createToyCheckboxes();
    const sampler = createScriptedSampler({ answer: async (_, signal) => hang(signal!).then(() => []) });
    const deadlines = { operationMs: 5000, turnMs: 15 };
    const { failures } = await runEpisodes(
      requests(env, 1),
      options(env, { renderer, sampler }, { deadlines, maxRetries: 0 }),
    );
    expect(failures).toEqual({ 'backend/turn-timeout': 1 });
  });

  it('stops at the deadline of the whole batch', async () => {
    const env = createToyCheckboxes({ disturb: (_, signal) => hang(signal) });
    const run = runEpisodes(requests(env, 3), options(env, scripted(1, 0), { deadlines: { runMs: 15 } }));
    await expect(run).rejects.toMatchObject({ code: 'run-timeout' });
  });

  it('passes an abort on, makes no data of it, and leaves nothing open', async () => {
    const controller = new AbortController();
    const env = createToyCheckboxes({
      disturb: ({ actions }, signal) => (actions === 2 ? hang(signal) : Promise.resolve()),
    });
    const run = runEpisodes(requests(env, 9), options(env, scripted(1, 0), { signal: controller.signal }));
    await turnOfLoop();
    controller.abort();
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    expect(env.openEpisodes).toBe(0);
  });

  it('treats a bug as a bug: it is thrown, not counted as an invalid episode', async () => {
    const env = createToyCheckboxes({ disturb: () => Promise.reject(new TypeError('undefined is not a page')) });
    await expect(runEpisodes(requests(env, 3), options(env, scripted(1, 0)))).rejects.toThrow(TypeError);
  });

  it('hands malformed replies to the environment, which answers them and counts them', async () => {
    const env = createToyCheckboxes({ maxActions: 4 });
    const { trajectories } = await runEpisodes(requests(env, 1), options(env, scripted(9, 9)));
    expect(trajectories[0].turns.map(({ notice }) => notice)).toEqual(
      Array(4).fill('That was no click on a reference.'),
    );
    expect(trajectories[0].outcome).toMatchObject({ success: false, stop: 'max_actions' });
  });

  it('calls an environment that does not end an episode a bug of the environment', async () => {
    const toy = createToyCheckboxes({ maxActions: 9 });
    const env: Env = { ...toy, maxActions: 3 };
    const { failures } = await runEpisodes(requests(env, 1), options(env, scripted(1, 0)));
    expect(failures).toEqual({ 'env/episode-did-not-end': 1 });
  });

  it('has no barrier: the others finish while one waits', async () => {
    let release: () => void = () => undefined;
    const straggler = new Promise<void>((resolve) => (release = resolve));
    const env = createToyCheckboxes({
      capacity: 2,
      disturb: ({ at, task }) => (at === 'step' && task.seed === 0 ? straggler : Promise.resolve()),
    });
    const done: number[] = [];
    const listener = (event: ProgressEvent): void => {
      if (event.kind !== 'episode-end') return;
      done.push(event.done);
      if (event.done === 9) release();
    };
    await runEpisodes(requests(env, 10), options(env, scripted(TOY_SUBMIT, 0), { listener }));
    expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(env.peak).toBe(2);
  });

  it('keeps pictures of the chosen episodes, named for their place; failing to keep one fails the run', async () => {
    const toy = createToyCheckboxes();
    const env: Env = {
      ...toy,
      async open(task, call) {
        const episode = await toy.open(task, call);
        return {
          ...episode,
          screenshot: () => Promise.resolve(new Uint8Array([1])),
          [Symbol.asyncDispose]: () => episode[Symbol.asyncDispose](),
        };
      },
    };
    const saved: string[] = [];
    const screenshots = {
      prefix: 'test',
      wants: ({ task }: { task: { seed: number } }) => task.seed === 1,
      save: async (fileName: string) => void saved.push(fileName),
    };
    const { trajectories } = await runEpisodes(
      requests(env, 3),
      options(env, scripted(TOY_SUBMIT, 0), { screenshots }),
    );
    expect(saved).toEqual(['test-toy-checkboxes-1-0-0.png']);
    expect(trajectories[1].turns[0].screenshot).toBe(saved[0]);

    const full = new TabwrightError('store', 'The disk is full.', { code: 'disk-full' });
    const failing = { ...screenshots, save: () => Promise.reject(full) };
    await expect(runEpisodes(requests(env, 3), options(env, scripted(1, 0), { screenshots: failing }))).rejects.toBe(
      full,
    );
    expect(toy.openEpisodes).toBe(0);
  });

  it('bounds the operations of a kind', async () => {
    let [inside, most] = [0, 0];
    const env = createToyCheckboxes({
      capacity: 8,
      disturb: async ({ at }) => {
        if (at !== 'step') return;
        most = Math.max(most, ++inside);
        await turnOfLoop();
        inside--;
      },
    });
    await runEpisodes(requests(env, 16), options(env, scripted(1, 0), { limits: { act: 3 } }));
    expect(most).toBe(3);
  });
});

describe('runGroups', () => {
  it('puts the members of a task side by side, each with draws of its own', async () => {
    const env = createToyCheckboxes();
    const tasks = [env.task(3), env.task(4)];
    const { groups } = await runGroups(tasks, 6, options(env, await basePolicy()));
    expect(groups.map(({ task }) => task)).toEqual(tasks);
    expect(groups.flatMap(({ trajectories }) => trajectories.map(({ member }) => member))).toEqual([
      0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5,
    ]);
    const replies = groups[0].trajectories.map(({ turns }) => turns.map(({ actionTokens }) => actionTokens).join(' '));
    expect(new Set(replies).size).toBeGreaterThan(1);
  });
});
