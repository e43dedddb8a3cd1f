// agent_auth in a real Chromium: the oracle solves sites by pressing and reading, in one unjailed browser over the
// methods that cells have; and through the environment, the jail and the loop of episodes it does so on a few.
// A third of the sites, four seeds of every family and every seed of some; all of them with ALL_SITES=1 (four minutes).

import { describe, expect, test } from 'vitest';
import type { ChatRecord, Trajectory } from '../../src/core/index.ts';
import { createWebTaskEnv, openAgentAuth, type EpisodeEnd, type WebSuite } from '../../src/envs/index.ts';
import { blueprints } from '../../src/envs/sites/agent-auth/blueprint.ts';
import { FAMILIES, SEEDS } from '../../src/envs/sites/agent-auth/families.ts';
import { oracleCell } from '../../src/envs/sites/agent-auth/oracle.ts';
import { createLocalProvider } from '../../src/repl/index.ts';
import { runActorEpisodes } from '../../src/rollout/index.ts';
import type { EgressEvent } from '../../src/sandbox/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { createCellRunner } from './cell-runner.ts';

const { signal } = new AbortController();

const EVERY = process.env['ALL_SITES'] === '1' ? 1 : 3;

// In parts: one that fails is tried again by itself.
const PARTS = Array.from({ length: FAMILIES.length / 4 }, (_, part) =>
  FAMILIES.slice(4 * part, 4 * part + 4).map(({ name }) => name),
);
test.each(PARTS.map((names) => [names] as const))(
  'the oracle succeeds on every site that is played: %j',
  async (names) => {
    await using suite = await openAgentAuth();
    await using runner = await createCellRunner(suite.egress);
    const own = blueprints().filter(({ family }) => names.includes(family.name));
    const sites = own.filter(({ family, seed }) => (seed + names.indexOf(family.name)) % EVERY === 0);
    expect(sites).toHaveLength((4 * SEEDS) / EVERY);
    const failed: string[] = [];
    for (const site of sites) {
      await using instance = await suite.begin(site.id, { signal });
      const answer = await runner.run(instance.startUrl, oracleCell(site));
      const { success, details } = await instance.verify({ answer } as EpisodeEnd, { signal });
      if (!success) failed.push(`${site.id}: ${JSON.stringify(details)} ${answer}`);
    }
    expect(failed).toEqual([]);
  },
  600_000,
);

/** Tests share the processors: it is not speed that is tested. */
const PATIENT = { openMs: 300_000, operationMs: 120_000, turnMs: 240_000, episodeMs: 600_000 };

type Policy = 'oracle' | 'noop' | 'blind';
/** What a page may ask for, the way and the form, is asked for through the proxy of the jail. */
const SAMPLE = ['cookie-overlay-00', 'tabbed-modal-03', 'late-sso-02', 'new-tab-01', 'closed-shadow-04'];

describe.skipIf(noJail)(`through the environment, in the jail${whyNot}`, () => {
  const play = async (
    suite: WebSuite,
    policy: Policy,
    ids: readonly string[],
    onEgress: (event: EgressEvent) => void = () => undefined,
  ): Promise<readonly Trajectory<ChatRecord>[]> => {
    await using env = createWebTaskEnv({
      name: 'agent_auth',
      provider: createLocalProvider({ jail: probe, egress: suite.egress, onEgress, sessions: 2, episodes: 50 }),
      tasks: suite.tasks,
      capacity: 2,
      acquireMs: 240_000,
      config: { cellSeconds: 120 },
      begin: (id, options) => suite.begin(id, options),
    });
    const indices = ids.map((id) => suite.tasks.findIndex((task) => task.id === id));
    const { trajectories } = await runActorEpisodes(
      // Two of a group at one time, on the same site.
      indices.flatMap((seed) => [0, 1].map((member) => ({ task: env.task(seed), member }))),
      { env, actor: suite.policies[policy], runSeed: 1, stage: 'eval', deadlines: PATIENT, signal },
    );
    return trajectories;
  };

  test('the oracle succeeds with two episodes of a site at a time, and reaches nothing but the sites', async () => {
    await using suite = await openAgentAuth();
    const events: EgressEvent[] = [];
    const trajectories = await play(suite, 'oracle', SAMPLE, (event) => events.push(event));
    expect(trajectories).toHaveLength(2 * SAMPLE.length);
    for (const { task, outcome } of trajectories)
      expect([task.id, outcome]).toMatchObject([task.id, { success: true }]);
    const sites = blueprints().filter(({ id }) => SAMPLE.includes(id));
    const reached = events.filter(({ address }) => address !== undefined).map(({ host }) => host);
    expect(new Set(reached)).toEqual(new Set(sites.flatMap((site) => site.hosts)));
    // Chromium asks its maker for updates by itself, in vain; pages ask for nothing that is refused.
    expect(events.filter(({ host, reason }) => reason !== undefined && host.endsWith('.test'))).toEqual([]);
    // What an agent sees before it acts is the address and the title: equal for both, and without a field.
    const firsts = trajectories.map(({ task, turns }) => `${task.id} ${turns[0].page}`);
    expect(new Set(firsts).size).toBe(SAMPLE.length);
  }, 900_000);

  test('who does nothing fails; who does not look passes on the one site that agent-auth.test.ts counts', async () => {
    await using suite = await openAgentAuth();
    const successes = async (policy: Policy): Promise<readonly unknown[]> =>
      (await play(suite, policy, ['top-bar-01', 'top-bar-03'])).map(({ outcome }) =>
        outcome.kind === 'finished' ? outcome.success : outcome,
      );
    expect(await successes('noop')).toEqual([false, false, false, false]);
    expect(await successes('blind')).toEqual([true, true, false, false]);
  }, 900_000);
});
