// Models by name, without a browser: how pretrained folders speak, what is refused, and adapters that a run of this
// process trained, which lie beside their base.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openActor } from '../../src/cli/actors.ts';
import { openModel } from '../../src/cli/models.ts';
import { openPolicyModel, type PolicyModel, type PolicyModelOptions } from '../../src/cli/policy-model.ts';
import { findRemoteVoice } from '../../src/cli/remote-voice.ts';
import type { Conversation, Datum, Trainer } from '../../src/core/index.ts';
import { createRun } from '../../src/store/index.ts';
import { loadTokenizer } from '../../src/tokens/index.ts';
import { serveSmall } from '../tinker/embedded-server.ts';
import { writeTinyPretrained, writeTinyTokenizer } from './tiny-pretrained.ts';

let folder: string;
let known: string;
let unknown: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-policy-'));
  known = await writeTinyPretrained(folder);
  unknown = await writeTinyPretrained(folder, 'somebody-s-model');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
const notices: string[] = [];
const open = (name: string, options: Partial<PolicyModelOptions> = {}): Promise<PolicyModel> =>
  openPolicyModel(name, { signal, onNotice: (message) => notices.push(message), ...options });

const CONVERSATION: Conversation = {
  instruction: 'Select a and click Submit.',
  tools: [
    {
      name: 'click',
      description: 'Clicks a control.',
      parameters: { type: 'object', properties: { target: { type: 'integer' } }, required: ['target'] },
    },
  ],
  past: [],
  observation: { page: 'checkbox "a" [1]\nbutton "Submit" [2]' },
};

async function spoken(model: PolicyModel): Promise<string> {
  const tokenizer = await loadTokenizer(known);
  return tokenizer.decode(model.renderer.render(CONVERSATION));
}

describe('a pretrained model', () => {
  it('speaks as the known model of its name, and samples what its renderer reads', async () => {
    await using model = await open(`hf:${known}`, { settings: { maxActionTokens: 12 } });
    expect(model.renderer.name).toBe('qwen3/safe/agent-1');
    expect(model.renderer.maxActionTokens).toBe(12);
    const text = await spoken(model);
    expect(text).toMatch(/^<\|im_start\|>system\n/);
    expect(text).toContain('{"type": "function", "function": {"name": "click"');
    expect(text).toContain('checkbox "a" [1]');
    await using sampler = await model.openSampler();
    const params = { maxTokens: 12, seed: 3, stop: model.renderer.stopTokens };
    const [sample] = await sampler.sample({ prompt: model.renderer.render(CONVERSATION), numSamples: 1, params });
    expect(model.renderer.parse(sample.tokens, CONVERSATION.tools)).toMatchObject({ kind: 'malformed' });
    expect(model.shape).toEqual({ family: 'qwen3', hiddenSize: 16 });
  });

  it('keeps prompts and replies within its context', async () => {
    await using model = await open(known, { settings: { contextLength: 1500, maxActionTokens: 100 } });
    const long = { ...CONVERSATION, observation: { page: 'checkbox "b" [1]\n'.repeat(500) } };
    expect(model.renderer.render(long).length).toBeLessThanOrEqual(1400);
    const none = open(known, { settings: { contextLength: 64, maxActionTokens: 64 } });
    await expect(none).rejects.toMatchObject({ code: 'no-room-for-pages' });
  });

  it('speaks another format when it is asked for, and by its own template where none is known', async () => {
    await using asked = await open(unknown, { settings: { chatFormat: 'qwen3+no-thinking' } });
    expect(asked.renderer.name).toBe('qwen3+no-thinking/safe/agent-1');
    const template =
      '{% for tool in tools or [] %}TOOL {{ tool | tojson }}\n{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';
    const own = await writeTinyPretrained(folder, 'with-a-template');
    await writeFile(join(own, 'chat_template.jinja'), template);
    await using model = await open(own);
    expect(await spoken(model)).toMatch(/^TOOL .*"click".*\n<\|im_start\|>system\n/);
    expect(notices.at(-1)).toContain('plays by its own chat template');
    await expect(open(unknown, { settings: { chatFormat: 'template' } })).rejects.toMatchObject({
      code: 'no-chat-template',
    });
  });

  it('is refused with the list of those that are known where nobody knows how it speaks', async () => {
    await expect(open(unknown)).rejects.toMatchObject({
      boundary: 'config',
      code: 'unknown-model',
      message: expect.stringMatching(/somebody-s-model.*Qwen\/Qwen3-8B.*qwen3\+no-thinking/) as string,
    });
  });

  it('has settings that nano refuses', async () => {
    await expect(open('nano', { settings: { maxActionTokens: 5 } })).rejects.toThrow(/--max-action-tokens is for/);
    await expect(open('nano', { tokenizer: known })).rejects.toThrow(/--tokenizer is for models on a Tinker server/);
  });
});

