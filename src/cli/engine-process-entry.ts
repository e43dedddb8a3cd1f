// The process that computes: it opens one model and answers calls of its backend, trainers and samplers. ONNX Runtime
// keeps the thread that calls it busy until a graph has run, so that whoever must answer others may not be that thread.

import type { Backend, Sampler, Trainer } from '../core/index.ts';
import { EmbeddedBackend } from '../engine/index.ts';
import { stopsAt } from '../server/index.ts';
import { createNanoChat } from '../tokens/index.ts';
import {
  packFailure,
  type Call,
  type EngineProcessOptions,
  type FromProcess,
  type Told,
  type ToProcess,
} from './engine-process-messages.ts';
import { openModel } from './models.ts';
import { openPretrained } from './open-pretrained.ts';

let outbox: Told[] = [];
const send = (message: Told): void => {
  if (outbox.push(message) > 1) return;
  setImmediate(() => {
    const messages: FromProcess = outbox;
    outbox = [];
    process.send?.(messages);
  });
};
const { model, files, threads, contextLength, decodeWeights } = JSON.parse(process.argv[2]) as EngineProcessOptions;
// It is of no use without the one that serves, and Ctrl-C is for that one.
process.on('disconnect', () => process.exit());
process.on('SIGINT', () => undefined);

const open = async () => {
  const common = {
    modelName: model,
    ...(threads === undefined ? {} : { threads }),
    ...(decodeWeights === undefined ? {} : { decodeWeights }),
  };
  if (files !== undefined) {
    const { family, config, weights, tokenizer } = await openPretrained(files, { contextLength });
    return { backend: new EmbeddedBackend({ ...common, config, weights }), architecture: family, tokenizer };
  }
  const { config, weights } = await openModel(model);
  const { tokenizer } = createNanoChat();
  return { backend: new EmbeddedBackend({ ...common, config, weights }), architecture: 'nano', tokenizer };
};

try {
  const { backend, architecture, tokenizer } = await open();
  const things = new Map<number, Backend | Trainer | Sampler>([[0, backend]]);
  const running = new Map<number, AbortController>();
  let handles = 0;

  const keep = (thing: Trainer | Sampler): { handle: number; version: number } => {
    things.set(++handles, thing);
    return { handle: handles, version: 'version' in thing ? thing.version : 0 };
  };
  /** Methods are called in the order in which calls arrive; trainers keep it. */
  const call = async ({ id, handle, method, args, streams, tellsPrompt, stopTexts }: Call): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const thing = things.get(handle) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      if (method === 'dispose') {
        things.delete(handle);
        await (thing as unknown as AsyncDisposable)[Symbol.asyncDispose]();
        send({ kind: 'value', id, value: undefined });
        return;
      }
      const { signal } = controller;
      const onToken = (sample: number, token: number, logprob: number): void =>
        send({ kind: 'token', id, sample, token, logprob });
      const options = {
        ...(method === 'scorePrompt' ? (args[1] as object) : {}),
        signal,
        ...(tellsPrompt === true ? { onPrompt: (reused: number) => send({ kind: 'prompt', id, reused }) } : {}),
        ...(streams === true ? { onToken } : {}),
        ...(stopTexts === undefined ? {} : { stopWhen: stopsAt(stopTexts, tokenizer) }),
      };
      const given = method === 'scorePrompt' ? args.slice(0, 1) : args;
      const value = await thing[method](...given, options);
      const makes = ['createTrainer', 'openSampler', 'saveWeightsAndGetSampler'].includes(method);
      const { step } = thing as { step?: unknown };
      send({
        kind: 'value',
        id,
        value: makes ? keep(value as Trainer | Sampler) : value,
        ...(typeof step === 'number' ? { step } : {}),
      });
    } catch (error) {
      send({ kind: 'failure', id, failure: packFailure(error) });
    } finally {
      running.delete(id);
    }
  };

  process.on('message', (messages: ToProcess) => {
    for (const message of messages) {
      if (message.kind === 'call') void call(message);
      else running.get(message.id)?.abort(new DOMException('The caller gave up.', 'AbortError'));
    }
  });
  const { vocabSize, contextLength: positions } = backend;
  send({ kind: 'ready', vocabSize, contextLength: positions, architecture });
} catch (error) {
  send({ kind: 'failed', failure: packFailure(error) });
}
