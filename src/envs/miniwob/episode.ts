// One attempt at one problem of one task, in a page that is loaded: starts it by its seed, carries out calls, and says
// how it ended. Success is the task's own threshold on the raw reward, which time does not lower. It owns the lease of
// its page and nothing else.

import { createReferences, type CdpSession, type PageLease, type PageObservation } from '../../browser/index.ts';
import {
  TabwrightError,
  type Action,
  type Episode,
  type FinishedOutcome,
  type JsonObject,
  type JsonValue,
  type StepOptions,
  type StepResult,
} from '../../core/index.ts';
import { carryOut, move } from './hand.ts';
import { layoutNodes, SNAPSHOT_PARAMS } from './layout.ts';
import { observeMiniwob } from './observation.ts';
import { saidByPlainPage } from './plain-page.ts';
import { saidByTree } from './said.ts';
import {
  asState,
  settledExpression,
  startExpression,
  STATE_EXPRESSION,
  type DataMode,
  type ProblemState,
  type StartedProblem,
} from './page-script.ts';
import type { MiniwobTask } from './tasks.ts';
import { MINIWOB_TOOLS, readMiniwobAction } from './tools.ts';

export interface MiniwobEpisode extends Episode {
  /** The task's words: the page makes them. */
  readonly instruction: string;
  readonly utterance: string;
  readonly fields: JsonObject | null;
  /** The problem's own truth, for oracles and tests; a policy must not see it. */
  readonly truth: MiniwobTruth;
}

export interface MiniwobTruth {
  evaluate(expression: string, options: StepOptions): Promise<JsonValue>;
  /** The reference of an element that an expression gives, else of what is in it or it is in, if that has a line. */
  reference(expression: string, options: StepOptions): Promise<number | undefined>;
}

export type OpenMiniwobEpisodeOptions = {
  readonly task: MiniwobTask;
  readonly seed: number;
  readonly mode: DataMode;
  readonly lease: PageLease;
  /** What is known of the page beyond this episode; written to. */
  readonly traits: PageTraits;
  readonly maxActions: number;
  /** Whether every look takes a picture with it, for `screenshot` to give. */
  readonly pictures: boolean;
  /** How long an action's animations may take before the page is read anyway, milliseconds. */
  readonly settleMs: number;
  readonly signal: AbortSignal;
};

export type PageTraits = {
  /** The task whose document the page has; undefined once it has another. */
  loaded: string | undefined;
  /** The mouse is where it points at nothing. */
  mouseParked: boolean;
  /** The tasks that have shown what only the accessibility tree can tell; their looks ask for it at once. */
  readonly needTree: Set<string>;
};

/** Raw reward where actions run out or the page is left, as the pages themselves give for their time limit. */
const REWARD_NOT_ENDED = -1;
/** Sums such as 0.7 + 0.3 may be off by rounding. */
const ROUNDING = 1e-9;
/** Where a mouse is that points at nothing: outside of the 160 x 210 pixels of every task. */
const NEUTRAL = { x: 325, y: 208 };

