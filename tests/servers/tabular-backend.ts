// A backend over the tabular model: trains and samples at once, so that what a server does with requests shows without
// the time that a real model takes.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable } from '../../src/util/index.ts';
import { createFakeTrainer } from '../../src/testing/index.ts';
import type { Backend, Sampler, ScoringSampler, Trainer } from '../../src/core/index.ts';

export const VOCABULARY = 32;
export const CONTEXT = 64;
const FILE = 'weights.json';

export interface TabularBackend extends Backend {
  /** Trainers that have been made and not disposed of. */
  readonly open: number;
  /** What is waited for before each pass and each sample, so that a test can hold it up. */
  gate: Promise<void>;
}

export function createTabularBackend(): TabularBackend {
  let open = 0;
  const make = () => {
    const disk = new Map<string, string>();
    const baseLogits = (): number[] => new Array<number>(VOCABULARY).fill(0);
    const trainer = createFakeTrainer({ vocabularySize: VOCABULARY, window: 1, baseLogits, disk });
    return {
      trainer,
      /** What it saves lies in files, as a real backend's does: gone when its folder is. */
      write: async (path: string): Promise<string> => {
        await mkdir(path);
        await writeFile(join(path, FILE), disk.get(path)!);
        return path;
      },
      load: async (path: string): Promise<void> => {
        disk.set(path, await readFile(join(path, FILE), 'utf8'));
        await trainer.loadState(path);
      },
    };
  };
  const backend: TabularBackend = {
    modelName: 'tabular',
    vocabSize: VOCABULARY,
    contextLength: CONTEXT,
    gate: Promise.resolve(),
    get open() {
      return open;
    },
    async createTrainer({ from }) {
      const { trainer, write, load } = make();
      if (from !== undefined) await load(from.path);
      open++;
      let disposed = false;
      return {
        get step() {
          return trainer.step;
        },
        forward: async (...args) => (await backend.gate, trainer.forward(...args)),
        forwardBackward: async (...args) => (await backend.gate, trainer.forwardBackward(...args)),
        forwardBackwardCustom: (...args) => trainer.forwardBackwardCustom(...args),
        optimStep: (...args) => trainer.optimStep(...args),
        saveState: async (...args) => write(await trainer.saveState(...args)),
        removeState: (...args) => trainer.removeState(...args),
        loadState: (path) => load(path),
        saveWeightsForSampler: async (...args) => write(await trainer.saveWeightsForSampler(...args)),
        saveWeightsAndGetSampler: async (...args) => scoring(await trainer.saveWeightsAndGetSampler(...args), backend),
        async [Symbol.asyncDispose]() {
          if (!disposed) open--;
          disposed = true;
        },
      } satisfies Trainer;
    },
    async openSampler(path) {
      const { trainer, load } = make();
      if (path !== undefined) await load(path);
      return scoring(await trainer.saveWeightsAndGetSampler(), backend);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return backend;
}

/** With what may stand at each place of a prompt: every token scored by itself. */
function scoring(sampler: Sampler, backend: { readonly gate: Promise<void> }): ScoringSampler {
  const all = async (prompt: readonly number[]): Promise<number[]> =>
    Promise.all(
      Array.from({ length: VOCABULARY }, async (_, token) =>
        (await sampler.computeLogprobs([...prompt, token])).at(-1)!,
      ),
    );
  return {
    version: sampler.version,
    async sample(request, options = {}) {
      const { signal = new AbortController().signal } = options;
      await abortable(backend.gate, signal);
      return sampler.sample(request, options);
    },
    computeLogprobs: (...args) => sampler.computeLogprobs(...args),
    async scorePrompt(tokens, { topK = 0, targets } = {}) {
      const rows = await Promise.all(tokens.slice(1).map((_, i) => all(tokens.slice(0, i + 1))));
      const width = targets === undefined ? 0 : targets.length / rows.length;
      const ranked = rows.map((row) =>
        row.map((logprob, token) => ({ token, logprob })).sort((a, b) => b.logprob - a.logprob || a.token - b.token),
      );
      return {
        logprobs: await sampler.computeLogprobs(tokens),
        ...(topK > 0 ? { topK: [[], ...ranked.map((row) => row.slice(0, topK))] } : {}),
        ...(targets === undefined
          ? {}
          : { targets: targets.map((token, i) => (token < 0 ? 0 : rows[Math.floor(i / width)][token])) }),
      };
    },
    [Symbol.asyncDispose]: () => sampler[Symbol.asyncDispose](),
  };
}
