// Problems with one exact number as their answer, out of rows as GSM8K has them: a question, and a text that ends in
// "#### 7", or the number alone. Where the rows come from (file, hub) is not known here.

import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { type FileRows } from '../task-files/read-rows.ts';
import { finalAnswer } from './answer.ts';
import { readNumber, type ExactNumber } from './number.ts';

export type MathProblem = {
  /** Unique within the list. */
  readonly id: string;
  readonly question: string;
  readonly answer: ExactNumber;
};

const rowSchema = z.object({
  id: z.union([z.string().min(1), z.number()]).optional(),
  question: z.string().min(1),
  answer: z.union([z.string().min(1), z.number()]),
});

/** All problems, or an error that names the first row that is none. */
export function mathProblems({ name, rows }: FileRows): readonly MathProblem[] {
  const seen = new Map<string, number>();
  const problems = rows.map((row, index): MathProblem => {
    const { where } = row;
    const refuse = (problem: string): never => {
      throw new TabwrightError('config', `${name}, ${where}: ${problem}`, {
        code: 'bad-problem',
        details: { file: name, row: where },
      });
    };
    if ('unreadable' in row) return refuse(row.unreadable);
    const parsed = rowSchema.safeParse(row.value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return refuse(
        `${issue.path.join('.')} ${issue.message}; a problem is {"question": "…", "answer": "… #### 7"}, id as you like`,
      );
    }
    const { question, answer } = parsed.data;
    const id = String(parsed.data.id ?? index);
    const before = seen.get(id);
    if (before !== undefined) return refuse(`the id ${JSON.stringify(id)} was there before; ids are unique`);
    seen.set(id, index);
    const number = referenceOf(String(answer));
    if (number === undefined) {
      return refuse(
        `the answer ${JSON.stringify(shorten(String(answer)))} is no exact number, nor ends in "#### " and one`,
      );
    }
    return { id, question, answer: number };
  });
  if (problems.length > 0) return problems;
  throw new TabwrightError('config', `${name} holds no problems.`, { code: 'no-problems', details: { file: name } });
}

function referenceOf(answer: string): ExactNumber | undefined {
  if (!answer.includes('####')) return readNumber(answer);
  const final = finalAnswer(answer);
  return final.kind === 'number' && final.from === 'hashes' ? final.value : undefined;
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `…${text.slice(-60)}`;
}
