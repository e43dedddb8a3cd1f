// The client against every kind of reply that servers of this protocol give, replayed over real HTTP: the documented
// ones, those of other implementations, and those of a server that is in trouble.

import { describe, expect, it } from 'vitest';
import {
  decodeForwardBackwardRequest,
  encodeForwardBackwardOutput,
  encodeSampleResponse,
  floatTensor,
  intTensor,
  TinkerTrainer,
  type SampleCall,
  type WireDatum,
} from '../../src/tinker/index.ts';
import { QUICK, scripted, type Answer } from './scripted-server.ts';

const CREATED: Answer = { json: { model_id: 's1:train:0', type: 'create_model' } };
const PASSED: Answer = { protobuf: passResult(1) };
const DATUM: WireDatum = {
  modelInput: [{ kind: 'text', tokens: Int32Array.of(1, 2) }],
  lossInputs: { target_tokens: intTensor([2, 3]), weights: floatTensor([0, 1]) },
};
const CALL: SampleCall = {
  prompt: [{ kind: 'text', tokens: Int32Array.of(1, 2, 3) }],
  numSamples: 1,
  params: { maxTokens: 2, seed: 2n ** 63n + 1n, stop: { tokens: [7] } },
};
const SAMPLED: Answer = {
  protobuf: encodeSampleResponse({
    sequences: [{ stopReason: 'stop', tokens: Int32Array.of(5, 7), logprobs: Float32Array.of(-1, -2) }],
    promptCacheHitTokens: 0,
  }),
};

function passResult(rows: number, metrics: Record<string, number> = { 'loss:sum': rows }): Uint8Array {
  const outputs = Array.from({ length: rows }, (_, i) => ({ logprobs: floatTensor([-1 - i, -2 - i]) }));
  return encodeForwardBackwardOutput({ outputType: 'scalar', outputs, metrics });
}

/** A model whose later results are these answers, one a poll. */
function polls(...answers: readonly Answer[]): readonly Answer[] {
  return [CREATED, ...answers];
}

async function sampleWith(
  answers: readonly Answer[],
  more: Parameters<typeof scripted>[0] = {},
  call: SampleCall = CALL,
) {
  await using server = await scripted({
    asample: () => ({ json: { request_id: 'r', sample_sequence_ids: ['q0'] } }),
    retrieve_future: answers,
    ...more,
  });
  const service = await server.connect();
  const sampler = await service.createSamplingClient({ baseModel: 'm' });
  return { result: await sampler.sample(call), server };
}

