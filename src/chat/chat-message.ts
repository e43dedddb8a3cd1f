// What is said to a chat model, independent of anybody's wire.

import type { ChatCall } from '../core/index.ts';

export type ChatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly dataB64: string };

export type ChatMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatPart[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ChatCall[] }
  /** Answer to the call of that id. */
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };
