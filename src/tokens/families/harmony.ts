// gpt-oss's Harmony: messages with channels. Reference: the authors' `openai-harmony`, not the chat template, which writes
// calls and results otherwise and drops all calls of a turn but the first. Content is never read for control tokens.
// Application text (`system` or `developer`) is Harmony's developer message; its system message is written here.

import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSpec } from '../../core/index.ts';
import type { ChatFormat, FormatInput } from '../chat-format.ts';
import { piecesText, type Reply, type ReplyPiece } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { readJson } from '../text/json-text.ts';
import { harmonyTools } from './harmony-tools.ts';
import { argumentsOf, assistantText, refuse, textOf } from './refusals.ts';

export type HarmonyEffort = 'low' | 'medium' | 'high';
export type HarmonyVariant = { readonly name: string; readonly effort: HarmonyEffort };

export const HARMONY_VARIANTS: readonly HarmonyVariant[] = [
  { name: 'gpt-oss', effort: 'medium' },
  { name: 'gpt-oss+low-effort', effort: 'low' },
  { name: 'gpt-oss+high-effort', effort: 'high' },
];

/** Without a date (`2026-11-30`) the line of the date is left out, as the reference does. */
export function harmonyFormat(variant: HarmonyVariant, date?: string): ChatFormat {
  return {
    name: variant.name,
    stops: ['<|return|>', '<|call|>'],
    closing: '<|end|>',
    marks: ['<|start|>', '<|channel|>', '<|message|>', '<|end|>', '<|constrain|>'],
    literalContent: true,
    write: (input) => writeHarmony(variant, date, input),
    read: readHarmony,
  };
}

