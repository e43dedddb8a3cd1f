// Carries out an agent's calls with trusted mouse and keyboard events, as a person's hand would. It answers in words
// what cannot be done; what it throws are failures of the browser.

import type { CdpSession, Control, Page, PageCallOptions } from '../../browser/index.ts';
import { TabwrightError } from '../../core/index.ts';
import { sleep } from '../../util/index.ts';
import { keyOfCharacter, MODIFIERS, readCombination, type Key } from './keyboard.ts';
import type { MiniwobCall } from './tools.ts';

type Point = { readonly x: number; readonly y: number };
type Button = 'left' | 'none';

/** Pixels between two reports of a mouse that is dragged; libraries tell a drag from a click by such steps. */
const DRAG_STEP = 6;

export type CarryOutOptions = PageCallOptions & {
  readonly page: Page;
  readonly controls: ReadonlyMap<number, Control>;
};

/** Why nothing was done, or undefined. */
export async function carryOut(call: MiniwobCall, options: CarryOutOptions): Promise<string | undefined> {
  const { page, controls, ...at } = options;
  const perform = (work: (session: CdpSession) => Promise<void>): Promise<void> => page.perform(call.tool, work, at);
  const place = async (reference: number): Promise<Point | undefined> => {
    const control = controls.get(reference)!;
    return page.read('locate', (session) => centreOf(session, control.backendNodeId), at);
  };
  const on = async (reference: number, work: (point: Point) => Promise<void>): Promise<string | undefined> => {
    const point = await place(reference);
    if (point === undefined) return `Element ${reference} is no longer on the page, or takes no space in it.`;
    await work(point);
    return undefined;
  };
  const clickThere = (point: Point, count = 1, modifiers = 0): Promise<void> =>
    perform((session) => click(session, point, count, modifiers));

  switch (call.tool) {
    case 'click': {
      const { target, count, holding } = call.args;
      return on(target, (point) => clickThere(point, count, holding === undefined ? 0 : MODIFIERS[holding]));
    }
    case 'click_at':
      return void (await clickThere(call.args));
    case 'hover':
      return on(call.args.target, (point) => perform((session) => move(session, point)));
    case 'hover_at':
      return void (await perform((session) => move(session, call.args)));
    case 'fill': {
      const control = controls.get(call.args.target)!;
      if (control.states.includes('disabled')) return `Element ${control.reference} is disabled.`;
      // The field has the focus once the button is down, and events reach the page in the order of the calls.
      return on(call.args.target, (point) =>
        perform(async (session) => {
          await Promise.all([click(session, point, 1, 0), replaceText(session, control, call.args.text)]);
        }),
      );
    }
    case 'type':
      return void (await perform((session) => typeText(session, call.args.text)));
    case 'press': {
      const combination = readCombination(call.args.keys);
      if (combination === undefined) return `${JSON.stringify(call.args.keys)} is no key or combination of keys.`;
      return void (await perform(async (session) => {
        for (let i = 0; i < call.args.times; i++) await pressKey(session, combination.key, combination.modifiers);
      }));
    }
    case 'select':
      return choose(call.args.target, call.args.options, options);
    case 'drag': {
      const from = await place(call.args.from);
      const to = await place(call.args.to);
      if (from === undefined || to === undefined) {
        return `Element ${from === undefined ? call.args.from : call.args.to} is no longer on the page, or takes no space in it.`;
      }
      // Looking for the second may have scrolled the first.
      const start = (await place(call.args.from)) ?? from;
      return void (await drag(perform, [start, to]));
    }
    case 'drag_at':
      return void (await drag(
        perform,
        call.args.points.map(([x, y]) => ({ x, y })),
      ));
    case 'scroll': {
      const { target, dx, dy } = call.args;
      return on(target, ({ x, y }) =>
        drawnMeanwhile(
          perform((session) =>
            session.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: dx, deltaY: dy }),
          ),
          options,
        ),
      );
    }
    case 'wait':
      return void (await perform(() => sleep(call.args.ms, options.signal)));
    default:
      return call satisfies never;
  }
}

/** Frames that draw nothing, which other input makes do with, leave a wheel event unanswered for good. */
async function drawnMeanwhile(work: Promise<void>, { page, controls: _, ...at }: CarryOutOptions): Promise<void> {
  let settled = false;
  const end = work.finally(() => (settled = true));
  const draw = async (): Promise<void> => {
    do await page.screenshot(at);
    while (!settled);
  };
  await Promise.all([end, draw()]);
}

