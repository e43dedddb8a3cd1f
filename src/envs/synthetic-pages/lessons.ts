// What `nano` is pretrained on: one page, one sentence, one answer. The lessons teach to find a control by its name,
// to read a state, to go through a list, and to do one thing before another. No lesson selects several controls and
// then submits: that is the task the shipped agent has to learn by itself.

import { createRng, type Rng } from '../../util/index.ts';
import { createSyntheticPage, withChecked, type SyntheticControl, type SyntheticPage } from './synthetic-page.ts';

export const LESSON_KINDS = ['click', 'is-checked', 'which-of', 'select-then'] as const;
/**
 * - `click`: "Click X."
 * - `is-checked`: "Is X checked?", answered yes or no.
 * - `which-of`: "Which of a, b, c is not checked?", of which exactly one qualifies; answered by its reference.
 * - `select-then`: "Select X and click OK.": the checkbox while it is unchecked, the button after that.
 */
export type LessonKind = (typeof LESSON_KINDS)[number];

/** Relative share of each kind. */
export type LessonMix = Readonly<Record<LessonKind, number>>;

export type Lesson = {
  readonly kind: LessonKind;
  readonly instruction: string;
  readonly page: string;
  readonly answer:
    { readonly kind: 'click'; readonly target: number } | { readonly kind: 'text'; readonly text: 'yes' | 'no' };
};

/** The lesson of a seed. Pure: same seed and mix, same lesson. */
export function createLesson(seed: number, mix: LessonMix): Lesson {
  const rng = createRng('lesson', seed);
  const kind = drawKind(rng, mix);
  switch (kind) {
    case 'click':
      return clickLesson(rng);
    case 'is-checked':
      return isCheckedLesson(rng);
    case 'which-of':
      return whichOfLesson(rng);
    case 'select-then':
      return selectThenLesson(rng);
    default:
      return kind satisfies never;
  }
}

function clickLesson(rng: Rng): Lesson {
  const page = createSyntheticPage(rng);
  const target = rng.pick(page.controls);
  const role = rng.next() < 0.2 ? `the ${target.role} ` : '';
  return { kind: 'click', instruction: `Click ${role}${target.name}.`, page: page.text, answer: clickOn(target) };
}

function isCheckedLesson(rng: Rng): Lesson {
  const page = createSyntheticPage(rng);
  const target = rng.pick(boxesOf(page));
  return {
    kind: 'is-checked',
    instruction: `Is ${target.name} checked?`,
    page: page.text,
    answer: { kind: 'text', text: target.checked ? 'yes' : 'no' },
  };
}

function whichOfLesson(rng: Rng): Lesson {
  const page = createSyntheticPage(rng);
  const listed = rng.shuffle(boxesOf(page)).slice(0, rng.integer(1, 5));
  const target = rng.pick(listed);
  const wantChecked = rng.next() < 0.3;
  // Within the list only the target has the state that is asked for; boxes outside it are as they are.
  const posed = withChecked(page, (control) =>
    listed.includes(control) ? (control === target) === wantChecked : control.checked,
  );
  const names = rng.shuffle(listed).map((control) => control.name);
  const instruction = `Which of ${names.join(', ')} is ${wantChecked ? '' : 'not '}checked?`;
  return { kind: 'which-of', instruction, page: posed.text, answer: clickOn(target) };
}

function selectThenLesson(rng: Rng): Lesson {
  const page = createSyntheticPage(rng);
  const box = rng.pick(boxesOf(page));
  const button = rng.pick(page.controls.filter((control) => control.role === 'button'));
  const done = rng.next() < 0.5;
  const posed = withChecked(page, (control) => (control === box ? done : control.checked));
  return {
    kind: 'select-then',
    instruction: `Select ${box.name} and click ${button.name}.`,
    page: posed.text,
    answer: clickOn(done ? button : box),
  };
}

function boxesOf(page: SyntheticPage): SyntheticControl[] {
  return page.controls.filter((control) => control.role === 'checkbox');
}

function clickOn(control: SyntheticControl): Lesson['answer'] {
  return { kind: 'click', target: control.reference };
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
