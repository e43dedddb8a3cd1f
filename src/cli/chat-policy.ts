// How a pretrained model plays episodes: the chat format that it is known to speak, or its own template, and how much of
// its context pages and replies may take. Reads no weights.

import { z } from 'zod';
import { TabwrightError, type Renderer, type Tokenizer } from '../core/index.ts';
import {
  chatFormat,
  createChatRenderer,
  createPolicyRenderer,
  createTemplateFormat,
  modelFamily,
  type ChatFormat,
} from '../tokens/index.ts';
import type { Template } from './open-pretrained.ts';

/** Settings of every command that plays with a model; models that need none refuse them. */
export const chatSettings = {
  chatFormat: z
    .string()
    .min(1)
    .optional()
    .describe(
      'how a pretrained model speaks, e.g. qwen3+no-thinking, or template for its own (default: as it is known to)',
    ),
  maxActionTokens: z.int().min(1).optional().describe('most tokens of one reply, thinking included (default: 512)'),
  maxPageTokens: z
    .int()
    .min(16)
    .optional()
    .describe('most tokens of one page; what is cut off is said (default: 8192)'),
  contextLength: z
    .int()
    .min(32)
    .optional()
    .describe("longest sequence of a pretrained model (default: 8192 here, the server's on a server)"),
} as const;

export type ChatSettings = Readonly<z.infer<z.ZodObject<typeof chatSettings>>> & {
  /** Most tokens of a reply where `maxActionTokens` is not given: what the environment allows. */
  readonly replyTokens?: number | undefined;
};

const OWN_TEMPLATE = 'template';
const DEFAULT_ACTION_TOKENS = 512;

export type ChatPolicyOptions = {
  /** What the model may be known by, the best name first. */
  readonly names: readonly string[];
  readonly tokenizer: Tokenizer;
  /** Its own chat template, where it has one. */
  readonly template: Template | undefined;
  /** Longest sequence in tokens. */
  readonly contextLength: number;
  readonly settings: ChatSettings;
  readonly onNotice: (message: string) => void;
};

export function createChatPolicy(options: ChatPolicyOptions): Renderer {
  const { tokenizer, settings, contextLength } = options;
  const { replyTokens = DEFAULT_ACTION_TOKENS, maxActionTokens = replyTokens, maxPageTokens } = settings;
  if (maxActionTokens >= contextLength) {
    throw new TabwrightError(
      'config',
      `Replies of ${maxActionTokens} tokens leave nothing of a context of ${contextLength} for pages: lower ` +
        '--max-action-tokens, or raise --context-length.',
      { code: 'no-room-for-pages', details: { maxActionTokens, contextLength } },
    );
  }
  return createPolicyRenderer({
    chat: createChatRenderer({ format: formatOf(options), tokenizer }),
    maxPromptTokens: contextLength - maxActionTokens,
    maxActionTokens,
    ...(maxPageTokens === undefined ? {} : { maxPageTokens }),
  });
}

/** The name of the format in which a known model plays: the one with tools, where its own has none. */
export function playedFormat(name: string): string {
  const { format, formats } = modelFamily(name);
  return formats.find((variant) => variant === `${format}+tool-prompt`) ?? format;
}

/** Whether models think in this format before they act, so that a reply needs room for that. */
export function thinksFirst(format: string): boolean {
  return /^qwen3(\.\d)?$|thinking|gpt-oss|nemotron/.test(format) && !format.includes('no-thinking');
}

function formatOf({ names, tokenizer, template, settings, onNotice }: ChatPolicyOptions): ChatFormat {
  const { chatFormat: asked } = settings;
  if (asked !== undefined && asked !== OWN_TEMPLATE) return chatFormat(asked);
  const own = (): ChatFormat | undefined =>
    template === undefined
      ? undefined
      : createTemplateFormat({ name: `template of ${names[0]}`, ...template, tokenizer });
  if (asked === OWN_TEMPLATE) {
    const format = own();
    if (format !== undefined) return format;
    throw new TabwrightError('config', `The model ${names[0]} has no chat template of its own.`, {
      code: 'no-chat-template',
    });
  }
  let unknown: unknown;
  for (const name of names) {
    try {
      return chatFormat(playedFormat(name));
    } catch (error) {
      if (!(error instanceof TabwrightError) || error.code !== 'unknown-model') throw error;
      unknown ??= error;
    }
  }
  const format = own();
  if (format === undefined) throw unknown;
  onNotice(`No chat format is known for ${names[0]}: it plays by its own chat template.`);
  return format;
}

/** Refuses settings that a model would not heed. */
export function refuseChatSettings(name: string, settings: object): void {
  const given = Object.entries(settings).find(([key, value]) => key in chatSettings && value !== undefined);
  if (given === undefined) return;
  const flag = `--${given[0].replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new TabwrightError('config', `${flag} is for pretrained models; ${name} has one format and fixed lengths.`, {
    code: 'option-without-effect',
    details: { flag },
  });
}
