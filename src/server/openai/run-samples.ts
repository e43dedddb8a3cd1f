// One request of OpenAI's API as samples: which model, which ids, what stops it, and the tokens as they come.

import { isGiven } from '../tinker/absent.ts';
import type { SampledSequence, Sampler, SampleOptions, Tokenizer, TopToken } from '../../core/index.ts';
import { withDeadline } from '../../util/index.ts';
import { refusal, serverFault, userFault } from '../tinker/refusals.ts';
import { engineSeed, stopsAt } from '../tinker/sampling-params.ts';
import type { SamplerSource, SamplingService } from '../tinker/sampling-service.ts';
import type { ServedModel } from '../tinker/served-model.ts';

export type Ask = {
  readonly prompt: readonly number[];
  readonly count: number;
  /** Absent: as many as there is room for. */
  readonly maxTokens: number | undefined;
  readonly temperature: number | null | undefined;
  readonly topP: number | null | undefined;
  readonly topK: number | null | undefined;
  readonly seed: number | null | undefined;
  readonly topLogprobs: number;
  /** End a sample beside the model's own. */
  readonly stopTokens: readonly number[];
  readonly stopTexts: readonly string[];
};

/** A sample as it comes: its tokens so far. */
export type OnTokens = (sample: number, token: number, logprob: number) => void;

/** What every request is answered with. */
export type Serving = {
  readonly sampling: SamplingService;
  /** Fires when the caller has hung up. */
  readonly signal: AbortSignal;
  /** Milliseconds that the samples of a request may take. */
  readonly deadlineMs: number;
};

export type SampleRun = Serving & {
  readonly source: SamplerSource;
  readonly ask: Ask;
  readonly onToken?: OnTokens;
};

/** A served name, a checkpoint's path or a sampler's id. */
export function sourceOf(sampling: SamplingService, model: string): SamplerSource {
  if (model.startsWith('tinker://')) return sampling.source({ modelPath: model });
  if (model.includes(':sample:')) return sampling.get(model);
  return sampling.source({ baseModel: model });
}

export function tokenizerOf({ tokenizer, names }: ServedModel): Tokenizer {
  if (tokenizer !== undefined) return tokenizer;
  throw userFault(`${names[0]} has no tokenizer here, so it can be asked in token ids alone, by Tinker's API.`);
}

export function stopTextsOf(stop: string | readonly string[] | null | undefined): readonly string[] {
  if (!isGiven(stop)) return [];
  return typeof stop === 'string' ? [stop] : stop;
}

/** The samples of one prompt, and how many of its tokens the sampler had read already. */
export type Sampled = {
  readonly sequences: readonly SampledSequence[];
  readonly promptTokens: number;
  readonly cachedTokens: number;
};

export async function runSamples(run: SampleRun): Promise<Sampled> {
  const { source, sampling, ask, onToken } = run;
  const { backend, endTokens } = source.served;
  const room = backend.contextLength - ask.prompt.length;
  const maxTokens = ask.maxTokens ?? room;
  if (maxTokens > room || room < 1) {
    throw refusal(
      'bad-request',
      `This model's maximum context length is ${backend.contextLength} tokens; the prompt has ${ask.prompt.length} and ${Math.max(1, maxTokens)} more are asked for.`,
    );
  }
  const bad = ask.prompt.find((token) => !(token >= 0 && token < backend.vocabSize));
  if (bad !== undefined) throw userFault(`prompt: ${bad} is no token of the vocabulary of ${backend.vocabSize}.`);
  let cachedTokens = 0;
  const options: SampleOptions = {
    onPrompt: (reused) => (cachedTokens = reused),
    ...(onToken === undefined ? {} : { onToken }),
    ...(ask.stopTexts.length === 0 ? {} : { stopWhen: stopsAt(ask.stopTexts, tokenizerOf(source.served)) }),
  };
  const request = {
    prompt: ask.prompt,
    numSamples: ask.count,
    params: {
      maxTokens,
      temperature: ask.temperature ?? 1,
      topP: ask.topP ?? 1,
      topK: ask.topK ?? -1,
      stop: [...new Set([...endTokens, ...ask.stopTokens])],
      ...(!isGiven(ask.seed) ? {} : { seed: engineSeed(BigInt(ask.seed)) }),
      ...(ask.topLogprobs > 0 ? { topLogprobs: ask.topLogprobs } : {}),
    },
  };
  const onExpiry = (): Error => serverFault(`The samples did not come within ${run.deadlineMs / 1000} s.`);
  const sequences = await withDeadline({ ms: run.deadlineMs, signal: run.signal, onExpiry }, (signal) =>
    sampling.direct(source, async (sampler: Sampler) => {
      signal.throwIfAborted();
      return sampler.sample(request, { ...options, signal });
    }),
  );
  return { sequences, promptTokens: ask.prompt.length, cachedTokens };
}

/** OpenAI's `usage`: the samples of one request, however many prompts it has. */
export function usageOf(all: readonly Sampled[]): object {
  const sum = (of: (sampled: Sampled) => number): number => all.reduce((total, sampled) => total + of(sampled), 0);
  const prompt = sum(({ promptTokens }) => promptTokens);
  const sampled = sum(({ sequences }) => sequences.reduce((total, { tokens }) => total + tokens.length, 0));
  return {
    prompt_tokens: prompt,
    completion_tokens: sampled,
    total_tokens: prompt + sampled,
    prompt_tokens_details: { cached_tokens: sum(({ cachedTokens }) => cachedTokens) },
  };
}

/** Tokens that are said: the one that ended the sample is not. */
export function saidTokens({ tokens, stop }: Pick<SampledSequence, 'tokens' | 'stop'>, ends: readonly number[]) {
  const last = tokens.at(-1);
  return stop === 'stop' && last !== undefined && ends.includes(last) ? tokens.slice(0, -1) : tokens;
}

export type TokenLogprob = {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly {
    readonly token: string;
    readonly logprob: number;
    readonly bytes: readonly number[];
  }[];
};

export function tokenLogprob(tokenizer: Tokenizer, token: TopToken, top: readonly TopToken[]): TokenLogprob {
  const show = ({ token: id, logprob }: TopToken) => {
    const text = tokenizer.decode([id]);
    return { token: text, logprob, bytes: [...new TextEncoder().encode(text)] };
  };
  return { ...show(token), top_logprobs: top.map(show) };
}
