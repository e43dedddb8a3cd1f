// What an oracle has: the page's truth to read, and the agent's own tools to act with. Elements are named by expressions
// that the page evaluates; the tools are given the references that an agent sees, so an oracle that succeeds also shows
// that the page as text offers what the task needs.

import {
  TabwrightError,
  type FinishedOutcome,
  type JsonObject,
  type JsonValue,
  type StepResult,
} from '../../../core/index.ts';
import type { MiniwobEpisode } from '../episode.ts';
import type { MiniwobCall } from '../tools.ts';

export interface OracleHand {
  readonly seed: number;
  readonly utterance: string;
  readonly instruction: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Value of an expression in the page. */
  read<T>(expression: string): Promise<T>;
  /**
   * Value of an expression evaluated as if the problem's random numbers began anew: what a page keeps to itself, its own
   * functions tell again. The page's generator is put back in the same turn.
   */
  replay<T>(body: string): Promise<T>;
  /** The reference that an agent sees on the line of an element. */
  reference(element: string): Promise<number>;
  /** Whether an element is in the page and takes space there. */
  sees(element: string): Promise<boolean>;
  call<T extends MiniwobCall['tool']>(tool: T, args: JsonObject): Promise<StepResult>;
  /** Clicks an element, beside its middle where something covers that. */
  click(element: string, more?: { readonly count?: number }): Promise<void>;
  hover(element: string): Promise<void>;
  fill(element: string, text: string): Promise<void>;
  press(keys: string, times?: number): Promise<void>;
  wait(ms: number): Promise<void>;
  clickAt(x: number, y: number): Promise<void>;
  dragAt(points: readonly (readonly [number, number])[]): Promise<void>;
}

/** Plays one episode to its end. It throws what an oracle stumbles over, and where it stops before the end. */
export type Oracle = (hand: OracleHand) => Promise<void>;

/** The element that a selector finds, counted from 0. */
export function one(selector: string, index = 0): string {
  return `document.querySelectorAll(${JSON.stringify(selector)})[${index}]`;
}

/** The first element of a selector with exactly this text. */
export function worded(selector: string, text: string): string {
  return `[...document.querySelectorAll(${JSON.stringify(selector)})].find((e) => e.textContent.trim() === ${JSON.stringify(text.trim())})`;
}

/** The first group of a pattern in a text; an oracle that finds none does not know its task. */
export function found(pattern: RegExp, text: string, group = 1): string {
  const match = pattern.exec(text);
  if (match?.[group] === undefined) throw new RangeError(`${String(pattern)} is not in ${JSON.stringify(text)}`);
  return match[group];
}

/** The end of an episode, thrown through an oracle that has more in mind. */
class EpisodeOver extends Error {
  readonly outcome: FinishedOutcome;
  constructor(outcome: FinishedOutcome) {
    super('the episode is over');
    this.outcome = outcome;
  }
}

export type PlayedByOracle = {
  /** Undefined where the oracle stopped before the end. */
  readonly outcome: FinishedOutcome | undefined;
  /** What it stumbled over. */
  readonly problem?: string;
};

export async function playOracle(
  oracle: Oracle,
  episode: MiniwobEpisode,
  { seed, signal }: { readonly seed: number; readonly signal: AbortSignal },
): Promise<PlayedByOracle> {
  try {
    await oracle(createHand(episode, seed, signal));
    return { outcome: undefined, problem: 'the oracle did not end the episode' };
  } catch (error) {
    if (error instanceof EpisodeOver) return { outcome: error.outcome };
    signal.throwIfAborted();
    if (error instanceof RangeError) return { outcome: undefined, problem: error.message };
    if (error instanceof TabwrightError && error.code === 'script-failed') {
      return { outcome: undefined, problem: error.message };
    }
    throw error;
  }
}

function createHand(episode: MiniwobEpisode, seed: number, signal: AbortSignal): OracleHand {
  const at = { signal };
  const read = async <T>(expression: string): Promise<T> =>
    (await episode.truth.evaluate(expression, at)) as unknown as T;

  const referenceOf = async (element: string): Promise<number> => {
    const reference = await episode.truth.reference(element, at);
    if (reference === undefined) throw new RangeError(`no line for ${element}`);
    return reference;
  };

  const call = async (tool: string, args: JsonObject): Promise<StepResult> => {
    const result = await episode.step({ kind: 'call', tool, args }, at);
    const { outcome } = result;
    if (outcome?.kind === 'finished') throw new EpisodeOver(outcome);
    if (result.info.effect === 'error') throw new RangeError(`${tool}: ${result.observation.notice ?? ''}`);
    return result;
  };

  const does = async (tool: string, args: JsonObject): Promise<void> => void (await call(tool, args));

  return {
    seed,
    utterance: episode.utterance,
    instruction: episode.instruction,
    fields: (episode.fields ?? {}) as Readonly<Record<string, string>>,
    read,
    replay: (body) =>
      read(`(() => {
        const generator = Math.random;
        Math.seedrandom(${seed});
        try { ${body} } finally { Math.random = generator; }
      })()`),
    sees: (element) => read<boolean>(`(() => { const e = ${element}; return !!e && e.getClientRects().length > 0 })()`),
    call,
    reference: referenceOf,
    async click(element, { count } = {}) {
      const beside = await read<readonly [number, number] | null>(uncoveredPoint(element));
      if (beside !== null) return does('click_at', { x: beside[0], y: beside[1] });
      return does('click', { target: await referenceOf(element), ...(count === undefined ? {} : { count }) });
    },
    hover: async (element) => does('hover', { target: await referenceOf(element) }),
    fill: async (element, text) => does('fill', { target: await referenceOf(element), text }),
    press: (keys, times = 1) => does('press', { keys, times }),
    wait: (ms) => does('wait', { ms }),
    clickAt: (x, y) => does('click_at', { x, y }),
    dragAt: (points) => does('drag_at', { points: points.map((point): JsonValue => [...point]) }),
  };
}

/** Null where the element's middle is its own or out of view; else a point of it that is not covered. */
function uncoveredPoint(element: string): string {
  return `(() => {
    const e = ${element};
    if (!e) return null;
    const box = e.getBoundingClientRect();
    const own = (x, y) => { const top = document.elementFromPoint(x, y); return top && (e.contains(top) || top.contains(e)); };
    const [cx, cy] = [box.x + box.width / 2, box.y + box.height / 2];
    if (cx < 0 || cy < 0 || cx >= innerWidth || cy >= innerHeight || own(cx, cy)) return null;
    for (let x = box.x + 1; x < box.right; x += 2) for (let y = box.y + 1; y < box.bottom; y += 2) {
      const top = document.elementFromPoint(x, y);
      if (top && e.contains(top)) return [x, y];
    }
    return null;
  })()`;
}