describe('the tokenizer of a model on a server', () => {
  const environment = { TABWRIGHT_CACHE: '/nowhere' };

  it('is found in a folder, in the cache of Hugging Face, or where the server says', async () => {
    const named = await findRemoteVoice({ baseModel: 'Qwen/Qwen3-8B', tokenizer: known, environment, signal });
    expect(named.tokenizer.vocabSize).toBe(265);
    expect(named.shape).toEqual({ family: 'qwen3', hiddenSize: 16 });
    const ask = (): Promise<string> => Promise.resolve(known);
    const told = await findRemoteVoice({ baseModel: 'theirs', ask, environment, signal });
    expect(told.names).toContain('Qwen/Qwen3-0.6B');

    const hub = join(folder, 'hub');
    const repo = join(hub, 'models--Qwen--Qwen3-8B');
    await mkdir(join(repo, 'snapshots'), { recursive: true });
    await mkdir(join(repo, 'refs'));
    await writeFile(join(repo, 'refs', 'main'), 'abc');
    await writeTinyTokenizer(join(repo, 'snapshots'), 'abc');
    const cached = { baseModel: 'Qwen/Qwen3-8B', environment: { ...environment, HF_HUB_CACHE: hub }, signal };
    const { tokenizer, shape } = await findRemoteVoice(cached);
    expect(tokenizer.vocabSize).toBe(265);
    expect(shape).toBeUndefined();
  });

  it('is never fetched: what is not here is said, with what to do', async () => {
    const absent = findRemoteVoice({ baseModel: 'Qwen/Qwen3.6-35B-A3B', environment, signal });
    await expect(absent).rejects.toMatchObject({
      code: 'unknown-tokenizer',
      message: expect.stringMatching(/--tokenizer.*hf download/) as string,
    });
  });
});

const ROWS: readonly Datum[] = [5, 6, 7].map((token) => ({
  tokens: [token, token + 1, token + 2],
  lossInputs: { targetTokens: [token + 1, token + 2, 9], weights: [1, 1, 1] },
}));
const PROBE = [5, 6, 7, 8, 9];

/** A run as `sft --lora-rank` leaves it, after `steps` steps, and what its trainer knows then. */
async function runWithAdapters(name: string, model: PolicyModel, base: string, rank: number | undefined) {
  await using run = await createRun(join(folder, name), { config: { model: base } });
  await using trainer: Trainer = await model.createTrainer({ rank });
  for (let step = 0; step < 3; step++) {
    await trainer.forwardBackward(ROWS, 'cross_entropy');
    await trainer.optimStep({ learningRate: 1e-2 });
  }
  await trainer.saveState(run.checkpointPath('sft-000003'));
  run.appendCheckpoint({ name: 'sft-000003', stage: 'sft', batch: 3, state_path: 'sft-000003', final: true });
  await using sampler = await trainer.saveWeightsAndGetSampler();
  return { dir: run.dir, logprobs: await sampler.computeLogprobs(PROBE) };
}

