import { describe, expect, it } from 'vitest';
import type { Actor, ChatRecord } from '../core/index.ts';
import { createToyCheckboxes, createToyRenderer } from '../testing/index.ts';
import { demonstratingActor } from './demonstrating-actor.ts';
import { runActorEpisodes } from './run-episodes.ts';

/** Clicks box 1, then submits. */
const teacher: Actor<ChatRecord> = {
  name: 'oracle',
  act: ({ past, observation }) => {
    expect(past).toEqual([]);
    const target = observation.page.includes('[checked]') || observation.page.includes('checked') ? 4 : 1;
    const action = { kind: 'call' as const, tool: 'click', args: { target } };
    return Promise.resolve({ action, record: { reply: { text: '', calls: [] }, stop: 'stop' }, usage: undefined });
  },
};

describe('demonstratingActor', () => {
  it.each([false, true])(
    'leaves what was done in the tokens of the model that learns; history in prompts: %s',
    async (keepHistory) => {
      const env = createToyCheckboxes();
      const renderer = createToyRenderer({ keepHistory });
      const { trajectories } = await runActorEpisodes([{ task: env.task(1), member: 0 }], {
        env,
        actor: demonstratingActor({ teacher, renderer }),
        runSeed: 1,
        stage: 'collect',
        signal: new AbortController().signal,
      });
      const { turns } = trajectories[0];
      expect(turns.length).toBeGreaterThan(0);
      for (const [i, turn] of turns.entries()) {
        expect(renderer.parse(turn.actionTokens)).toEqual(turn.action);
        expect(turn.logprobs).toEqual([0, 0]);
        expect(turn.stop).toBe('stop');
        const before = turns.slice(0, i).at(-1);
        if (keepHistory && before !== undefined) {
          const seen = [...before.promptTokens, ...before.actionTokens];
          expect(turn.promptTokens.slice(0, seen.length)).toEqual(seen);
        }
      }
    },
  );
});