describe('polling', () => {
  const again: Answer = { json: { type: 'try_again', request_id: 'r', queue_state: 'active' } };
  const passing: readonly (readonly [string, readonly Answer[]])[] = [
    ['try_again', [again]],
    ['408 with a body', [{ status: 408, json: { queue_state: 'active' } }]],
    ['5xx, as text', [{ status: 503, text: 'bad gateway' }]],
    ['429', [{ status: 429, json: {} }]],
    ['a cut connection', [{ cut: true }]],
    [
      'up to two times 400',
      [
        { status: 400, json: {} },
        { status: 400, json: {} },
      ],
    ],
    ['402', [{ status: 402, json: { error: 'no money' } }]],
    ['metadata first', [{ json: { status: 'complete_metadata', response_payload_size: 1000 } }]],
  ];
  it.each(passing)('%s is polled through to the result', async (_name, answers) => {
    const { result, server } = await sampleWith([...answers, SAMPLED]);
    expect(Array.from(result.sequences[0].tokens)).toEqual([5, 7]);
    expect(server.of('retrieve_future')).toHaveLength(answers.length + 1);
  });

  it('metadata is asked for once, then the payload itself', async () => {
    const { server } = await sampleWith([{ json: { status: 'complete_metadata', response_payload_size: 9 } }, SAMPLED]);
    const asked = server.of('retrieve_future').map(({ body }) => body['allow_metadata_only']);
    expect(asked).toEqual([true, false]);
  });

  // Measured by what must have come before: the answer to a poll, or for a plain "not yet", whose pause counts from when
  // the poll was sent, the answer before it. A timer may be early by less than a millisecond.
  const LEAST_MS = QUICK.repollMs - 1;

  it('a server in trouble is not hammered: the pause lies between its answer and the next poll', async () => {
    const trouble: Answer = { status: 500, json: {} };
    const { server } = await sampleWith([trouble, trouble, trouble, SAMPLED]);
    const polled = server.of('retrieve_future');
    for (const [i, { atMs }] of polled.slice(1).entries()) {
      expect(atMs - polled[i].answeredMs).toBeGreaterThanOrEqual(LEAST_MS);
    }
  });

  it('a server that does not hold polls is not hammered: the pause lies between two of them', async () => {
    const { server } = await sampleWith([again, again, again, again, SAMPLED]);
    const polled = server.of('retrieve_future');
    for (const [i, { atMs }] of polled.slice(2).entries()) {
      expect(atMs - polled[i].answeredMs).toBeGreaterThanOrEqual(LEAST_MS);
    }
  });

  it('polls say what they wait for and which try it is', async () => {
    const { server } = await sampleWith([again, SAMPLED]);
    const [first, second] = server.of('retrieve_future').map(({ headers }) => headers);
    expect(first['x-tinker-request-type']).toBe('Sample');
    expect([first['x-tinker-request-iteration'], second['x-tinker-request-iteration']]).toEqual(['0', '1']);
    expect(Number(first['x-tinker-create-promise-roundtrip-time'])).toBeGreaterThan(0);
    expect(second['x-tinker-create-promise-roundtrip-time']).toBeUndefined();
    expect(first.accept).toContain('application/x-protobuf');
  });

  it('why the server lets requests wait is told once', async () => {
    const notices: string[] = [];
    const waiting: Answer = { json: { type: 'try_again', queue_state: 'paused_capacity', queue_state_reason: 'busy' } };
    await using server = await scripted({
      asample: () => ({ json: { request_id: 'r' } }),
      retrieve_future: [waiting, waiting, SAMPLED],
    });
    const service = await server.connect({ onNotice: (message) => notices.push(message) });
    await (await service.createSamplingClient({ baseModel: 'm' })).sample(CALL);
    // On a busy machine a late sign of life is reported too.
    const told = notices.filter((message) => !message.includes('sign of life'));
    expect(told).toEqual(['The Tinker server lets requests wait: busy']);
  });

  it('of a server with ever new reasons for waiting the last few are remembered', async () => {
    const notices: string[] = [];
    const waiting = (reason: number): Answer => ({ status: 408, json: { error: `place ${reason}` } });
    const reasons = Array.from({ length: 20 }, (_, reason) => waiting(reason));
    await using server = await scripted({
      asample: () => ({ json: { request_id: 'r' } }),
      retrieve_future: [...reasons, waiting(19), waiting(0), SAMPLED],
    });
    const service = await server.connect({ onNotice: (message) => notices.push(message) });
    await (await service.createSamplingClient({ baseModel: 'm' })).sample(CALL);
    // On a busy machine a late sign of life is reported too.
    const told = notices.filter((message) => message.includes('lets requests wait'));
    expect(told).toHaveLength(21);
    expect(told[20]).toContain('place 0');
  });

  it('a failure as data is final and carries category and request id', async () => {
    const failing = sampleWith([{ json: { error: 'prompt too long', category: 'user' } }]);
    await expect(failing).rejects.toMatchObject({
      boundary: 'backend',
      code: 'tinker-request-failed',
      message: expect.stringContaining('prompt too long') as string,
      details: { category: 'user', requestId: 'r' },
    });
  });

  it("SkyRL's failures, 400 with detail, are final and say the detail; any other 400 is tried three times", async () => {
    const failing = sampleWith([{ status: 400, json: { detail: 'no such adapter' } }]);
    await expect(failing).rejects.toMatchObject({
      code: 'tinker-request-failed',
      message: expect.stringContaining('no such adapter') as string,
      details: { category: 'unknown', requestId: 'r', status: 400 },
    });
    let polled = 0;
    const counting = (): Answer => {
      polled++;
      return { status: 400, json: {} };
    };
    await expect(sampleWith([], { retrieve_future: counting })).rejects.toMatchObject({
      code: 'tinker-request-failed',
    });
    expect(polled).toBe(3);
  });

  it('404 is final', async () => {
    await expect(sampleWith([{ status: 404, json: {} }])).rejects.toMatchObject({ code: 'tinker-not-found' });
  });

  it('a result that never comes is given up', async () => {
    await using server = await scripted({ asample: () => ({ json: { request_id: 'r' } }), retrieve_future: [again] });
    const service = await server.connect({ pacing: { ...QUICK, resultMs: 150 } });
    const sampler = await service.createSamplingClient({ baseModel: 'm' });
    await expect(sampler.sample(CALL)).rejects.toMatchObject({ code: 'tinker-result-timeout' });
  });
});

