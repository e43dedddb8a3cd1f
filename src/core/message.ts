// Messages of a chat, as renderers turn them into token ids and as chat endpoints take them. Provider-neutral and
// plain data: thinking is a field, calls are no parts, and arguments stay the JSON text that was said, so that
// number literals (1.0, 1e-07, 2^60) survive. Nothing here knows any model's format.

export type TextPart = { readonly type: 'text'; readonly text: string };
/** A picture; endpoints and models without sight refuse it. */
export type ImagePart = { readonly type: 'image'; readonly mediaType: string; readonly data: Uint8Array };
export type ContentPart = TextPart | ImagePart;

/** Text, or text and pictures in order. */
export type MessageContent = string | readonly ContentPart[];

/** A call that a model made. */
export type ToolCall = {
  /** Names the call towards its result where a protocol has ids; formats without them ignore it. */
  readonly id?: string;
  readonly name: string;
  /** JSON text of one object, number literals as they were said. */
  readonly arguments: string;
};

/** A call that could not be read: what was wrong, and the text of it. Data, never an exception. */
export type MalformedCall = { readonly problem: string; readonly text: string };

export type SystemMessage = { readonly role: 'system'; readonly content: MessageContent };
/** Instructions of the application where a format tells them from the system's (Harmony); others refuse it. */
export type DeveloperMessage = { readonly role: 'developer'; readonly content: MessageContent };
export type UserMessage = { readonly role: 'user'; readonly content: MessageContent };

export type AssistantMessage = {
  readonly role: 'assistant';
  /** What is said to the user; '' beside calls where nothing is said. */
  readonly content: MessageContent;
  /** Reasoning before it, without the marks around it. */
  readonly thinking?: string;
  /** Oldest first; several in one turn are parallel calls. */
  readonly toolCalls?: readonly ToolCall[];
  readonly malformedCalls?: readonly MalformedCall[];
};

export type ToolMessage = {
  readonly role: 'tool';
  readonly content: MessageContent;
  /** Of the tool that answers; Harmony needs it, and takes it from the call with `callId` where it is left out. */
  readonly name?: string;
  readonly callId?: string;
};

export type Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage;

/** The text of a content; undefined when it holds anything but text. */
export function contentText(content: MessageContent): string | undefined {
  if (typeof content === 'string') return content;
  let text = '';
  for (const part of content) {
    if (part.type !== 'text') return undefined;
    text += part.text;
  }
  return text;
}
