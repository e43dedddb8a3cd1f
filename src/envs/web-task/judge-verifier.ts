// A judge as the verifier of episodes on websites: what the host saw becomes the judge's material, and the verdict names
// who gave it. What the judge cannot say makes the episode invalid. Nothing here asks the page or the cells' runtime.

import { TabwrightError, type JsonObject, type Task } from '../../core/index.ts';
import type { Judge, JudgeInput, Judgement, RubricGroup } from '../../judges/index.ts';
import { renderActionLog, type ActionEntry, type ActionLog } from '../../repl/index.ts';
import { judgingOf } from './task-judging.ts';
import type { EpisodeEnd, Verdict, Verifier } from './verifier.ts';

export type JudgeVerifierOptions = {
  readonly judge: Judge;
  /** What counts for a task, instead of its own criteria, or the judge's where it has none. */
  readonly criteria?: (task: Task) => string | undefined;
  /** For rubric judges, instead of the task's own. */
  readonly rubric?: (task: Task) => readonly RubricGroup[] | undefined;
  /** Told of every judgement, invalid ones too, which leave no details in the episode; must not throw. */
  readonly onJudgement?: (judgement: Judgement, task: Task) => void;
};

export function judgeVerifier({ judge, criteria, rubric, onJudgement }: JudgeVerifierOptions): Verifier {
  return async (end, { signal }) => {
    const own = judgingOf(end.task);
    const given = { criteria: criteria?.(end.task) ?? own.criteria, rubric: rubric?.(end.task) ?? own.rubric };
    const judgement = await judge.judge(judgeInput({ ...end, omitted: end.session.log?.omitted, ...given }), {
      signal,
    });
    onJudgement?.(judgement, end.task);
    return judgedVerdict(judge, judgement);
  };
}

export type JudgeInputOptions = Pick<EpisodeEnd, 'task' | 'answer' | 'actions' | 'pictures'> & {
  /** Why it ended; the host's word. */
  readonly stop: string;
  /** Calls that the log had no room for. */
  readonly omitted?: ActionLog['omitted'] | undefined;
  readonly criteria?: string | undefined;
  readonly rubric?: readonly RubricGroup[] | undefined;
};

export function judgeInput(options: JudgeInputOptions): JudgeInput {
  const { task, stop, answer, actions, pictures, omitted, criteria, rubric } = options;
  return {
    instruction: task.instruction,
    ...(task.startUrl === undefined ? {} : { startUrl: task.startUrl }),
    stop,
    actions: actions === undefined ? undefined : actionLines(actions, omitted?.acts ?? 0),
    pictures,
    answer,
    ...(criteria === undefined ? {} : { criteria }),
    ...(rubric === undefined ? {} : { rubric }),
  };
}

/** Acts only; judges number them by themselves. */
function actionLines(entries: readonly ActionEntry[], omitted: number): readonly string[] {
  const lines = entries
    .filter(({ effect }) => effect === 'acts')
    .map((entry) => renderActionLog({ entries: [entry], omitted: { acts: 0, looks: 0 } }).replace(/^1\. /, ''));
  return omitted === 0 ? lines : [...lines, `${omitted} more, which the log had no room for`];
}

/** Throws (boundary `judge`) where the judge could not say. */
export function judgedVerdict(judge: Judge, judgement: Judgement): Verdict {
  if (judgement.verdict === 'invalid') {
    const { code, reason } = judgement;
    throw new TabwrightError('judge', `${judge.id}: ${reason}`, { code, details: { judge: judge.id } });
  }
  const { verdict, reasoning, details, spending, cached } = judgement;
  const { kind, id, model, promptHash } = judge;
  const said: JsonObject = { kind, id, model, promptHash, reasoning, cached, ...spending, ...details };
  return { success: verdict === 'success', reward: verdict === 'success' ? 1 : 0, details: { judge: said } };
}
