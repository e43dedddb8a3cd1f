// A chat model that is asked for judgement: so many questions at a time, every reply read strictly, every token counted.
// It asks once; what may be tried again the endpoint's client has tried.

import type { ChatEndpoint, ChatPart } from '../chat/index.ts';
import type { JsonObject } from '../core/index.ts';
import { createSemaphore } from '../util/index.ts';
import { judgeFault } from './fault.ts';
import { readPrompt, type Question } from './prompts.ts';
import { readJson } from './read-json.ts';
import { callSpending, type JudgePrices, type JudgeSpending } from './spending.ts';

export type JudgeModelOptions = {
  readonly endpoint: ChatEndpoint;
  /** Questions at a time, over all judgements. Default 8. */
  readonly concurrency?: number;
  /** Where the endpoint does not say what it charges. Default none: costs are null then. */
  readonly prices?: JudgePrices;
  /** Whether the endpoint is told the reply's schema. Those that cannot hold a model to one need false. Default true. */
  readonly structuredOutput?: boolean;
  /** Most tokens of a reply, hidden thoughts included. Default 4,096. */
  readonly maxTokens?: number;
  /** Default: the endpoint's own; some models take no other. */
  readonly temperature?: number;
};

export type AskOptions = {
  readonly signal: AbortSignal;
  /** Told of the call whether its reply can be read or not. */
  readonly spend: (call: JudgeSpending) => void;
};

export interface JudgeModel {
  /** As the endpoint knows it. */
  readonly name: string;
  /** Everything that its replies depend on beside what it is asked. */
  readonly settings: JsonObject;
  ask<T>(question: Question<T>, material: readonly ChatPart[], options: AskOptions): Promise<T>;
}

export function createJudgeModel(options: JudgeModelOptions): JudgeModel {
  const { endpoint, concurrency = 8, prices, structuredOutput = true, maxTokens = 4_096, temperature } = options;
  const places = createSemaphore(concurrency);
  const rules = readPrompt('rules');
  return {
    name: endpoint.model,
    settings: {
      baseUrl: endpoint.baseUrl,
      structuredOutput,
      maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
    },
    async ask({ name, prompt, reply, schema }, material, { signal, spend }) {
      const answer = await places.run(
        () =>
          endpoint.complete(
            {
              messages: [
                { role: 'system', text: rules },
                {
                  role: 'user',
                  content: joined([
                    { type: 'text', text: prompt },
                    ...material,
                    { type: 'text', text: `Reply with one JSON object by this schema:\n${JSON.stringify(schema)}` },
                  ]),
                },
              ],
              maxTokens,
              seed: 0,
              ...(temperature === undefined ? {} : { temperature }),
              ...(structuredOutput ? { format: { name, schema } } : {}),
            },
            { signal },
          ),
        signal,
      );
      spend(callSpending(answer, prices));
      if (answer.refusal !== undefined) {
        throw judgeFault('judge-refused', `The judge refused to reply: ${answer.refusal.slice(0, 500)}`);
      }
      if (answer.stop === 'length') {
        throw judgeFault('judge-cut', `The judge's reply was cut off after ${maxTokens} tokens.`, { maxTokens });
      }
      if (answer.reply.calls.length > 0)
        throw judgeFault('judge-bad-reply', 'The judge made a call instead of a reply.');
      return readJson(answer.reply.text, reply);
    },
  };
}

/** Texts that follow one another as one: some servers take a message without pictures as text only. */
function joined(parts: readonly ChatPart[]): string | readonly ChatPart[] {
  const merged = parts.reduce<ChatPart[]>((done, part) => {
    const last = done.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      done[done.length - 1] = { type: 'text', text: `${last.text}\n\n${part.text}` };
    } else done.push(part);
    return done;
  }, []);
  const [only] = merged;
  return merged.length === 1 && only.type === 'text' ? only.text : merged;
}
