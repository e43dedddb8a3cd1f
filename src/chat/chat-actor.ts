// A chat endpoint as an actor. Its turns carry what was said and no tokens.

import type { Actor, ChatRecord } from '../core/index.ts';
import type { ChatEndpoint } from './chat-endpoint.ts';
import { conversationMessages } from './conversation-messages.ts';
import { readReply } from './read-reply.ts';

export type ChatActorOptions = {
  readonly endpoint: ChatEndpoint;
  /** Most tokens of one reply, thoughts included. */
  readonly maxTokens: number;
  /** Default: the endpoint's own. */
  readonly temperature?: number;
};

export function createChatActor({ endpoint, maxTokens, temperature }: ChatActorOptions): Actor<ChatRecord> {
  return {
    name: `chat/${endpoint.model}`,
    async act(conversation, { signal, seed }) {
      const { reply, stop, usage, cost } = await endpoint.complete(
        {
          messages: conversationMessages(conversation),
          tools: conversation.tools,
          maxTokens,
          seed,
          ...(temperature === undefined ? {} : { temperature }),
        },
        { signal },
      );
      return {
        action: readReply(reply, stop),
        record: {
          reply,
          stop,
          ...(usage === undefined ? {} : { usage }),
          ...(cost === undefined ? {} : { cost }),
        },
        usage,
      };
    },
  };
}
