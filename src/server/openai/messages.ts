// Messages and tools of OpenAI's API as those of the project, and replies back.

import { isGiven } from '../tinker/absent.ts';
import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../../core/index.ts';
import { contentText } from '../../core/index.ts';
import type { ChatMessage, ChatRequest } from './schemas.ts';

export function messagesOf(given: readonly ChatMessage[]): readonly Message[] {
  const names = new Map<string, string>();
  return given.map((message): Message => {
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return { role: message.role, content: textOf(message.content) };
      case 'assistant': {
        const calls = message.tool_calls ?? [];
        for (const { id, function: called } of calls) if (id !== undefined) names.set(id, called.name);
        return {
          role: 'assistant',
          content: textOf(message.content ?? ''),
          ...(!isGiven(message.reasoning_content) ? {} : { thinking: message.reasoning_content }),
          ...(calls.length === 0
            ? {}
            : {
                toolCalls: calls.map(({ id, function: called }) => ({
                  ...(id === undefined ? {} : { id }),
                  name: called.name,
                  arguments: called.arguments,
                })),
              }),
        };
      }
      case 'tool': {
        const name = message.name ?? names.get(message.tool_call_id);
        return {
          role: 'tool',
          content: textOf(message.content),
          callId: message.tool_call_id,
          ...(name === undefined ? {} : { name }),
        };
      }
      default:
        return message satisfies never;
    }
  });
}

export function toolsOf({ tools, tool_choice }: ChatRequest): readonly ToolSpec[] {
  if (tool_choice === 'none') return [];
  return (tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? '',
    parameters: (parameters ?? { type: 'object', properties: {} }) as JsonObject,
  }));
}

/** The message of a reply; calls get ids, which models do not say. What could not be read of a call stays text. */
export function replyOf(message: AssistantMessage, callId: (index: number) => string): object {
  const calls = message.toolCalls ?? [];
  const content = [contentText(message.content) ?? '', ...(message.malformedCalls ?? []).map(({ text }) => text)].join(
    '',
  );
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ name, arguments: text }, i) => ({
            id: callId(i),
            type: 'function',
            function: { name, arguments: text },
          })),
        }),
  };
}

function textOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}
