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
};

export type CallOptions = { readonly signal?: AbortSignal };

/** An immutable snapshot of weights that can be sampled from. Calls may overlap; implementations batch them. */
export interface Sampler extends AsyncDisposable {
  /** Number of optimiser steps behind these weights. */
  readonly version: number;
  sample(request: SampleRequest, options?: CallOptions): Promise<readonly SampledSequence[]>;
  /** Log-probability of every token given those before it; the first is NaN. */
  computeLogprobs(tokens: readonly number[], options?: CallOptions): Promise<readonly number[]>;
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
  /** Never throws: what cannot be read comes back as a malformed action that says why. */
  parse(actionTokens: readonly number[]): Action;
}

export type Policy = { readonly sampler: Sampler; readonly renderer: Renderer };
