// Part C: our client against SkyRL's real Tinker server. One start, few shapes, one model: every new shape is a compile
// of its own. Only log-probabilities are compared, since that server normalises its losses in its own way; those of
// the base model must be our engine's.

import { EmbeddedBackend, loadPretrained, openModelFolder } from '../../src/engine/index.ts';
import {
  floatTensor,
  intTensor,
  ServiceClient,
  type SamplingClient,
  type TrainingClient,
} from '../../src/tinker/index.ts';
import type { ForwardBackwardOutput, LossSettings, WireDatum } from '../../src/tinker/index.ts';
import type { Context } from '../context.ts';
import { ensure } from '../report.ts';
import { startSkyrl } from '../skyrl-server.ts';
import { ensureHub } from '../tiny-model.ts';

const PART = 'our client on SkyRL 0.4.0';
const TOKENS = [3, 14, 15, 92, 65, 35, 89, 79, 32] as const;
const ADAM = { learning_rate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 0 } as const;
/** Another program in another language on the same weights in float32. */
const TOLERANCE = 2e-3;

export async function skyrlPart(context: Context): Promise<void> {
  const { report } = context;
  const hub = await ensureHub(context);
  const venv = await context.venv('skyrl-0.4.0');
  await using server = await startSkyrl(context, venv, hub.model);
  const check = (name: string, work: () => Promise<string | void>): Promise<boolean> => report.check(PART, name, work);
  const notices: string[] = [];
  let connected: ServiceClient | undefined;

  await check('connects, though that server knows no dynamic configuration', async () => {
    connected = await ServiceClient.connect({
      baseUrl: server.url,
      apiKey: 'tml-conformance',
      // The first result of every shape waits for a compile, for minutes on a busy machine.
      pacing: { requestMs: 180_000, resultMs: 900_000 },
      onNotice: (message) => notices.push(message),
    });
    const { supported_models } = await connected.capabilities();
    ensure(
      supported_models.some(({ model_name }) => model_name === hub.model),
      JSON.stringify(supported_models),
    );
    return `answered after ${server.startSeconds.toFixed(0)} s`;
  });
  if (connected === undefined) return;
  const service = connected;
  let training: TrainingClient | undefined;
  await check('creates a model', async () => {
    const started = performance.now();
    training = await service.createTrainingClient({ baseModel: hub.model, lora: { rank: 8, seed: 1 } });
    ensure(training.info?.model_data.model_name === hub.model, `info ${JSON.stringify(training.info)}`);
    return `${training.modelId} after ${seconds(started)}`;
  });
  if (training !== undefined) await drive({ check, service, model: training, folder: hub.model });

  await check('closes a session on a server that knows no end of sessions', () => service.close());
}

type Drive = {
  readonly check: (name: string, work: () => Promise<string | void>) => Promise<boolean>;
  readonly service: ServiceClient;
  readonly model: TrainingClient;
  /** Of the base model. */
  readonly folder: string;
};

