// A policy is a sampler (token ids in, token ids and log-probabilities out) and a renderer (conversation to
// token ids and back). The sampler never sees text, the renderer never sees weights.

import type { Action, Observation, ToolSpec } from './env.ts';

export type SamplingParams = {
  /** Upper bound on new tokens, the stop token included. */
  readonly maxTokens: number;
  /** 0 is greedy. Default 1. */
  readonly temperature?: number;
  /** Nucleus mass. Default 1, off. */
  readonly topP?: number;
  /** Keep the k most likely tokens. Default -1, off. */
  readonly topK?: number;
  /** Sampling ends after one of these; the stop token is part of the result. */
  readonly stop?: readonly number[];
  /** Fixes the draw: same weights, prompt, params and seed give the same tokens. Sample i of a request uses seed + i. */
  readonly seed?: number;
  /** Also give the k most likely tokens at each sampled position, untempered. Default 0, none. */
  readonly topLogprobs?: number;
};

export type SampleRequest = {
  readonly prompt: readonly number[];
  readonly numSamples: number;
  readonly params: SamplingParams;
};

export type SampledSequence = {
  /** New tokens, the stop token included. */
  readonly tokens: readonly number[];
  /** Log-probability of each new token under the untempered, untruncated distribution, in nats. */
  readonly logprobs: readonly number[];
  readonly stop: 'stop' | 'length';
  /** Per new token, most likely first; present exactly when `topLogprobs` was asked for. */
  readonly topLogprobs?: readonly (readonly TopToken[])[];
};

/** A token and its log-probability, nats. */
export type TopToken = { readonly token: number; readonly logprob: number };

export type CallOptions = { readonly signal?: AbortSignal };

/** For samplers that decode in this process; others refuse what they cannot do. */
export type SampleOptions = CallOptions & {
  /** Called as each token of each sample is drawn, for streaming. */
  readonly onToken?: (sample: number, token: number, logprob: number) => void;
  /**
   * Called once, before any token is given: how many of the prompt's tokens the sampler had already, from a prompt that
   * began alike, and did not read for this request.
   */
  readonly onPrompt?: (reused: number) => void;
  /** Ends a sample like a stop token when true of its tokens so far: how a stop text is found, which ids cannot say. */
  readonly stopWhen?: (tokens: readonly number[]) => boolean;
};

/** An immutable snapshot of weights that can be sampled from. Calls may overlap; implementations batch them. */
export interface Sampler extends AsyncDisposable {
  /** Number of optimiser steps behind these weights. */
  readonly version: number;
  sample(request: SampleRequest, options?: CallOptions): Promise<readonly SampledSequence[]>;
  /** Log-probability of every token given those before it; the first is NaN. */
  computeLogprobs(tokens: readonly number[], options?: CallOptions): Promise<readonly number[]>;
}

export type PromptScoreOptions = CallOptions & {
  /** Also the k most likely tokens at each position. Default 0, none. */
  readonly topK?: number;
  /** Also these tokens at each position: [tokens - 1, K] row after row, row i scores position i + 1; -1 is nothing. */
  readonly targets?: readonly number[];
};

export type PromptScores = {
  /** Of each token given those before it; the first is NaN. */
  readonly logprobs: readonly number[];
  /** Per position, most likely first; empty at the first. */
  readonly topK?: readonly (readonly TopToken[])[];
  /** As `targets`, log-probabilities; 0 where the target was -1. */
  readonly targets?: readonly number[];
};

/** A sampler that can also say what else might have stood in a prompt. */
export interface ScoringSampler extends Sampler {
  sample(request: SampleRequest, options?: SampleOptions): Promise<readonly SampledSequence[]>;
  scorePrompt(tokens: readonly number[], options?: PromptScoreOptions): Promise<PromptScores>;
}

/** What happened so far in an episode, as the renderer needs it. */
export type Conversation = {
  readonly instruction: string;
  readonly tools: readonly ToolSpec[];
  /** Earlier turns, oldest first: what was seen and the tokens that were sampled for it. */
  readonly past: readonly { readonly observation: Observation; readonly actionTokens: readonly number[] }[];
  /** What the agent sees now. */
  readonly observation: Observation;
};

/** Conversation to token ids and token ids to an action. Training and sampling use the same one. */
export interface Renderer {
  /** Recorded in the run's config. */
  readonly name: string;
  readonly stopTokens: readonly number[];
  readonly maxActionTokens: number;
  /** Token ids up to and including the point where the policy speaks. */
  render(conversation: Conversation): readonly number[];
  /** Never throws: what cannot be read comes back as a malformed action that says why. `tools` say what arguments are. */
  parse(actionTokens: readonly number[], tools?: readonly ToolSpec[]): Action;
  /**
   * The tokens that say this action where `render(conversation)` ends, the stop token included: what a demonstration is
   * made of. Throws `TabwrightError` (boundary `policy`, code `unsayable-action`) where the format has no words for it.
   */
  renderAction(conversation: Conversation, action: Action): readonly number[];
}

export type Policy = { readonly sampler: Sampler; readonly renderer: Renderer };
