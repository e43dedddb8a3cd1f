// Refusals of formats that have no tools or no thinking: their templates drop both without a word.

import type { AssistantMessage, Message, ToolSpec } from '../../core/index.ts';
import { refuse } from './refusals.ts';

export function refuseThinking(format: string, message: AssistantMessage): void {
  if ((message.thinking ?? '') === '') return;
  throw refuse(format, 'has no thinking', 'Leave the thinking of earlier turns out.');
}

const REMEDY = 'Use the prompt convention for tools (`withToolPrompt`, `+tool-prompt` in its name).';

/** Tools, calls and results alike. */
export function refuseTools(format: string, tools: readonly ToolSpec[], messages: readonly Message[]): void {
  if (tools.length > 0) throw refuse(format, 'has no way to declare tools', REMEDY);
  for (const message of messages) {
    if (message.role === 'tool') throw refuse(format, 'has no results of tools', REMEDY);
    if (message.role === 'assistant' && (message.toolCalls ?? []).length > 0) {
      throw refuse(format, 'has no calls of tools', REMEDY);
    }
  }
}
