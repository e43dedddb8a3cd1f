// The 125 tasks of MiniWoB++ 1.1.0 that are registered, as data: which half they belong to, what counts as success, how
// a page is made ready for the next episode, and what text cannot show. BrowserGym's halves, so that figures compare.
// Source of the halves: https://github.com/ServiceNow/BrowserGym, browsergym/experiments, metadata/miniwob.csv.

export type MiniwobTask = {
  readonly name: string;
  readonly split: 'train' | 'test';
  /** Raw reward from which an episode is a success; 1 wherever the page itself gives 1 for exactly right. */
  readonly threshold: number;
  /** `reuse`: the page starts its next problem itself. `reload`: what an episode leaves behind would show in the next. */
  readonly reset: 'reuse' | 'reload';
  /** Whether a wrong action can end an episode. Where not, only the limit of actions ends a failing one. */
  readonly canFail: boolean;
  /** Why the page as text does not suffice; absent where it does. */
  readonly needsPicture?: string;
};

const TRAIN =
  'book-flight book-flight-nodelay buy-ticket choose-date choose-date-easy choose-date-medium choose-date-nodelay ' +
  'circle-center click-checkboxes click-checkboxes-large click-checkboxes-soft click-checkboxes-transfer ' +
  'click-collapsible click-collapsible-2 click-collapsible-2-nodelay click-collapsible-nodelay click-dialog ' +
  'click-dialog-2 click-option click-shades click-test-2 click-test-transfer count-shape daily-calendar drag-box ' +
  'drag-items drag-shapes drag-shapes-2 drag-single-shape drag-sort-numbers draw-circle draw-line enter-date ' +
  'enter-password enter-text enter-text-2 enter-text-dynamic enter-time find-midpoint focus-text focus-text-2 ' +
  'form-sequence identify-shape login-user login-user-popup multi-layouts multi-orderings navigate-tree odd-or-even ' +
  'read-table read-table-2 search-engine text-editor text-transform unicode-test use-autocomplete ' +
  'use-autocomplete-nodelay use-colorwheel use-colorwheel-2 use-slider use-slider-2 visual-addition';

const TEST =
  'ascending-numbers bisect-angle choose-list click-button click-button-sequence click-color click-link click-menu ' +
  'click-menu-2 click-pie click-pie-nodelay click-scroll-list click-shape click-tab click-tab-2 click-tab-2-easy ' +
  'click-tab-2-hard click-tab-2-medium click-test click-widget copy-paste copy-paste-2 count-sides drag-circle ' +
  'drag-cube drag-items-grid email-inbox email-inbox-delete email-inbox-forward email-inbox-forward-nl ' +
  'email-inbox-forward-nl-turk email-inbox-important email-inbox-nl-turk email-inbox-noscroll email-inbox-reply ' +
  'email-inbox-star-reply find-greatest find-word form-sequence-2 form-sequence-3 generate-number grid-coordinate ' +
  'guess-number highlight-text highlight-text-2 hot-cold number-checkboxes order-food phone-book resize-textarea ' +
  'right-angle scroll-text scroll-text-2 sign-agreement simple-algebra simple-arithmetic social-media ' +
  'social-media-all social-media-some stock-market terminal tic-tac-toe use-spinner';

/**
 * Where exactly 1 is out of reach of whole pixels, or would ask for a perfect hand. Ours, not the pages': they give the
 * whole raw reward and name no success.
 */
const THRESHOLDS: Readonly<Record<string, number>> = {
  'bisect-angle': 0.9, // the larger part is at most 55 % of the angle
  'circle-center': 0.9, // within a tenth of the radius, 2.5 to 4 pixels
  'draw-circle': 0.9, // the distance from the centre varies by less than 4 pixels (standard deviation)
  'draw-line': 0.95, // straight, and less than 6 pixels from the point
  'find-midpoint': 0.9, // within 3 pixels
  'right-angle': 0.95, // within 4.5 degrees
  'use-colorwheel': 0.95, // mean difference of red, green and blue at most 5 %
  'use-colorwheel-2': 0.95,
};

const CANNOT_FAIL: ReadonlySet<string> = new Set(['click-dialog', 'click-test', 'focus-text', 'guess-number']);

/** Where tests/suites/miniwob-resets.test.ts would tell a used page from a fresh one. */
const RELOAD: ReadonlySet<string> = new Set(
  (
    'book-flight book-flight-nodelay choose-date choose-date-easy choose-date-medium choose-date-nodelay click-pie ' +
    'click-pie-nodelay drag-cube drag-items drag-items-grid drag-sort-numbers focus-text-2 form-sequence scroll-text ' +
    'scroll-text-2 search-engine stock-market use-autocomplete use-autocomplete-nodelay use-colorwheel use-colorwheel-2 use-slider use-slider-2'
  ).split(' '),
);

const NEEDS_PICTURE: Readonly<Record<string, string>> = {
  'count-sides': 'the polygon is drawn on a canvas',
  'drag-cube': 'which side of the cube faces the user is a matter of perspective',
  'number-checkboxes': 'the pattern to copy is an image',
};

export const MINIWOB_TASKS: readonly MiniwobTask[] = [
  ...TRAIN.split(' ').map((name) => describe(name, 'train')),
  ...TEST.split(' ').map((name) => describe(name, 'test')),
].sort((a, b) => (a.name < b.name ? -1 : 1));

function describe(name: string, split: MiniwobTask['split']): MiniwobTask {
  const needsPicture = NEEDS_PICTURE[name];
  return {
    name,
    split,
    threshold: THRESHOLDS[name] ?? 1,
    reset: RELOAD.has(name) ? 'reload' : 'reuse',
    canFail: !CANNOT_FAIL.has(name),
    ...(needsPicture === undefined ? {} : { needsPicture }),
  };
}

/** Throws `RangeError` for a name that is none of the 125. */
export function miniwobTask(name: string): MiniwobTask {
  const task = MINIWOB_TASKS.find((candidate) => candidate.name === name);
  if (task === undefined) throw new RangeError(`MiniWoB++ has no registered task ${JSON.stringify(name)}`);
  return task;
}
