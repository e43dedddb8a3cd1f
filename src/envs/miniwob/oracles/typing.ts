// Oracles of the tasks whose answer is written into fields or chosen from lists.

import { found, one, worded, type Oracle, type OracleHand } from './hand.ts';

const SUBMIT = one('#subbtn');
const text = (hand: OracleHand, selector: string): Promise<string> =>
  hand.read<string>(`document.querySelector(${JSON.stringify(selector)}).textContent`);

/** Writes what `answer` says into the one field and submits. */
function answering(field: string, answer: (hand: OracleHand) => string | Promise<string>): Oracle {
  return async (hand) => {
    await hand.fill(one(field), await answer(hand));
    await hand.click(SUBMIT);
  };
}

const quoted = (hand: OracleHand): string => found(/"(.*)"/, hand.utterance);

const login: Oracle = async (hand) => {
  const name = found(/username "(.*?)"/, hand.utterance);
  const password = found(/password "(.*?)" into/, hand.utterance);
  for (const [field, value] of [
    ['#username', name],
    ['#password', password],
  ]) {
    await hand.fill(one(field), value);
    if (!(await hand.sees(one('#popup-cancel')))) continue;
    await hand.click(one('#popup-cancel'));
    await hand.fill(one(field), value);
  }
  await hand.click(SUBMIT);
};

const movies: Oracle = async (hand) => {
  const [, genre, director, year] = /Search for (.*) movies directed by (.*) from year (\d+)/.exec(hand.utterance)!;
  // Labels stand before their fields or after them, in other words each time; genre, name and year are told by them.
  const rows = await hand.read<string[]>(
    `[...document.querySelectorAll('#area input')].map((e) => e.closest('p, .row, tr, .field, .ui-entry').textContent)`,
  );
  for (const [i, label] of rows.entries()) {
    const value = label.includes('Genre') ? genre : label.includes('Director') ? director : year;
    await hand.fill(one('#area input', i), value);
  }
  await hand.click(one('#area button, #area .final, #area .ui-submit'));
};

const table = (hand: OracleHand, key: string): Promise<string> =>
  hand.read<string>(`${worded('#tab td', key)}.nextElementSibling.textContent`);

const twoCells: Oracle = async (hand) => {
  for (const i of [1, 2]) {
    const key = (await text(hand, `#ll${i}`)).replace(/:$/, '');
    await hand.fill(one(`#tt${i}`), await table(hand, key));
  }
  await hand.click(SUBMIT);
};

const arithmetic = async (hand: OracleHand): Promise<string> => {
  const [, a, sign, b] = /(\d+) (.) (\d+)/.exec(await text(hand, '#math-problem'))!;
  const [x, y] = [Number(a), Number(b)];
  return String(sign === '+' ? x + y : sign === '-' ? x - y : x * y);
};

const algebra = async (hand: OracleHand): Promise<string> => {
  const [, a, sign, b, result] = /(\w+) (.) (\w+) = (\d+)/.exec(await text(hand, '#math-problem'))!;
  const sum = Number(result);
  if (sign === '+') return String(sum - Number(a === 'x' ? b : a));
  return String(a === 'x' ? sum + Number(b) : Number(a) - sum);
};

const words = (paragraph: string): readonly string[] => paragraph.split(/\s+/).filter((word) => word !== '');

