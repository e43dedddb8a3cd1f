// Oracles of the tasks in which something is dragged or marked with the mouse.

import { found, one, worded, type Oracle, type OracleHand } from './hand.ts';

const SUBMIT = one('#subbtn');

/** Centre of an element in pixels of the page. */
function centreOf(hand: OracleHand, element: string): Promise<readonly [number, number]> {
  return hand.read(
    `(() => { const b = ${element}.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`,
  );
}

const box: Oracle = async (hand) => {
  const from = await hand.reference(one('#draggableSmall'));
  const to = await hand.reference(one('#draggableLarge'));
  await hand.call('drag', { from, to });
  await hand.click(SUBMIT);
};

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  left: [-25, 0],
  right: [25, 0],
  up: [0, -25],
  down: [0, 25],
};

const direction: Oracle = async (hand) => {
  const [dx, dy] = STEPS[found(/Drag the \w+ (\w+)/, hand.utterance)];
  const [x, y] = await centreOf(hand, one('#area svg > *'));
  await hand.dragAt([
    [x, y],
    [x + dx, y + dy],
  ]);
  await hand.click(SUBMIT);
};

const TAGS: Readonly<Record<string, string>> = { rectangles: 'rect', circles: 'circle', triangles: 'polygon' };
const LOOSE = 'rect:not(#shape-container), circle, polygon';

/** Drags every loose shape for which \`container\` gives one, a number among the containers. */
async function sort(hand: OracleHand, container: string): Promise<void> {
  const moves = await hand.read<readonly (readonly [number, number])[]>(
    `[...document.querySelectorAll('${LOOSE}')].map((e, i) => [i, (${container})(e)]).filter(([, to]) => to >= 0)`,
  );
  // What lies above is moved first.
  for (const [i, to] of [...moves].reverse()) {
    const from = await centreOf(hand, one(LOOSE, i));
    await hand.dragAt([from, await centreOf(hand, one('[id=shape-container]', to))]);
  }
  await hand.click(SUBMIT);
}

const shapes: Oracle = (hand) => {
  const tag = TAGS[found(/Drag all (\w+) into/, hand.utterance)];
  return sort(hand, `(e) => e.tagName === '${tag}' ? 0 : -1`);
};

const shapesApart: Oracle = (hand) => {
  const what = found(/Drag all (.*) into the left/, hand.utterance);
  const colour = /^(\w+) shapes$/.exec(what)?.[1];
  const left = colour === undefined ? `e.tagName === '${TAGS[what]}'` : `e.getAttribute('fill') === '${colour}'`;
  return sort(hand, `(e) => ${left} ? 0 : 1`);
};

/** Drags one entry of a sortable list to the place of another, a little past its middle. */
async function move(hand: OracleHand, from: number, to: number): Promise<void> {
  const [x, y] = await centreOf(hand, one('#sortable li', from));
  const [toX, toY] = await centreOf(hand, one('#sortable li', to));
  const past = 5;
  const [dx, dy] = [Math.sign(toX - x) * past, Math.sign(toY - y) * past];
  await hand.dragAt([
    [x, y],
    [toX + dx, toY + dy],
    [toX + dx, toY + dy],
  ]);
}

const indexOf = (hand: OracleHand, name: string): Promise<number> =>
  hand.read<number>(`[...document.querySelectorAll('#sortable li')].indexOf(${worded('#sortable li', name)})`);

const items: Oracle = async (hand) => {
  const [, name, where] = /Drag (\S+) (.*)\./.exec(hand.utterance)!;
  const from = await indexOf(hand, name);
  const place = /to the (\d)/.exec(where)?.[1];
  const to =
    place !== undefined
      ? Number(place) - 1
      : where === 'to the top'
        ? 0
        : where === 'to the bottom'
          ? 4
          : from + (where.startsWith('down') ? 1 : -1);
  await move(hand, from, to);
};

