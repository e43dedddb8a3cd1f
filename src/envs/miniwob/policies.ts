// Policies without a model, by the names under which they can be played: each task's oracle, one that waits, and the
// blind ones. An oracle acts by itself, so it is run beside its episode and gives one action at a time.

import { TabwrightError, type Action, type StepResult, type Task } from '../../core/index.ts';
import { abortable } from '../../util/index.ts';
import type { EpisodePlayer, EpisodePolicy } from '../episode-policy.ts';
import { blindTarget, type BlindPolicy } from './blind-policies.ts';
import type { MiniwobEpisode } from './episode.ts';
import { MINIWOB_ORACLES, playOracle, type Oracle } from './oracles/index.ts';

const WAIT: Action = { kind: 'call', tool: 'wait', args: { ms: 0 } };

export const MINIWOB_POLICIES: Readonly<Record<string, EpisodePolicy<MiniwobEpisode>>> = {
  oracle: {
    name: 'oracle',
    begin: oraclePlayer,
  },
  noop: { name: 'noop', begin: () => ({ act: () => Promise.resolve(WAIT) }) },
  blind: blind('blind', 'submit'),
  'blind-first': blind('blind-first', 'first'),
  'blind-every': blind('blind-every', 'every'),
};

function blind(name: string, policy: BlindPolicy): EpisodePolicy<MiniwobEpisode> {
  return {
    name,
    begin: () => {
      const clicked = new Set<number>();
      return {
        act({ page }) {
          const target = blindTarget(policy, page, clicked);
          if (target === undefined) return Promise.resolve(WAIT);
          clicked.add(target);
          return Promise.resolve({ kind: 'call', tool: 'click', args: { target } });
        },
      };
    },
  };
}

/** An oracle that stops before the end waits from then on: the limit of actions ends the episode, as a failure. */
function oraclePlayer({ params }: Task, own: MiniwobEpisode): EpisodePlayer {
  const [name, seed] = [params?.task as string, params?.pageSeed as number]; // checked when the episode was opened
  const oracle = MINIWOB_ORACLES[name] as Oracle | undefined;
  const ending = new AbortController();
  const actions: Action[] = [];
  let wake: (() => void) | undefined;
  let waiting: ((result: StepResult) => void) | undefined;
  let played: Promise<Action> | undefined;
  const relayed: MiniwobEpisode = {
    ...own,
    step(action) {
      actions.push(action);
      wake?.();
      return abortable(new Promise<StepResult>((give) => (waiting = give)), ending.signal);
    },
  };
  const play = async (): Promise<Action> => {
    if (oracle !== undefined) await playOracle(oracle, relayed, { seed, signal: ending.signal });
    return WAIT;
  };
  return {
    act(_, { signal }) {
      if (played === undefined) {
        played = play();
        played.catch(() => undefined); // told to whoever asks for the next action
      }
      const next = new Promise<Action>((give) => {
        wake = () => {
          wake = undefined;
          give(actions.shift()!);
        };
        if (actions.length > 0) wake();
      });
      return abortable(Promise.race([next, played]), signal);
    },
    saw: (result) => waiting?.(result),
    end: () => ending.abort(new TabwrightError('env', 'The episode has been closed.', { code: 'episode-over' })),
  };
}
