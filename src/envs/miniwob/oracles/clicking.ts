// Oracles of the tasks that are done by clicking the right elements.

import { found, one, worded, type Oracle, type OracleHand } from './hand.ts';

const SUBMIT = one('#subbtn');

const quoted = (hand: OracleHand): string => found(/"(.*)"/, hand.utterance);

const button: Oracle = (hand) => hand.click(worded('#area button', quoted(hand)));
const link = (hand: OracleHand): string => worded('#area .alink', quoted(hand));

/** The names in `Select a, b and click Submit.`; none for `nothing`. */
function wantedNames(utterance: string): readonly string[] {
  const list = found(/Select (?:words similar to )?(.*) (?:from the scroll list )?and click Submit/, utterance);
  return list === 'nothing' ? [] : list.split(', ');
}

const boxes = async (hand: OracleHand, wanted: readonly string[]): Promise<void> => {
  for (const name of wanted) await hand.click(`${worded('#area label', name)}.querySelector('input')`);
  await hand.click(SUBMIT);
};

const checkboxes: Oracle = (hand) => boxes(hand, wantedNames(hand.utterance));

/** The label of a box is another word of the same set; which sets there are, the page says. */
const synonyms: Oracle = async (hand) => {
  const labels = await hand.read<string[]>(`[...document.querySelectorAll('#boxes label')].map((e) => e.textContent)`);
  const sets = await hand.read<string[][]>('SYNONYMS');
  const open = [...labels];
  const wanted = wantedNames(hand.utterance).map((word) => {
    const at = open.findIndex((label) => sets.some((set) => set.includes(word) && set.includes(label)));
    if (at === -1) throw new RangeError(`no box is similar to ${word}`);
    return open.splice(at, 1)[0];
  });
  await boxes(hand, wanted);
};

const tab: Oracle = async (hand) => {
  const panel = await hand.read<string | null>(`${link(hand)}?.closest('.ui-tabs-panel').id ?? null`);
  // The task of medium difficulty may empty its second tab, and then asks for that tab itself.
  if (panel === null) return hand.click(one('#area a[href="#tabs-2"]'));
  if (!(await hand.sees(link(hand)))) await hand.click(one(`#area a[href="#${panel}"]`));
  await hand.click(link(hand));
};

const collapsible: Oracle = async (hand) => {
  await hand.click(one('#area h3'));
  await hand.click(SUBMIT);
};

const collapsibleLink: Oracle = async (hand) => {
  const section = await hand.read<number>(
    `[...document.querySelectorAll('#area > div')].indexOf(${link(hand)}.closest('#area > div'))`,
  );
  await hand.click(one('#area h3', section));
  await hand.click(link(hand));
};

const menu: Oracle = async (hand) => {
  const path = found(/Select (.*)/, hand.utterance).split('>');
  for (const item of path.slice(0, -1)) {
    await hand.hover(worded('#menu li > div', item));
    await hand.wait(500);
  }
  await hand.click(worded('#menu li > div', path.at(-1)!));
};

const iconMenu: Oracle = async (hand) => {
  await hand.click(one('#open-menu'));
  const label = quoted({ ...hand, utterance: hand.instruction.replace('"Menu"', '') });
  const icons = await hand.read<Readonly<Record<string, string>>>('PROBLEM_SET');
  const name = Object.keys(icons).find((key) => key === label || icons[key] === `ui-icon-${label}`);
  if (name === undefined) throw new RangeError(`no item for ${label}`);
  const item = worded('#menu li > div', name);
  if (!(await hand.sees(item))) {
    await hand.hover(worded('#menu li > div', 'Playback'));
    await hand.wait(500);
  }
  await hand.click(item);
};

const shades: Oracle = async (hand) => {
  const colour = found(/shades of (\w+)/, hand.utterance);
  const count = await hand.read<number>(`document.querySelectorAll('#area span[data-color="${colour}"]').length`);
  for (let i = 0; i < count; i++) await hand.click(one(`#area span[data-color="${colour}"]`, i));
  await hand.click(one('#submit'));
};

const tree: Oracle = async (hand) => {
  const name = quoted(hand);
  const spans = `[...document.querySelectorAll('#tree span')]`;
  // Folders on the way are opened; one with the name that is looked for is what is looked for.
  for (let depth = 0; depth < 4; depth++) {
    const next = await hand.read<number>(`(() => {
      const all = ${spans};
      const wanted = all.filter((e) => e.textContent === ${JSON.stringify(name)});
      const visible = wanted.find((e) => e.getClientRects().length > 0);
      if (visible) return all.indexOf(visible);
      for (let li = wanted[0].parentElement.parentElement.closest('li'); li; li = li.parentElement.closest('li')) {
        const folder = li.querySelector(':scope > span');
        if (folder.getClientRects().length > 0) return all.indexOf(folder);
      }
    })()`);
    await hand.click(`${spans}[${next}]`);
  }
};