/** Moves the mouse to a place. */
export function move(session: CdpSession, point: Point): Promise<void> {
  return mouse(session, 'mouseMoved', point, 'none');
}

async function mouse(
  session: CdpSession,
  type: 'mouseMoved' | 'mousePressed' | 'mouseReleased',
  { x, y }: Point,
  button: Button,
  more: { readonly clickCount?: number; readonly modifiers?: number } = {},
): Promise<void> {
  const buttons = button === 'left' && type !== 'mouseReleased' ? 1 : 0;
  await session.send('Input.dispatchMouseEvent', { type, x, y, button, buttons, ...more });
}

async function click(session: CdpSession, point: Point, count: number, modifiers: number): Promise<void> {
  const events = [mouse(session, 'mouseMoved', point, 'none', { modifiers })];
  for (let clickCount = 1; clickCount <= count; clickCount++) {
    events.push(mouse(session, 'mousePressed', point, 'left', { clickCount, modifiers }));
    events.push(mouse(session, 'mouseReleased', point, 'left', { clickCount, modifiers }));
  }
  await Promise.all(events);
}

/** One move after the other, each with its frame: several in one frame would reach the page as one. */
async function drag(
  perform: (work: (session: CdpSession) => Promise<void>) => Promise<void>,
  points: readonly Point[],
): Promise<void> {
  await perform((session) => move(session, points[0]));
  await perform((session) => mouse(session, 'mousePressed', points[0], 'left', { clickCount: 1 }));
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [points[i - 1], points[i]];
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / DRAG_STEP));
    for (let step = 1; step <= steps; step++) {
      const at = (a: number, b: number): number => a + ((b - a) * step) / steps;
      const point = { x: at(from.x, to.x), y: at(from.y, to.y) };
      await perform((session) => mouse(session, 'mouseMoved', point, 'left'));
    }
  }
  await perform((session) => mouse(session, 'mouseReleased', points.at(-1)!, 'left', { clickCount: 1 }));
}

async function pressKey(session: CdpSession, { key, code, keyCode, text }: Key, modifiers: number): Promise<void> {
  const common = { key, code, windowsVirtualKeyCode: keyCode, modifiers };
  const types = text !== undefined && (modifiers & ~MODIFIERS.Shift) === 0;
  const commands = editCommand(code, modifiers);
  await Promise.all([
    session.send('Input.dispatchKeyEvent', {
      type: types ? 'keyDown' : 'rawKeyDown',
      ...common,
      ...(types ? { text, unmodifiedText: text } : {}),
      ...(commands === undefined ? {} : { commands: [commands] }),
    }),
    session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common }),
  ]);
}

/** What the window system of a desktop would do for these keys; a headless browser has none. */
function editCommand(code: string, modifiers: number): string | undefined {
  if (modifiers !== MODIFIERS.Control) return undefined;
  return { KeyA: 'selectAll', KeyC: 'copy', KeyX: 'cut', KeyV: 'paste', KeyZ: 'undo' }[code];
}

async function typeText(session: CdpSession, text: string): Promise<void> {
  const keys = [...text].map((character) => ({ character, key: keyOfCharacter(character) }));
  await Promise.all(
    keys.map(({ character, key }) =>
      key === undefined
        ? session.send('Input.insertText', { text: character })
        : pressKey(session, key, key.shift === true ? MODIFIERS.Shift : 0),
    ),
  );
}

const SEGMENTED: ReadonlySet<string> = new Set(['date', 'inputtime', 'datetime']);

/** The field has the focus; what is in it is replaced, by keys, so that pages that listen to keys hear it. */
async function replaceText(session: CdpSession, { role }: Control, text: string): Promise<void> {
  if (SEGMENTED.has(role)) {
    // Such a field goes on to its next part by itself, so the separators are not typed; a click put the cursor anywhere.
    const left = [0, 1, 2, 3].map(() => pressKey(session, readCombination('ArrowLeft')!.key, 0));
    await Promise.all([...left, typeText(session, text.replace(/[^0-9a-zA-Z]/g, ''))]);
    return;
  }
  // In the order of the calls, as all keys are.
  await Promise.all([
    pressKey(session, keyOfCharacter('a')!, MODIFIERS.Control),
    text === '' ? pressKey(session, readCombination('Delete')!.key, 0) : typeText(session, text),
  ]);
}

