// How a method of the REPL is declared: its documentation, the schema of its arguments, and what it does. Everything
// that is said about a method anywhere (help, the model's tool description, the reference) comes from its declaration.

import { z } from 'zod';
import type { Attached } from './attached-browser.ts';
import { helperFailed } from './failures.ts';
import type { Scope } from './scope.ts';
import type { Subject } from '../action-log.ts';
import type { Scratch } from './scratch.ts';
import type { CdpPolicy } from '../cdp-policy.ts';
import type { HttpGet } from './http-client.ts';
import type { WebMcp } from './webmcp-tools.ts';

export type MethodNamespace = 'repl' | 'browser' | 'webmcp';

export type MethodDescription = {
  readonly name: string;
  readonly namespace: MethodNamespace;
  /** Answers without a promise; only methods that the cell itself carries out can. */
  readonly sync: boolean;
  readonly signature: string;
  readonly description: string;
  readonly example?: string;
  /** What is only there when switched on, and by what name. */
  readonly extension?: string;
};

/** What methods work with beside their arguments. */
export interface MethodContext {
  readonly scope: Scope;
  readonly scratch: Scratch;
  readonly policy: CdpPolicy;
  readonly httpGet: HttpGet | undefined;
  readonly webmcp: WebMcp;
  /** Opt-in extensions of `accessibilitySnapshot`. */
  readonly snapshotExtensions: boolean;
  /** Text for the cell's stderr. */
  readonly note: (text: string) => void;
  /** The attached page, attaching to one if need be. */
  readonly page: () => Promise<Attached>;
  /** Tells the action log what is acted on. */
  readonly about: (subject: Subject) => void;
}

export type HostMethod = MethodDescription & {
  /** `looks` changes nothing, `acts` may. */
  readonly effect: 'looks' | 'acts';
  /** Checks the arguments, and throws at once if they are wrong. */
  readonly prepare: (args: readonly unknown[]) => (context: MethodContext) => Promise<unknown>;
};

type HostDescription = Omit<MethodDescription, 'sync'> & { readonly effect: 'looks' | 'acts' };

/** Declares a method that the host carries out. `args` is a tuple; what a caller gives beyond it is ignored, as in JavaScript. */
export function hostMethod<const T extends readonly z.ZodType[]>(
  description: HostDescription,
  args: T,
  run: (context: MethodContext, ...args: { -readonly [K in keyof T]: z.output<T[K]> }) => Promise<unknown>,
): HostMethod {
  return {
    ...description,
    sync: false,
    prepare: (given) => {
      const values = args.map((schema, index) => {
        const result = schema.safeParse(given[index]);
        if (!result.success) throw helperFailed(qualifiedName(description), describeIssue(result.error.issues[0]));
        return result.data;
      }) as { -readonly [K in keyof T]: z.output<T[K]> };
      return (context) => run(context, ...values);
    },
  };
}

/** A method that the cell carries out itself: only described here. */
export function cellMethod(description: MethodDescription): MethodDescription {
  return description;
}

export function qualifiedName({ name, namespace }: Pick<MethodDescription, 'name' | 'namespace'>): string {
  return namespace === 'browser' ? name : `${namespace}.${name}`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown option: ${issue.keys[0]}`;
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flat().find(({ code }) => code === 'unrecognized_keys');
    if (inner !== undefined) return describeIssue(inner);
  }
  return issue.message;
}

/** An options object; unknown keys are refused by name. */
export function options<S extends z.ZodRawShape>(shape: S) {
  const error = (issue: { readonly code: string }): string | undefined =>
    issue.code === 'invalid_type' ? 'options must be an object' : undefined;
  return z.strictObject(shape, { error }).prefault({} as never);
}

export function seconds(name: string, fallback: number) {
  return anySeconds(name).default(fallback);
}

export function anySeconds(name: string) {
  const error = `${name} must be a finite number of seconds, 0 or more`;
  return z.number({ error }).min(0, { error });
}

export function text(name: string) {
  return z.string({ error: `${name} must be a string` });
}

export function nonEmpty(name: string) {
  const error = `${name} must be a non-empty string`;
  return z.string({ error }).min(1, { error });
}

export function finite(name: string) {
  return z.number({ error: `${name} must be a finite number` });
}