function writeHarmony(
  variant: HarmonyVariant,
  date: string | undefined,
  { messages, tools, ending }: FormatInput,
): SegmentWriter['segments'] {
  const writer = new SegmentWriter();
  writer
    .format('<|start|>system<|message|>')
    .content(systemText(variant, date, tools))
    .format('<|end|>');
  const [first] = messages;
  const leads = first?.role === 'system' || first?.role === 'developer';
  writer.origin = leads ? 0 : 'format';
  writeDeveloper(writer, leads ? textOf(variant.name, first) : '', tools);
  const dropsBefore = analysisEnd(messages, ending);
  if (ending === 'turn') refuseParallel(variant.name, messages.at(-1));
  messages.forEach((message, index) => {
    writer.origin = index;
    switch (message.role) {
      case 'system':
      case 'developer':
        if (index > 0) writeDeveloper(writer, textOf(variant.name, message), []);
        break;
      case 'user':
        writer.format('<|start|>user<|message|>').content(textOf(variant.name, message)).format('<|end|>');
        break;
      case 'assistant':
        writeAssistant(writer, variant.name, message, {
          keepsAnalysis: index >= dropsBefore,
          end: ending === 'turn' && index === messages.length - 1 ? '<|return|>' : '<|end|>',
        });
        break;
      case 'tool':
        writer.format('<|start|>').content(`functions.${toolName(variant.name, messages, index, message)}`);
        writer.format(' to=assistant<|channel|>commentary<|message|>').content(textOf(variant.name, message));
        writer.format('<|end|>');
        break;
    }
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') writer.format('<|start|>assistant');
  return writer.segments;
}

function systemText({ effort }: HarmonyVariant, date: string | undefined, tools: readonly ToolSpec[]): string {
  const identity = ['You are ChatGPT, a large language model trained by OpenAI.', 'Knowledge cutoff: 2024-06'];
  if (date !== undefined) identity.push(`Current date: ${date}`);
  const channels = [
    '# Valid channels: analysis, commentary, final. Channel must be included for every message.',
    ...(tools.length > 0 ? ["Calls to these tools must go to the commentary channel: 'functions'."] : []),
  ];
  return [identity.join('\n'), `Reasoning: ${effort}`, channels.join('\n')].join('\n\n');
}

function writeDeveloper(writer: SegmentWriter, instructions: string, tools: readonly ToolSpec[]): void {
  const parts = [
    ...(instructions === '' ? [] : [`# Instructions\n\n${instructions}`]),
    ...(tools.length === 0 ? [] : [`# Tools\n\n${harmonyTools(tools)}`]),
  ];
  if (parts.length === 0) return;
  writer.format('<|start|>developer<|message|>').content(parts.join('\n\n')).format('<|end|>');
}

function isFinal(message: Message): boolean {
  return message.role === 'assistant' && (message.toolCalls ?? []).length === 0;
}

/**
 * Index before which thinking is dropped, as the reference does: nothing while a loop of calls is open, and once the last
 * turn answered, what led to the first answer of the conversation (not to later ones).
 */
function analysisEnd(messages: readonly Message[], ending: FormatInput['ending']): number {
  const past = ending === 'turn' ? messages.slice(0, -1) : messages;
  const lastSaid = past.findLast(({ role }) => role === 'assistant');
  if (lastSaid === undefined || !isFinal(lastSaid)) return 0;
  return past.findIndex(isFinal) + 1;
}

/** A sampled turn ends with its first call; several in a row are history only. */
function refuseParallel(format: string, message: Message | undefined): void {
  if (message?.role !== 'assistant' || (message.toolCalls ?? []).length < 2) return;
  throw refuse(format, 'ends a turn with its first call', 'Let the assistant make its calls in turns of their own.');
}

type AssistantOptions = { readonly keepsAnalysis: boolean; readonly end: '<|return|>' | '<|end|>' };

function writeAssistant(
  writer: SegmentWriter,
  format: string,
  message: AssistantMessage,
  { keepsAnalysis, end }: AssistantOptions,
): void {
  const say = (channel: string, text: string, close: string): void => {
    writer.format(`<|start|>assistant<|channel|>${channel}<|message|>`).content(text).format(close);
  };
  const text = assistantText(format, message);
  const calls = message.toolCalls ?? [];
  if (keepsAnalysis && (message.thinking ?? '') !== '') say('analysis', message.thinking ?? '', '<|end|>');
  if (calls.length === 0) say('final', text, end);
  else if (text !== '') say('commentary', text, '<|end|>');
  for (const call of calls) {
    argumentsOf(format, call);
    writer.format('<|start|>assistant to=').content(`functions.${call.name}`);
    writer.format('<|channel|>commentary <|constrain|>json<|message|>').content(call.arguments).format('<|call|>');
  }
}

/** A result names its tool: by itself, by the call's id, or by its place among the results of the last turn. */
function toolName(format: string, messages: readonly Message[], index: number, message: ToolMessage): string {
  if (message.name !== undefined) return message.name;
  const turn = messages.findLastIndex(({ role }, at) => at < index && role === 'assistant');
  const calls = (messages[turn] as AssistantMessage | undefined)?.toolCalls ?? [];
  const byId = calls.find(({ id }) => id !== undefined && id === message.callId);
  const call: ToolCall | undefined = byId ?? (message.callId === undefined ? calls[index - turn - 1] : undefined);
  if (call !== undefined) return call.name;
  throw refuse(
    format,
    'names the tool of every result',
    'Give the tool message a name, or the id of a call before it.',
  );
}

type HarmonyMessage = { readonly header: string; readonly text: string };

/** The invitation ends within a header, so a reply begins with the rest of one. */
function harmonyMessages(pieces: readonly ReplyPiece[]): readonly HarmonyMessage[] {
  const messages: { header: string; text: string }[] = [];
  let open = { header: '', text: '' };
  let inHeader = true;
  const close = (): void => {
    if (open.header !== '' || open.text !== '') messages.push(open);
    open = { header: '', text: '' };
    inHeader = true;
  };
  for (const { mark, text } of pieces) {
    if (mark === '<|start|>' || mark === '<|end|>') close();
    else if (mark === '<|message|>') inHeader = false;
    else if (inHeader) open.header += text;
    else open.text += text;
  }
  close();
  return messages;
}

function readHarmony({ pieces, stop }: Reply): AssistantMessage {
  const thinking: string[] = [];
  const content: string[] = [];
  const toolCalls: ToolCall[] = [];
  const malformedCalls: { problem: string; text: string }[] = [];
  for (const { header, text } of harmonyMessages(pieces)) {
    const recipient = /(?:^|\s|>)to=([^\s<]+)/.exec(header)?.[1];
    const channel = /<\|channel\|>\s*([a-z]+)/.exec(header)?.[1];
    if (recipient === undefined) {
      (channel === 'analysis' ? thinking : content).push(text);
      continue;
    }
    const whole = `${header}<|message|>${text}`;
    const name = /^functions\.(.+)$/.exec(recipient)?.[1];
    const reading = readJson(text);
    if (name === undefined)
      malformedCalls.push({ problem: `calls go to functions.NAME, not to ${recipient}`, text: whole });
    else if ('problem' in reading) malformedCalls.push({ problem: `${reading.problem} of a call`, text: whole });
    else if (reading.node.kind !== 'object') {
      malformedCalls.push({ problem: 'the arguments of a call are one JSON object', text: whole });
    } else toolCalls.push({ name, arguments: text });
  }
  if (stop === '<|call|>' && toolCalls.length + malformedCalls.length === 0) {
    malformedCalls.push({ problem: 'the reply ends as a call but names no recipient', text: piecesText(pieces) });
  }
  return {
    role: 'assistant',
    content: content.filter((text) => text !== '').join('\n'),
    ...(thinking.length === 0 ? {} : { thinking: thinking.join('\n') }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(malformedCalls.length === 0 ? {} : { malformedCalls }),
  };
}