/** Options of a native list: a list box is clicked, a closed list is moved by keys, which changes it without opening. */
async function choose(
  target: number,
  wanted: readonly string[],
  { page, controls, ...at }: CarryOutOptions,
): Promise<string | undefined> {
  const { backendNodeId } = controls.get(target)!;
  const list = await page.read('select', (session) => nativeList(session, backendNodeId), at);
  if (list === undefined) return `Element ${target} is no list of options; click it and then what it shows.`;
  const missing = wanted.find((option) => !list.options.includes(option));
  if (missing !== undefined) {
    return `There is no option ${JSON.stringify(missing)}; the options are ${list.options.map((option) => JSON.stringify(option)).join(', ')}.`;
  }
  if (!list.multiple && wanted.length > 1) return `Element ${target} takes one option, not ${wanted.length}.`;
  if (list.open) {
    for (const [i, option] of wanted.entries()) {
      const node = list.nodes[list.options.indexOf(option)];
      const point = await page.read('locate', (session) => centreOf(session, node), at);
      if (point === undefined) return `Option ${JSON.stringify(option)} takes no space in the page.`;
      await page.perform('select', (session) => click(session, point, 1, i === 0 ? 0 : MODIFIERS.Control), at);
    }
    return undefined;
  }
  await page.perform(
    'select',
    async (session) => {
      await session.send('DOM.focus', { backendNodeId });
      const steps = list.options.indexOf(wanted[0]) - list.selected;
      const { key } = readCombination(steps > 0 ? 'ArrowDown' : 'ArrowUp')!;
      for (let i = 0; i < Math.abs(steps); i++) await pressKey(session, key, 0);
    },
    at,
  );
  return undefined;
}

type NativeList = {
  readonly options: readonly string[];
  readonly nodes: readonly number[];
  readonly selected: number;
  readonly multiple: boolean;
  /** All options are in view, or can be scrolled to. */
  readonly open: boolean;
};

async function nativeList(session: CdpSession, backendNodeId: number): Promise<NativeList | undefined> {
  const { object } = await session.send('DOM.resolveNode', { backendNodeId });
  const ask = async (body: string): Promise<unknown> => {
    const { result } = await session.send('Runtime.callFunctionOn', {
      objectId: object.objectId!,
      functionDeclaration: `function () { ${body} }`,
      returnByValue: true,
    });
    return result.value as unknown;
  };
  const found = (await ask(
    `return this instanceof HTMLSelectElement ? { options: [...this.options].map((o) => o.text.trim()),
      selected: this.selectedIndex, multiple: this.multiple, open: this.multiple || this.size > 1 } : null`,
  )) as Omit<NativeList, 'nodes'> | null;
  if (found === null) return undefined;
  const nodes: number[] = [];
  if (found.open) {
    for (const i of found.options.keys()) {
      const { result } = await session.send('Runtime.callFunctionOn', {
        objectId: object.objectId!,
        functionDeclaration: `function () { return this.options[${i}] }`,
      });
      nodes.push((await session.send('DOM.describeNode', { objectId: result.objectId! })).node.backendNodeId);
    }
  }
  return { ...found, nodes };
}

/** Centre of the first box of a node after scrolling it into view; undefined where it has none. */
async function centreOf(session: CdpSession, backendNodeId: number): Promise<Point | undefined> {
  try {
    // In the order of the calls: the boxes are those after scrolling.
    const [, { quads }] = await Promise.all([
      session.send('DOM.scrollIntoViewIfNeeded', { backendNodeId }),
      session.send('DOM.getContentQuads', { backendNodeId }),
    ]);
    if (quads.length === 0) return undefined;
    const [quad] = quads;
    return { x: (quad[0] + quad[2] + quad[4] + quad[6]) / 4, y: (quad[1] + quad[3] + quad[5] + quad[7]) / 4 };
  } catch (error) {
    // Chromium's answer for a node that is detached or has no box.
    if (error instanceof TabwrightError && error.details.protocolCode === -32000) return undefined;
    throw error;
  }
}
