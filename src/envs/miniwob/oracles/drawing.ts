// Oracles of the tasks whose content is drawn: shapes, angles, lines.

import { found, one, worded, type Oracle, type OracleHand } from './hand.ts';

/** Expression of a function that tells whether a drawn element fits words such as `large red circle`. */
function fits(description: string): string {
  const words = description.split(' ');
  const size = ['large', 'small'].includes(words[0]) ? words.shift()! : '';
  const what = words.pop()!;
  const colour = words.pop() ?? '';
  return `((e) => {
    const isText = e.tagName === 'text';
    const text = isText ? e.textContent : { rect: 'rectangle', circle: 'circle', polygon: 'triangle' }[e.tagName];
    const type = !isText ? 'shape' : /[0-9]/.test(text) ? 'digit' : 'letter';
    const width = isText ? parseFloat(e.getAttribute('font-size')) : e.getBBox().width;
    return (${JSON.stringify(size)} === '' || (width > 15 ? 'large' : 'small') === ${JSON.stringify(size)})
      && (${JSON.stringify(colour)} === '' || e.getAttribute('fill') === ${JSON.stringify(colour)})
      && (${JSON.stringify(what)} === 'item' || text === ${JSON.stringify(what)} || type === ${JSON.stringify(what)});
  })`;
}

const DRAWN = `[...document.querySelectorAll('#area svg > *')]`;

const shape: Oracle = (hand) => hand.click(`${DRAWN}.find(${fits(found(/Click on a (.*)/, hand.utterance))})`);

const count: Oracle = async (hand) => {
  const description = found(/How many (.*)s are there/, hand.utterance);
  const number = await hand.read<number>(`${DRAWN}.filter(${fits(description)}).length`);
  await hand.click(worded('#count-buttons button', String(number)));
};

const identify: Oracle = async (hand) => {
  const tag = await hand.read<string>(`${DRAWN}[0].tagName + ':' + ${DRAWN}[0].textContent`);
  const [name, text] = tag.split(':');
  const types: Readonly<Record<string, string>> = { rect: 'rectangle', circle: 'circle', polygon: 'triangle' };
  const type = name === 'text' ? (/\d/.test(text) ? 'digit' : 'letter') : types[name];
  await hand.click(one(`#area-buttons button[data-type="${type}"]`));
};

/** Canvas calls leave nothing to read, so the page's own generator is asked again. */
const sides: Oracle = async (hand) => {
  const number = await hand.replay<number>('core.randi(0, 181); return core.randi(3, 8);');
  await hand.click(one(`#form button[data-sides="${number}"]`));
};

const ascending: Oracle = async (hand) => {
  await hand.click(worded('#area svg text', '1'));
  for (let next = 2; next <= 5; next++) await hand.click(one(`#area svg rect[data-index="${next}"]`));
};

/** Clicks the pixel of the drawing for which an expression of x and y is largest, then Submit. */
function bestPixel(score: string): Oracle {
  return async (hand) => {
    const [x, y] = await hand.read<readonly [number, number]>(`(() => {
      const centre = (e) => ({ x: Number(e.getAttribute('cx')), y: Number(e.getAttribute('cy')) });
      const all = (selector) => [...document.querySelectorAll(selector)].map(centre);
      const box = document.querySelector('svg').getBoundingClientRect();
      const score = ${score};
      let best = [0, 0, -Infinity];
      for (let x = Math.ceil(box.left) + 1; x < box.right - 1; x++) for (let y = Math.ceil(box.top) + 1; y < box.bottom - 1; y++) {
        // The pages put a circle at the mouse, 50 pixels up.
        const value = score({ x, y: y - 50 });
        // The button covers some of the drawing.
        if (value > best[2] && document.elementFromPoint(x, y).closest('svg')) best = [x, y, value];
      }
      return best;
    })()`);
    await hand.clickAt(x, y);
    await hand.click(one('#subbtn'));
  };
}

const bisect = bestPixel(`(() => {
  const [a, b] = all('.init-black'), [v] = all('.init-blue');
  const whole = findAngle(a, b, v);
  return (c) => {
    const [left, right] = [findAngle(a, c, v), findAngle(b, c, v)];
    return left > whole || right > whole ? -1 : (whole - Math.max(left, right)) / (whole / 2);
  };
})()`);

const rightAngle = bestPixel(`(() => {
  const [a] = all('#init-black'), [v] = all('#init-blue');
  // Near the corner a pixel is many degrees.
  return (b) => Math.hypot(b.x - v.x, b.y - v.y) < 20 ? -90 : -Math.abs(90 - findAngle(a, b, v));
})()`);

const circleCentre = bestPixel(
  `(() => { const [c] = all('.black-circle'); return (p) => -Math.hypot(p.x - c.x, p.y - c.y); })()`,
);

const midpoint = bestPixel(`(() => {
  const [a, b] = all('.black-circle');
  return (p) => -Math.hypot(p.x - (a.x + b.x) / 2, p.y - (a.y + b.y) / 2);
})()`);

/** Centre of a drawn element in pixels of the page. */
function centreOf(hand: OracleHand, element: string): Promise<readonly [number, number]> {
  return hand.read(
    `(() => { const b = ${element}.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`,
  );
}

const line: Oracle = async (hand) => {
  const [x, y] = await centreOf(hand, one('#circ'));
  const [dx, dy] = hand.utterance.includes('horizontal') ? [30, 0] : [0, 30];
  await hand.dragAt([
    [x - dx, y - dy],
    [x, y],
    [x + dx, y + dy],
  ]);
  await hand.click(one('#controls button'));
};

const circle: Oracle = async (hand) => {
  const [x, y] = await centreOf(hand, one('#circ'));
  const points = Array.from({ length: 37 }, (_, i): readonly [number, number] => {
    const angle = (i * Math.PI) / 18;
    return [x + 24 * Math.cos(angle), y + 24 * Math.sin(angle)];
  });
  await hand.dragAt(points);
  await hand.click(one('#controls button'));
};

const pie: Oracle = async (hand) => {
  const label = found(/labeled "(.*)"/, hand.utterance);
  await hand.click(worded('#divWheel svg text', '+'));
  await hand.wait(1500);
  // A slice moves away for a moment when the mouse comes.
  await hand.hover(worded('#divWheel svg text', label));
  await hand.wait(600);
  await hand.click(worded('#divWheel svg text', label));
};

export const DRAWING: Readonly<Record<string, Oracle>> = {
  'ascending-numbers': ascending,
  'bisect-angle': bisect,
  'circle-center': circleCentre,
  'click-pie': pie,
  'click-pie-nodelay': pie,
  'click-shape': shape,
  'count-shape': count,
  'count-sides': sides,
  'draw-circle': circle,
  'draw-line': line,
  'find-midpoint': midpoint,
  'grid-coordinate': (hand) =>
    hand.click(`document.getElementById(${JSON.stringify(found(/(\(.*\))/, hand.utterance))})`),
  'identify-shape': identify,
  'right-angle': rightAngle,
};
