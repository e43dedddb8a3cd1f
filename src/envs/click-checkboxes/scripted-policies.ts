// Policies that need no model: the oracle, which knows the answer, and the blind ones that a trained policy has to
// beat. Each maps the page as text (either style) to the reference to click next; pure but for the given rng.

import type { Rng } from '../../util/index.ts';
import type { Puzzle } from './puzzle.ts';

type Line = { readonly reference: number; readonly role: string; readonly name: string; readonly checked: boolean };

/** The next click of a perfect agent: the first box that is not as wanted, else Submit. */
export function oracleTarget(puzzle: Puzzle, page: string): number {
  const wrong = readLines(page).find((line) => {
    const box = puzzle.labels.indexOf(line.name);
    return line.role === 'checkbox' && box !== -1 && line.checked !== puzzle.wanted[box];
  });
  return wrong?.reference ?? submitTarget(page);
}

/** Submit, whatever the page says: right by luck when nothing is wanted. */
export function submitTarget(page: string): number {
  const submit = readLines(page).find((line) => line.role === 'button' && line.name === 'Submit');
  if (submit === undefined) throw new RangeError(`no Submit button on the page:\n${page}`);
  return submit.reference;
}

/** Any control, each equally likely. */
export function randomTarget(page: string, rng: Rng): number {
  return rng.pick(readLines(page)).reference;
}

/** Enough of both observation styles for names of letters and digits, which is what this task has. */
function readLines(page: string): readonly Line[] {
  return page.split('\n').flatMap((line) => {
    const reference = /\[(\d+)\]/.exec(line)?.[1];
    const words = /(\w+) ["'](\w*)["']/.exec(line);
    if (reference === undefined || words === null) return [];
    return [
      {
        reference: Number(reference),
        role: words[1],
        name: words[2],
        checked: /\[checked\]|checked='true'/.test(line),
      },
    ];
  });
}
