// What `tabwright eval` prints of episodes on websites: turns as they are played, and what came of one task in words. Where
// nobody judges, there is no number: the answer is shown, and where the episode lies.

import { join } from 'node:path';
import { TabwrightError, type AnyTrajectory, type JsonObject, type Turn } from '../../core/index.ts';
import { printable } from '../printable.ts';
import type { CommandContext } from '../run-command.ts';

export function showTurn({ action, nextPage, notice = '' }: Turn<unknown>, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ kind: 'turn', action, notice, output: nextPage })}\n`);
    return;
  }
  const what =
    action.kind === 'call'
      ? typeof action.args.code === 'string'
        ? action.args.code
        : JSON.stringify(action.args)
      : action.kind === 'malformed'
        ? action.text
        : undefined;
  if (what === undefined) return; // the answer is printed at the end, verbose or not
  const lines = what.trimEnd().split('\n');
  const shown = [...lines.map((line, i) => `${i === 0 ? '> ' : '. '}${line}`), `  [${notice}]`, nextPage];
  process.stdout.write(`${printable(shown.filter((line) => line !== '').join('\n'))}\n\n`);
}

export type OneTask = {
  readonly trajectory: AnyTrajectory;
  /** Run folder. */
  readonly folder: string;
  /** Who judged it; undefined where nobody did. */
  readonly judge: string | undefined;
};

/** An episode that ended as it should has an answer or a reason; one that broke is the command's failure. */
export function tellOneTask({ trajectory, folder, judge }: OneTask, print: CommandContext<unknown>['print']): void {
  const { outcome, turns, seconds } = trajectory;
  const last = turns.at(-1)?.action;
  const answer = last?.kind === 'answer' ? last.text : null;
  const file = join(folder, 'rollouts', 'eval.jsonl');
  const judged = outcome.kind === 'finished';
  const data: JsonObject = { answer, turns: turns.length, seconds, judged, episode: file, outcome: { ...outcome } };
  if (outcome.kind === 'invalid' && outcome.code !== 'not-judged') {
    print(`No answer: the episode broke off after ${turns.length} turns.\nEpisode: ${file}`, data);
    throw new TabwrightError(outcome.boundary, outcome.message, { code: outcome.code });
  }
  print(
    [
      answer === null ? `No answer: the episode ended after ${turns.length} turns.` : `Answer: ${answer}`,
      judged
        ? `${outcome.success ? 'Success' : 'No success'}, says ${judge ?? 'the task'}: ${reasonOf(outcome.details)}\nEpisode, log and pictures: ${file}`
        : `Nobody has judged it. Episode, log and pictures: ${file}`,
    ].join('\n'),
    data,
  );
}

function reasonOf({ judge }: JsonObject): string {
  const reasoning = (judge as JsonObject | undefined)?.reasoning;
  return typeof reasoning === 'string' ? reasoning : '-';
}
