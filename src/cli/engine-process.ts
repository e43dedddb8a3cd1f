// A backend whose engine runs in a process of its own, so that this one can answer others while it computes. Calls and
// results are copied; what a trainer or sampler promises stays as it is.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import {
  TabwrightError,
  type Backend,
  type CallOptions,
  type CustomLoss,
  type Datum,
  type ForwardOutput,
  type SampleOptions,
  type ScoringSampler,
  type Trainer,
} from '../core/index.ts';
import { stopTextsOf } from '../server/index.ts';
import { childEntry, onAbort } from '../util/index.ts';
import {
  unpackFailure,
  type EngineProcessOptions,
  type FromProcess,
  type Made,
  type Ready,
  type Told,
  type ToProcess,
} from './engine-process-messages.ts';

export type ProcessBackend = Backend & {
  readonly architecture: string;
  /** Resolves with the reason when the process has ended though nobody asked it to. */
  readonly gone: Promise<Error>;
};

type Pending = {
  readonly resolve: (answer: { value: unknown; step?: number | undefined }) => void;
  readonly reject: (error: unknown) => void;
  readonly onPrompt?: SampleOptions['onPrompt'];
  readonly onToken?: SampleOptions['onToken'];
};

export async function openEngineProcess(options: EngineProcessOptions, signal: AbortSignal): Promise<ProcessBackend> {
  const { file, loader } = childEntry(import.meta.url, './engine-process-entry');
  // In a group of its own, so that Ctrl-C does not end what the server still drains; it ends with its channel.
  const child = fork(file, [JSON.stringify(options)], {
    detached: true,
    serialization: 'advanced',
    execArgv: loader === undefined ? [] : ['--import', pathToFileURL(loader).href],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const off = onAbort(signal, () => child.kill('SIGKILL'));
  const [[first]] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw signal.aborted ? (signal.reason as Error) : gone(options.model);
    }),
  ])) as [FromProcess];
  off();
  if (first.kind === 'failed') {
    child.kill('SIGKILL');
    throw unpackFailure(first.failure);
  }
  return processBackend(child, options.model, first as Ready);
}

function gone(model: string): TabwrightError {
  return new TabwrightError('backend', `The engine of ${model} has ended; start anew.`, { code: 'backend-closed' });
}

