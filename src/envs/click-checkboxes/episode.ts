// One attempt at one puzzle in a page that is already loaded. Starts the puzzle, carries out clicks, and scores what
// was checked at the moment of submission. It owns the lease of its page and nothing else.

import {
  createReferences,
  observePage,
  type Control,
  type ObservationStyle,
  type PageLease,
  type PageObservation,
} from '../../browser/index.ts';
import {
  TabwrightError,
  type Action,
  type Episode,
  type FinishedOutcome,
  type JsonObject,
  type StepOptions,
  type StepResult,
  type StopReason,
} from '../../core/index.ts';
import { CLICK_TOOL, readAction } from './click-tool.ts';
import { startExpression, STATE_EXPRESSION, type BoxesState } from './page-source.ts';
import type { Puzzle } from './puzzle.ts';
import { scoreBoxes } from './score.ts';

export type OpenEpisodeOptions = {
  readonly puzzle: Puzzle;
  readonly lease: PageLease;
  readonly maxActions: number;
  readonly style: ObservationStyle;
  readonly signal: AbortSignal;
};

/** Reward when the actions run out before Submit, as MiniWoB++ gives for its time limit. */
const REWARD_NOT_SUBMITTED = -1;

export type ClickEffect = 'toggled-on' | 'toggled-off' | 'submitted' | 'none' | 'error';

export async function openEpisode({ puzzle, lease, maxActions, style, signal }: OpenEpisodeOptions): Promise<Episode> {
  const { page } = lease;
  const references = createReferences();

  const look = async (options: StepOptions): Promise<{ seen: PageObservation; boxes: BoxesState }> => {
    const [nodes, state] = await Promise.all([
      page.accessibilityTree(options),
      page.evaluate(STATE_EXPRESSION, options),
    ]);
    return { seen: observePage(nodes, references, { style }), boxes: state as unknown as BoxesState };
  };

  await page.evaluate(startExpression(puzzle), { signal });
  let { seen, boxes } = await look({ signal });
  let actions = 0;
  let over = false;

  const step = async (action: Action, options: StepOptions): Promise<StepResult> => {
    if (over) {
      throw new TabwrightError('env', 'the episode is over; open another one', { code: 'episode-over' });
    }
    const read = readAction(action, seen, references);
    const before = { text: seen.text, boxes };
    let problem = read.kind === 'refused' ? read.problem : undefined;
    if (read.kind === 'click') {
      const result = await page.click(read.control.backendNodeId, options);
      if (result === 'missing') problem = `Control ${read.control.reference} is no longer on the page.`;
      ({ seen, boxes } = await look(options));
    }
    actions++;
    over = boxes.submitted || actions >= maxActions;
    return {
      observation: { page: seen.text, ...(problem === undefined ? {} : { notice: problem }) },
      changed: seen.text !== before.text,
      info: {
        ...(read.kind === 'click' ? clickedFacts(read.control) : refusedFacts(read.tool, read.target)),
        effect: effectOf(read.kind === 'click' && problem === undefined ? read.control : undefined, before.boxes),
        ...(problem === undefined ? {} : { problem }),
      },
      ...(over ? { outcome: outcome(boxes.submitted ? 'submitted' : 'max_actions') } : {}),
    };
  };

  const boxOf = (control: Control): number => (control.role === 'checkbox' ? puzzle.labels.indexOf(control.name) : -1);

  const clickedFacts = (control: Control): JsonObject => {
    const box = boxOf(control);
    const facts = { tool: CLICK_TOOL.name, target: control.reference, role: control.role, name: control.name };
    if (box === -1) return facts;
    return { ...facts, wanted: puzzle.wanted[box], checkedBefore: control.states.includes('checked') };
  };

  const refusedFacts = (tool: string | null, target: number | null): JsonObject => ({
    tool,
    target,
    role: null,
    name: null,
  });

  const effectOf = (control: Control | undefined, before: BoxesState): ClickEffect => {
    if (control === undefined) return 'error';
    if (boxes.submitted) return 'submitted';
    const box = boxOf(control);
    if (box === -1 || boxes.checked[box] === before.checked[box]) return 'none';
    return boxes.checked[box] === true ? 'toggled-on' : 'toggled-off';
  };

  const outcome = (stop: StopReason): FinishedOutcome => {
    const { exact, reward, ...details } = scoreBoxes(puzzle.wanted, boxes.checked);
    return {
      kind: 'finished',
      success: stop === 'submitted' && exact,
      reward: stop === 'submitted' ? reward : REWARD_NOT_SUBMITTED,
      stop,
      details: { ...details, actions },
    };
  };

  return {
    tools: [CLICK_TOOL],
    first: { page: seen.text },
    step,
    screenshot: (options) => page.screenshot(options),
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  };
}
