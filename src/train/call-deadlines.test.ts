import { expect, it } from 'vitest';
import type { Datum, Trainer } from '../core/index.ts';
import { createFakeTrainer, createToyCheckboxes, createToyRenderer, toyModel } from '../testing/index.ts';
import { trainerWithDeadlines } from './call-deadlines.ts';
import { rlConfigSchema } from './rl-config.ts';
import { rl } from './rl.ts';
import { sft, sftConfigSchema } from './sft.ts';
import { createTaskSampler } from './task-sampler.ts';

const { signal } = new AbortController();
const DATA: readonly Datum[] = [{ tokens: [0], lossInputs: { targetTokens: [1], weights: [1] } }];

/** A trainer of which one call never comes back, as of a server that has died. */
function hanging(name: keyof Trainer): Trainer {
  const trainer = createFakeTrainer(toyModel());
  return new Proxy(trainer, {
    get(target, key) {
      if (key === name) return () => new Promise(() => undefined);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const CALLS = ['forwardBackward', 'optimStep'] as const;

it.each(CALLS)('fine-tuning does not wait for a %s that hangs', async (name) => {
  const config = sftConfigSchema.parse({ epochs: 1 });
  const options = { trainer: hanging(name), data: DATA, config, runSeed: 1, stage: 'sft', signal, trainerCallMs: 20 };
  await expect(sft(options)).rejects.toMatchObject({ boundary: 'backend', code: 'trainer-deadline' });
});

it.each([...CALLS, 'saveWeightsAndGetSampler'] as const)(
  'the policy-gradient loop does not wait for a %s that hangs',
  async (name) => {
    const env = createToyCheckboxes();
    const options = {
      env,
      trainer: hanging(name),
      renderer: createToyRenderer(),
      sampleTasks: createTaskSampler({ env, firstSeed: 0 }),
      config: rlConfigSchema.parse({ steps: 20, groups: 4, groupSize: 8, credit: 'raw' }),
      runSeed: 1,
      stage: 'rl',
      signal,
      trainerCallMs: 20,
    };
    await expect(rl(options)).rejects.toMatchObject({ code: 'trainer-deadline', details: { ms: 20 } });
  },
);

it('an abort of the caller is an abort, and what is in time comes back as it is', async () => {
  const plain = createFakeTrainer(toyModel());
  const trainer = trainerWithDeadlines(plain, { stage: 's', ms: 60_000 });
  const { metrics } = await trainer.forwardBackward(DATA, 'cross_entropy');
  expect(metrics['loss:sum']).toBeGreaterThan(0);
  await trainer.optimStep({ learningRate: 0.1 });
  expect(trainer.step).toBe(plain.step);
  expect(trainer.step).toBe(1);
  const controller = new AbortController();
  const waiting = trainerWithDeadlines(hanging('optimStep'), { stage: 's', ms: 60_000 });
  const step = waiting.optimStep({ learningRate: 0.1 }, { signal: controller.signal });
  controller.abort(new DOMException('enough', 'AbortError'));
  await expect(step).rejects.toThrow('enough');
});