async function score(name: string): Promise<readonly number[]> {
  await using model = await open(name);
  await using sampler = await model.openSampler();
  return sampler.computeLogprobs(PROBE);
}

describe('a run that trained adapters in this process', () => {
  it.each([
    ['of nano', () => 'nano'],
    ['of a pretrained model', () => `hf:${known}`],
  ])('%s is opened over its base, sampled from and trained further', { timeout: 120_000 }, async (title, baseOf) => {
    const base = baseOf();
    await using model = await open(base);
    const first = await runWithAdapters(`first ${title}`, model, base, 4);
    expect(await score(first.dir)).toEqual(first.logprobs);
    expect(await score(base)).not.toEqual(first.logprobs);

    await using again = await open(first.dir);
    expect(again.trainsAdapters(undefined)).toBe(true);
    await expect(again.createTrainer({ rank: 8 })).rejects.toThrow(/--lora-rank is for base models/);
    // The run of a run names the first as its model; its adapters are still those of the base.
    const second = await runWithAdapters(`second ${title}`, again, first.dir, undefined);
    expect(second.logprobs).not.toEqual(first.logprobs);
    expect(await score(second.dir)).toEqual(second.logprobs);
  });

  it('is refused where nothing says what it adapts, and where whole weights are needed', async () => {
    await using model = await open('nano');
    const { dir } = await runWithAdapters('alone', model, 'nano', 4);
    await expect(open(join(dir, 'checkpoints', 'sft-000003'))).rejects.toMatchObject({ code: 'unknown-base' });
    await expect(openModel(dir)).rejects.toMatchObject({ code: 'adapters-alone' });
  });
});

describe('a run on a server', () => {
  it('notes the server, which is asked again when the run is opened or gone on with', async () => {
    await using served = await serveSmall({ model: { names: ['nano'] } });
    await using model = await open('tinker:nano', { baseUrl: `${served.url}/?a=b` });
    expect(model.noted).toEqual({ baseUrl: served.url });
    await using run = await createRun(join(folder, 'noting'), { config: { model: model.name, ...model.noted } });
    await using trainer: Trainer = await model.createTrainer({ rank: 4 });
    const path = await trainer.saveState('sft-000001');
    run.appendCheckpoint({ name: 'sft-000001', stage: 'sft', batch: 1, state_path: path, final: true });
    vi.stubEnv('TINKER_BASE_URL', 'http://127.0.0.1:9');
    try {
      await using opened = await open(run.dir);
      await using sampler = await opened.openSampler();
      expect(await sampler.computeLogprobs(PROBE)).toHaveLength(PROBE.length);
      await using resumed = await open('tinker:nano', { resumes: run.dir });
      expect([opened.noted, resumed.noted]).toEqual([model.noted, model.noted]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('whose note is of another machine says so, and its key does not go there over plain HTTP', async () => {
    const baseUrl = 'http://tinker.invalid:1';
    await using run = await createRun(join(folder, 'elsewhere'), { config: { model: 'tinker:nano', baseUrl } });
    vi.stubEnv('TINKER_API_KEY', 'tml-secret');
    try {
      await expect(open('tinker:nano', { resumes: run.dir })).rejects.toMatchObject({ code: 'key-over-plain-http' });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(notices.at(-1)).toBe('The Tinker server is http://tinker.invalid:1, as the run notes.');
  });
});

it('the key of a chat service does not go to another machine over plain HTTP', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
  try {
    const asked = { model: 'openai:m', maxTokens: 1, temperature: 1 };
    const opening = openActor({ ...asked, baseUrl: 'http://endpoint.invalid/v1' });
    await expect(opening).rejects.toThrow(/OPENAI_API_KEY would go to endpoint\.invalid over plain HTTP/);
    expect((await openActor({ ...asked, baseUrl: 'http://127.0.0.1:1/v1' })).kind).toBe('chat');
  } finally {
    vi.unstubAllEnvs();
  }
});