const food: Oracle = async (hand) => {
  const order = async (item: string, quantity: number): Promise<void> => {
    const row = `[...document.querySelectorAll('.food-item')].find((e) => e.dataset.item.trim() === ${JSON.stringify(item)})`;
    for (let i = 0; i < quantity; i++) await hand.click(`${row}.querySelector('.add')`);
  };
  const kind = /Order (\d+) items that are (.*)/.exec(hand.utterance);
  if (kind === null) {
    const names = found(/Order one of each item: (.*)/, hand.utterance).split(/, +/);
    for (const name of names) await order(name.trim(), 1);
  } else {
    const fitting = await hand.read<string>(
      `MENU.find((e) => e.types.includes(${JSON.stringify(kind[2])})).name.trim()`,
    );
    await order(fitting, Number(kind[1]));
  }
  await hand.click(one('#submit-order button'));
};

const ticket: Oracle = async (hand) => {
  const wanted = found(/the ticket with the (.*)\./, hand.utterance);
  const [selector, attribute] = wanted.endsWith('cost') ? ['.buy-ticket', 'price'] : ['.time-duration', 'duration'];
  const largest = wanted.startsWith('most') || wanted.startsWith('longest');
  const index = await hand.read<number>(`(() => {
    const values = [...document.querySelectorAll('${selector}')].map((e) => Number(e.dataset.${attribute}));
    return values.indexOf(Math.${largest ? 'max' : 'min'}(...values));
  })()`);
  await hand.click(one('.buy-ticket', index));
};

const oddOrEven: Oracle = async (hand) => {
  const numbers = await hand.read<number[]>(
    `[...document.querySelectorAll('.display-number')].map((e) => Number(e.textContent))`,
  );
  for (const [row, number] of numbers.entries()) await hand.click(one(number % 2 === 0 ? '.even' : '.odd', row));
  await hand.click(one('#submit'));
};

const boxNumber: Oracle = async (hand) => {
  const pattern = (await hand.read<number[][][]>('PATTERNS'))[Number(quoted(hand))].flat();
  for (const [i, filled] of pattern.entries()) if (filled === 1) await hand.click(one('#checkboxes input', i));
  await hand.click(SUBMIT);
};

const greatest: Oracle = async (hand) => {
  const index = await hand.read<number>(`(() => {
    const numbers = [...document.querySelectorAll('.card-value')].map((e) => Number(e.textContent));
    return numbers.indexOf(Math.max(...numbers));
  })()`);
  await hand.click(one('.card', index));
  await hand.click(one('#submit'));
};

export const CLICKING: Readonly<Record<string, Oracle>> = {
  'buy-ticket': ticket,
  'click-button': button,
  'click-button-sequence': async (hand) => {
    await hand.click(SUBMIT);
    await hand.click(one('#subbtn2'));
  },
  'click-checkboxes': checkboxes,
  'click-checkboxes-large': checkboxes,
  'click-checkboxes-soft': synonyms,
  'click-checkboxes-transfer': checkboxes,
  'click-collapsible': collapsible,
  'click-collapsible-2': collapsibleLink,
  'click-collapsible-2-nodelay': collapsibleLink,
  'click-collapsible-nodelay': collapsible,
  'click-color': (hand) =>
    hand.click(one(`#area .color[data-color="${found(/on the (\w+) colored/, hand.utterance)}"]`)),
  'click-dialog': (hand) => hand.click(one('.ui-dialog-titlebar button')),
  'click-dialog-2': (hand) =>
    quoted(hand) === 'x'
      ? hand.click(one('.ui-dialog-titlebar button'))
      : hand.click(worded('.ui-dialog-buttonset button', quoted(hand))),
  'click-link': (hand) => hand.click(link(hand)),
  'click-menu': menu,
  'click-menu-2': iconMenu,
  'click-option': checkboxes,
  'click-shades': shades,
  'click-tab': (hand) => hand.click(one(`#area a[href="#tabs-${found(/#(\d)/, hand.utterance)}"]`)),
  'click-tab-2': tab,
  'click-tab-2-easy': tab,
  'click-tab-2-hard': tab,
  'click-tab-2-medium': tab,
  'click-test': (hand) => hand.click(SUBMIT),
  'click-test-2': (hand) => hand.click(SUBMIT),
  'click-test-transfer': (hand) => hand.click(worded('#area button', found(/Click button (\w+)/, hand.utterance))),
  'click-widget': (hand) => hand.click(one(`#area [data-type="${quoted(hand)}"]`)),
  'find-greatest': greatest,
  'focus-text': (hand) => hand.click(one('#tt')),
  'focus-text-2': (hand) => hand.click(one('#area input', Number(found(/(\d)\w\w input/, hand.utterance)) - 1)),
  'navigate-tree': tree,
  'number-checkboxes': boxNumber,
  'odd-or-even': oddOrEven,
  'order-food': food,
  'unicode-test': button,
};
