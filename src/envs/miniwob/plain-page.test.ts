import { expect, test } from 'vitest';
import type { LayoutNode } from './layout.ts';
import { saidByPlainPage } from './plain-page.ts';

type Written = Partial<Omit<LayoutNode, 'attributes'>> & { readonly attributes?: Readonly<Record<string, string>> };

const BOX = { x: 0, y: 0, width: 10, height: 10 };

/** Nodes with a body above them, seen and with a box unless they say otherwise; `parent` counts from the first given. */
function page(...nodes: readonly Written[]): readonly LayoutNode[] {
  const whole: readonly Written[] = [{ tag: 'BODY', parent: -2 }, ...nodes];
  return whole.map(({ attributes = {}, ...node }, i) => ({
    kind: 'element',
    tag: 'DIV',
    backendNodeId: i,
    box: BOX,
    styles: {},
    text: '',
    checked: false,
    clickable: false,
    ...node,
    parent: (node.parent ?? -1) + 1,
    attributes: new Map(Object.entries(attributes)),
  }));
}
const text = (words: string, parent: number, more: Written = {}): Written => ({
  kind: 'text',
  tag: '#text',
  text: words,
  parent,
  ...more,
});
const said = (...nodes: readonly Written[]) => {
  const known = saidByPlainPage(page(...nodes));
  return known === undefined ? undefined : [...known.values()];
};

test('a button and a link are named by their text', () => {
  expect(said({ tag: 'BUTTON', attributes: { disabled: '' } }, text(' Go  on ', 0))).toEqual([
    { role: 'button', name: 'Go on', states: ['disabled'], value: '' },
  ]);
  const link = [{ role: 'link', name: 'x', states: [], value: '' }];
  expect(said({ tag: 'A', attributes: { href: '#' } }, text('x', 0))).toEqual(link);
  expect(said({ tag: 'A', clickable: true }, text('x', 0))).toEqual(link);
  expect(said({ tag: 'A' }, text('x', 0))).toEqual([]);
});

test('a box is named by the label around it or by that which names its id', () => {
  const ticked = [{ role: 'checkbox', name: 'MRW', states: ['checked'], value: '' }];
  const box = { tag: 'INPUT', checked: true, attributes: { type: 'checkbox', id: 'b' } };
  expect(said({ tag: 'LABEL' }, { ...box, parent: 0 }, text('MRW', 0))).toEqual(ticked);
  expect(said({ tag: 'LABEL', attributes: { for: 'b' } }, text('MRW', 0), box)).toEqual(ticked);
  expect(said({ tag: 'LABEL', attributes: { for: 'other' } }, { ...box, parent: 0 }, text('MRW', 0))).toEqual([
    { ...ticked[0], name: '' },
  ]);
});

test('what a field holds is told, of a password its length', () => {
  const field = (type: string) => ({ tag: 'INPUT', value: 'abc', attributes: { type, placeholder: 'Name' } });
  expect(said(field('text'))).toEqual([{ role: 'textbox', name: 'Name', states: [], value: 'abc' }]);
  expect(said(field('password'))).toEqual([{ role: 'textbox', name: 'Name', states: [], value: '•••' }]);
});

test('what is not drawn is not told of', () => {
  const { box: _, ...gone } = page({ tag: 'BUTTON' })[1];
  expect(saidByPlainPage([page()[0], gone])?.size).toBe(0);
  expect(said({ tag: 'BUTTON', styles: { visibility: 'hidden' } })).toEqual([]);
});

test.each<[string, readonly Written[]]>([
  ['a role', [{ attributes: { role: 'tab' } }]],
  ['ARIA', [{ attributes: { 'aria-hidden': 'true' } }]],
  ['text that is edited in place', [{ attributes: { contenteditable: '' } }]],
  ['a list of options', [{ tag: 'SELECT' }]],
  ['a date', [{ tag: 'INPUT', attributes: { type: 'date' } }]],
  ['a tip on a control', [{ tag: 'BUTTON', attributes: { title: 'x' } }]],
  ['a name of two pieces', [{ tag: 'BUTTON' }, text('a', 0), { tag: 'SPAN', parent: 0 }, text('b', 2)]],
  ['a picture in a button', [{ tag: 'BUTTON' }, { tag: 'IMG', parent: 0 }]],
  ['capitals made by the page’s styles', [{ tag: 'BUTTON' }, text('go', 0, { drawn: 'GO' })]],
  ['a part that is hidden', [{ tag: 'BUTTON' }, text('go', 0, { styles: { visibility: 'hidden' } })]],
  ['a control without size', [{ tag: 'BUTTON', box: { ...BOX, width: 0 } }]],
  [
    'two labels',
    [
      { tag: 'LABEL', attributes: { for: 'b' } },
      { tag: 'LABEL', attributes: { for: 'b' } },
      { tag: 'INPUT', attributes: { id: 'b' } },
    ],
  ],
  [
    'one id twice',
    [
      { tag: 'INPUT', attributes: { id: 'b' } },
      { tag: 'INPUT', attributes: { id: 'b' } },
    ],
  ],
])('%s is left to the accessibility tree', (_name, nodes) => {
  expect(said(...nodes)).toBeUndefined();
});