async function drive({ check, service, model, folder }: Drive): Promise<void> {
  const data = [datum()];
  await check('forward gives the log-probabilities that our engine computes from the same weights', async () => {
    const theirs = logprobs(await model.forward(data, 'cross_entropy'));
    return difference(theirs, await ourLogprobs(folder));
  });

  let before: readonly number[] = [];
  await check(
    'forward_backward and optim_step make the trained tokens likelier, without a loss:sum in the metrics',
    async () => {
      const first = await model.forwardBackward(data, 'cross_entropy');
      before = logprobs(first);
      const metrics = await model.optimStep(ADAM);
      const after = logprobs(await model.forward(data, 'cross_entropy'));
      ensure(sum(after) > sum(before), `log-probability went from ${sum(before)} to ${sum(after)}`);
      return `${sum(before).toFixed(2)} to ${sum(after).toFixed(2)}; metrics ${Object.keys(metrics).join(', ')}`;
    },
  );

  for (const loss of ['importance_sampling', 'ppo'] as const) {
    await check(`${loss} is computed, with the log-probabilities of forward`, async () => {
      const forward = logprobs(await model.forward(data, 'cross_entropy'));
      const config: LossSettings = loss === 'ppo' ? { clip_low_threshold: 0.8, clip_high_threshold: 1.2 } : {};
      const output = await model.forwardBackward([policyDatum(forward)], loss, config);
      await model.optimStep({ ...ADAM, learning_rate: 0 });
      return difference(logprobs(output), forward);
    });
  }

  await check('forward_backward_custom lowers a loss of our own', async () => {
    const squared = (rows: readonly Float32Array[]) => ({
      loss: rows.reduce((total, row) => total + row.reduce((part, value) => part + value * value, 0), 0),
      gradients: rows.map((row) => row.map((value) => 2 * value)),
    });
    const first = await model.forwardBackwardCustom(data, squared);
    await model.optimStep(ADAM);
    const second = await model.forwardBackwardCustom(data, squared);
    await model.optimStep({ ...ADAM, learning_rate: 0 });
    const [from, to] = [first.metrics['loss:sum'], second.metrics['loss:sum']];
    ensure(to < from, `${from} to ${to}`);
    return `${from.toFixed(2)} to ${to.toFixed(2)}`;
  });

  let sampler: SamplingClient | undefined;
  const prompt = [{ kind: 'text', tokens: Int32Array.from(TOKENS) }] as const;
  await check("samples without sample_sequence_ids: seeds repeat, log-probabilities are the trainer's", async () => {
    sampler = await model.saveWeightsAndGetSamplingClient();
    const call = { prompt, numSamples: 2, params: { maxTokens: 4, seed: 7n, temperature: 1, stop: { tokens: [2] } } };
    const [first, again] = [await sampler.sample(call), await sampler.sample(call)];
    ensure(first.sequenceIds === undefined, `sequence ids ${first.sequenceIds?.join()}`);
    const [one, two] = first.sequences;
    ensure([...one.tokens].join() === [...again.sequences[0].tokens].join(), 'the same seed gave other tokens');
    ensure([...one.tokens].join() !== [...two.tokens].join(), 'two samples of one call are equal');
    const whole = [...TOKENS, ...one.tokens];
    const scored = logprobs(await model.forward([datum(whole)], 'cross_entropy')).slice(TOKENS.length - 1);
    return difference([...(one.logprobs ?? [])], scored);
  });

  await check(
    "prompt log-probabilities, which come one short, have the length of the prompt and the trainer's values",
    async () => {
      ensure(sampler !== undefined, 'there is no sampler');
      const scored = await sampler.computeLogprobs(prompt);
      ensure(scored.length === TOKENS.length && Number.isNaN(scored[0]), `${scored.length} values, first ${scored[0]}`);
      return difference([...scored.slice(1)], logprobs(await model.forward(data, 'cross_entropy')));
    },
  );

  await check('a state is saved and restored, optimizer and all, in two requests', async () => {
    const path = await model.saveState('conformance');
    const forward = logprobs(await model.forward(data, 'cross_entropy'));
    const restored = await service.createTrainingClientFromState({ path, optimizer: true });
    const loaded = difference(logprobs(await restored.forward(data, 'cross_entropy')), forward);
    for (const client of [model, restored]) {
      await client.forwardBackward(data, 'cross_entropy');
      await client.optimStep(ADAM);
    }
    const [left, right] = [await model.forward(data, 'cross_entropy'), await restored.forward(data, 'cross_entropy')];
    return `${path}; loaded: ${loaded}; a step later: ${difference(logprobs(right), logprobs(left))}`;
  });

  let samplerPath = '';
  await check('a sampler is made from a saved path, which has two parts there', async () => {
    samplerPath = await model.saveForSampler('conformance-sampler');
    const named = await service.createSamplingClient({ path: samplerPath });
    const scored = await named.computeLogprobs(prompt);
    return `${samplerPath}; ${difference([...scored.slice(1)], logprobs(await model.forward(data, 'cross_entropy')))}`;
  });

  await check('runs, checkpoints and what a checkpoint holds are read', async () => {
    const { rest } = service;
    const runs = (await rest.listRuns()).map(({ training_run_id }) => training_run_id);
    ensure(runs.includes(model.modelId), `${model.modelId} is not among ${runs.join()}`);
    const checkpoints = await rest.listRunCheckpoints(model.modelId);
    ensure(checkpoints.length >= 2, JSON.stringify(checkpoints));
    const info = await rest.weightsInfo(`tinker://${model.modelId}/weights/conformance`);
    ensure(info.lora_rank === 8 && info.base_model === folder, JSON.stringify(info));
    return `${checkpoints.map(({ checkpoint_id }) => checkpoint_id).join(', ')}`;
  });

  await check('an unknown loss is a typed refusal, and the model goes on', async () => {
    const said = await refusal(() => model.forwardBackward(data, 'no_such_loss'), 'tinker-refused');
    await model.forward(data, 'cross_entropy');
    return said;
  });

  await check('an option that the server lacks is an error, not silence', async () => {
    ensure(sampler !== undefined, 'there is no sampler');
    const call = { prompt, numSamples: 1, params: { maxTokens: 1 }, topkPromptLogprobs: 3 };
    return refusal(() => sampler!.sample(call), 'tinker-request-failed');
  });

  await check('a state that is loaded into a used model, and a name that is taken, are typed refusals', async () => {
    const path = `tinker://${model.modelId}/weights/conformance`;
    const load = await refusal(() => model.loadState(path, { optimizer: false }), 'tinker-refused');
    const save = await refusal(() => model.saveState('conformance'), 'tinker-conflict');
    await model.forward(data, 'cross_entropy');
    return `${load} | ${save}`;
  });
}

