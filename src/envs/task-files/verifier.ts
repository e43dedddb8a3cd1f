// Tasks of a file as episodes on websites: where they start, and a verifier that freezes each end and grades it. Judges
// come in; what needs one and has none ends without a number.

import { TabwrightError, type JsonObject } from '../../core/index.ts';
import { addSpending, NOTHING_SPENT, type Judge, type Judgement, type TextJudge } from '../../judges/index.ts';
import { judgeInput, type EpisodeEnd, type Verifier, type WebTaskSpec } from '../web-task/index.ts';
import { gradeSnapshot, type AskJudge, type JudgeQuestion, type NetworkEvent } from './grade/index.ts';
import type { LoadedTask } from './loaded-task.ts';
import { takeSnapshot } from './take-snapshot.ts';

/** Any may be missing: endings that need it are invalid then. */
export type TaskJudges = {
  /** For answers that are compared by meaning. */
  readonly text?: TextJudge;
  /** For tasks that are judged as a whole. */
  readonly episode?: Judge;
  /** For tasks with groups of facts. */
  readonly rubric?: Judge;
};

export type TaskFileVerifierOptions = {
  readonly judges?: TaskJudges;
  /** What went over the network in an episode, where somebody wrote it down; more than is kept is nobody's way out. */
  readonly network?: (
    end: EpisodeEnd,
    options: { readonly signal: AbortSignal },
  ) => Promise<readonly NetworkEvent[] | 'too-many' | undefined>;
};

/** Tasks as `createWebTaskEnv` takes them; a task that starts in several tabs starts in the first. */
export function webTasksOf(tasks: readonly LoadedTask[]): readonly WebTaskSpec[] {
  return tasks.map(({ id, startUrls, instruction, criteria, rubric }) => ({
    ...{ id, url: startUrls[0], instruction },
    ...(criteria === undefined ? {} : { criteria }),
    ...(rubric === undefined ? {} : { rubric }),
  }));
}

/** Addresses must be filled in; see `withSites`. */
export function taskFileVerifier(tasks: readonly LoadedTask[], options: TaskFileVerifierOptions = {}): Verifier {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return async (end, { signal }) => {
    const id = end.task.id.slice(end.task.env.length + 1);
    const task = byId.get(id);
    if (task === undefined) {
      throw new TabwrightError('config', `The task ${end.task.id} is none of the file that is graded by.`, {
        code: 'unknown-task',
        details: { task: end.task.id },
      });
    }
    const network = await options.network?.(end, { signal });
    if (network === 'too-many')
      return { success: false, reward: 0, details: { problem: 'too many requests were sent' } };
    const snapshot = await takeSnapshot(task, {
      answer: end.answer,
      session: end.session,
      signal,
      ...(network === undefined ? {} : { network }),
    });
    // An actor must not be able to make an episode one that does not count.
    if (snapshot === undefined) return { success: false, reward: 0, details: { problem: 'the tab was closed' } };
    let spent = NOTHING_SPENT;
    const spend = (judgement: Judgement): void => {
      spent = addSpending(spent, judgement.spending);
    };
    const { success, details } = await gradeSnapshot(task, snapshot, {
      judge: asking(options.judges ?? {}, { end, own: task.criteria }, spend),
      signal,
    });
    const seen: JsonObject = spent.calls === 0 ? details : { ...details, judge: { ...spent } };
    return { success, reward: success ? 1 : 0, details: seen };
  };
}

function asking(
  { text, episode, rubric }: TaskJudges,
  { end, own }: { readonly end: EpisodeEnd; readonly own: string | undefined },
  onJudgement: (judgement: Judgement) => void,
): AskJudge {
  const decided = (judgement: Judgement): boolean => {
    onJudgement(judgement);
    if (judgement.verdict !== 'invalid') return judgement.verdict === 'success';
    throw new TabwrightError('judge', judgement.reason, { code: judgement.code });
  };
  return async (question, { signal }) => {
    const call = { signal };
    const about = judgeInput({ ...end, omitted: end.session.log?.omitted });
    switch (question.about) {
      case 'same-meaning': {
        const { instruction, reference, answer } = question;
        return decided(await needed(text, question).equivalent({ question: instruction, reference, answer }, call));
      }
      case 'unachievable': {
        const { instruction, reason, answer } = question;
        return decided(
          await needed(text, question).unachievable({ question: instruction, note: reason, answer }, call),
        );
      }
      case 'rubric': {
        const { instruction, rubric, expected, answer } = question;
        const holds = decided(await needed(text, question).holds({ question: instruction, rubric, answer }, call));
        return holds === expected;
      }
      case 'facts':
        return decided(await needed(rubric, question).judge({ ...about, rubric: question.groups }, call));
      case 'outcome':
        return decided(await needed(episode, question).judge({ ...about, ...criteriaOf(question, own) }, call));
      default:
        return question satisfies never;
    }
  };
}

function criteriaOf(
  { references, note }: Extract<JudgeQuestion, { readonly about: 'outcome' }>,
  own: string | undefined,
): { readonly criteria?: string } {
  if (own !== undefined) return { criteria: own };
  if (references.length === 0) return {};
  const known = references.map((reference) => `- ${reference}`).join('\n');
  return {
    criteria:
      'The task is done where everything that it asks for was done, and the answer agrees with one of these known answers ' +
      `or is borne out by what was seen on the site, which may have changed since:\n${known}${note === '' ? '' : `\nNote: ${note}`}`,
  };
}

function needed<T>(judge: T | undefined, { about }: JudgeQuestion): T {
  if (judge !== undefined) return judge;
  throw new TabwrightError('judge', `Whether this episode was a success takes a judge (${about}), and none is set.`, {
    code: 'no-judge',
    details: { about },
  });
}
