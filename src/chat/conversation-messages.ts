// An episode so far as messages to a chat model. The same conversation gives the same messages, each turn extending
// those before, so that endpoints can reuse what they have read.

import { AGENT_INSTRUCTIONS, type ActorConversation, type ChatRecord, type Observation } from '../core/index.ts';
import type { ChatMessage } from './chat-message.ts';
import { parseObject } from './read-reply.ts';

export function conversationMessages(conversation: ActorConversation<ChatRecord>): readonly ChatMessage[] {
  const { instruction, past, observation } = conversation;
  const seen = [...past.map((turn) => turn.observation), observation];
  return [
    { role: 'system', text: AGENT_INSTRUCTIONS },
    { role: 'user', content: `${instruction}\n\n${observed(seen[0])}` },
    ...past.flatMap(({ record: { reply } }, turn): readonly ChatMessage[] => {
      const result = observed(seen[turn + 1]);
      const calls = reply.calls.map((call, index) => ({
        // Ids have to be unique in a conversation; some endpoints number them anew each time.
        id: `${turn}_${index}_${call.id}`.slice(0, 40),
        name: call.name,
        // Endpoints read arguments again, and fail on what is no JSON.
        arguments:
          parseObject(call.arguments) === undefined
            ? JSON.stringify({ unreadable: call.arguments })
            : call.arguments || '{}',
      }));
      return [
        { role: 'assistant', text: reply.text, calls },
        ...(calls.length === 0
          ? [{ role: 'user', content: result } as const]
          : calls.map(({ id }) => ({ role: 'tool', callId: id, text: result }) as const)),
      ];
    }),
  ];
}

/** The environment's own words first, where nothing that a page says can come before them. */
function observed({ page, notice }: Observation): string {
  return [notice, page].filter((part) => part !== undefined && part !== '').join('\n\n');
}