/** What the server said, shortened, if the call failed with this code. */
async function refusal(call: () => Promise<unknown>, code: string): Promise<string> {
  const error = await call().then(
    () => undefined,
    (reason: unknown) => reason as Error & { readonly code?: string },
  );
  ensure(error?.code === code, `${error?.code ?? 'accepted'}: ${error?.message}, expected ${code}`);
  return `${code}: ${error.message.slice(0, 140)}`;
}

function datum(tokens: readonly number[] = TOKENS): WireDatum {
  const targets = tokens.slice(1);
  return {
    modelInput: [{ kind: 'text', tokens: Int32Array.from(tokens.slice(0, -1)) }],
    lossInputs: { target_tokens: intTensor(targets), weights: floatTensor(targets.map(() => 1)) },
  };
}

function policyDatum(old: readonly number[]): WireDatum {
  const { modelInput, lossInputs } = datum();
  return {
    modelInput,
    lossInputs: {
      target_tokens: lossInputs['target_tokens'],
      logprobs: floatTensor(old),
      advantages: floatTensor(old.map((_, i) => (i % 2 === 0 ? 1 : -0.5))),
    },
  };
}

/** Our engine on the base model: fresh adapters change nothing. */
async function ourLogprobs(folder: string): Promise<readonly number[]> {
  const source = await openModelFolder(folder);
  const { config, weights } = await loadPretrained(source).finally(() => source.close());
  await using backend = new EmbeddedBackend({ modelName: 'tiny', config, weights });
  const trainer = await backend.createTrainer({ lora: { rank: 8 } });
  const targetTokens = TOKENS.slice(1);
  const rows = [{ tokens: TOKENS.slice(0, -1), lossInputs: { targetTokens, weights: targetTokens.map(() => 1) } }];
  const { logprobs: computed } = await trainer.forward(rows, 'cross_entropy');
  return [...computed[0]];
}

function logprobs({ outputs }: ForwardBackwardOutput): readonly number[] {
  return [...outputs[0]['logprobs'].values];
}

function difference(left: readonly number[], right: readonly number[]): string {
  ensure(left.length === right.length && left.length > 0, `${left.length} values and ${right.length}`);
  const worst = Math.max(...left.map((value, i) => Math.abs(value - right[i])));
  ensure(worst <= TOLERANCE, `differs by ${worst}: ${left.join(', ')} and ${right.join(', ')}`);
  return `largest difference ${worst.toExponential(1)}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(0)} s`;
}
