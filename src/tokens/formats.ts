// The table of chat formats by name. Variants whose bytes differ are formats of their own; what is not here is served by a
// model's own template, see template-format.ts.

import { TabwrightError } from '../core/index.ts';
import type { ChatFormat } from './chat-format.ts';
import { gemma3Format } from './families/gemma3.ts';
import { HARMONY_VARIANTS, harmonyFormat } from './families/harmony.ts';
import { LLAMA_VARIANTS, llamaDate, llamaFormat } from './families/llama.ts';
import { NEMOTRON_VARIANTS, nemotronFormat } from './families/nemotron.ts';
import { QWEN_JSON_VARIANTS, qwenJsonFormat } from './families/qwen-json.ts';
import { QWEN_XML_VARIANTS, qwenXmlFormat } from './families/qwen-xml.ts';
import { smollm2Format } from './families/smollm2.ts';
import { checkDate } from './text/python-date.ts';
import { TOOL_PROMPT_SUFFIX, withToolPrompt } from './tool-prompt.ts';

export type ChatFormatOptions = {
  /**
   * Today, as `2026-11-30`, for the formats that say it (Llama 3.1 and 3.2, gpt-oss). Part of the name, since it is part of
   * the prompt. Default none: Llama's is then 26 Jul 2024, gpt-oss says no date.
   */
  readonly date?: string;
};

type MakeFormat = (date: string | undefined) => ChatFormat;

const FORMATS: ReadonlyMap<string, MakeFormat> = new Map<string, MakeFormat>([
  ...QWEN_JSON_VARIANTS.map((variant) => [variant.name, () => qwenJsonFormat(variant)] as const),
  ...QWEN_XML_VARIANTS.map((variant) => [variant.name, () => qwenXmlFormat(variant)] as const),
  ...LLAMA_VARIANTS.map(
    (variant) =>
      [
        variant.name,
        (date: string | undefined) => dated(llamaFormat(variant, date === undefined ? date : llamaDate(date)), date),
      ] as const,
  ),
  ['smollm2', smollm2Format],
  ['gemma3', gemma3Format],
  ...HARMONY_VARIANTS.map(
    (variant) => [variant.name, (date: string | undefined) => dated(harmonyFormat(variant, date), date)] as const,
  ),
  ...NEMOTRON_VARIANTS.map((variant) => [variant.name, () => nemotronFormat(variant)] as const),
]);

/** Formats that have no tools of their own; `+tool-prompt` adds them. */
const WITHOUT_TOOLS = ['llama3', 'smollm2', 'gemma3'];

export const CHAT_FORMATS: readonly string[] = [
  ...FORMATS.keys(),
  ...WITHOUT_TOOLS.map((name) => name + TOOL_PROMPT_SUFFIX),
];

/** A format by its name; refuses unknown ones with the list. */
export function chatFormat(name: string, { date }: ChatFormatOptions = {}): ChatFormat {
  checkDate(date);
  const base = name.endsWith(TOOL_PROMPT_SUFFIX) ? name.slice(0, -TOOL_PROMPT_SUFFIX.length) : name;
  const make = FORMATS.get(base);
  if (make === undefined) {
    throw new TabwrightError('config', `There is no chat format ${name}. There are: ${CHAT_FORMATS.join(', ')}.`, {
      code: 'unknown-chat-format',
      details: { format: name },
    });
  }
  return base === name ? make(date) : withToolPrompt(make(date));
}

function dated(format: ChatFormat, date: string | undefined): ChatFormat {
  // A format without a date to say (Llama 3) keeps its name.
  if (date === undefined || format.name === 'llama3') return format;
  return { ...format, name: `${format.name}@${date}` };
}
