// Any model by its own chat template: the fallback for models without a format here. Weaker than a format: numbers in
// arguments go through JavaScript (1.0 becomes 1), calls are read only in the two common layouts, and what a template does
// to the past is found by comparing renderings. In safe mode the names of control tokens are hidden from the template.

import { Template } from '@huggingface/jinja';
import { TabwrightError, type JsonObject, type Message, type Tokenizer, type ToolSpec } from '../core/index.ts';
import type { ChatFormat, Ending, FormatInput } from './chat-format.ts';
import { assembleMessage, readJsonCall } from './families/json-calls.ts';
import { argumentsOf, assistantText, refuse, textOf } from './families/refusals.ts';
import { readXmlCall } from './families/xml-calls.ts';
import { readSections } from './reply.ts';
import type { Origin, Segment } from './segments.ts';
import { createHider, SPOKEN } from './template-hiding.ts';
import { toJsonValue } from './text/json-text.ts';

export type TemplateFormatOptions = {
  /** What is recorded, e.g. the template's file or the model's name. */
  readonly name: string;
  /** The text of `chat_template`. */
  readonly template: string;
  readonly tokenizer: Tokenizer;
  readonly bosToken?: string;
  readonly eosToken?: string;
  /** Further variables of the template, e.g. `{ enable_thinking: false }`. */
  readonly variables?: JsonObject;
};

export function createTemplateFormat(options: TemplateFormatOptions): ChatFormat {
  const { name, template, tokenizer } = options;
  const render = templateRenderer(options);
  const control = [...tokenizer.controlTokens.keys()];
  const hider = createHider(control);
  const stops = findStops(options, render, control);
  const thinks = template.includes('<think>');
  const xml = template.includes('<function=');
  return {
    name,
    stops,
    marks: [...(thinks ? ['<think>', '</think>'] : []), '<tool_call>', '</tool_call>'],
    opening: opensThinking(render) ? [{ mark: '<think>', text: '<think>' }, { text: '\n' }] : [],
    write(input) {
      const text = (messages: readonly Message[], tools: readonly ToolSpec[], ending: Ending): string =>
        render(
          messages.map((message, index) => templateMessage(name, message, hider.hide, index === input.spoken)),
          tools,
          ending,
        );
      const whole = text(input.messages, input.tools, input.ending);
      checkNothingDropped(name, input, whole, () => text(input.messages, [], input.ending));
      return parts(name, input, whole, stops, text).flatMap(([stretch, origin]): Segment[] =>
        hider.segments(stretch, origin),
      );
    },
    read: ({ pieces }, tools) =>
      assembleMessage(readSections(pieces), {
        readCall: (call) => (xml ? readXmlCall(call, tools) : readJsonCall(call)),
        thinking: (thinking) => thinking.trim(),
        content: (content) => content.trim(),
      }),
  };
}

type Render = (messages: readonly object[], tools: readonly ToolSpec[], ending: Ending) => string;

function templateRenderer({ name, template, bosToken, eosToken, variables }: TemplateFormatOptions): Render {
  let parsed: Template;
  try {
    parsed = new Template(template);
  } catch (error) {
    throw new TabwrightError('config', `The chat template of ${name} could not be read: ${String(error)}`, {
      code: 'template-unreadable',
      details: { format: name },
      cause: error,
    });
  }
  return (messages, tools, ending) => {
    try {
      return parsed.render({
        ...variables,
        ...(bosToken === undefined ? {} : { bos_token: bosToken }),
        ...(eosToken === undefined ? {} : { eos_token: eosToken }),
        ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
        messages,
        add_generation_prompt: ending === 'prompt',
      });
    } catch (error) {
      // Templates refuse by raising; so does this implementation of Jinja where it lacks something.
      throw refuse(name, `does not take this conversation: ${String(error)}`, 'Change the messages or the template.');
    }
  };
}

