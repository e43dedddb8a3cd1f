// What a family of models is to this folder: one function that writes a conversation as segments and one that reads a
// reply. `createChatRenderer` makes core's renderer of it for a tokenizer and a mode; it alone makes ids.

import {
  TabwrightError,
  type AssistantMessage,
  type ChatConversation,
  type ChatRenderer,
  type Message,
  type RenderMode,
  type Tokenizer,
  type ToolSpec,
} from '../core/index.ts';
import { readReply, type Reply, type ReplyPiece } from './reply.ts';
import { segmentEncoder, segmentsText, type Segment } from './segments.ts';

/** How a rendering ends: inviting the assistant, with the turn that it just says, or with what was said. */
export type Ending = 'prompt' | 'turn' | 'history';

export type FormatInput = {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly ending: Ending;
  /** The assistant's message whose own text nobody needs, only what follows it; see `renderNext`. */
  readonly spoken?: number;
};

export interface ChatFormat {
  /** Family and variant, e.g. `qwen3+no-thinking`. */
  readonly name: string;
  /** Control tokens that end a turn. */
  readonly stops: readonly string[];
  /** Closes a turn that was cut before its stop token. Default the first of `stops`. */
  readonly closing?: string;
  /** Texts that structure a reply, see `readReply`. */
  readonly marks: readonly string[];
  /** What of a turn the prompt says already. Default nothing. */
  readonly opening?: readonly ReplyPiece[];
  /** The reference itself never reads control tokens in content, so that both modes are the same. */
  readonly literalContent?: boolean;
  write(input: FormatInput): readonly Segment[];
  read(reply: Reply, tools: readonly ToolSpec[]): AssistantMessage;
}

export type ChatRendererOptions = {
  readonly format: ChatFormat;
  readonly tokenizer: Tokenizer;
  /** Default `safe`. */
  readonly mode?: RenderMode;
};

export function createChatRenderer({ format, tokenizer, mode = 'safe' }: ChatRendererOptions): ChatRenderer {
  const stopTokens = format.stops.map((stop) => controlId(format, tokenizer, stop));
  const encode = segmentEncoder(tokenizer, format.literalContent === true ? 'safe' : mode);
  const write = (messages: readonly Message[], tools: readonly ToolSpec[] | undefined, ending: Ending) =>
    format.write({ messages, tools: tools ?? [], ending });
  return {
    name: `${format.name}/${mode}`,
    tokenizer,
    stopTokens,
    render: ({ messages, tools }) => encode(write(messages, tools, 'prompt')),
    renderTurn({ messages, tools }, message) {
      const said = write([...messages, message], tools, 'turn').filter(({ origin }) => origin === messages.length);
      const invitation = write(messages, tools, 'prompt').filter(({ origin }) => origin === 'prompt');
      return encode(turnOf(format, said, segmentsText(invitation)));
    },
    renderNext({ messages, tools }: ChatConversation, turn, next) {
      const at = messages.length;
      // What was sampled is not written again; of its reading, formats need the calls that results belong to.
      const { toolCalls } = turn.message;
      const spoken: AssistantMessage = {
        role: 'assistant',
        content: '',
        ...(toolCalls === undefined ? {} : { toolCalls }),
      };
      const input = { messages: [...messages, spoken, ...next], tools: tools ?? [], ending: 'prompt' } as const;
      const segments = format.write({ ...input, spoken: at });
      const said = segments.filter(({ origin }) => origin === at);
      const closed = stopTokens.includes(turn.tokens.at(-1) ?? -1);
      const end: Segment = { text: format.closing ?? format.stops[0] ?? '', kind: 'format', origin: at };
      const after = segments.filter(({ origin }) => origin === 'prompt' || (typeof origin === 'number' && origin > at));
      return encode([...(closed ? [] : [end]), ...afterStop(format, said), ...after]);
    },
    parse(tokens, tools = []) {
      const { stops, marks, opening = [] } = format;
      const reply = readReply(tokens, { tokenizer, stops, marks, opening });
      return { message: format.read(reply, tools), ended: reply.stop !== undefined };
    },
  };
}

function controlId(format: ChatFormat, tokenizer: Tokenizer, text: string): number {
  const id = tokenizer.controlTokens.get(text);
  if (id !== undefined) return id;
  throw new TabwrightError(
    'config',
    `The format ${format.name} ends turns with ${text}, which is no control token of the tokenizer ${tokenizer.name}: ` +
      'format and tokenizer are of different models.',
    { code: 'wrong-tokenizer', details: { format: format.name, tokenizer: tokenizer.name, token: text } },
  );
}

/** What of a turn the model itself says: less the invitation at its start and what follows its stop token. */
function turnOf(format: ChatFormat, said: readonly Segment[], invitation: string): readonly Segment[] {
  if (!segmentsText(said).startsWith(invitation)) {
    throw new TabwrightError(
      'policy',
      `The format ${format.name} invites with ${JSON.stringify(invitation)}, after which this turn cannot be said: it ` +
        `begins ${JSON.stringify(segmentsText(said).slice(0, invitation.length + 20))}. Give it thinking or take it ` +
        'away, or use the variant of the format with or without thinking.',
      { code: 'turn-not-sayable', details: { format: format.name } },
    );
  }
  const own = dropCharacters(said, invitation.length);
  return dropFromEnd(own, segmentsText(afterStop(format, own)).length);
}

/** What the format writes after the stop token of a turn. */
function afterStop(format: ChatFormat, said: readonly Segment[]): readonly Segment[] {
  for (let index = said.length - 1; index >= 0; index--) {
    const segment = said[index];
    if (segment.kind !== 'format') continue;
    const ends = format.stops.map((stop) => ({ stop, at: segment.text.lastIndexOf(stop) }));
    const last = ends.sort((a, b) => b.at - a.at)[0];
    if (last === undefined || last.at < 0) continue;
    const rest = { ...segment, text: segment.text.slice(last.at + last.stop.length) };
    return [rest, ...said.slice(index + 1)].filter(({ text }) => text !== '');
  }
  // Harmony closes a final message of the past with <|end|>, which is no stop token, and writes nothing after it.
  return [];
}

function dropCharacters(segments: readonly Segment[], count: number): readonly Segment[] {
  let left = count;
  return segments.flatMap((segment) => {
    const text = segment.text.slice(left);
    left = Math.max(0, left - segment.text.length);
    return text === '' ? [] : [{ ...segment, text }];
  });
}

function dropFromEnd(segments: readonly Segment[], count: number): readonly Segment[] {
  let left = segmentsText(segments).length - count;
  return segments.flatMap((segment) => {
    const text = segment.text.slice(0, Math.max(0, left));
    left -= segment.text.length;
    return text === '' ? [] : [{ ...segment, text }];
  });
}
