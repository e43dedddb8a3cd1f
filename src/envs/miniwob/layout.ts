// A page's elements and text with their boxes and the styles that matter, read in one call and without touching the
// page. It knows the protocol's columns and nothing of what an agent is told.
// Source: https://chromedevtools.github.io/devtools-protocol/tot/DOMSnapshot/

import type { CdpResult } from '../../browser/index.ts';

/** CSS pixels of the page. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

const STYLES = [
  'visibility',
  'background-color',
  'background-image',
  'border-top-style',
  'content',
  'fill',
  'stroke',
] as const;
export const SNAPSHOT_PARAMS = { computedStyles: [...STYLES], includeDOMRects: false };

export type LayoutNode = {
  readonly kind: 'element' | 'text';
  /** As the page's language writes it: `DIV`, but `circle`. */
  readonly tag: string;
  readonly backendNodeId: number;
  /** Index among the nodes, -1 for the root; a parent comes before its children. */
  readonly parent: number;
  readonly attributes: ReadonlyMap<string, string>;
  /** Absent where nothing is drawn. */
  readonly box?: Box;
  readonly styles: Readonly<Partial<Record<(typeof STYLES)[number], string>>>;
  /** Of a text node. */
  readonly text: string;
  /** What is drawn of a text node, where it is not just `text` with its white space taken together. */
  readonly drawn?: string;
  /** What a field holds now; absent where it holds nothing. */
  readonly value?: string;
  /** A box that is ticked, or the chosen one of a group. */
  readonly checked: boolean;
  /** It hears clicks itself. */
  readonly clickable: boolean;
};

/** The nodes of the main document in document order; other kinds than elements and text are left out, not their children. */
export function layoutNodes(snapshot: CdpResult<'DOMSnapshot.captureSnapshot'>): readonly LayoutNode[] {
  const { strings, documents } = snapshot;
  const { nodes, layout } = documents[0];
  const boxes = new Map(layout.nodeIndex.map((node, i) => [node, i]));
  const clickable = new Set(nodes.isClickable?.index);
  const checked = new Set(nodes.inputChecked?.index);
  const values = new Map<number, number>();
  for (const held of [nodes.inputValue, nodes.textValue])
    held?.index.forEach((node, i) => values.set(node, held.value[i]));
  const indexOf = new Map<number, number>(); // of the protocol's nodes among ours
  const result: LayoutNode[] = [];
  for (let i = 0; i < (nodes.nodeType?.length ?? 0); i++) {
    const parent = indexOf.get(nodes.parentIndex![i]) ?? -1;
    const type = nodes.nodeType![i];
    if (type !== 1 && type !== 3) {
      indexOf.set(i, parent);
      continue;
    }
    const at = boxes.get(i);
    const [x, y, width, height] = at === undefined ? [] : layout.bounds[at];
    const flat = nodes.attributes?.[i] ?? [];
    const attributes = new Map<string, string>();
    for (let k = 0; k + 1 < flat.length; k += 2) attributes.set(strings[flat[k]], strings[flat[k + 1]] ?? '');
    const text = type === 3 ? (strings[nodes.nodeValue![i]] ?? '') : '';
    const drawn = type === 3 && at !== undefined ? strings[layout.text[at]] : undefined;
    const value = strings[values.get(i) ?? -1] ?? '';
    const styles = at === undefined ? [] : layout.styles[at].map((style, k) => [STYLES[k], strings[style] ?? '']);
    indexOf.set(i, result.length);
    result.push({
      kind: type === 1 ? 'element' : 'text',
      tag: strings[nodes.nodeName![i]],
      backendNodeId: nodes.backendNodeId![i],
      parent,
      attributes,
      ...(at === undefined ? {} : { box: { x, y, width, height } }),
      styles: Object.fromEntries(styles) as LayoutNode['styles'],
      text,
      ...(drawn === undefined || squeezed(drawn) === squeezed(text) ? {} : { drawn }),
      ...(value === '' ? {} : { value }),
      checked: checked.has(i),
      clickable: clickable.has(i),
    });
  }
  return result;
}

function squeezed(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
