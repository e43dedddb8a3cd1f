// The page as assistive technology has it: a flat list in document order. By default the main frame alone and every
// kept node, as a policy that was trained elsewhere expects; the extensions add frames and leave out what is no control.

import type { Protocol } from 'devtools-protocol';
import { z } from 'zod';
import { onTarget, targets } from './attach.ts';
import type { Attached } from './attached-browser.ts';
import { helperFailed, isCdpFailure, isCdpTimeout } from './failures.ts';
import { hostMethod, options } from './method.ts';
import { pageSend, type Scope } from './scope.ts';

type AxNode = Protocol.Accessibility.AXNode;

export type SnapshotNode = {
  readonly backendNodeId: number;
  readonly role: string;
  readonly name: string;
  readonly value?: string;
  readonly checked?: boolean | 'mixed';
  readonly pressed?: boolean | 'mixed';
  readonly selected?: boolean;
  readonly expanded?: boolean;
  readonly disabled?: boolean;
  /** With `frames`: the frame's address; and the target to switch to where it has a process of its own. */
  readonly frame?: string;
  readonly targetId?: string;
};

const INTERACTIVE: ReadonlySet<string> = new Set(
  (
    'button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio menulistpopup option radio ' +
    'searchbox slider spinbutton switch tab textbox treeitem colorwell date datetime inputtime disclosuretriangle'
  ).split(' '),
);

export const accessibilitySnapshot = hostMethod(
  {
    name: 'accessibilitySnapshot',
    namespace: 'browser',
    effect: 'looks',
    signature: 'accessibilitySnapshot()',
    description:
      'Returns `{url, title, nodes}`: the accessibility tree of the attached page as a flat list in document order. A node is `{backendNodeId, role, name, value?, checked?, pressed?, selected?, expanded?, disabled?}`; `checked` and `pressed` may be "mixed". Pass a node to `click`, `fillInput` and others; ids become stale when the page changes. Frames inside the page are not included.',
    example:
      'const { nodes } = await accessibilitySnapshot();\nconst submit = nodes.find((node) => node.role === "button" && node.name === "Submit");\nawait click(submit);',
    extension:
      'snapshot: `accessibilitySnapshot({frames: true, interactiveOnly: true})` adds the nodes of frames (each with `frame`, its address, and `targetId` where it needs `switchTab`) and leaves out what cannot be operated',
  },
  [options({ frames: z.boolean().default(false), interactiveOnly: z.boolean().default(false) })],
  async ({ scope, page, snapshotExtensions }, { frames, interactiveOnly }) => {
    for (const [name, wanted] of Object.entries({ frames, interactiveOnly })) {
      if (wanted && !snapshotExtensions) throw helperFailed('accessibilitySnapshot', `unknown option: ${name}`);
    }
    const on = await page();
    const [{ result }, own] = await Promise.all([
      pageSend(scope, on, 'Runtime.evaluate', { expression: '[location.href, document.title]', returnByValue: true }),
      frameNodes(scope, on, undefined),
    ]);
    const [url, title] = result.value as [string, string];
    const nodes = frames ? [...own, ...(await inner(scope, on))] : own;
    return {
      url,
      title,
      nodes: interactiveOnly ? nodes.filter(({ role }) => INTERACTIVE.has(role.toLowerCase())) : nodes,
    };
  },
);

async function frameNodes(scope: Scope, page: Attached, frameId: string | undefined): Promise<readonly SnapshotNode[]> {
  const { nodes } = await pageSend(
    scope,
    page,
    'Accessibility.getFullAXTree',
    frameId === undefined ? {} : { frameId },
  );
  return [...inDocumentOrder(nodes)].flatMap(project);
}

/** Nodes of the frames inside a page: those of its process, then those with a process of their own. */
async function inner(scope: Scope, page: Attached): Promise<readonly SnapshotNode[]> {
  const local = await localFrames(scope, page);
  const nodes = local.nodes;
  const remote = (await targets(scope)).filter(({ type }) => type === 'iframe');
  const known = new Set([page.targetId, ...local.ids]);
  // A frame of another process may hold further ones: from the outside in, until no parent is found any more.
  for (let found = remote.filter(isBelow); found.length > 0; found = remote.filter(isBelow)) {
    for (const { targetId, url } of found) {
      known.add(targetId);
      const below = await onTarget(scope, targetId, async (target) => {
        const own = (await frameNodes(scope, target, undefined)).map((node) => ({ ...node, frame: url }));
        const more = await localFrames(scope, target);
        for (const id of more.ids) known.add(id);
        return [...own, ...more.nodes];
      });
      nodes.push(...below.map((node) => ({ ...node, targetId })));
    }
  }
  return nodes;

  function isBelow({ targetId, parentFrameId }: Protocol.Target.TargetInfo): boolean {
    return !known.has(targetId) && parentFrameId !== undefined && known.has(parentFrameId);
  }
}

async function localFrames(scope: Scope, page: Attached): Promise<{ ids: string[]; nodes: SnapshotNode[] }> {
  const { frameTree } = await pageSend(scope, page, 'Page.getFrameTree');
  const ids: string[] = [];
  const nodes: SnapshotNode[] = [];
  const waiting = [...(frameTree.childFrames ?? [])].reverse();
  for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop()) {
    const { id, url } = tree.frame;
    waiting.push(...[...(tree.childFrames ?? [])].reverse());
    try {
      const own = await frameNodes(scope, page, id);
      ids.push(id);
      nodes.push(...own.map((node) => ({ ...node, frame: url })));
    } catch (error) {
      if (!isCdpFailure(error) && !isCdpTimeout(error)) throw error; // removed meanwhile, or in a process of its own
    }
  }
  return { ids, nodes };
}

/** Depth first without recursion: pages nest thousands deep. */
function* inDocumentOrder(nodes: readonly AxNode[]): Generator<AxNode> {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const waiting = nodes.filter(({ parentId }) => parentId === undefined || !byId.has(parentId)).reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const ids = node.childIds ?? [];
    for (let index = ids.length - 1; index >= 0; index--) {
      const child = byId.get(ids[index]);
      if (child !== undefined) waiting.push(child);
    }
  }
}

const STATES: ReadonlySet<string> = new Set(['checked', 'pressed', 'selected', 'expanded', 'disabled']);

/** Nothing for what is ignored or stands for no element. */
function project(node: AxNode): SnapshotNode[] {
  if (node.ignored || node.backendDOMNodeId === undefined) return [];
  const value = node.value?.value as string | number | undefined;
  const states: Record<string, boolean | 'mixed'> = {};
  for (const { name, value: state } of node.properties ?? []) {
    if (!STATES.has(name)) continue;
    // Chromium says "true" and "false" of some and true and false of others.
    const said = state.value as unknown;
    if (said === true || said === 'true') states[name] = true;
    else if (said === false || said === 'false') states[name] = false;
    else if (said === 'mixed') states[name] = 'mixed';
  }
  return [
    {
      backendNodeId: node.backendDOMNodeId,
      role: String((node.role?.value as string | undefined) ?? ''),
      name: String((node.name?.value as string | undefined) ?? '')
        .replace(/\s+/gu, ' ')
        .trim(),
      ...(value === undefined ? {} : { value: String(value) }),
      ...states,
    },
  ];
}
