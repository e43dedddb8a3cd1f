// Judges on `tabwright serve`, for the wiring only: a model of random weights is no judge, so all that is shown is that
// its words are read, and that no word of it becomes a verdict. What a verdict would be is said by a sampler that is told to.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChatEndpoint } from '../../src/chat/index.ts';
import type { Backend, ScoringSampler } from '../../src/core/index.ts';
import { createJudgeModel, createOutcomeJudge, createWebJudge, type JudgeInput } from '../../src/judges/index.ts';
import { SUCCESS } from '../../src/judges/fixtures/judge-server.ts';
import { serveTinker, type TinkerServer } from '../../src/server/index.ts';
import { chat, END, tinyModel, tokenizer } from '../servers/tiny-model.ts';

const { signal } = new AbortController();
const INPUT: JudgeInput = {
  instruction: 'Send it.',
  stop: 'answered',
  actions: ['click "button" "Send" on "http://a.test/"'],
  pictures: [],
  answer: 'Sent.',
};

const told: ScoringSampler = {
  version: 0,
  async sample({ numSamples }) {
    const tokens = [...tokenizer.encode(JSON.stringify(SUCCESS)), END];
    return Array.from({ length: numSamples }, () => ({
      tokens,
      logprobs: tokens.map(() => -0.5),
      stop: 'stop' as const,
    }));
  },
  computeLogprobs: (tokens) => Promise.resolve(tokens.map(() => NaN)),
  scorePrompt: (tokens) => Promise.resolve({ logprobs: tokens.map(() => NaN) }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const backend: Backend = {
  modelName: 'told',
  vocabSize: 300,
  contextLength: 65_536,
  createTrainer: () => Promise.reject(new Error('nothing is trained here')),
  openSampler: () => Promise.resolve(told),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

let folder: string;
let server: TinkerServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-served-judge-'));
  server = await serveTinker({
    models: [
      { names: ['told'], backend, endTokens: [END], tokenizer, chat },
      { ...tinyModel(1, { maxPositions: 16_384 }), names: ['tiny'] },
    ],
    folder,
    port: 0,
    onFailure: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function modelOf(name: string, options: { readonly structuredOutput?: boolean; readonly maxTokens?: number } = {}) {
  const endpoint = createChatEndpoint({ model: name, baseUrl: `${server.url}/v1`, apiKey: 'tml-local', maxRetries: 0 });
  return createJudgeModel({ endpoint, structuredOutput: false, ...options });
}

it('a verdict that is said over the wire is read, with its tokens', { timeout: 120_000 }, async () => {
  const judgement = await createOutcomeJudge({ model: modelOf('told') }).judge(INPUT, { signal });
  expect(judgement).toMatchObject({ verdict: 'success', reasoning: SUCCESS.reasoning });
  expect(judgement.spending.promptTokens).toBeGreaterThan(2_000);
  expect(judgement.spending.cost).toBeNull();
});

it('what a model of random weights says is no verdict', { timeout: 120_000 }, async () => {
  const model = modelOf('tiny', { maxTokens: 16 });
  for (const judge of [createOutcomeJudge({ model }), createWebJudge({ model })]) {
    const judgement = await judge.judge(INPUT, { signal });
    expect(judgement).toMatchObject({ verdict: 'invalid', code: expect.stringMatching(/^judge-/) as string });
    expect(judgement.spending.calls).toBe(1);
  }
});

it('that the server cannot hold a model to a schema is a judgement that failed', { timeout: 60_000 }, async () => {
  const judge = createOutcomeJudge({ model: modelOf('told', { structuredOutput: true }) });
  expect(await judge.judge(INPUT, { signal })).toMatchObject({ verdict: 'invalid', code: 'chat-refused' });
});
