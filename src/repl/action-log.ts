// What was done to the browser, as the host saw it: for judges, who must not take the actor's word. Helpers come from
// the registry, roles and names from the browser, addresses from its navigations. Text that a model chose (typed text,
// addresses it asked for) is in fields of its own, quoted when it is shown. Cell source, comments and output never enter.

import { quote } from '../browser/index.ts';

/** What a call is about; each field has one author, named beside it. */
export type Subject = {
  /** Browser: the element that was resolved. */
  readonly element?: { readonly role: string; readonly name: string };
  /** Model: what was typed or filled in. */
  readonly text?: string;
  /** Host: the key's name after normalisation, with its modifiers. */
  readonly key?: string;
  /** Model: the address asked for. */
  readonly url?: string;
  /** Model: viewport coordinates, CSS pixels. */
  readonly point?: { readonly x: number; readonly y: number };
  /** Host: the protocol command, which passed the policy. */
  readonly command?: string;
  /** Host: base names of uploaded files, which exist. */
  readonly files?: readonly string[];
  /** Page: the tool that was invoked. */
  readonly tool?: string;
};

export type ActionEntry = {
  /** From 1. */
  readonly index: number;
  readonly cell: number;
  readonly helper: string;
  readonly effect: 'looks' | 'acts';
  readonly subject: Subject;
  readonly urlBefore: string;
  /** Follows the page until the next action, so it shows where a click led. */
  readonly urlAfter: string;
  readonly result: 'running' | 'done' | 'failed';
};

export type RunningAction = {
  readonly about: (subject: Subject) => void;
  readonly end: (result: 'done' | 'failed', url: string) => void;
};

export interface ActionLog {
  readonly entries: readonly ActionEntry[];
  /** How many calls came after there was no more room; looks never take the room of acts. */
  readonly omitted: { readonly acts: number; readonly looks: number };
  begin(action: Pick<ActionEntry, 'cell' | 'helper' | 'effect'> & { readonly url: string }): RunningAction;
  /** The attached page is at another address. */
  navigated(url: string): void;
  /** Whether something was done in this cell that may have changed the page. */
  acted(cell: number): boolean;
}

/** Longer texts are cut: a log is for reading. */
const MAX_TEXT = 2_000;
/** Of each effect. A cell can call as often as it likes, and memory is the host's. */
const MAX_ENTRIES = 10_000;

export function createActionLog(): ActionLog {
  const entries: ActionEntry[] = [];
  const count = { acts: 0, looks: 0 };
  const omitted = { acts: 0, looks: 0 };
  const change = (index: number, fields: Partial<ActionEntry>): void => {
    entries[index - 1] = { ...entries[index - 1], ...fields };
  };
  return {
    entries,
    omitted,
    begin({ url, ...action }) {
      if (count[action.effect] === MAX_ENTRIES) {
        omitted[action.effect]++;
        return { about: () => undefined, end: () => undefined };
      }
      count[action.effect]++;
      const index = entries.length + 1;
      entries.push({ index, ...action, subject: {}, urlBefore: url, urlAfter: url, result: 'running' });
      return {
        about: (subject) => change(index, { subject: { ...entries[index - 1].subject, ...shortened(subject) } }),
        end: (result, after) => change(index, { result, urlAfter: after }),
      };
    },
    navigated(url) {
      const last = entries.findLast(({ effect }) => effect === 'acts');
      if (last !== undefined) change(last.index, { urlAfter: url });
    },
    acted: (cell) => entries.some((entry) => entry.cell === cell && entry.effect === 'acts'),
  };
}

function shortened(subject: Subject): Subject {
  const { text, url, element } = subject;
  return {
    ...subject,
    ...(text === undefined ? {} : { text: cut(text) }),
    ...(url === undefined ? {} : { url: cut(url) }),
    ...(element === undefined ? {} : { element: { role: element.role, name: cut(element.name) } }),
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

/** One numbered line an action; whatever a model or a page wrote is between quotes and on that line. */
export function renderActionLog({ entries, omitted }: Pick<ActionLog, 'entries' | 'omitted'>): string {
  const acts = entries.filter(({ effect }) => effect === 'acts');
  const lines = acts.map((entry, position) => `${position + 1}. ${renderAction(entry)}`);
  return [...lines, ...(omitted.acts === 0 ? [] : [`(and ${omitted.acts} more)`])].join('\n');
}

function renderAction({ helper, subject, urlBefore, urlAfter, result }: ActionEntry): string {
  const { element, text, key, url, point, command, files, tool } = subject;
  const say = (value: string): string => quote(value, '"');
  const parts = [
    helper,
    ...(command === undefined ? [] : [command]),
    ...(element === undefined ? [] : [`${say(element.role)} ${say(element.name)}`]),
    ...(point === undefined ? [] : [`at ${point.x},${point.y}`]),
    ...(tool === undefined ? [] : [`tool ${say(tool)}`]),
    ...(key === undefined ? [] : [`key ${say(key)}`]),
    ...(text === undefined ? [] : [`text ${say(text)}`]),
    ...(files === undefined ? [] : [`files ${files.map(say).join(' ')}`]),
    ...(url === undefined ? [] : [`to ${say(url)}`]),
    `on ${say(urlBefore)}`,
    ...(urlAfter === urlBefore ? [] : [`-> ${say(urlAfter)}`]),
    ...(result === 'done' ? [] : [`(${result})`]),
  ];
  return parts.join(' ');
}
