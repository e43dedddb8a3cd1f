// What provides trainers and samplers of one base model: this process, or any server that speaks Tinker's API. Loops
// and servers are given one and never know which.

import type { CallOptions, ScoringSampler } from './policy.ts';
import type { Trainer } from './training.ts';

/** Low-rank adapters as Tinker's `LoraConfig` has them (Hu et al. 2021): W + alpha / rank B A. */
export type LoraOptions = {
  readonly rank: number;
  /** Default 32, whatever the rank. */
  readonly alpha?: number;
  /** Seed of fresh adapters. Default 0. */
  readonly seed?: number;
  /** Query, key, value and output projections. Default true. */
  readonly trainAttention?: boolean;
  /** Gate, up and down projections. Default true. */
  readonly trainMlp?: boolean;
  /** The output head. Default true; without effect where the head is the embedding table. */
  readonly trainUnembed?: boolean;
};

export type TrainerOptions = {
  /** Train adapters and leave the weights alone. Without it every weight is trained, where the backend can. */
  readonly lora?: LoraOptions;
  /** A path from `saveState` to go on from; otherwise the base weights. */
  readonly from?: { readonly path: string; readonly optimizer: boolean };
};

export interface Backend extends AsyncDisposable {
  /** As `--model` names it. */
  readonly modelName: string;
  readonly vocabSize: number;
  /** Longest sequence in tokens, prompt and new ones together. */
  readonly contextLength: number;
  createTrainer(options: TrainerOptions, call?: CallOptions): Promise<Trainer>;
  /** Of weights that a trainer saved for sampling, or of the base weights. */
  openSampler(path?: string, call?: CallOptions): Promise<ScoringSampler>;
}