const agreement: Oracle = async (hand) => {
  const name = /the name "(.*?)"/.exec(hand.utterance)?.[1];
  if (name !== undefined) {
    const target = await hand.reference(one('#text-area'));
    await hand.call('scroll', { target, dy: 2000 });
    await hand.fill(one('#name'), name);
  }
  await hand.click(one(/agree"/i.test(hand.utterance) ? '#agree' : '#cancel'));
};

const scrollTo: Oracle = async (hand) => {
  const dy = hand.utterance.includes('bottom') ? 2000 : -2000;
  await hand.call('scroll', { target: await hand.reference(one('#text-area')), dy });
  await hand.click(SUBMIT);
};

const choose = (options: (hand: OracleHand) => readonly string[]): Oracle => {
  return async (hand) => {
    await hand.call('select', { target: await hand.reference(one('#options')), options: [...options(hand)] });
    await hand.click(one('#area button'));
  };
};

const autocomplete: Oracle = async (hand) => {
  const start = found(/starts with "(.*?)"/, hand.utterance);
  const end = /ends with "(.*?)"/.exec(hand.utterance)?.[1] ?? '';
  const country = await hand.read<string>(
    `ui_utils.COUNTRIES.find((e) => e.startsWith(${JSON.stringify(start)}) && e.endsWith(${JSON.stringify(end)}))`,
  );
  await hand.fill(one('#tags'), country);
  await hand.press('Tab');
  await hand.click(SUBMIT);
};

const spinner: Oracle = async (hand) => {
  const wanted = Number(found(/Select (-?\d+)/, hand.utterance));
  for (let i = 0; i < Math.abs(wanted); i++) await hand.click(one(wanted > 0 ? '.ui-spinner-up' : '.ui-spinner-down'));
  await hand.click(SUBMIT);
};

/** Moves a slider by keys, a step each. */
async function slide(hand: OracleHand, handle: string, to: number): Promise<void> {
  await hand.click(handle);
  const steps = to - (await hand.read<number>(`jQuery(${handle}).parent().slider('value')`));
  if (steps !== 0) await hand.press(steps > 0 ? 'ArrowRight' : 'ArrowLeft', Math.abs(steps));
}

const slider: Oracle = async (hand) => {
  const wanted = Number(found(/Select (-?\d+)/, hand.utterance));
  await slide(hand, one('.ui-slider-handle'), wanted);
  await hand.click(SUBMIT);
};

const sliders: Oracle = async (hand) => {
  const wanted = JSON.parse(found(/(\[.*\])/, hand.utterance)) as number[];
  for (const [i, value] of wanted.entries()) await slide(hand, one('.ui-slider-handle', i), value);
  await hand.click(SUBMIT);
};

const sequence: Oracle = async (hand) => {
  await slide(hand, one('.ui-slider-handle'), Number(found(/Select (-?\d+)/, hand.utterance)));
  await hand.click(one('#area input[type=checkbox]', Number(found(/(\d)\w\w checkbox/, hand.utterance)) - 1));
  await hand.click(SUBMIT);
};

const sequence2: Oracle = async (hand) => {
  await hand.click(one('#area input[type=radio]', Number(found(/(\d)\w\w radio/, hand.utterance)) - 1));
  await hand.fill(one('#area input[type=text]', Number(found(/(\d)\w\w textbox/, hand.utterance)) - 1), quoted(hand));
  await hand.click(SUBMIT);
};

const sequence3: Oracle = async (hand) => {
  await hand.click(one('.selectric'));
  await hand.click(worded('.selectric-items li', found(/Choose (.*) from the dropdown/, hand.utterance)));
  await hand.click(worded('#buttons button', quoted(hand)));
};

const colour = (hex: (hand: OracleHand) => Promise<string>): Oracle => {
  return async (hand) => {
    await hand.fill(one('#col'), (await hex(hand)).replace('#', ''));
    // The picker covers the button until it is left.
    await hand.clickAt(80, 206);
    await hand.click(SUBMIT);
  };
};

const HEX_OF_QUERY = `(() => {
  const [r, g, b] = getComputedStyle(document.querySelector('#query .cc')).backgroundColor.match(/\\d+/g).map(Number);
  return [r, g, b].map((channel) => channel.toString(16).padStart(2, '0')).join('');
})()`;

export const TYPING: Readonly<Record<string, Oracle>> = {
  'choose-list': choose((hand) => [found(/Select (.*) from the list/, hand.utterance)]),
  'click-scroll-list': choose((hand) => found(/Select (.*) from the scroll list/, hand.utterance).split(', ')),
  'copy-paste': answering('#answer-input', (hand) => hand.read<string>(`document.querySelector('#to-copy').value`)),
  'copy-paste-2': answering('#answer-input', (hand) =>
    hand.read<string>(`document.querySelector('#text-${found(/(\d)\w\w text area/, hand.utterance)}').value`),
  ),
  'enter-date': answering('#tt', (hand) => found(/(\d+\/\d+\/\d+)/, hand.utterance)),
  'enter-password': async (hand) => {
    for (const field of ['#password', '#verify']) await hand.fill(one(field), quoted(hand));
    await hand.click(SUBMIT);
  },
  'enter-text': answering('#tt', quoted),
  'enter-text-2': answering('#tt', (hand) =>
    hand.utterance.includes('upper case') ? quoted(hand).toUpperCase() : quoted(hand).toLowerCase(),
  ),
  'enter-text-dynamic': answering('#tt', quoted),
  'enter-time': answering('#tt', (hand) => {
    const [, hours, minutes, half] = /(\d+):(\d+)\s?([AP]M)/.exec(hand.utterance)!;
    return `${hours.padStart(2, '0')}:${minutes} ${half}`;
  }),
  'find-word': answering('#answer-input', async (hand) => {
    const nth = Number(found(/(\d+)\w\w word/, hand.utterance));
    return words(await text(hand, '#area p'))[nth - 1].replace(/[^a-zA-Z]/g, '');
  }),
  'form-sequence': sequence,
  'form-sequence-2': sequence2,
  'form-sequence-3': sequence3,
  'login-user': login,
  'login-user-popup': login,
  'multi-layouts': movies,
  'multi-orderings': movies,
  'read-table': answering('#tt', (hand) => table(hand, found(/value of (.*) into/, hand.utterance))),
  'read-table-2': twoCells,
  'scroll-text': answering('#answer-input', async (hand) =>
    words(await text(hand, '#text-area'))
      .at(-1)!
      .replace(/[^a-zA-Z0-9]/g, ''),
  ),
  'scroll-text-2': scrollTo,
  'sign-agreement': agreement,
  'simple-algebra': answering('#math-answer', algebra),
  'simple-arithmetic': answering('#math-answer', arithmetic),
  'text-transform': answering('#tt', (hand) => text(hand, '#captcha')),
  'use-autocomplete': autocomplete,
  'use-autocomplete-nodelay': autocomplete,
  'use-colorwheel': colour((hand) =>
    hand.read<string>(
      `ui_utils.colorNameToHex(${JSON.stringify(found(/Select (.*) with the color/, hand.utterance))})`,
    ),
  ),
  'use-colorwheel-2': colour((hand) => hand.read<string>(HEX_OF_QUERY)),
  'use-slider': slider,
  'use-slider-2': sliders,
  'use-spinner': spinner,
  'visual-addition': answering('#math-answer', (hand) =>
    hand.read<string>(`String(document.querySelectorAll('.addition-block').length)`),
  ),
};
