// How much of a prompt a sampler had already, as `prompt_cache_hit_tokens` says it: over the wire from an engine that keeps
// prompts, and from an engine in a process of its own.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEngineProcess } from '../../src/cli/engine-process.ts';
import { EmbeddedBackend, initWeights } from '../../src/engine/index.ts';
import { serveTinker } from '../../src/server/index.ts';
import { writeTinyPretrained } from '../cli/tiny-pretrained.ts';
import { RawClient, sampleBody } from './tinker-client.ts';
import { tinyModel } from './tiny-model.ts';

const TIMEOUT = 300_000;
const prompt = (length: number, seed = 1): number[] => Array.from({ length }, (_, i) => ((i * 7 + seed * 13) % 61) + 1);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-prompts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  'a prompt that is sampled again was there, in whole steps of 64 tokens',
  async () => {
    const small = tinyModel(1, { headDim: 16 });
    const { config } = small.backend;
    await small.backend[Symbol.asyncDispose]();
    const weights = initWeights(config, 1);
    const backend = new EmbeddedBackend({ modelName: 'tiny', config, weights, threads: 1, execution: 'layers' });
    await using server = await serveTinker({
      models: [{ ...small, backend }],
      folder,
      port: 0,
      onFailure: () => undefined,
    });
    const client = new RawClient(server.url);
    const session = await client.session();
    let samplers = 0;
    const sampler = async (): Promise<(tokens: number[], seqId: number, samples?: number) => Promise<number>> => {
      const body = { session_id: session, sampling_session_seq_id: samplers++, base_model: 'tiny' };
      const id = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
      return async (tokens, seqId, samples = 1) => {
        const asked = sampleBody(id, seqId, {
          prompt: { chunks: [{ type: 'encoded_text', tokens }] },
          num_samples: samples,
          sampling_params: { max_tokens: 3, seed: 5, temperature: 1, stop: [] },
        });
        return (await client.samples(await client.submit('asample', asked))).promptCacheHitTokens;
      };
    };
    const first = await sampler();
    expect(await first(prompt(150), 0, 4)).toBe(0);
    expect(await first(prompt(150), 1)).toBe(128);
    // The last token is always read: 64 of 64 were there, and none is taken over.
    expect(await first(prompt(64), 2)).toBe(0);
    expect(await first([...prompt(150), ...prompt(60, 3)], 3)).toBe(128);
    expect(await first(prompt(150, 2), 4)).toBe(0);
    await backend[Symbol.asyncDispose]();
  },
  TIMEOUT,
);

test(
  'of requests that come together with one prompt the first reads it, and the engine says so from its process',
  async () => {
    const path = await writeTinyPretrained(folder);
    const signal = AbortSignal.timeout(TIMEOUT);
    const options = { model: `hf:${path}`, files: { kind: 'folder', path }, threads: 1 } as const;
    await using backend = await openEngineProcess(options, signal);
    await using sampler = await backend.openSampler();
    const ask = async (tokens: number[]): Promise<number[]> => {
      const told: number[] = [];
      const onPrompt = (reused: number): number => told.push(reused);
      const request = { prompt: tokens, numSamples: 3, params: { maxTokens: 2, seed: 1 } };
      await sampler.sample(request, { onPrompt });
      return told;
    };
    expect(await Promise.all([ask(prompt(20)), ask(prompt(20)), ask(prompt(21))])).toEqual([[0], [20], [0]]);
    // Nothing ran any more: a small model keeps no prompts.
    expect(await ask(prompt(20))).toEqual([0]);
  },
  TIMEOUT,
);
