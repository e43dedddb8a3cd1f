// Templates come with models and are a stranger's programs: how long one may run and how much it may make. Its steps are
// counted node by node, which ends the same template at the same place on any machine, and before memory does. A single node
// can still write without end a value that holds itself many times over: that is for the engine's own watchdog.

import { createContext, Script } from 'node:vm';
import * as jinja from '@huggingface/jinja';
import { TabwrightError } from '../core/index.ts';

/** Nodes that are evaluated, and what they make, of which some takes as long as several nodes. */
const MAX_STEPS = 1_500_000;
const STEPS_PER_TURN_OF_A_LOOP = 10;
const CHARACTERS_PER_STEP = 512;
/** Items of a list. */
const MAX_ITEMS = 1_000_000;
/** Characters of a text. */
const MAX_CHARACTERS = 1 << 26;
/** Of one rendering, or of reading the template; only for what cannot be counted, since it depends on the machine's load. */
const DEADLINE_MS = 30_000;

type Value = { readonly type: string; readonly value: unknown };
type Node = { readonly type: string; readonly iterable?: Node; readonly lhs?: Node };
export type JinjaEnvironment = { set(name: string, value: unknown): unknown };
/** Its declarations of these cannot be resolved from an ES module. */
const { Interpreter } = jinja as unknown as {
  readonly Interpreter: new (environment: JinjaEnvironment) => {
    run(program: unknown): Value;
    evaluate(node: Node | undefined, environment: unknown): Value;
  };
};

export type TemplateLimits = {
  /** Ends what `work` does after the deadline, wherever it is. */
  within<T>(work: () => T): T;
  /** The text that a parsed template writes. */
  run(program: unknown, environment: JinjaEnvironment): string;
  /** Python's `range`, of as many items as a list may have. */
  readonly range: (start: number, stop?: number, step?: number) => number[];
};

export function isTooLong(error: unknown): boolean {
  return error instanceof TabwrightError && error.code === 'template-too-long';
}

/** `name` is the template's, for messages. `deadlineMs` is for tests. */
export function templateLimits(name: string, { deadlineMs = DEADLINE_MS } = {}): TemplateLimits {
  const refuse = (what: string): never => {
    throw new TabwrightError(
      'config',
      `The chat template of ${name} was stopped: ${what}. A template writes a conversation in milliseconds; this one is ` +
        'broken or means harm. Name a format with --chat-format, or change the template beside the weights.',
      { code: 'template-too-long', details: { format: name } },
    );
  };
  const checkItems = (count: number): void => {
    if (count > MAX_ITEMS) refuse(`it makes a list of ${count} items, more than ${MAX_ITEMS}`);
  };

  class BoundedInterpreter extends Interpreter {
    #steps = 0;
    readonly #looped = new WeakSet<Node>();

    override evaluate(node: Node | undefined, environment: unknown): Value {
      this.#count(1);
      const { iterable } = node ?? {};
      if (node?.type === 'For' && iterable)
        this.#looped.add(iterable.type === 'SelectExpression' ? iterable.lhs! : iterable);
      const result = super.evaluate(node, environment);
      this.#measure(node, result?.value);
      return result;
    }

    #measure(node: Node | undefined, value: unknown): void {
      // A name or a member only finds what was counted when it was made.
      const found = node === undefined || node.type === 'Identifier' || node.type === 'MemberExpression';
      if (node && this.#looped.has(node)) this.#count(STEPS_PER_TURN_OF_A_LOOP * sizeOf(value));
      if (found) return;
      if (Array.isArray(value)) {
        checkItems(value.length);
        this.#count(value.length);
      } else if (typeof value === 'string') {
        if (value.length > MAX_CHARACTERS) refuse(`it makes a text of more than ${MAX_CHARACTERS} characters`);
        this.#count(value.length / CHARACTERS_PER_STEP);
      }
    }

    #count(steps: number): void {
      this.#steps += steps;
      if (this.#steps > MAX_STEPS) refuse(`it takes more than ${MAX_STEPS} steps`);
    }
  }

  const context = createContext({});
  const start = new Script('work()');
  const within = <T>(work: () => T): T => {
    context.work = work;
    try {
      return start.runInContext(context, { timeout: deadlineMs }) as T;
    } catch (error) {
      // An error of the other context, so no instance of this one's.
      const timedOut = (error as { readonly code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      return timedOut ? refuse(`it takes longer than ${deadlineMs / 1000} seconds`) : rethrow(error);
    } finally {
      delete context.work;
    }
  };

  return {
    within,
    run: (program, environment) => within(() => String(new BoundedInterpreter(environment).run(program).value)),
    range(start, stop, step = 1) {
      const [from, to] = stop === undefined ? [0, start] : [start, stop];
      if (step === 0) throw new Error('range() with a step of 0');
      const count = Math.max(0, Math.ceil((to - from) / step));
      checkItems(count);
      return Array.from({ length: count }, (_, i) => from + i * step);
    },
  };
}

/** Loops go over lists, and over the keys of mappings. */
function sizeOf(value: unknown): number {
  if (value instanceof Map) return value.size;
  return Array.isArray(value) ? value.length : 0;
}

function rethrow(error: unknown): never {
  throw error;
}
