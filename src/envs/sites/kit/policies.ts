// Policies that need no model: one that knows how each task is solved and does it in the page, one that gives up at once,
// one that answers what is most often right without looking. The first shows that a task can be done, the others how much
// of a figure is luck.

import { TabwrightError, type Actor, type ChatRecord } from '../../../core/index.ts';
import { expectedText } from './answers.ts';
import { oracleCell } from './oracle-cell.ts';
import { actor, cell } from './scripted-actor.ts';
import { makeTask, type Template } from './template.ts';

export type PolicyTask = { readonly instruction: string; readonly template: Template; readonly seed: number };

export type SitePolicies = Readonly<Record<'oracle' | 'noop' | 'blind', Actor<ChatRecord>>>;

/** Seeds that no registered task has: what the blind policy learned its guesses from. */
const GUESS_SEEDS = Array.from({ length: 15 }, (_, i) => 1_000 + i);

/** Tasks are told apart by their words: an actor is shown nothing else. */
export function sitePolicies(suite: string, tasks: readonly PolicyTask[]): SitePolicies {
  const byWords = new Map(tasks.map((task) => [task.instruction, task]));
  const taskOf = (instruction: string): PolicyTask => {
    const task = byWords.get(instruction);
    if (task !== undefined) return task;
    throw new TabwrightError('policy', `${suite} has no task with these words: ${instruction.slice(0, 200)}`, {
      code: 'not-in-suite',
    });
  };
  const guesses = new Map<Template, string>();
  const guess = (template: Template): string => {
    const known = guesses.get(template) ?? bestGuess(template);
    guesses.set(template, known);
    return known;
  };
  return {
    oracle: actor('oracle', ({ instruction, past, observation }) => {
      const { template, seed } = taskOf(instruction);
      if (past.length === 0) return cell(oracleCell(makeTask(template, seed).oracle));
      // What the cell wrote is what was read off the page; one that failed has no answer.
      return { kind: 'answer', text: observation.notice?.startsWith('The cell ran.') === true ? observation.page : '' };
    }),
    noop: actor('noop', () => ({ kind: 'answer', text: '' })),
    blind: actor('blind', ({ instruction }) => ({ kind: 'answer', text: guess(taskOf(instruction).template) })),
  };
}

/** What the template's answer is most often; of tasks without a question, that it is done. */
export function bestGuess(template: Template): string {
  const counts = new Map<string, number>();
  for (const seed of GUESS_SEEDS) {
    const { answer } = makeTask(template, seed);
    if (answer === undefined) return 'Done.';
    const text = expectedText(answer);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}
