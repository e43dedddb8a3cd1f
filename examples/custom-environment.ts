// An environment of one's own in a real browser: three buttons, one of which means what is asked. What follows is all that it takes
// to measure and train on it: see docs/guide/custom-environments.md.

import { createReferences, launchBrowser, observePage, openPage } from 'tabwright/browser';
import type { Env, Task } from 'tabwright/core';
import { CLICK_TOOL } from 'tabwright/envs';

const NAMES = ['Accept', 'Decline', 'Later'];
const ASKED = ['Say yes.', 'Say no.', 'Wait.'];
const PAGE = `<title>nothing</title>${NAMES.map((name) => `<button onclick="document.title = '${name}'">${name}</button>`).join('')}`;

export async function createEnv({ signal }: { readonly signal: AbortSignal }): Promise<Env> {
  const browser = await launchBrowser({ signal });
  const wanted = ({ seed }: Task): string => NAMES[seed % NAMES.length];
  return {
    name: 'three-buttons',
    capacity: 4,
    maxActions: 1,
    /** Pure: the same seed is the same task. */
    task(seed) {
      return { id: `three-buttons/${seed}`, env: 'three-buttons', seed, instruction: ASKED[seed % ASKED.length] };
    },
    async open(task, call) {
      const url = `data:text/html,${encodeURIComponent(PAGE)}`;
      const page = await openPage(browser, { url, viewport: { width: 320, height: 200 }, signal: call.signal });
      const seen = observePage(await page.accessibilityTree(call), createReferences());
      return {
        tools: [CLICK_TOOL],
        first: { page: seen.text },
        async step(action, options) {
          const target = action.kind === 'call' ? Number(action.args['target']) : NaN;
          const control = seen.controls.get(target);
          if (control !== undefined) await page.click(control.backendNodeId, options);
          // The verdict is about the page, not about what the model says of it.
          const clicked = await page.evaluate('document.title', options);
          const success = clicked === wanted(task);
          return {
            observation: { page: seen.text },
            changed: control !== undefined,
            info: { clicked },
            outcome: { kind: 'finished', success, reward: Number(success), stop: 'submitted', details: { clicked } },
          };
        },
        screenshot: (options) => page.screenshot(options),
        [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
      };
    },
    [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose](),
  };
}