function templateMessage(name: string, message: Message, hide: (text: string) => string, spoken: boolean): object {
  if (message.role !== 'assistant') {
    const own = message.role === 'tool' ? { name: message.name, tool_call_id: message.callId } : {};
    const defined = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    return { role: message.role, content: hide(textOf(name, message)), ...defined };
  }
  const { thinking, toolCalls = [] } = message;
  return {
    role: 'assistant',
    content: spoken ? SPOKEN : hide(assistantText(name, message)),
    ...(thinking === undefined ? {} : { reasoning_content: hide(thinking) }),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            ...(call.id === undefined ? {} : { id: call.id }),
            type: 'function',
            function: { name: call.name, arguments: hidden(toJsonValue(argumentsOf(name, call)), hide) },
          })),
        }),
  };
}

function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hidden(item, hide)]));
}

/** Templates drop tools and calls that they do not know without a word; what is nowhere in the text was dropped. */
function checkNothingDropped(name: string, input: FormatInput, whole: string, withoutTools: () => string): void {
  const remedy = 'Use the prompt convention for tools (`withToolPrompt`).';
  if (input.tools.length > 0 && whole === withoutTools()) throw refuse(name, 'drops the declarations of tools', remedy);
  for (const message of input.messages) {
    if (message.role !== 'assistant') continue;
    const lost = (message.toolCalls ?? []).find((call) => !whole.includes(call.name));
    if (lost !== undefined) throw refuse(name, `drops the call of ${lost.name}`, remedy);
  }
}

type Part = readonly [text: string, origin: Origin];

function parts(
  name: string,
  { messages, tools, ending, spoken }: FormatInput,
  whole: string,
  stops: readonly string[],
  text: (messages: readonly Message[], tools: readonly ToolSpec[], ending: Ending) => string,
): readonly Part[] {
  if (spoken !== undefined) {
    const at = whole.indexOf(SPOKEN);
    const ends = stops.map((stop) => ({ stop, at: whole.indexOf(stop, at) })).filter((end) => end.at >= 0);
    const end = ends.sort((a, b) => a.at - b.at)[0];
    if (at < 0 || end === undefined) {
      throw refuse(name, 'does not show where a turn of the assistant ends', 'Use a model with a format of its own.');
    }
    const after = end.at + end.stop.length;
    return [
      [whole.slice(0, at), 'format'],
      [whole.slice(at + SPOKEN.length, after), spoken],
      [whole.slice(after), 'prompt'],
    ];
  }
  if (ending === 'history') return [[whole, 'format']];
  // Everything before is written once without what the ending adds.
  const before = ending === 'prompt' ? messages : messages.slice(0, -1);
  const base = text(before, tools, 'history');
  if (whole.startsWith(base)) {
    return [
      [base, 'format'],
      [whole.slice(base.length), ending === 'prompt' ? 'prompt' : messages.length - 1],
    ];
  }
  if (ending === 'prompt') return [[whole, 'prompt']];
  throw refuse(name, 'writes the past otherwise once a turn follows', 'Use a model with a format of its own.');
}

/** What closes an assistant's turn, found by having one written, and the end of text. */
function findStops({ name, eosToken }: TemplateFormatOptions, render: Render, control: readonly string[]): string[] {
  const text = render(
    [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: SPOKEN },
    ],
    [],
    'history',
  );
  const after = text.slice(text.indexOf(SPOKEN) + SPOKEN.length);
  const first = control
    .map((token) => ({ token, at: after.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.token.length - a.token.length)[0]?.token;
  const stops = [...new Set([first, eosToken].filter((stop) => stop !== undefined))].filter((stop) =>
    control.includes(stop),
  );
  if (stops.length > 0) return stops;
  throw new TabwrightError(
    'config',
    `The chat template of ${name} ends a turn of the assistant with no control token, and no end of text was given.`,
    { code: 'no-stop-token', details: { format: name } },
  );
}

function opensThinking(render: Render): boolean {
  try {
    return /<think>\s*$/.test(render([{ role: 'user', content: 'x' }], [], 'prompt'));
  } catch {
    // A template that takes no lone question says nothing of how it invites; the conversation itself will show.
    return false;
  }
}
