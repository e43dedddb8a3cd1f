// A frozen ending against the checks of its task. Code first: a judge is asked only where all that code can decide holds,
// and what code finds wrong no judge makes right. Pure but for the judge, which comes in.

import { TabwrightError, type JsonObject, type JsonValue } from '../../../core/index.ts';
import type { Check, LoadedTask, PageTarget, TaskQuestion } from '../loaded-task.ts';
import { bounded } from './bounded.ts';
import { urlProblem } from './final-url.ts';
import { networkProblem } from './network.ts';
import type { CheckResult, JudgeQuestion, Snapshot } from './snapshot.ts';
import { stateProblem } from './state.ts';
import { applyRule } from './text-rules.ts';
import { typedAnswerProblem } from './typed-answer.ts';

/** True or false; whoever cannot say throws a `TabwrightError` of boundary `judge`. */
export type AskJudge = (question: JudgeQuestion, options: { readonly signal: AbortSignal }) => Promise<boolean>;

export type Grade = { readonly success: boolean; readonly details: JsonObject };

export type GradeOptions = {
  /** Without it, an ending that code cannot decide is no failure and no success: it throws. */
  readonly judge?: AskJudge;
  readonly signal: AbortSignal;
};

/** Most take a hundredth of one. Neither what must be there nor what must not be there holds after that. */
const CHECK_MS = 3_000;

export async function gradeSnapshot(
  task: Pick<LoadedTask, 'id' | 'instruction' | 'checks'>,
  snapshot: Snapshot,
  { judge, signal }: GradeOptions,
): Promise<Grade> {
  if (task.checks.length === 0) throw notGraded('no-checks', `nobody has said how the task ${task.id} is judged`, task);
  const results = task.checks.map((check) => ({
    check,
    result: bounded<CheckResult>(
      CHECK_MS,
      () => applyCheck(check, snapshot, task),
      () => ({ holds: false, details: { problem: `not comparable: it took more than ${CHECK_MS} ms` } }),
    ),
  }));
  const details = (judged: readonly JsonValue[]): JsonObject => ({
    checks: results.map(({ check, result }) => ({
      kind: check.kind,
      ...('ask' in result ? { judged: true } : { holds: result.holds }),
      ...result.details,
    })),
    ...(judged.length === 0 ? {} : { judge: judged }),
  });
  if (results.some(({ result }) => 'holds' in result && !result.holds)) return { success: false, details: details([]) };
  const questions = results.flatMap(({ result }) => ('ask' in result ? result.ask : []));
  if (questions.length > 0 && judge === undefined) {
    throw new TabwrightError(
      'judge',
      `The task ${task.id} needs a judge (${questions[0].about}), and none is set: name one.`,
      {
        code: 'no-judge',
        details: { task: task.id, about: questions[0].about },
      },
    );
  }
  const judged: JsonObject[] = [];
  for (const question of questions) {
    const yes = await judge!(question, { signal });
    judged.push({ about: question.about, yes });
    if (!yes) return { success: false, details: details(judged) };
  }
  return { success: true, details: details(judged) };
}

/** One name for what a target reads: the same page, the same preparation, the same expression. */
export function targetKey({ page, locator, prepare }: PageTarget): string {
  return JSON.stringify([page, prepare, locator]);
}

export function applyCheck(
  check: Check,
  snapshot: Snapshot,
  task: Pick<LoadedTask, 'id' | 'instruction'>,
): CheckResult {
  const told = (problem: string | undefined): CheckResult => ({
    holds: problem === undefined,
    details: problem === undefined ? {} : { problem },
  });
  switch (check.kind) {
    case 'answer-text':
      // Nothing said is no answer, whatever it does not include.
      if ((snapshot.answer ?? '').trim() === '') return told('no answer was given');
      return applyRules(check.rules, snapshot.answer ?? '', task.instruction);
    case 'final-url':
      if (snapshot.url === undefined) throw notGraded('no-final-url', 'the last address could not be seen', task);
      return told(urlProblem(snapshot.url, check.references, check.rule));
    case 'page-content':
      return pageContent(check.targets, snapshot, task);
    case 'typed-answer':
      return told(typedAnswerProblem(check, snapshot.answer));
    case 'network': {
      if (snapshot.network !== undefined) return told(networkProblem(check, snapshot.network));
      throw notGraded(
        'no-network-log',
        'what went over the network was not recorded, or not where it is evidence',
        task,
      );
    }
    case 'state': {
      const state = snapshot.states.get(check.stateUrl);
      if (state === undefined) throw notGraded('no-state', `${check.stateUrl} gave no state`, task);
      return told(stateProblem(state, check.query, check.expected));
    }
    case 'judged':
      return { ask: [questionOf(check.question, snapshot.answer ?? '', task.instruction)], details: {} };
    case 'unsupported':
      throw notGraded('unsupported-evaluator', `${check.evaluator} is not supported: ${check.reason}`, task);
    default:
      return check satisfies never;
  }
}

function applyRules(
  rules: Extract<Check, { readonly kind: 'answer-text' }>['rules'],
  text: string,
  instruction: string,
): CheckResult {
  const ask: JudgeQuestion[] = [];
  for (const rule of rules) {
    const result = applyRule(rule, text);
    if ('holds' in result) {
      if (!result.holds) return { holds: false, details: { problem: result.why } };
      continue;
    }
    if (result.ask.rule === 'unachievable') {
      ask.push({ about: 'unachievable', instruction, reason: result.ask.reason, answer: text });
    } else {
      ask.push(
        ...result.ask.values.map(
          (reference) => ({ about: 'same-meaning', instruction, reference, answer: text }) as const,
        ),
      );
    }
  }
  return ask.length === 0 ? { holds: true, details: {} } : { ask, details: {} };
}

function pageContent(
  targets: readonly PageTarget[],
  { texts }: Snapshot,
  task: Pick<LoadedTask, 'id' | 'instruction'>,
): CheckResult {
  for (const [index, target] of targets.entries()) {
    const text = texts.get(targetKey(target));
    if (text === undefined) throw notGraded('no-page-text', `the page of target ${index + 1} could not be read`, task);
    // A page without the thing that is looked for is the wrong page, whatever is excluded from it.
    if (text === null) return { holds: false, details: { target: index, problem: 'the page has no such thing' } };
    const result = applyRules(target.rules, text, task.instruction);
    if (!('holds' in result)) throw notGraded('judge-of-page', 'a page’s text is not judged', task);
    if (!result.holds) return { holds: false, details: { target: index, ...result.details } };
  }
  return { holds: true, details: {} };
}

function questionOf(question: TaskQuestion, answer: string, instruction: string): JudgeQuestion {
  switch (question.about) {
    case 'outcome':
      return { ...question, instruction, answer };
    case 'rubric':
      return { ...question, instruction, answer };
    case 'facts':
      return { about: 'facts', groups: question.groups, reference: question.answer, instruction, answer };
    default:
      return question satisfies never;
  }
}

function notGraded(code: string, reason: string, { id }: Pick<LoadedTask, 'id'>): TabwrightError {
  return new TabwrightError('env', `The task ${id} cannot be graded: ${reason}.`, { code, details: { task: id } });
}
