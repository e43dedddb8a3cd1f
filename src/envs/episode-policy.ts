// Policies that know the episode they play, such as oracles, as actors. An actor is told what an agent is told and no
// more; what such a policy knows beside that is tied to the observations that its episodes gave out, which are compared by
// identity. So it needs an environment of its own, made here around the real one.

import { TabwrightError, type Action, type Actor, type ChatRecord, type Env, type Episode } from '../core/index.ts';
import type { Observation, StepOptions, Task } from '../core/index.ts';

/** The next action on what the agent sees; one player plays one episode. */
export type Player = (observation: Observation, options: StepOptions) => Promise<Action>;

export type EpisodePolicy<E extends Episode = Episode> = {
  readonly name: string;
  /** May act on the episode by itself only through the actions it returns; `own` is the episode as it was opened. */
  readonly begin: (task: Task, own: E) => EpisodePlayer;
};

export type EpisodePlayer = {
  readonly act: Player;
  /** Told what came of each of its actions. */
  readonly saw?: (result: Awaited<ReturnType<Episode['step']>>) => void;
  readonly end?: () => void;
};

export type AttachedPolicy = { readonly env: Env; readonly actor: Actor<ChatRecord> };

/** The policy as an actor, and the environment to play it in. Disposing that one does nothing. */
export function attachPolicy<E extends Episode>(
  env: Omit<Env, 'open'> & { open(task: Task, options: StepOptions): Promise<E> },
  { name, begin }: EpisodePolicy<E>,
): AttachedPolicy {
  const players = new WeakMap<Observation, EpisodePlayer>();
  const open = async (task: Task, options: StepOptions): Promise<Episode> => {
    const own = await env.open(task, options);
    const player = begin(task, own);
    const shown = <T extends Observation>(observation: T): T => {
      players.set(observation, player);
      return observation;
    };
    return {
      tools: own.tools,
      ...(own.instruction === undefined ? {} : { instruction: own.instruction }),
      first: shown({ ...own.first }),
      async step(action, at) {
        const result = await own.step(action, at);
        player.saw?.(result);
        return { ...result, observation: shown({ ...result.observation }) };
      },
      screenshot: (at) => own.screenshot(at),
      ...(own.giveUp === undefined ? {} : { giveUp: (stop, at) => own.giveUp!(stop, at) }),
      async [Symbol.asyncDispose]() {
        player.end?.();
        await own[Symbol.asyncDispose]();
      },
    };
  };
  return {
    env: {
      name: env.name,
      capacity: env.capacity,
      maxActions: env.maxActions,
      task: (seed) => env.task(seed),
      open,
      [Symbol.asyncDispose]: async () => undefined,
    },
    actor: {
      name,
      async act({ observation }, { signal }) {
        const player = players.get(observation);
        if (player === undefined) {
          throw new TabwrightError('policy', `${name} was shown what none of its episodes gave out.`, {
            code: 'unknown-episode',
          });
        }
        const action = await player.act(observation, { signal });
        return { action, record: { reply: replyOf(action), stop: 'stop' }, usage: undefined };
      },
    },
  };
}

/** As a chat model would have said it. */
function replyOf(action: Action): ChatRecord['reply'] {
  switch (action.kind) {
    case 'call':
      return { text: '', calls: [{ id: 'call_0', name: action.tool, arguments: JSON.stringify(action.args) }] };
    case 'malformed':
    case 'answer':
      return { text: action.text, calls: [] };
  }
  return action satisfies never;
}
