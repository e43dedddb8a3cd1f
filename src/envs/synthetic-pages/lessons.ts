// What `nano` is pretrained on: a page, a sentence about it, one answer. The lessons teach to find
// a control by its name, to read a state, to look for each name of a list, and to do one thing before another. No
// lesson selects several controls and then submits: that is the task the shipped agent has to learn by itself.

import { createRng, type Rng } from '../../util/index.ts';
import {
  createCheckboxPage,
  createSyntheticPage,
  randomName,
  type SyntheticControl,
  type SyntheticPage,
} from './synthetic-page.ts';

export const LESSON_KINDS = ['click', 'is-checked', 'which-of', 'select-then'] as const;
/**
 * - `click`: "Click X."
 * - `is-checked`: "Is X checked?", answered yes or no.
 * - `which-of`: "Which of a, b, c is on the page?", of which exactly one is; answered by its reference.
 * - `select-then`: "Select X and click OK.": the checkbox while it is unchecked, the button after that.
 */
export type LessonKind = (typeof LESSON_KINDS)[number];

/** Relative share of each kind. */
export type LessonMix = Readonly<Record<LessonKind, number>>;

export type Lesson = {
  readonly kind: LessonKind;
  readonly instruction: string;
  readonly page: string;
  /** A reference such as `[3]`, or `yes` or `no`. */
  readonly answer: string;
  /** Reference of the control that the answer is about. */
  readonly subject: number;
};

/** Difficulties of the curriculum; the last one is the full range of pages. */
export const LESSON_LEVELS = 8;
/** Levels below this have nothing but checkboxes and clicks. */
const NAME_LEVELS = 3;

/**
 * The lesson of a seed at a difficulty from 0. Pure: same arguments, same lesson. Levels 0 to 2 show two to four
 * checkboxes and ask to click one: with a button beside them its familiar name would give it away, and names would
 * not be compared. From level 3 on all kinds are asked, on pages of at most level + 2 controls.
 */
export function createLesson(seed: number, mix: LessonMix, level = LESSON_LEVELS - 1): Lesson {
  const rng = createRng('lesson', seed);
  if (level < NAME_LEVELS) {
    const page = createCheckboxPage(rng, level + 2);
    return { page: page.text, ...ask(rng, page, 'click') };
  }
  const page = createSyntheticPage(rng, level < LESSON_LEVELS - 1 ? level + 2 : Infinity);
  return { page: page.text, ...ask(rng, page, drawKind(rng, mix)) };
}

function ask(rng: Rng, page: SyntheticPage, kind: LessonKind): Omit<Lesson, 'page'> {
  switch (kind) {
    case 'click': {
      const target = rng.pick(page.controls);
      const role = rng.next() < 0.2 ? `the ${target.role} ` : '';
      return {
        kind,
        instruction: `Click ${role}${target.name}.`,
        answer: reference(target),
        subject: target.reference,
      };
    }
    case 'is-checked': {
      const target = rng.pick(boxesOf(page));
      return {
        kind,
        instruction: `Is ${target.name} checked?`,
        answer: target.checked ? 'yes' : 'no',
        subject: target.reference,
      };
    }
    case 'which-of':
      return whichOfLesson(rng, page);
    case 'select-then': {
      const box = rng.pick(boxesOf(page));
      const button = rng.pick(page.controls.filter((control) => control.role === 'button'));
      const target = box.checked ? button : box;
      const instruction = `Select ${box.name} and click ${button.name}.`;
      return { kind, instruction, answer: reference(target), subject: target.reference };
    }
    default:
      return kind satisfies never;
  }
}

/** One name of the page among up to four that are not on it. */
function whichOfLesson(rng: Rng, page: SyntheticPage): Omit<Lesson, 'page'> {
  const target = rng.pick(boxesOf(page));
  const absent = new Set<string>();
  for (const count = rng.integer(0, 5); absent.size < count;) {
    const name = randomName(rng);
    if (page.controls.every((control) => control.name !== name)) absent.add(name);
  }
  return {
    kind: 'which-of',
    instruction: `Which of ${rng.shuffle([target.name, ...absent]).join(', ')} is on the page?`,
    answer: reference(target),
    subject: target.reference,
  };
}

function boxesOf(page: SyntheticPage): SyntheticControl[] {
  return page.controls.filter((control) => control.role === 'checkbox');
}

function reference(control: SyntheticControl): string {
  return `[${control.reference}]`;
}

function drawKind(rng: Rng, mix: LessonMix): LessonKind {
  const total = LESSON_KINDS.reduce((sum, kind) => sum + mix[kind], 0);
  let left = rng.next() * total;
  for (const kind of LESSON_KINDS) {
    left -= mix[kind];
    if (left < 0) return kind;
  }
  return LESSON_KINDS[0];
}
