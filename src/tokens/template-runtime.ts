// Runs somebody else's chat template: with the functions that templates are given, today frozen so that a run can be
// repeated, and errors that say whether the template's author refused or this implementation of Jinja could not.

import * as jinja from '@huggingface/jinja';
import { TabwrightError, type JsonObject, type ToolSpec } from '../core/index.ts';
import type { Ending } from './chat-format.ts';
import { refuse } from './families/refusals.ts';
import { templateLimits, type JinjaEnvironment, type TemplateLimits } from './template-limits.ts';
import { checkDate, strftime } from './text/python-date.ts';

export type TemplateSource = {
  /** What is recorded, e.g. the template's file or the model's name. */
  readonly name: string;
  /** The text of `chat_template`. */
  readonly template: string;
  /** Another one that the author has for conversations with tools. Default the same. */
  readonly toolTemplate?: string;
  readonly bosToken?: string;
  readonly eosToken?: string;
  /** Today, as `2026-11-30`, for templates that ask. Default 26 July 2024, as Llama's templates have it. */
  readonly date?: string;
  /** Further variables of the template, e.g. `{ enable_thinking: false }`. */
  readonly variables?: JsonObject;
};

export type RenderTemplate = (messages: readonly object[], tools: readonly ToolSpec[], ending: Ending) => string;

/** Its declarations of these cannot be resolved from an ES module. */
const { Template, Environment } = jinja as unknown as {
  readonly Template: new (text: string) => { readonly parsed: unknown };
  readonly Environment: new () => JinjaEnvironment;
};
type Parsed = InstanceType<typeof Template>;

const DEFAULT_DATE = '2024-07-26';

/** What a template's author refuses with `raise_exception`. */
class Refused extends Error {}

export function templateRenderer(source: TemplateSource): RenderTemplate {
  const { name, template, toolTemplate = template, bosToken, eosToken, date = DEFAULT_DATE, variables } = source;
  checkDate(date);
  const limits = templateLimits(name);
  const { range } = limits;
  const plain = parse(name, template, limits);
  const forTools = toolTemplate === template ? plain : parse(name, toolTemplate, limits);
  return (messages, tools, ending) => {
    try {
      const environment = new Environment();
      const given: Readonly<Record<string, unknown>> = {
        ...{ true: true, false: false, none: null, True: true, False: false, None: null, range },
        raise_exception: (words: unknown) => {
          throw new Refused(String(words));
        },
        strftime_now: (format: string) => strftime(date, format),
        ...variables,
        ...(bosToken === undefined ? {} : { bos_token: bosToken }),
        ...(eosToken === undefined ? {} : { eos_token: eosToken }),
        ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
        messages,
        add_generation_prompt: ending === 'prompt',
      };
      for (const [key, value] of Object.entries(given)) environment.set(key, value);
      return limits.run((tools.length === 0 ? plain : forTools).parsed, environment);
    } catch (error) {
      throw explained(name, error);
    }
  };
}

function parse(name: string, template: string, limits: TemplateLimits): Parsed {
  try {
    return limits.within(() => new Template(template));
  } catch (error) {
    if (error instanceof TabwrightError) throw error;
    throw new TabwrightError('config', `The chat template of ${name} could not be read: ${String(error)}`, {
      code: 'template-unreadable',
      details: { format: name },
      cause: error,
    });
  }
}

function explained(name: string, error: unknown): Error {
  if (error instanceof TabwrightError) return error;
  const words = error instanceof Error ? error.message : String(error);
  if (error instanceof Refused) {
    return refuse(name, `does not take this conversation; its author says: ${words}`, 'Change the messages.');
  }
  return new TabwrightError(
    'policy',
    `The chat template of ${name} could not be run on this conversation: ${words}. It runs in @huggingface/jinja, which ` +
      'lacks some of what Python has: name a format with --chat-format, or change the template beside the weights.',
    { code: 'template-failed', details: { format: name }, cause: error },
  );
}
