// One instance of click-checkboxes as data, made from a seed. Pure.
// Distribution of MiniWoB++'s task of that name: 2-6 boxes, each wanted with probability 1/2, random labels of 2-8
// letters and digits; here the labels of a page also differ from each other. The page itself is this project's own.
// Source: https://miniwob.farama.org/environments/click-checkboxes/

import { createRng, type Rng } from '../../util/index.ts';

export type Puzzle = {
  readonly labels: readonly string[];
  /** Same length as `labels`: whether that box is to be checked. */
  readonly wanted: readonly boolean[];
  readonly instruction: string;
};

const LABEL_CHARACTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];

/** The puzzle of a seed: same seed, same puzzle, on every machine. */
export function createPuzzle(seed: number): Puzzle {
  const rng = createRng('click-checkboxes', seed);
  const labels = new Set<string>();
  for (const count = rng.integer(2, 7); labels.size < count;) labels.add(randomLabel(rng));
  const boxes = [...labels].map((label) => ({ label, wanted: rng.next() < 0.5 }));
  return {
    labels: boxes.map((box) => box.label),
    wanted: boxes.map((box) => box.wanted),
    instruction: instructionFor(boxes.filter((box) => box.wanted).map((box) => box.label)),
  };
}

/** `Select a, b and click Submit.` */
export function instructionFor(wantedLabels: readonly string[]): string {
  return `Select ${wantedLabels.length === 0 ? 'nothing' : wantedLabels.join(', ')} and click Submit.`;
}

function randomLabel(rng: Rng): string {
  return Array.from({ length: rng.integer(2, 9) }, () => rng.pick(LABEL_CHARACTERS)).join('');
}
