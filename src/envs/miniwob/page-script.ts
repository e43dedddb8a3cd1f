// What is asked of the pages' own test bench: to start a problem, how it stands, whether something still moves. The
// expressions run in the page and write nothing into it beyond what its own buttons do.
// Source: core/core.js of MiniWoB++ 1.1.0.

import type { JsonObject, JsonValue } from '../../core/index.ts';

/** The pages' own limit, milliseconds: none in practice, because agents are limited by actions. */
const NO_LIMIT_MS = 2_000_000_000;

export type StartedProblem = {
  /** As the page gives it. */
  readonly utterance: string;
  /** Of the three tasks that give them. */
  readonly fields: JsonObject | null;
  /** Utterance with what the page says by colours and icons put into words. */
  readonly instruction: string;
};

export type ProblemState = {
  /** False where the document is not a MiniWoB page any more. */
  readonly present: boolean;
  readonly done: boolean;
  readonly raw: number;
  readonly reason: string | null;
  readonly url: string;
  /** Whether an animation that ends was running, or a picture on its way. */
  readonly moving: boolean;
};

export type DataMode = 'train' | 'test';

/** Leaves no focus, selection or running problem of before, then starts the problem of a seed. */
export function startExpression(seed: number, mode: DataMode): string {
  return `(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    core.endEpisode(0);
    core.setDataMode(${JSON.stringify(mode)});
    Math.seedrandom(${seed});
    core.EPISODE_MAX_TIME = ${NO_LIMIT_MS};
    core.startEpisodeReal();
    const said = core.getUtterance();
    const utterance = typeof said === 'string' ? said : said.utterance;
    const query = document.getElementById('query');
    const words = (node) => [...node.childNodes].map((child) => {
      if (child.nodeType === Node.TEXT_NODE) return child.data;
      if (child.nodeType !== Node.ELEMENT_NODE) return '';
      if (child.textContent.trim() !== '') return words(child);
      const icon = /ui-icon-([\\w-]+)/.exec(child.className);
      const colour = child.style.backgroundColor;
      return icon ? '"' + icon[1] + '"' : colour ? ' ' + colour + ' ' : '';
    }).join('');
    const drawn = query.querySelector('.ui-icon, .cc') !== null;
    return {
      utterance,
      fields: typeof said === 'string' ? null : said.fields,
      instruction: drawn ? words(query).replace(/\\s+/g, ' ').trim() : utterance,
    };
  })()`;
}

export const READY_EXPRESSION = 'WOB_TASK_READY === true && core.cover_div !== null';

/**
 * Loads every picture that the page's styles name, and keeps them. A picture that is only fetched when the mouse comes
 * makes its element shrink in between, and a click that is quicker than the picture misses it.
 */
export const PRELOAD_EXPRESSION = `(async () => {
  const urls = new Set();
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) {
    for (const [, url] of rule.cssText.matchAll(/url\\("([^"]+)"\\)/g)) urls.add(new URL(url, sheet.href ?? location.href).href);
  }
  const images = [...urls].map((url) => Object.assign(new Image(), { src: url }));
  // Some are named that do not exist.
  await Promise.allSettled(images.map((image) => image.decode()));
  Object.defineProperty(window, Symbol('preloaded'), { value: images });
})()`;

/** jQuery's and the browser's own finite animations, and pictures that come and push the rest away. */
const MOVING = `() => (window.jQuery ? jQuery.timers.length > 0 : false) || [...document.images].some((image) => !image.complete) || document.getAnimations().some((animation) =>
  animation.playState === 'running' && animation.effect?.getComputedTiming().endTime !== Infinity)`;

/** The reward is read in the same breath as the address, so that a link of the task cannot come between them. */
export const STATE_EXPRESSION = `(() => {
  const present = typeof WOB_DONE_GLOBAL !== 'undefined';
  return {
    present,
    done: present && WOB_DONE_GLOBAL,
    raw: present ? WOB_RAW_REWARD_GLOBAL : 0,
    reason: present ? WOB_REWARD_REASON ?? null : null,
    url: location.href,
    moving: (${MOVING})(),
  };
})()`;

/** Resolves when that is over, at most after `ms` milliseconds. */
export function settledExpression(ms: number): string {
  return `new Promise((resolve) => {
    const end = performance.now() + ${ms};
    const moving = ${MOVING};
    const look = () => (moving() && performance.now() < end ? setTimeout(look, 10) : resolve(true));
    look();
  })`;
}

export function asState(value: JsonValue): ProblemState {
  return value as unknown as ProblemState;
}
