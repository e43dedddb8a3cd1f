// `--decode-weights` outside of `serve`: refused where nothing would heed it, and part of the name of whoever is evaluated.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyPretrained } from '../../tests/cli/tiny-pretrained.ts';
import { openActor } from './actors.ts';
import { train } from './commands/train.ts';
import { policyName } from './evaluated-actor.ts';
import { openPolicyModel } from './policy-model.ts';

const signal = AbortSignal.timeout(300_000);
const onNotice = (): void => undefined;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-rounded-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('rounded weights', () => {
  it.each(['nano', 'tinker:Qwen/Qwen3-8B', 'tinker://run/sampler_weights/x'])('are refused for %s', async (name) => {
    const opening = openPolicyModel(name, { decodeWeights: 'q4', signal, onNotice });
    await expect(opening).rejects.toMatchObject({ code: 'option-without-effect' });
    await expect(opening).rejects.toThrow(/--decode-weights/);
  });

  it.each(['openai:gpt-5-mini', 'openrouter:a/b', 'scripted:replies.json'])('are refused for %s', async (model) => {
    const policy = { decodeWeights: 'q8' } as const;
    const opening = openActor({ model, maxTokens: 8, temperature: 1, policy });
    await expect(opening).rejects.toMatchObject({ code: 'option-without-effect' });
  });

  it('are refused for a model that is too small for them', { timeout: 120_000 }, async () => {
    const name = `hf:${await writeTinyPretrained(folder)}`;
    const opening = openPolicyModel(name, { decodeWeights: 'q4', signal, onNotice });
    await expect(opening).rejects.toMatchObject({ code: 'bad-decode-weights' });
    await using whole = await openPolicyModel(name, { decodeWeights: 'f32', signal, onNotice });
    expect(whole.kind).toBe('embedded');
  });

  it('are no setting of training, whose samples must be of the weights that are trained', () => {
    expect(train.schema.safeParse({ decodeWeights: 'q4' }).success).toBe(false);
    expect(train.schema.safeParse({}).success).toBe(true);
  });

  it('make another policy, by name', () => {
    expect(policyName('hf:a/b', 'q4')).toBe('hf:a/b (decoded in q4)');
    expect([policyName('hf:a/b', 'f32'), policyName('hf:a/b')]).toEqual(['hf:a/b', 'hf:a/b']);
  });
});
