// A page as it is, taken by the browser and not by the page: its tree with what people have typed and chosen, and how each
// element is shown. Nothing of it runs and nothing in the page is asked, so a page's scripts cannot answer for it.

import type { CdpSession } from '../../../browser/index.ts';

export type FrozenPage = {
  readonly url: string;
  /** In document order; a node's parent comes before it. */
  readonly nodes: readonly FrozenNode[];
};

export type FrozenNode = {
  /** Position of its parent; -1 for the document. */
  readonly parent: number;
  /** As in the DOM: 1 element, 3 text, 8 comment, 9 document, 10 doctype, 11 shadow root. */
  readonly type: number;
  /** As the browser writes it, e.g. `DIV`. */
  readonly name: string;
  readonly value: string;
  readonly attributes: readonly (readonly [string, string])[];
  /** What a field holds now. */
  readonly typed?: string;
  readonly checked?: true;
  readonly selected?: true;
  readonly svg?: true;
  /** Values of `STYLES`, where it is shown. */
  readonly styles?: readonly string[];
};

/** What decides how an element's text reads. */
export const STYLES = ['display', 'visibility', 'white-space-collapse', 'text-transform'] as const;
/** Beyond it a page is no page of a benchmark, and the rest is left away. */
const MAX_NODES = 200_000;

export async function freezePage(session: CdpSession, url: string): Promise<FrozenPage> {
  const { documents, strings } = await session.send('DOMSnapshot.captureSnapshot', { computedStyles: [...STYLES] });
  const [document] = documents;
  const text = (index: number | undefined): string => (index === undefined || index < 0 ? '' : (strings[index] ?? ''));
  const { nodes, layout } = document;
  const shown = new Map(layout.nodeIndex.map((node, i) => [node, layout.styles[i]?.map(text) ?? []]));
  const rare = (data?: { index: number[]; value: number[] }): ReadonlyMap<number, string> =>
    new Map((data?.index ?? []).map((node, i) => [node, text(data?.value[i])]));
  const typed = new Map([...rare(nodes.textValue), ...rare(nodes.inputValue)]);
  const [checked, selected] = [new Set(nodes.inputChecked?.index), new Set(nodes.optionSelected?.index)];
  const pseudo = new Set(nodes.pseudoType?.index);
  const places = new Map<number, number>();
  const kept: FrozenNode[] = [];
  for (const [i, type] of (nodes.nodeType ?? []).entries()) {
    const parent = nodes.parentIndex?.[i] ?? -1;
    const place = parent === -1 ? -1 : places.get(parent);
    // What a style sheet adds is no node of the page, nor is what belongs to such a node.
    if (place === undefined || pseudo.has(i) || kept.length >= MAX_NODES) continue;
    places.set(i, kept.length);
    const flat = nodes.attributes?.[i] ?? [];
    const attributes = flat.flatMap((name, at) => (at % 2 === 0 ? [[text(name), text(flat[at + 1])] as const] : []));
    const styles = shown.get(i);
    kept.push({
      parent: place,
      type,
      name: text(nodes.nodeName?.[i]),
      value: text(nodes.nodeValue?.[i]),
      attributes,
      ...(typed.has(i) ? { typed: typed.get(i)! } : {}),
      ...(checked.has(i) ? { checked: true as const } : {}),
      ...(selected.has(i) ? { selected: true as const } : {}),
      ...(styles === undefined ? {} : { styles }),
    });
  }
  return { url, nodes: kept };
}
