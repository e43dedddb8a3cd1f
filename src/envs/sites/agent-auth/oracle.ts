// The policy that knows the way: it presses what leads to the form and reads the fields off the page, from its labels and
// controls as a browser has computed them. What it knows beforehand is the way and which form on the page is meant; names
// and types come from the page alone.

import { ORACLE_WORDS } from '../kit/oracle-cell.ts';
import type { Blueprint } from './blueprint.ts';
import { stepsOf } from './ways.ts';

/** One cell; it writes the answer. */
export function oracleCell(site: Blueprint): string {
  const steps = stepsOf(site).map((step) =>
    'press' in step ? `await press(${JSON.stringify(step.press)}, ${JSON.stringify(step.name)});` : 'await toNewTab();',
  );
  return `{${ORACLE_WORDS}${READING}
const [start] = await listTabs();
${steps.join('\n')}
repl.write(JSON.stringify(await readForm(${JSON.stringify(site.asked.sentTo)}, ${JSON.stringify(site.asked.place.path)})));
}`;
}

const READING = `
const toNewTab = async () => switchTab(await until('a new tab', async () =>
  (await listTabs()).find((tab) => tab.targetId !== start.targetId && tab.url.startsWith('http'))));
const attribute = (node, name) => {
  const list = node.attributes ?? [];
  for (let i = 0; i < list.length; i += 2) if (list[i] === name) return list[i + 1];
};
const inside = (node) => [...(node.children ?? []), ...(node.shadowRoots ?? []), ...(node.contentDocument ? [node.contentDocument] : [])];
const controls = (node, group) => {
  const within = node.nodeName === 'FIELDSET' ? node : group;
  const own = ['INPUT', 'SELECT', 'TEXTAREA'].includes(node.nodeName) ? [{ node, group: within }] : [];
  return [...own, ...inside(node).flatMap((child) => controls(child, within))];
};
const formOf = (node, action) => {
  if (node.nodeName === 'FORM' && attribute(node, 'action') === action) return node;
  for (const child of inside(node)) { const found = formOf(child, action); if (found) return found; }
};
const nameOf = async ({ backendNodeId }) => {
  const { nodes } = await cdp('Accessibility.getPartialAXTree', { backendNodeId, fetchRelatives: false });
  return nodes[0].name.value;
};
const isSeen = async ({ backendNodeId }) => {
  try {
    const { model } = await cdp('DOM.getBoxModel', { backendNodeId });
    return model.width > 0 && model.height > 0 && model.border[2] > 0;
  } catch { return false; } // it has no box
};
const readOnce = async (action, path) => {
  if ((await js('document.readyState')) !== 'complete') return undefined;
  const frame = await iframeTarget(path);
  if (frame) await switchTab(frame.targetId);
  const { root } = await cdp('DOM.getDocument', { depth: -1, pierce: true });
  const form = formOf(root, action);
  if (!form) return undefined;
  const fields = [];
  const groups = new Set();
  for (const { node, group } of controls(form)) {
    if (attribute(node, 'type') === 'hidden' || !(await isSeen(node))) continue;
    const type = node.nodeName === 'SELECT' ? 'select' : (attribute(node, 'type') ?? 'text');
    const named = type === 'radio' ? group : node;
    if (groups.has(named)) continue;
    groups.add(named);
    fields.push({ name: await nameOf(named), type });
  }
  return fields.length > 0 ? fields : undefined;
};
// A page that is still coming in is not the page: it has to look the same twice.
const readForm = async (action, path) => {
  let before;
  return until('the form', async () => {
    const fields = await readOnce(action, path);
    const same = fields !== undefined && JSON.stringify(fields) === JSON.stringify(before);
    before = fields;
    return same ? fields : undefined;
  });
};
`;
