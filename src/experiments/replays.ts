// Episodes worth looking at, and how they look in the report: step by step, with the picture, the page as the agent
// read it, and what it did. Everything in them comes from pages and models, and is shown as text only.

import type { Trajectory, Turn } from '../core/index.ts';
import { checkboxDetails, classifyFailure } from './failure-classes.ts';
import { markup, NOTHING, type Html } from './markup.ts';
import type { EvaluatedStage } from './report.ts';

export type ReplayChoice = {
  /** Title of the stage. */
  readonly stage: string;
  /** Why it is shown. */
  readonly reason: string;
  readonly trajectory: Trajectory;
};

export type Replay = ReplayChoice & {
  /** PNG of the page before each turn, where there is one. */
  readonly pictures: readonly (Uint8Array | undefined)[];
};

/**
 * The hardest puzzle that the first stage failed and the last one solved, before and after; and a failure of the
 * last stage. Episodes with pictures come first, then those with more wanted boxes, then the lower seed.
 */
export function chooseReplays(stages: readonly EvaluatedStage[]): ReplayChoice[] {
  const [first, last] = [stages[0], stages[stages.length - 1]];
  if (first === undefined) return [];
  const failedBefore = new Map(
    first.trajectories.filter(isFailure).map((trajectory) => [trajectory.task.id, trajectory]),
  );
  const [after] = last.trajectories.filter((t) => isSuccess(t) && failedBefore.has(t.task.id)).sort(byInterest);
  const before = after === undefined ? undefined : failedBefore.get(after.task.id);
  const [solved] = last.trajectories.filter(isSuccess).sort(byInterest);
  const [failed] = last.trajectories.filter(isFailure).sort(byInterest);
  const choices: ReplayChoice[] = [];
  if (before !== undefined && after !== undefined) {
    choices.push({ stage: last.title, reason: 'solved what the first stage had failed', trajectory: after });
    choices.push({ stage: first.title, reason: 'the same puzzle before training', trajectory: before });
  } else if (solved !== undefined) {
    choices.push({ stage: last.title, reason: 'the hardest puzzle solved', trajectory: solved });
  }
  if (failed !== undefined) choices.push({ stage: last.title, reason: 'still failed', trajectory: failed });
  return choices;
}

export function replaySection(replay: Replay, open: boolean): Html {
  const { stage, reason, trajectory } = replay;
  const { task, turns } = trajectory;
  const steps = turns.map((turn, i) => stepCard({ turn, number: i + 1, picture: replay.pictures[i] }));
  const actions = `${turns.length} action${turns.length === 1 ? '' : 's'}`;
  return markup`<details ${open ? markup`open` : NOTHING}>
    <summary>
      <b>${stage}</b> ${verdict(trajectory)} ${task.instruction} <small>${reason}, seed ${task.seed}, ${actions}</small>
    </summary>
    <ol class="steps">
      ${steps}
    </ol>
  </details>`;
}

function verdict(trajectory: Trajectory): Html {
  if (isSuccess(trajectory)) return markup`<span class="badge good">solved</span>`;
  const failure = classifyFailure(trajectory);
  return markup`<span class="badge bad">${failure === undefined ? 'invalid' : failure.class.replace('-', ' ')}</span>`;
}

function stepCard({ turn, number, picture }: { turn: Turn; number: number; picture: Uint8Array | undefined }): Html {
  const image =
    picture === undefined
      ? NOTHING
      : markup`<img
          alt="The page before action ${number}"
          src="data:image/png;base64,${Buffer.from(picture).toString('base64')}"
        />`;
  const notice = turn.notice === undefined ? NOTHING : markup`<em>${turn.notice}</em>`;
  return markup`<li>
    <div class="step-head"><b>${number}</b>${actionText(turn)}${notice}</div>
    ${image}
    <pre>${pageLines(turn)}</pre>
  </li>`;
}

function actionText({ action, info }: Turn): string {
  if (action.kind === 'malformed') return `unreadable: ${action.text}`;
  if (action.kind === 'answer') return `answer: ${action.text}`;
  const args = Object.values(action.args).map((value) => JSON.stringify(value));
  const what =
    typeof info.name === 'string' ? ` ${typeof info.role === 'string' ? info.role : ''} \u201c${info.name}\u201d` : '';
  const effect = typeof info.effect === 'string' ? ` \u2192 ${info.effect.replace('-', ' ')}` : '';
  return `${action.tool}(${args.join(', ')})${what}${effect}`;
}

/** The page with the line of the clicked control marked. A line ends in its reference: `checkbox "MRW" [18]`. */
function pageLines({ page, info }: Turn): Html[] {
  const target = typeof info.target === 'number' || typeof info.target === 'string' ? `[${info.target}]` : undefined;
  return page.split('\n').map((text) => {
    const marked = target !== undefined && text.trimEnd().endsWith(target);
    return markup`${marked ? markup`<mark>${text}</mark>` : text}${'\n'}`;
  });
}

function isSuccess({ outcome }: Trajectory): boolean {
  return outcome.kind === 'finished' && outcome.success;
}

function isFailure({ outcome }: Trajectory): boolean {
  return outcome.kind === 'finished' && !outcome.success;
}

function byInterest(a: Trajectory, b: Trajectory): number {
  return hasPictures(b) - hasPictures(a) || wanted(b) - wanted(a) || a.task.seed - b.task.seed;
}

/** 1 when every turn has its picture, else 0. */
function hasPictures({ turns }: Trajectory): number {
  return Number(turns.length > 0 && turns.every((turn) => turn.screenshot !== undefined));
}

function wanted({ outcome }: Trajectory): number {
  return outcome.kind === 'finished' ? checkboxDetails(outcome).wanted : 0;
}
