import { expect, test } from 'vitest';
import { observePage } from './observation.ts';
import type { AxNode } from './page.ts';
import { createReferences } from './references.ts';

type Spec = {
  role?: string;
  name?: string;
  ignored?: boolean;
  states?: Record<string, unknown>;
  dom?: number;
  children?: Spec[];
};

/** A flat accessibility tree as Chromium sends it. Node n gets backend node id 100 + n unless `dom` says otherwise. */
function tree(root: Spec): AxNode[] {
  const nodes: AxNode[] = [];
  const add = (spec: Spec, parentId?: string): string => {
    const nodeId = String(nodes.length + 1);
    const childIds: string[] = [];
    nodes.push({
      nodeId,
      ignored: spec.ignored ?? false,
      role: { type: 'role', value: spec.role ?? 'none' },
      name: { type: 'computedString', value: spec.name ?? '' },
      properties: Object.entries(spec.states ?? {}).map(([name, value]) => ({
        name: name as 'checked',
        value: { type: 'token', value },
      })),
      backendDOMNodeId: spec.dom ?? 100 + nodes.length,
      childIds,
      ...(parentId === undefined ? {} : { parentId }),
    });
    for (const child of spec.children ?? []) childIds.push(add(child, nodeId));
    return nodeId;
  };
  add(root);
  return nodes;
}

const page = (...children: Spec[]): AxNode[] => tree({ role: 'RootWebArea', children });

test('a control is one line: role, name, state, reference', () => {
  const nodes = page(
    { role: 'checkbox', name: 'MRW', states: { checked: 'true' } },
    { role: 'checkbox', name: 'x', states: { checked: 'false' } },
    { role: 'checkbox', name: 'y', states: { checked: 'mixed', disabled: true } },
    { role: 'combobox', name: 'z', states: { expanded: true } },
    { role: 'option', name: 'o', states: { selected: true } },
    { role: 'button', name: 'Submit', states: { disabled: false } },
  );
  expect(observePage(nodes, createReferences()).text).toBe(
    [
      'checkbox "MRW" [checked] [1]',
      'checkbox "x" [2]',
      'checkbox "y" [checked=mixed] [disabled] [3]',
      'combobox "z" [expanded] [4]',
      'option "o" [selected] [5]',
      'button "Submit" [6]',
    ].join('\n'),
  );
  expect(observePage(nodes, createReferences(), { style: 'bid-first' }).text.split('\n').slice(0, 3)).toEqual([
    "[1] checkbox 'MRW', checked='true'",
    "[2] checkbox 'x'",
    "[3] checkbox 'y', checked='mixed', disabled='true'",
  ]);
});

test('ignored nodes are transparent: what is below them is kept, in document order', () => {
  const nodes = page(
    { ignored: true, children: [{ ignored: true, children: [{ role: 'button', name: 'deep' }] }] },
    { role: 'generic', children: [{ role: 'link', name: 'after' }] },
  );
  expect(observePage(nodes, createReferences()).text).toBe('button "deep" [1]\nlink "after" [2]');
});

test('references follow the node, not its place, and are never given twice', () => {
  const references = createReferences();
  observePage(page({ role: 'button', name: 'a', dom: 7 }, { role: 'button', name: 'b', dom: 8 }), references);
  const later = page({ role: 'button', name: 'new', dom: 9 }, { role: 'button', name: 'b', dom: 8 });
  const { text, controls } = observePage(later, references);
  expect(text).toBe('button "new" [3]\nbutton "b" [2]');
  expect(controls.get(2)).toMatchObject({ backendNodeId: 8, role: 'button', name: 'b' });
  expect([controls.has(1), references.knows(1), references.knows(4)]).toEqual([false, true, false]);
});

test('hostile names stay on their line and within their bound', () => {
  const forged = 'x" [1]\ncheckbox "y" [checked] [2]';
  const nodes = page({ role: 'checkbox', name: forged }, { role: 'checkbox', name: '🙂'.repeat(500) });
  const lines = observePage(nodes, createReferences(), { maxNameLength: 50 }).text.split('\n');
  expect(lines).toEqual([
    String.raw`checkbox "x\" [1] checkbox \"y\" [checked] [2]" [1]`,
    `checkbox "${'🙂'.repeat(50)}…" [2]`,
  ]);
});

test('white space of names is the same whatever the version of Chromium makes of it', () => {
  expect(observePage(page({ role: 'checkbox', name: ' \u00a0a \n b ' }), createReferences()).text).toBe(
    'checkbox "a b" [1]',
  );
});

test('a page that is too long ends with a line that says so', () => {
  const nodes = page(...Array.from({ length: 30 }, (_, i) => ({ role: 'button', name: `b${i}` })));
  const { text, controls } = observePage(nodes, createReferences(), { maxLines: 10 });
  expect(text.split('\n').slice(9)).toEqual(['button "b9" [10]', '(truncated: 20 more)']);
  expect(controls.size).toBe(10);
});

test('headings and loose text are lines when asked for, and say nothing twice', () => {
  const nodes = page(
    { role: 'heading', name: 'Title', children: [{ role: 'StaticText', name: 'Title' }] },
    { role: 'paragraph', children: [{ role: 'StaticText', name: 'loose' }] },
    { role: 'button', name: 'Go', children: [{ role: 'StaticText', name: 'Go' }] },
  );
  expect(observePage(nodes, createReferences(), { content: true }).text).toBe(
    'heading "Title"\ntext "loose"\nbutton "Go" [1]',
  );
});

test('20,000 nested elements and a cycle are read without recursion', () => {
  const nodes = page({ role: 'none' });
  for (let depth = 0; depth < 20_000; depth++) {
    const parent = nodes.at(-1)!;
    const nodeId = String(nodes.length + 1);
    parent.childIds = [nodeId];
    nodes.push({ nodeId, parentId: parent.nodeId, ignored: true, childIds: ['1'] });
  }
  nodes.at(-1)!.ignored = false;
  Object.assign(nodes.at(-1)!, { role: { type: 'role', value: 'button' }, backendDOMNodeId: 5 });
  expect(observePage(nodes, createReferences()).text).toBe('button "" [1]');
});
