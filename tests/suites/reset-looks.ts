// All that an agent, a person or a verifier could tell two pages of MiniWoB++ apart by, and what leaves traces in one.

import type { MiniwobEpisode } from '../../src/envs/index.ts';

const { signal } = new AbortController();
const at = { signal };

export type Look = {
  readonly instruction: string;
  readonly text: string;
  /** What is in the task's area and beside the test bench, without stamps that count episodes or widgets. */
  readonly dom: string;
  /** Values and ticks of fields, chosen options, scroll positions, focus. */
  readonly state: string;
};

const DOM = `(() => {
  const copy = document.body.cloneNode(true);
  for (const e of copy.querySelectorAll('#query, #reward-display, #click-canvas, #sync-task-cover, script, style')) e.remove();
  return copy.innerHTML
    .replace(/ data-(tampered|wob_ref|wob_eps)="[^"]*"/g, '')
    .replace(/ui-id-\\d+|dp\\d{5,}|divWheel\\d*|r-?\\d{6,}/g, 'id')
    .replace(/ aria-[a-z]+="[^"]*"| class=""| style=""| title=""/g, '')
    .replace(/\\s+/g, ' ').trim();
})()`;

const STATE = `JSON.stringify([
  [...document.querySelectorAll('input, textarea, select')].map((e) => [e.value, e.checked ?? null, e.selectedIndex ?? null, e.disabled]),
  [...document.querySelectorAll('#wrap, #wrap *')].filter((e) => e.scrollTop || e.scrollLeft).map((e) => [e.id, e.scrollTop, e.scrollLeft]),
  document.activeElement.tagName, scrollX, scrollY, getSelection().toString(),
])`;

export async function lookAt(episode: MiniwobEpisode): Promise<Look> {
  const [dom, state] = await Promise.all([DOM, STATE].map((expression) => episode.truth.evaluate(expression, at)));
  return { instruction: episode.instruction, text: episode.first.page, dom: dom as string, state: state as string };
}

const FIELD = /^(?:textbox|searchbox|spinbutton|combobox)\b.*\[(\d+)\]$/;

/** Clicks, writes, scrolls and drags, as a policy without a plan would, until the episode ends. */
export async function leaveTraces(episode: MiniwobEpisode): Promise<void> {
  let { page } = episode.first;
  const lines = page.split('\n').slice(0, 12);
  const calls = lines.flatMap((line) => {
    const target = Number(/\[(\d+)\]$/.exec(line)?.[1] ?? 0);
    if (target === 0) return [];
    const click = { tool: 'click', args: { target } };
    return FIELD.test(line) ? [{ tool: 'fill', args: { target, text: 'Zq 7' } }] : [click];
  });
  const place = (tool: string, args: object) => ({ tool, args });
  const drags = [
    place('drag_at', {
      points: [
        [80, 90],
        [100, 130],
      ],
    }),
    place('drag_at', {
      points: [
        [30, 70],
        [60, 72],
      ],
    }),
  ];
  // Last what ends most episodes: a look at the whole before.
  for (const call of [...drags, ...calls]) {
    const { outcome, observation } = await episode.step({ kind: 'call', ...call, args: call.args as never }, at);
    if (outcome !== undefined) return;
    ({ page } = observation);
  }
}