describe('sampling', () => {
  it('64-bit seeds go out exact, and the numbers of requests count from 0', async () => {
    const { server } = await sampleWith([SAMPLED]);
    const [asked] = server.of('asample');
    expect(new TextDecoder().decode(asked.bytes)).toContain('"seed":9223372036854775809');
    expect(asked.body['seq_id']).toBe(0);
    expect(asked.headers['x-tinker-sampling-backpressure']).toBe('1');
  });

  it('a forgotten promise is asked for anew under the next number', async () => {
    const { server } = await sampleWith([{ status: 410, json: {} }, SAMPLED]);
    expect(server.of('asample').map(({ body }) => body['seq_id'])).toEqual([0, 1]);
  });

  it('429 pauses all sampling, then the same number goes out again', async () => {
    await using server = await scripted({
      asample: [{ status: 429, json: {} }, { json: { request_id: 'r' } }],
      retrieve_future: () => SAMPLED,
    });
    const sampler = await (await server.connect()).createSamplingClient({ baseModel: 'm' });
    const first = sampler.sample(CALL);
    await expect.poll(() => server.of('asample').length).toBe(1);
    const second = sampler.sample(CALL);
    await Promise.all([first, second]);
    const asked = server.of('asample');
    expect(asked.map(({ body }) => body['seq_id']).sort()).toEqual([0, 0, 1]);
    expect(asked[1].atMs - asked[0].answeredMs).toBeGreaterThanOrEqual(QUICK.backPressureMs[0] - 1);
  });

  it('an option that the server left out of its answer is an error, not silence', async () => {
    const call = { ...CALL, topkSampleLogprobs: 2 };
    await expect(sampleWith([SAMPLED], {}, call)).rejects.toMatchObject({ code: 'tinker-option-ignored' });
  });

  it("SkyRL's log-probabilities of a prompt, one short, get their NaN", async () => {
    const short = encodeSampleResponse({
      sequences: [{ stopReason: 'length', tokens: Int32Array.of(5) }],
      promptLogprobs: Float32Array.of(-2, -3),
      promptCacheHitTokens: 0,
    });
    const { result } = await sampleWith([{ protobuf: short }], {}, { ...CALL, promptLogprobs: true });
    expect(Array.from(result.promptLogprobs!)).toEqual([NaN, -2, -3]);
  });

  it('results in JSON, as older servers give them, are read too', async () => {
    const json = { type: 'sample', sequences: [{ stop_reason: 'length', tokens: [5], logprobs: [-1] }] };
    const { result } = await sampleWith([{ json }]);
    expect(Array.from(result.sequences[0].tokens)).toEqual([5]);
  });

  it('a sample that nobody waits for any more is cancelled where the server offers that', async () => {
    await using server = await scripted({
      'client/dynamic_config': () => ({ json: { sample_cancel_enabled: true } }),
      asample: () => ({ json: { request_id: 'r' } }),
      retrieve_future: () => ({ hang: true }),
      cancel_future: () => ({ json: {} }),
    });
    const sampler = await (await server.connect()).createSamplingClient({ baseModel: 'm' });
    const controller = new AbortController();
    const sampling = sampler.sample(CALL, { signal: controller.signal });
    await expect.poll(() => server.of('retrieve_future').length).toBe(1);
    controller.abort();
    await expect(sampling).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => server.of('cancel_future').map(({ body }) => body['request_id'])).toEqual(['r']);
  });
});