const PLACES = ['top left', 'top center', 'top right', 'center left', 'center', 'center right']
  .concat(['bottom left', 'bottom center', 'bottom right'])
  .map((place) => `to the ${place}`);
const SHIFTS: Readonly<Record<string, number>> = {
  'up by one': -3,
  'down by one': 3,
  'left by one': -1,
  'right by one': 1,
};

const grid: Oracle = async (hand) => {
  const [, name, where] = /Drag (\S+) (.*)\./.exec(hand.utterance)!;
  const from = await indexOf(hand, name);
  const shift = SHIFTS[where];
  await move(hand, from, shift === undefined ? PLACES.indexOf(where) : from + shift);
};

const numbers: Oracle = async (hand) => {
  for (let place = 0; place < 3; place++) {
    const values = await hand.read<number[]>(
      `[...document.querySelectorAll('#sortable li')].map((e) => Number(e.textContent))`,
    );
    const smallest = values.indexOf(Math.min(...values.slice(place)), place);
    if (smallest !== place) await move(hand, smallest, place);
  }
  await hand.click(SUBMIT);
};

const resize: Oracle = async (hand) => {
  const sign = hand.utterance.includes('larger') ? 1 : -1;
  const [x, y] = await centreOf(hand, one('.ui-resizable-se'));
  const [dx, dy] = hand.utterance.includes('width') ? [18, 0] : [0, 18];
  await hand.dragAt([
    [x, y],
    [x + sign * dx, y + sign * dy],
  ]);
  await hand.click(one('#submit'));
};

const paragraph: Oracle = async (hand) => {
  const nth = /(\d)\w\w paragraph/.exec(hand.utterance)?.[1];
  const element = nth === undefined ? one('#randomText') : one('#randomText p', Number(nth) - 1);
  await hand.click(element, { count: 3 });
  await hand.click(SUBMIT);
};

/** Degrees that a cube turns for each pixel of a drag, about: it goes on turning after the drag. */
const DEGREES_A_PIXEL = 2.2;

/** Turns the cube by drags, up and down until the side is level, then sideways, looking after each how far it came. */
const cube: Oracle = async (hand) => {
  const wanted = found(/"(\d)"/, hand.utterance);
  const angles = (): Promise<{ x: number; y: number; active: string }> =>
    hand.read(
      `({ x: cube.viewport.positionX % 360, y: cube.viewport.positionY, active: document.querySelector('.active').textContent })`,
    );
  // Angles at which the page calls a side active, from its own script; the four sides around turn with x where y is 0.
  const level = { 1: 264, 6: 88 }[wanted] ?? 0;
  const around = { 2: 0, 3: 270, 4: 178, 5: 86 }[wanted];
  for (let tries = 0; tries < 13; tries++) {
    const { x, y, active } = await angles();
    if (active === wanted) break;
    const offLevel = turn(y, level);
    const isLevel = around !== undefined && Math.abs(offLevel) < 35;
    const degrees = isLevel ? turn(x, around) : -offLevel;
    const pixels = Math.max(-70, Math.min(70, degrees / DEGREES_A_PIXEL));
    await hand.dragAt([[80, 110], isLevel ? [80 + pixels, 110] : [80, 110 + pixels]]);
    await hand.wait(900);
  }
  await hand.click(SUBMIT);
};

/** The shorter way from one angle to another, -180 to 180 degrees. */
function turn(from: number, to: number): number {
  return ((((to - from) % 360) + 540) % 360) - 180;
}

export const DRAGGING: Readonly<Record<string, Oracle>> = {
  'drag-box': box,
  'drag-circle': direction,
  'drag-cube': cube,
  'drag-items': items,
  'drag-items-grid': grid,
  'drag-shapes': shapes,
  'drag-shapes-2': shapesApart,
  'drag-single-shape': direction,
  'drag-sort-numbers': numbers,
  'highlight-text': paragraph,
  'highlight-text-2': paragraph,
  'resize-textarea': resize,
};
