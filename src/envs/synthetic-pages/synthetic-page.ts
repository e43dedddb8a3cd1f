// Pages that exist only as text, for pretraining: a handful of controls with random names, states and references,
// written as the observation of a real page writes them. Nothing here is a task; see `lessons.ts`.

import { quote } from '../../browser/index.ts';
import type { Rng } from '../../util/index.ts';

export type SyntheticControl = {
  readonly role: 'checkbox' | 'button' | 'link' | 'textbox' | 'radio' | 'tab';
  readonly name: string;
  readonly checked: boolean;
  readonly reference: number;
};

export type SyntheticPage = { readonly controls: readonly SyntheticControl[]; readonly text: string };

const BUTTON_NAMES = [
  'Submit',
  'OK',
  'Cancel',
  'Send',
  'Next',
  'Back',
  'Save',
  'Search',
  'Login',
  'Done',
  'Close',
  'Help',
];
const OTHER_ROLES = ['link', 'textbox', 'radio', 'tab'] as const;
const CHARACTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const CHECKED_SHARE = 0.35;
/** Share of pages whose references count from 1, as a fresh episode's do; the others have gaps and start anywhere. */
const COUNTED_SHARE = 0.5;

/** Between one and seven checkboxes, one or two buttons after them, sometimes other controls in between; at most `limit` in all. */
export function createSyntheticPage(rng: Rng, limit = Infinity): SyntheticPage {
  for (;;) {
    const controls = drawControls(rng, rng.integer(1, 8), true);
    if (controls.length <= limit) return { controls, text: pageText(controls) };
  }
}

/** Nothing but checkboxes: their names alone tell them apart. */
export function createCheckboxPage(rng: Rng, boxes: number): SyntheticPage {
  const controls = drawControls(rng, boxes, false);
  return { controls, text: pageText(controls) };
}

function drawControls(rng: Rng, boxCount: number, mixed: boolean): SyntheticControl[] {
  const taken = new Set<string>();
  const fresh = (make: () => string): string => {
    let name = make();
    while (taken.has(name)) name = make();
    taken.add(name);
    return name;
  };
  const boxes = Array.from({ length: boxCount }, () => ({
    role: 'checkbox' as const,
    name: fresh(() => randomName(rng)),
  }));
  const others = Array.from({ length: mixed && rng.next() < 0.25 ? rng.integer(1, 3) : 0 }, () => ({
    role: rng.pick(OTHER_ROLES),
    name: fresh(() => randomName(rng)),
  }));
  const middle = others.length > 0 ? rng.shuffle([...boxes, ...others]) : boxes;
  const buttons = Array.from({ length: mixed ? (rng.next() < 0.3 ? 2 : 1) : 0 }, () => ({
    role: 'button' as const,
    name: fresh(() => (rng.next() < 0.8 ? rng.pick(BUTTON_NAMES) : randomName(rng))),
  }));
  const parts = [...middle, ...buttons];
  const references = rng.next() < COUNTED_SHARE ? parts.map((_, i) => i + 1) : scatteredReferences(rng, parts.length);
  return parts.map(({ role, name }, i) => {
    const checked = (role === 'checkbox' || role === 'radio') && rng.next() < CHECKED_SHARE;
    return { role, name, checked, reference: references[i] };
  });
}

function pageText(controls: readonly SyntheticControl[]): string {
  return controls
    .map(
      ({ role, name, checked, reference }) =>
        `${role} ${quote(name, '"')}${checked ? ' [checked]' : ''} [${reference}]`,
    )
    .join('\n');
}

/** Two to eight letters and digits, as the task's labels are. */
export function randomName(rng: Rng): string {
  return Array.from({ length: rng.integer(2, 9) }, () => rng.pick(CHARACTERS)).join('');
}

/** Increasing references with gaps, below 100. */
function scatteredReferences(rng: Rng, count: number): number[] {
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(rng.integer(1, 100));
  return [...chosen].sort((a, b) => a - b);
}