function processBackend(
  child: ChildProcess,
  model: string,
  { vocabSize, contextLength, architecture }: Ready,
): ProcessBackend {
  const pending = new Map<number, Pending>();
  let ids = 0;
  let disposing = false;
  let ended: Error | undefined;
  let tellGone: (error: Error) => void;
  const whenGone = new Promise<Error>((resolve) => (tellGone = resolve));
  const end = (error: Error): void => {
    ended ??= error;
    if (!disposing) tellGone(ended);
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  child.on('error', end);
  child.on('exit', () => end(gone(model)));
  const hear = (message: Told): void => {
    if (!('id' in message)) return;
    const call = pending.get(message.id);
    if (call === undefined) return;
    if (message.kind === 'prompt') {
      call.onPrompt?.(message.reused);
      return;
    }
    if (message.kind === 'token') {
      call.onToken?.(message.sample, message.token, message.logprob);
      return;
    }
    pending.delete(message.id);
    if (message.kind === 'value') call.resolve(message);
    else call.reject(unpackFailure(message.failure));
  };
  child.on('message', (messages: FromProcess) => messages.forEach(hear));

  let outbox: ToProcess[number][] = [];
  const send = (message: ToProcess[number]): void => {
    if (outbox.push(message) > 1) return;
    setImmediate(() => {
      const messages = outbox;
      outbox = [];
      if (!child.connected) return; // what waits fails when the process has ended
      try {
        child.send(messages, (error) => error && end(gone(model)));
      } catch (error) {
        for (const { id } of messages) {
          pending.get(id)?.reject(error);
          pending.delete(id);
        }
      }
    });
  };

  const call = async (
    handle: number,
    method: string,
    args: readonly unknown[],
    { signal, onPrompt, onToken, stopWhen }: SampleOptions = {},
  ): Promise<{ value: unknown; step?: number | undefined }> => {
    if (ended !== undefined) throw ended;
    signal?.throwIfAborted();
    const stopTexts = stopWhen === undefined ? undefined : stopTextsOf(stopWhen);
    const id = ++ids;
    const off = signal && onAbort(signal, () => send({ kind: 'abort', id }));
    try {
      return await new Promise((resolve, reject) => {
        const heard = { ...(onPrompt && { onPrompt }), ...(onToken && { onToken }) };
        pending.set(id, { resolve, reject, ...heard });
        const more = {
          ...(onToken && { streams: true }),
          ...(onPrompt && { tellsPrompt: true }),
          ...(stopTexts && { stopTexts }),
        };
        send({ kind: 'call', id, handle, method, args, ...more });
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error;
    } finally {
      off?.();
    }
  };

  const sampler = ({ handle, version }: Made): ScoringSampler => ({
    version,
    sample: async (request, options) => (await call(handle, 'sample', [request], options)).value as never,
    computeLogprobs: async (tokens, options) =>
      (await call(handle, 'computeLogprobs', [tokens], options)).value as never,
    scorePrompt: async (tokens, { signal, ...asked } = {}) =>
      (await call(handle, 'scorePrompt', [tokens, asked], signal === undefined ? {} : { signal })).value as never,
    [Symbol.asyncDispose]: async () => void (await dispose(handle)),
  });
  const dispose = async (handle: number): Promise<void> => {
    if (ended === undefined) await call(handle, 'dispose', []);
  };

  const trainer = ({ handle }: Made, firstStep: number): Trainer => {
    let step = firstStep;
    const ask = async (method: string, args: readonly unknown[], options?: CallOptions): Promise<unknown> => {
      const answer = await call(handle, method, args, options);
      step = answer.step ?? step;
      return answer.value;
    };
    const passes = {
      forward: async (data: readonly Datum[], ...[loss, config, options]: [string, object?, CallOptions?]) =>
        (await ask('forward', [data, loss, config ?? {}], options)) as ForwardOutput,
      forwardBackward: async (data: readonly Datum[], ...[loss, config, options]: [string, object?, CallOptions?]) =>
        (await ask('forwardBackward', [data, loss, config ?? {}], options)) as ForwardOutput,
    };
    return {
      get step() {
        return step;
      },
      ...passes,
      forwardBackwardCustom: (data, loss, options) => customPass(passes, data, loss, options),
      optimStep: async (params, options) => (await ask('optimStep', [params], options)) as never,
      saveState: async (path, options) => (await ask('saveState', [path], options)) as string,
      loadState: async (path, options) => void (await ask('loadState', [path], options)),
      removeState: async (path, options) => void (await ask('removeState', [path], options)),
      saveWeightsForSampler: async (path, options) => (await ask('saveWeightsForSampler', [path], options)) as string,
      saveWeightsAndGetSampler: async (options) =>
        sampler((await ask('saveWeightsAndGetSampler', [], options)) as Made),
      [Symbol.asyncDispose]: () => dispose(handle),
    };
  };

  return {
    modelName: model,
    vocabSize,
    contextLength,
    architecture,
    gone: whenGone,
    async createTrainer(options, callOptions) {
      return trainer((await call(0, 'createTrainer', [options], callOptions)).value as Made, 0);
    },
    async openSampler(path, callOptions) {
      return sampler((await call(0, 'openSampler', [path], callOptions)).value as Made);
    },
    async [Symbol.asyncDispose]() {
      disposing = true;
      await dispose(0);
      const running = child.exitCode === null && child.signalCode === null;
      const exited = running ? once(child, 'exit') : undefined;
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

type Passes = Pick<Trainer, 'forward' | 'forwardBackward'>;

/** The loss is a function of this process, so it is called here between two passes there; no other call may come between. */
async function customPass(
  passes: Passes,
  data: readonly Datum[],
  loss: CustomLoss,
  options: CallOptions = {},
): Promise<ForwardOutput> {
  const rows = (weights: (row: number) => ArrayLike<number>): Datum[] =>
    data.map(({ tokens, lossInputs: { targetTokens } }, i) => ({
      tokens,
      lossInputs: { targetTokens, weights: Array.from(weights(i)) },
    }));
  const zeros = (row: number): number[] => data[row].lossInputs.targetTokens.map(() => 0);
  const { logprobs } = await passes.forward(rows(zeros), 'cross_entropy', {}, options);
  const custom = loss(logprobs);
  const slopes = (row: number): number[] => Array.from(custom.gradients[row], (value) => -value);
  await passes.forwardBackward(rows(slopes), 'cross_entropy', {}, options);
  return { logprobs, metrics: { ...custom.metrics, 'loss:sum': custom.loss } };
}