export async function openMiniwobEpisode(options: OpenMiniwobEpisodeOptions): Promise<MiniwobEpisode> {
  const { task, lease, traits, maxActions, settleMs, signal } = options;
  const { page } = lease;
  const references = createReferences();
  let picture: Promise<Uint8Array> | undefined; // of the page as it was last looked at

  const lookNow = async (at: StepOptions): Promise<{ seen: PageObservation; state: ProblemState }> => {
    // All of it is asked at once: the answers are of one moment, and cost the wait for one.
    if (options.pictures) picture = page.screenshot(at);
    const [state, snapshot, tree] = await Promise.all([
      page.evaluate(STATE_EXPRESSION, at),
      page.read('snapshot', (session) => session.send('DOMSnapshot.captureSnapshot', SNAPSHOT_PARAMS), at),
      traits.needTree.has(task.name) ? page.accessibilityTree(at) : undefined,
      picture,
    ]);
    const layout = layoutNodes(snapshot);
    const said = tree === undefined ? saidByPlainPage(layout) : saidByTree(tree);
    if (said === undefined) {
      traits.needTree.add(task.name);
      return lookNow(at);
    }
    return { seen: observeMiniwob({ said, layout, references }), state: asState(state) };
  };
  /** Most of the time nothing moves, and then the first look is the one. */
  const look = async (at: StepOptions): ReturnType<typeof lookNow> => {
    const first = await lookNow(at);
    if (!first.state.moving) return first;
    await settle(at);
    return lookNow(at);
  };
  const settle = async (at: StepOptions): Promise<void> => {
    const expression = settledExpression(settleMs);
    // By the protocol itself: a page that was just left has no one to answer, and that is no failure here.
    await page
      .perform('settle', (session) => session.send('Runtime.evaluate', { expression, awaitPromise: true }), at)
      .catch((error: unknown) => {
        if (!(error instanceof TabwrightError && error.code === 'protocol-error')) throw error;
      });
  };

  // The mouse leaves in the frame in which the problem appears, so that nothing of it is ever pointed at.
  const parking = traits.mouseParked
    ? undefined
    : page.perform('park', (session) => move(session, NEUTRAL), { signal });
  traits.mouseParked = true;
  const starting = page.evaluate(startExpression(options.seed, options.mode), { signal });
  // A page's calls are answered in their order, so this look is of the problem that is started; a picture's frame is no such call.
  if (options.pictures) await Promise.all([parking, starting]);
  const [, started, first] = await Promise.all([parking, starting, look({ signal })]);
  const problem = started as unknown as StartedProblem;
  let { seen, state } = first;
  const address = withoutFragment(state.url);
  let actions = 0;
  let over = false;

  const step = async (action: Action, at: StepOptions): Promise<StepResult> => {
    if (over) throw new TabwrightError('env', 'The episode is over; open another one.', { code: 'episode-over' });
    const read = readMiniwobAction(action, seen, references);
    const before = seen.text;
    let notice = read.kind === 'refused' ? read.problem : undefined;
    if (read.kind === 'call') {
      picture = undefined;
      traits.mouseParked = false;
      notice = await carryOut(read.call, { page, controls: read.controls, ...at });
      ({ seen, state } = await look(at));
    }
    actions++;
    const left = !state.present || withoutFragment(state.url) !== address;
    over = state.done || left || actions >= maxActions;
    if (left) traits.loaded = undefined;
    return {
      observation: { page: seen.text, ...(notice === undefined ? {} : { notice }) },
      changed: seen.text !== before,
      info: {
        tool: read.kind === 'call' ? read.call.tool : read.tool,
        elements: read.kind === 'call' ? [...read.controls.values()].map(({ role, name }) => `${role} ${name}`) : [],
        effect: notice === undefined ? (seen.text === before ? 'none' : 'changed') : 'error',
        ...(notice === undefined ? {} : { problem: notice }),
      },
      ...(over ? { outcome: outcome(left) } : {}),
    };
  };

  const outcome = (left: boolean): FinishedOutcome => {
    const reward = state.done ? state.raw : REWARD_NOT_ENDED;
    return {
      kind: 'finished',
      success: state.done && reward >= task.threshold - ROUNDING,
      reward,
      stop: state.done || left ? 'submitted' : 'max_actions',
      details: {
        task: task.name,
        threshold: task.threshold,
        lenient: state.done && reward > 0,
        reason: state.reason,
        leftPage: left,
        actions,
      },
    };
  };

  return {
    tools: MINIWOB_TOOLS,
    instruction: problem.instruction,
    utterance: problem.utterance,
    fields: problem.fields,
    first: { page: seen.text },
    step,
    screenshot: (at) => picture ?? page.screenshot(at),
    truth: {
      evaluate: (expression, at) => page.evaluate(expression, at),
      reference: (expression, at) => {
        const lines = new Map([...seen.controls.values()].map((line) => [line.backendNodeId, line.reference]));
        return page.perform('truth', (session) => lineOf(session, expression, lines), at);
      },
    },
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  };
}

/** The reference of an element's line, else of the first that is in it, else of the nearest that it is in. */
async function lineOf(
  session: CdpSession,
  expression: string,
  lines: ReadonlyMap<number, number>,
): Promise<number | undefined> {
  for (let element = `(${expression})`; ; element = `${element}.parentElement`) {
    const { result } = await session.send('Runtime.evaluate', { expression: element });
    const { objectId, subtype, description } = result;
    if (objectId === undefined || subtype !== 'node' || description?.startsWith('body') !== false) return undefined;
    const isFirst = element === `(${expression})`;
    const { node } = await session.send('DOM.describeNode', { objectId, depth: isFirst ? -1 : 0 });
    const waiting = [node];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const reference = lines.get(next.backendNodeId);
      if (reference !== undefined) return reference;
      waiting.unshift(...(next.children ?? []));
    }
  }
}

/** Links such as `#` change the address without leaving the page. */
function withoutFragment(url: string): string {
  return url.split('#')[0];
}
