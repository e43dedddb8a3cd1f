// What clients of OpenAI's API may ask for. Strict: a setting that is not known here is refused by name, because an agent
// would never notice that it was left out. Settings without an effect on the answer are let through.

import { z } from 'zod';

const stop = z.union([z.string(), z.array(z.string()).max(16)]).nullish();
const ignored = {
  user: z.string().nullish(),
  metadata: z.unknown().optional(),
  store: z.boolean().nullish(),
  service_tier: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
};
const common = {
  model: z.string(),
  n: z.int().min(1).max(128).nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  /** Not OpenAI's, but what other servers take. */
  top_k: z.int().nullish(),
  seed: z.int().nullish(),
  stop,
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  frequency_penalty: z.literal(0).nullish(),
  presence_penalty: z.literal(0).nullish(),
  logit_bias: z.strictObject({}).nullish(),
  ...ignored,
};

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const content = z.union([z.string(), z.array(textPart)]);

const toolCall = z.object({
  id: z.string().optional(),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content, name: z.string().optional() }),
  z.object({ role: z.literal('developer'), content, name: z.string().optional() }),
  z.object({ role: z.literal('user'), content, name: z.string().optional() }),
  z.object({
    role: z.literal('assistant'),
    content: content.nullish(),
    name: z.string().optional(),
    reasoning_content: z.string().nullish(),
    refusal: z.null().optional(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string(), name: z.string().optional() }),
]);

export const chatRequestSchema = z.strictObject({
  ...common,
  messages: z.array(message).min(1),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z
    .array(
      z.object({
        type: z.literal('function'),
        function: z.object({
          name: z.string(),
          description: z.string().nullish(),
          parameters: z.record(z.string(), z.unknown()).nullish(),
          strict: z.boolean().nullish(),
        }),
      }),
    )
    .nullish(),
  /** A model cannot be made to call, so nothing but these. */
  tool_choice: z.enum(['auto', 'none']).nullish(),
  parallel_tool_calls: z.literal(true).nullish(),
  response_format: z.strictObject({ type: z.literal('text') }).nullish(),
  modalities: z.tuple([z.literal('text')]).nullish(),
});

export const completionRequestSchema = z.strictObject({
  ...common,
  prompt: z.union([
    z.string(),
    z.array(z.string()).min(1),
    z.array(z.int()).min(1),
    z.array(z.array(z.int()).min(1)).min(1),
  ]),
  max_tokens: z.int().min(1).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.literal(false).nullish(),
  best_of: z.int().nullish(),
});

export type ChatRequest = z.infer<typeof chatRequestSchema>;
export type CompletionRequest = z.infer<typeof completionRequestSchema>;
export type ChatMessage = ChatRequest['messages'][number];