describe('training', () => {
  const accept = (): Answer => ({ json: { request_id: 'x' } });

  it('rows are cut into chunks, numbered in order, and their results joined', async () => {
    await using server = await scripted({
      'client/config': () => ({ json: { fwdbwd_max_chunk_len: 2 } }),
      forward_backward: accept,
      retrieve_future: polls({ protobuf: passResult(2) }, { protobuf: passResult(2) }, { protobuf: passResult(1) }),
    });
    const model = await (await server.connect()).createTrainingClient({ baseModel: 'm', lora: { rank: 8 } });
    const output = await model.forwardBackward(Array<WireDatum>(5).fill(DATUM), 'cross_entropy', {
      note: 'x',
      beta: 2,
    });
    expect(output.outputs).toHaveLength(5);
    expect(output.metrics).toEqual({ 'loss:sum': 5 });
    const sent = server.of('forward_backward').map(({ bytes }) => decodeForwardBackwardRequest(bytes));
    expect(sent.map(({ seqId, data }) => [seqId, data.length])).toEqual([
      [1, 2],
      [2, 2],
      [3, 1],
    ]);
    expect(sent[0].lossConfig).toEqual({ note: 'x', beta: 2 });
  });

  it('a refused request uses its number up, and the next one goes on', async () => {
    await using server = await scripted({
      forward_backward: [
        { status: 422, json: { detail: [{ loc: ['body', 'loss_fn'], msg: 'unknown loss' }] } },
        accept(),
      ],
      retrieve_future: polls(PASSED),
    });
    const model = await (await server.connect()).createTrainingClient({ baseModel: 'm' });
    await expect(model.forwardBackward([DATUM], 'nonsense')).rejects.toMatchObject({
      code: 'tinker-refused',
      message: expect.stringContaining('body.loss_fn: unknown loss') as string,
      details: { status: 422, path: 'forward_backward' },
    });
    await model.forwardBackward([DATUM], 'cross_entropy');
    const sent = server.of('forward_backward').map(({ bytes }) => decodeForwardBackwardRequest(bytes).seqId);
    expect(sent).toEqual([1, 2]);
  });

  it('trouble while submitting is retried under the same number and the same idempotency key', async () => {
    await using server = await scripted({
      optim_step: [{ status: 503, json: {} }, { cut: true }, accept()],
      retrieve_future: polls({ json: {} }),
    });
    const model = await (await server.connect()).createTrainingClient({ baseModel: 'm' });
    await model.optimStep({ learning_rate: 1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 0 });
    const asked = server.of('optim_step');
    expect(asked.map(({ body }) => body['seq_id'])).toEqual([1, 1, 1]);
    expect(new Set(asked.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1);
  });

  it('when it is unknown whether a request arrived, nothing may follow it', async () => {
    await using server = await scripted({ optim_step: () => ({ status: 500, json: {} }), retrieve_future: polls() });
    const service = await server.connect({ pacing: { ...QUICK, retryBudgetMs: 100 } });
    const model = await service.createTrainingClient({ baseModel: 'm' });
    const params = { learning_rate: 1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 0 };
    await expect(model.optimStep(params)).rejects.toMatchObject({ code: 'tinker-unavailable', retryable: true });
    await expect(model.optimStep(params)).rejects.toMatchObject({ code: 'tinker-model-lost' });
  });

  it('a call that is given up before its turn leaves no hole in the numbers', async () => {
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    await using server = await scripted({
      save_weights: async () => (await gate, accept()),
      optim_step: accept,
      retrieve_future: ({ headers }) =>
        headers['x-tinker-request-type'] === 'CreateModel' ? CREATED : { json: { path: 'tinker://r/weights/a' } },
    });
    const model = await (await server.connect()).createTrainingClient({ baseModel: 'm' });
    const saving = model.saveState('a');
    const controller = new AbortController();
    const params = { learning_rate: 1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 0 };
    const given = model.optimStep(params, { signal: controller.signal });
    controller.abort();
    await expect(given).rejects.toMatchObject({ name: 'AbortError' });
    open!();
    await saving;
    await model.optimStep(params);
    expect(server.of('optim_step').map(({ body }) => body['seq_id'])).toEqual([2]);
  });

  it('415 for protobuf makes it JSON from then on, forward on its own path', async () => {
    const json = { loss_fn_output_type: 'x', loss_fn_outputs: [{ logprobs: { data: [-1, -2], dtype: 'float32' } }] };
    await using server = await scripted({
      forward_backward: ({ headers }) =>
        headers['content-type'] === 'application/json' ? accept() : { status: 415, json: { detail: 'media type' } },
      forward: accept,
      retrieve_future: polls({ json: { ...json, metrics: { 'loss:sum': 1 } } }),
    });
    const model = await (await server.connect()).createTrainingClient({ baseModel: 'm' });
    await model.forwardBackward([DATUM], 'cross_entropy');
    await model.forward([DATUM], 'cross_entropy');
    expect(server.of('forward_backward')[1].body['seq_id']).toBe(1);
    expect(server.of('forward')[0].body).toMatchObject({ seq_id: 2, forward_input: { loss_fn: 'cross_entropy' } });
  });

  it('a server without create-via-load gets a model like the saved one and the state as its first request', async () => {
    await using server = await scripted({
      load_weights: ({ body }) =>
        body['model_id'] === undefined ? { status: 422, json: { detail: 'model_id: Field required' } } : accept(),
      weights_info: () => ({ json: { base_model: 'm', is_lora: true, lora_rank: 4, train_unembed: false } }),
      retrieve_future: () => CREATED,
    });
    const service = await server.connect();
    const model = await service.createTrainingClientFromState({ path: 'tinker://r/weights/a', optimizer: true });
    expect(model.modelId).toBe('s1:train:0');
    expect(server.of('create_model')[0].body).toMatchObject({ lora_config: { rank: 4, train_unembed: false } });
    expect(server.of('load_weights')[1].body).toMatchObject({ seq_id: 1, optimizer: true, model_id: 's1:train:0' });
  });
});

describe('a trainer', () => {
  const accept = (): Answer => ({ json: { request_id: 'x' } });
  const trainerOn = async (server: Awaited<ReturnType<typeof scripted>>): Promise<TinkerTrainer> => {
    const service = await server.connect();
    return new TinkerTrainer({ service, client: await service.createTrainingClient({ baseModel: 'm' }), step: 0 });
  };

  it('is left with one attempt where the server has gone, and the failure before it stays the failure', async () => {
    await using server = await scripted({ unload_model: () => ({ cut: true }), retrieve_future: polls() });
    const failing = async (): Promise<void> => {
      await using trainer = await trainerOn(server);
      throw new Error(`the first failure, at step ${trainer.step}`);
    };
    await expect(failing()).rejects.toThrow(/^the first failure, at step 0$/);
    expect(server.of('unload_model')).toHaveLength(1);
  });

  it('is left soon where the server is too busy to say that the model is gone', async () => {
    const again: Answer = { json: { type: 'try_again', queue_state: 'active' } };
    await using server = await scripted({ unload_model: accept, retrieve_future: polls(again) });
    const trainer = await trainerOn(server);
    const start = performance.now();
    await trainer[Symbol.asyncDispose]();
    await trainer[Symbol.asyncDispose]();
    expect(performance.now() - start).toBeLessThan(QUICK.retryBudgetMs / 2);
    expect(server.of('unload_model')).toHaveLength(1);
    await expect(trainer.saveState('a')).rejects.toMatchObject({ code: 'tinker-closed' });
  });

  it('counts a step that goes on without its caller, none that was refused or never began', async () => {
    let open: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let steps = 0;
    await using server = await scripted({
      optim_step: () => (++steps === 2 ? { status: 422, json: { detail: 'no' } } : accept()),
      save_weights: async () => (await gate, accept()),
      retrieve_future: ({ headers }) => {
        const type = headers['x-tinker-request-type'];
        if (type === 'OptimStep') return { hang: true };
        return type === 'CreateModel' ? CREATED : { json: { path: 'tinker://r/weights/a' } };
      },
    });
    const trainer = await trainerOn(server);
    const step = async (when: () => Promise<unknown>): Promise<number> => {
      const controller = new AbortController();
      const waiting = trainer.optimStep({ learningRate: 1 }, { signal: controller.signal });
      await when();
      controller.abort();
      await expect(waiting).rejects.toBeInstanceOf(Error);
      return trainer.step;
    };
    expect(await step(() => expect.poll(() => server.of('optim_step').length).toBe(1))).toBe(1);
    await expect(trainer.optimStep({ learningRate: 1 })).rejects.toMatchObject({ code: 'tinker-refused' });
    expect(trainer.step).toBe(1);
    const saving = trainer.saveState('a');
    expect(await step(() => expect.poll(() => server.of('save_weights').length).toBe(1))).toBe(1);
    open!();
    await saving;
    expect(server.of('save_weights')[0].body['user_metadata']).toEqual({ tabwright_step: '1' });
    expect(steps).toBe(2);
  });
});

describe('sessions', () => {
  it('signs of life go on beside other work and end with the session', async () => {
    await using server = await scripted({});
    const service = await server.connect();
    await expect.poll(() => server.of('session_heartbeat').length).toBeGreaterThan(1);
    await service.close();
    expect(server.of('sessions/s1/finish')[0].body).toEqual({ reason: { type: 'success' }, detail: null });
    await expect(service.createTrainingClient({ baseModel: 'm' })).rejects.toMatchObject({ code: 'tinker-closed' });
  });

  it('410 ends them, which is reported once, as silence is', async () => {
    await using gone = await scripted({ session_heartbeat: () => ({ status: 410, json: {} }) });
    const ends: string[] = [];
    await gone.connect({ onNotice: (message) => ends.push(message) });
    await using silent = await scripted({ session_heartbeat: () => ({ status: 500, json: {} }) });
    const notices: string[] = [];
    await silent.connect({ onNotice: (message) => notices.push(message) });
    await expect.poll(() => silent.of('session_heartbeat').length).toBeGreaterThan(6);
    expect(notices).toEqual([expect.stringMatching(/sign of life/)]);
    expect(gone.of('session_heartbeat')).toHaveLength(1);
    expect(ends).toEqual([expect.stringMatching(/has ended the session/)]);
  });

  it('a server without finish is closed all the same', async () => {
    await using server = await scripted({ 'sessions/s1/finish': () => ({ status: 404, json: {} }) });
    await (await server.connect()).close();
  });

  it('what is no Tinker server is said to be none', async () => {
    await using server = await scripted({ 'client/config': () => ({ text: '<html>hello</html>' }) });
    await expect(server.connect()).rejects.toMatchObject({ code: 'tinker-protocol' });
    await expect(
      server.connect({ baseUrl: 'http://127.0.0.1:9', pacing: { ...QUICK, retryBudgetMs: 50 } }),
    ).rejects.toThrow(/cannot be reached.*Is it running/);
  });
});

describe('the key', () => {
  it('goes out in its header and is in no error, whatever the server says back', async () => {
    await using server = await scripted({
      'client/config': ({ headers }) => ({ status: 401, json: { error: `bad key ${String(headers['x-api-key'])}` } }),
    });
    const failure = await server.connect().catch((error: unknown) => error as Error);
    expect(server.asked[0].headers['x-api-key']).toBe('tml-test-key');
    expect(failure).toMatchObject({ code: 'tinker-unauthorized' });
    const everything = `${(failure as Error).stack} ${JSON.stringify(failure)} ${(failure as Error).message}`;
    expect(everything).toContain('bad key [key]');
    expect(everything).not.toContain('tml-test-key');
  });

  it('is not half visible where a long failure is cut', async () => {
    await using server = await scripted({
      'client/config': ({ headers }) => ({
        status: 401,
        json: { error: `${'x'.repeat(593)}${String(headers['x-api-key'])}` },
      }),
    });
    const failure = await server.connect().catch((error: unknown) => error as Error);
    expect((failure as Error).message).toMatch(/x{593}\[key\]$/);
    expect((failure as Error).message).not.toContain('tml-');
  });

  it('may not be put into the base URL', async () => {
    await using server = await scripted({});
    const baseUrl = 'http://me:tml-secret@127.0.0.1:1';
    const failure = await server.connect({ baseUrl }).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'bad-base-url' });
    expect((failure as Error).message).not.toContain('tml-secret');
  });
});

