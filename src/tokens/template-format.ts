// Any model by its own chat template: the fallback for models without a format here. Weaker than a format: where a template
// wants arguments as values their numbers go through JavaScript (1.0 becomes 1), calls are read only in the two common
// layouts, and what a template does to the past is found by comparing renderings. In safe mode the names of control
// tokens are hidden from the template.

import { TabwrightError, type Message, type Tokenizer, type ToolCall, type ToolSpec } from '../core/index.ts';
import type { ChatFormat, Ending, FormatInput } from './chat-format.ts';
import { assembleMessage, readJsonCall } from './families/json-calls.ts';
import { argumentsOf, assistantText, refuse, textOf } from './families/refusals.ts';
import { readXmlCall } from './families/xml-calls.ts';
import { readSections } from './reply.ts';
import type { Origin, Segment } from './segments.ts';
import { createHider, SPOKEN } from './template-hiding.ts';
import { isTooLong } from './template-limits.ts';
import { templateRenderer, type RenderTemplate, type TemplateSource } from './template-runtime.ts';
import { toJsonValue, writeJson } from './text/json-text.ts';

export type TemplateFormatOptions = TemplateSource & { readonly tokenizer: Tokenizer };

export function createTemplateFormat(options: TemplateFormatOptions): ChatFormat {
  const { template, toolTemplate = template, date, tokenizer } = options;
  const name = date === undefined ? options.name : `${options.name}@${date}`;
  const render = templateRenderer(options);
  const control = [...tokenizer.controlTokens.keys()];
  const hider = createHider(control);
  const stops = findStops(options, render, control);
  checkInvites(name, render);
  const argumentsAs = argumentsForm(render);
  const thinks = template.includes('<think>');
  const xml = toolTemplate.includes('<function=');
  return {
    name,
    stops,
    marks: [...(thinks ? ['<think>', '</think>'] : []), '<tool_call>', '</tool_call>'],
    opening: opensThinking(render) ? [{ mark: '<think>', text: '<think>' }, { text: '\n' }] : [],
    write(input) {
      const text = (messages: readonly Message[], tools: readonly ToolSpec[], ending: Ending): string =>
        render(
          messages.map((message, index) =>
            templateMessage(message, { name, argumentsAs, hide: hider.hide, spoken: index === input.spoken }),
          ),
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

type ArgumentsForm = 'object' | 'text';
type MessageOptions = {
  readonly name: string;
  readonly argumentsAs: ArgumentsForm;
  readonly hide: (text: string) => string;
  readonly spoken: boolean;
};

function templateMessage(message: Message, { name, argumentsAs, hide, spoken }: MessageOptions): object {
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
            function: { name: call.name, arguments: argumentsFor(name, call, { argumentsAs, hide }) },
          })),
        }),
  };
}

function argumentsFor(
  name: string,
  call: ToolCall,
  { argumentsAs, hide }: Pick<MessageOptions, 'argumentsAs' | 'hide'>,
): unknown {
  const given = argumentsOf(name, call);
  return argumentsAs === 'text' ? hide(writeJson(given)) : hidden(toJsonValue(given), hide);
}

/**
 * Whether a template takes arguments as the JSON that they are, which keeps them to the letter, or as values: some print
 * what they get, some print it as JSON, which would quote a text twice.
 */
function argumentsForm(render: RenderTemplate): ArgumentsForm {
  const text = '{"tabwright_key": "tabwright_value"}';
  const call = { id: 'call00001', type: 'function', function: { name: 'probe', arguments: text } };
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: '', tool_calls: [call] },
  ];
  const tool = { name: 'probe', description: '', parameters: { type: 'object', properties: {} } };
  try {
    return render(messages, [tool], 'history').includes(text) ? 'text' : 'object';
  } catch (error) {
    if (isTooLong(error)) throw error;
    // It takes no text there, or no calls at all, which shows when one is to be written.
    return 'object';
  }
}

/** A template that ignores `add_generation_prompt` leaves the model after the user's last word, without saying whose turn it is. */
function checkInvites(name: string, render: RenderTemplate): void {
  const user = { role: 'user', content: 'x' };
  let texts: readonly [history: string, prompt: string, answered: string];
  try {
    const answered = render([user, { role: 'assistant', content: SPOKEN }], [], 'history');
    texts = [render([user], [], 'history'), render([user], [], 'prompt'), answered];
  } catch (error) {
    if (isTooLong(error)) throw error;
    return; // it takes no lone question: the conversation itself will show
  }
  const [history, prompt, answered] = texts;
  const header = answered.startsWith(history) ? answered.slice(history.length, answered.indexOf(SPOKEN)) : '';
  if (prompt !== history || header.trim() === '') return;
  throw new TabwrightError(
    'config',
    `The chat template of ${name} never invites the assistant: it begins its turns with ${JSON.stringify(header)} and does ` +
      'not write that when it is asked to (add_generation_prompt). Name a format with --chat-format, or change the template.',
    { code: 'no-generation-prompt', details: { format: name } },
  );
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
function findStops(
  { name, eosToken }: TemplateFormatOptions,
  render: RenderTemplate,
  control: readonly string[],
): string[] {
  const text = exchange(name, render);
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

/** The least that a template must be able to write. */
function exchange(name: string, render: RenderTemplate): string {
  try {
    return render(
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: SPOKEN },
      ],
      [],
      'history',
    );
  } catch (error) {
    if (isTooLong(error)) throw error;
    throw new TabwrightError(
      'config',
      `The chat template of ${name} cannot write a question and its answer: ${(error as Error).message}`,
      { code: 'template-unusable', details: { format: name }, cause: error },
    );
  }
}

function opensThinking(render: RenderTemplate): boolean {
  try {
    return /<think>\s*$/.test(render([{ role: 'user', content: 'x' }], [], 'prompt'));
  } catch (error) {
    if (isTooLong(error)) throw error;
    // A template that takes no lone question says nothing of how it invites; the conversation itself will show.
    return false;
  }
}
