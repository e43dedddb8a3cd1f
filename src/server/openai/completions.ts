// POST /v1/completions: text or ids as they are, and what the model goes on with. Nothing is put before the prompt, no
// begin token either; texts of control tokens count as control tokens, because prompts here are written by hand.

import { isGiven } from '../tinker/absent.ts';
import { randomUUID } from 'node:crypto';
import type { SampledSequence, Tokenizer } from '../../core/index.ts';
import { linkedController } from '../../util/index.ts';
import { userFault } from '../tinker/refusals.ts';
import type { SamplerSource, SamplingService } from '../tinker/sampling-service.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import {
  runSamples,
  saidTokens,
  sourceOf,
  stopTextsOf,
  tokenizerOf,
  usageOf,
  type Ask,
  type Sampled,
  type Serving,
} from './run-samples.ts';
import type { CompletionRequest } from './schemas.ts';
import { cutAtStop, sayable } from './token-text.ts';

export type CompletionTurn = {
  readonly request: CompletionRequest;
  readonly source: SamplerSource;
  readonly tokenizer: Tokenizer;
  /** One a prompt. */
  readonly asks: readonly Ask[];
};

const DEFAULT_MAX_TOKENS = 16;

export function readCompletion(sampling: SamplingService, request: CompletionRequest): CompletionTurn {
  const source = sourceOf(sampling, request.model);
  const tokenizer = tokenizerOf(source.served);
  const count = request.n ?? 1;
  if (isGiven(request.best_of) && request.best_of !== count) {
    throw userFault('best_of is not supported; ask for n and choose among them.');
  }
  const asks = promptsOf(request.prompt, tokenizer).map((prompt): Ask => {
    if (prompt.length === 0) throw userFault('prompt is empty; at least one token is needed.');
    return {
      prompt,
      count,
      maxTokens: request.max_tokens ?? DEFAULT_MAX_TOKENS,
      temperature: request.temperature,
      topP: request.top_p,
      topK: request.top_k,
      seed: request.seed,
      topLogprobs: request.logprobs ?? 0,
      stopTokens: [],
      stopTexts: stopTextsOf(request.stop),
    };
  });
  return { request, source, tokenizer, asks };
}

function promptsOf(prompt: CompletionRequest['prompt'], tokenizer: Tokenizer): readonly (readonly number[])[] {
  const ids = (text: string): number[] => tokenizer.encode(text, { control: true });
  if (typeof prompt === 'string') return [ids(prompt)];
  if (prompt.every((part) => typeof part === 'number')) return [prompt];
  return prompt.map((part) => (typeof part === 'string' ? ids(part) : part));
}

function textOf(turn: CompletionTurn, ask: Ask, sequence: SampledSequence): string {
  const said = saidTokens(sequence, turn.source.served.endTokens);
  return cutAtStop(turn.tokenizer.decode(said), ask.stopTexts);
}

function logprobsOf({ request, tokenizer, source }: CompletionTurn, sequence: SampledSequence): object | null {
  if (!isGiven(request.logprobs)) return null;
  const said = saidTokens(sequence, source.served.endTokens);
  const texts = said.map((token) => tokenizer.decode([token]));
  let at = 0;
  return {
    tokens: texts,
    token_logprobs: sequence.logprobs.slice(0, said.length),
    top_logprobs:
      sequence.topLogprobs
        ?.slice(0, said.length)
        .map((row) => Object.fromEntries(row.map(({ token, logprob }) => [tokenizer.decode([token]), logprob]))) ??
      null,
    text_offset: texts.map((text) => (at += text.length) - text.length),
  };
}

export async function complete(turn: CompletionTurn, serving: Serving): Promise<object> {
  const { request, source, asks } = turn;
  const all = await Promise.all(asks.map((ask) => runSamples({ ...serving, source, ask })));
  const choices = all.flatMap(({ sequences }, i) =>
    sequences.map((sequence, j) => ({
      index: i * asks[i].count + j,
      text: textOf(turn, asks[i], sequence),
      logprobs: logprobsOf(turn, sequence),
      finish_reason: sequence.stop,
    })),
  );
  return {
    id: `cmpl-${randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices,
    usage: usageOf(all),
  };
}

/** Starts at once; the body is read by the client. */
export function streamCompletion(turn: CompletionTurn, serving: Serving): EventStream {
  const { request, source, tokenizer, asks } = turn;
  const { controller: leaving, unlink } = linkedController(serving.signal);
  const stream = createEventStream(() => leaving.abort(new DOMException('The caller has hung up.', 'AbortError')));
  const base = {
    id: `cmpl-${randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  const write = (index: number, text: string, finish: string | null, logprobs: object | null): void => {
    stream.write({ ...base, choices: [{ index, text, logprobs, finish_reason: finish }] });
  };
  const one = async (ask: Ask, first: number): Promise<Sampled> => {
    const samples = Array.from({ length: ask.count }, () => ({ tokens: [] as number[], said: '' }));
    const onToken = (i: number, token: number): void => {
      const sample = samples[i];
      sample.tokens.push(token);
      if (source.served.endTokens.includes(token)) return;
      const ready = sayable(tokenizer.decode(sample.tokens), ask.stopTexts);
      if (ready.length <= sample.said.length || !ready.startsWith(sample.said)) return;
      write(first + i, ready.slice(sample.said.length), null, null);
      sample.said = ready;
    };
    const sampled = await runSamples({ ...serving, signal: leaving.signal, source, ask, onToken });
    sampled.sequences.forEach((sequence, i) => {
      const text = textOf(turn, ask, sequence);
      write(first + i, text.slice(samples[i].said.length), sequence.stop, logprobsOf(turn, sequence));
    });
    return sampled;
  };
  Promise.all(asks.map((ask, i) => one(ask, i * ask.count)))
    .then((all) => {
      if (!request.stream_options?.include_usage) return;
      stream.write({ ...base, choices: [], usage: usageOf(all) });
    })
    .catch((error: unknown) => stream.fail(error))
    .finally(() => {
      unlink();
      stream.close();
    });
  return stream;
}