describe('what an account has', () => {
  it('an archive: where a redirect points, what a reply says, and after it was made', async () => {
    const path = 'training_runs/r/checkpoints/weights/a/archive';
    await using server = await scripted({
      [path]: [
        { status: 503, json: {} },
        { status: 302, headers: { location: '/files/1', expires: 'soon' } },
        { json: { url: 'https://example.com/2', expires: 'later' } },
      ],
      'training_runs/r/checkpoints/b/archive': [{ json: { url: 'https://example.com/3' } }],
    });
    const { rest } = await server.connect();
    expect(await rest.archiveUrl('tinker://r/weights/a')).toEqual({ url: `${server.url}/files/1`, expires: 'soon' });
    expect(await rest.archiveUrl('tinker://r/weights/a')).toEqual({ url: 'https://example.com/2', expires: 'later' });
    expect((await rest.archiveUrl('tinker://r/sampler_weights/b')).url).toBe('https://example.com/3');
  });

  it('checkpoints are deleted, published and given a lifetime under their own addresses', async () => {
    const path = 'training_runs/r/checkpoints/weights/a';
    const ok = (): Answer => ({ status: 200, json: {} });
    await using server = await scripted({ [path]: ok, [`${path}/ttl`]: ok, [`${path}/publish`]: ok });
    const { rest } = await server.connect();
    await rest.setTtl('tinker://r/weights/a', 3600);
    await rest.publish('tinker://r/weights/a');
    await rest.unpublish({ runId: 'r', checkpointId: 'weights/a' });
    await rest.deleteCheckpoint('tinker://r/weights/a');
    const asked = server.asked
      .filter((one) => one.path.startsWith('training_runs'))
      .map((one) => [one.method, one.path]);
    expect(asked).toEqual([
      ['PUT', `${path}/ttl`],
      ['POST', `${path}/publish`],
      ['DELETE', `${path}/publish`],
      ['DELETE', path],
    ]);
    expect(server.of(`${path}/ttl`)[0].body).toEqual({ ttl_seconds: 3600 });
  });
});
