// Replies from a file instead of a model: to play an episode again, to try a task without a key. A line is an assistant's
// message as chat endpoints give it: {"content": "...", "tool_calls": [{"function": {"name": "...", "arguments": {...}}}]}.

import { z } from 'zod';
import { TabwrightError, type Actor, type ChatRecord, type ChatReply } from '../core/index.ts';
import { readReply } from './read-reply.ts';

const replySchema = z.strictObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullish(),
  tool_calls: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        type: z.literal('function').optional(),
        function: z.strictObject({
          name: z.string(),
          /** As text, or as what that text would mean. */
          arguments: z.union([z.string(), z.record(z.string(), z.json())]),
        }),
      }),
    )
    .nullish(),
});

/** `where` names the file in messages. */
export function readReplies(text: string, where: string): readonly ChatReply[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const refuse = (reason: string): never => {
      throw new TabwrightError('config', `${where}:${index + 1} is no assistant's message: ${reason}`, {
        code: 'bad-script',
        details: { where, line: index + 1 },
      });
    };
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      return refuse((error as Error).message);
    }
    const parsed = replySchema.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return refuse(`${issue?.path.join('.') ?? ''} ${issue?.message ?? 'does not fit'}`.trim());
    }
    const calls = (parsed.data.tool_calls ?? []).map(({ id, function: { name, arguments: given } }, call) => ({
      id: id ?? `call_${call}`,
      name,
      arguments: typeof given === 'string' ? given : JSON.stringify(given),
    }));
    return [{ text: parsed.data.content ?? '', calls }];
  });
}

/** Turn n gets reply n, whatever it is shown. */
export function createScriptedActor(name: string, replies: readonly ChatReply[]): Actor<ChatRecord> {
  return {
    name,
    async act({ past }) {
      const reply = replies[past.length];
      if (reply === undefined) {
        throw new TabwrightError('policy', `${name} has ${replies.length} replies, and the episode wants another.`, {
          code: 'script-ended',
          details: { name, replies: replies.length },
        });
      }
      return { action: readReply(reply, 'stop'), record: { reply, stop: 'stop' }, usage: undefined };
    },
  };
}
