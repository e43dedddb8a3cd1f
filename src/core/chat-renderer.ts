// Chat to token ids and back, as servers and policies see it: a tokenizer and a renderer of one model family. The
// families are in src/tokens; whoever speaks in messages needs only these two interfaces.

import type { ToolSpec } from './env.ts';
import type { AssistantMessage, Message } from './message.ts';

/** Text to ids and back. Control tokens are those that a format gives meaning to: turns, calls, thinking, begin and end. */
export interface Tokenizer {
  readonly name: string;
  /** Every id is below it. */
  readonly vocabSize: number;
  /** Text of each control token to its id. */
  readonly controlTokens: ReadonlyMap<string, number>;
  /** Never adds a begin or end token. With `control` false (the default) the text of a control token is just text. */
  encode(text: string, options?: { readonly control?: boolean }): number[];
  /** Control tokens by their text; bytes that are no UTF-8 as U+FFFD. */
  decode(ids: readonly number[]): string;
}

export type ChatConversation = {
  readonly messages: readonly Message[];
  /** What may be called. Default none. */
  readonly tools?: readonly ToolSpec[];
};

/** `exact`: token for token what the authors' template gives. `safe`: the same, but content never becomes a control token. */
export type RenderMode = 'exact' | 'safe';

export type ParsedTurn = {
  readonly message: AssistantMessage;
  /** False when it was cut before a stop token. */
  readonly ended: boolean;
};

/** One family, variant and mode. Training and sampling use the same one. */
export interface ChatRenderer {
  /** Family, variant and mode, e.g. `qwen3.6+no-thinking/safe`; recorded with what was made by it. */
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly stopTokens: readonly number[];
  /**
   * Ids up to and including the point where the assistant speaks. Throws `TabwrightError` (boundary `policy`) for what the
   * format cannot say: roles in wrong order, pictures, tools where there are none.
   */
  render(conversation: ChatConversation): number[];
  /** Ids that the assistant would have to sample after `render(conversation)` to say `message`, stop token included. */
  renderTurn(conversation: ChatConversation, message: AssistantMessage): number[];
  /**
   * Ids that follow a sampled turn: what closes it, `next`, and the point where the assistant speaks again. The ids of the
   * turn are not rendered again; `message` is its reading, as `parse` gave it.
   */
  renderNext(
    conversation: ChatConversation,
    turn: { readonly tokens: readonly number[]; readonly message: AssistantMessage },
    next: readonly Message[],
  ): number[];
  /** Never throws: what cannot be read of a call is in `malformedCalls`. Arguments are decoded by the tools' schemas. */
  parse(tokens: readonly number[], tools?: readonly ToolSpec[]): ParsedTurn;
}
