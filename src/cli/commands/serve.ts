// `tabwright serve`: models of this machine by Tinker's API and by OpenAI's, until it is stopped.

import { z } from 'zod';
import { onAbort } from '../../util/index.ts';
import { describeFailure, type CommandSpec } from '../run-command.ts';
import type { ResolveModelOptions } from '../model-source.ts';

const schema = z.strictObject({
  model: z
    .string()
    .min(1)
    .default('nano')
    .describe(
      'nano, a model or run folder, hf:<owner/name[@revision]> or hf:<folder>, gguf:<file>; several separated by commas',
    ),
  modelName: z
    .string()
    .min(1)
    .optional()
    .describe(
      "what clients may call it too, e.g. a hub's name; name=model where there are several; separated by commas",
    ),
  port: z.int().min(0).max(65_535).default(8485).describe('port to listen on; 0 takes a free one'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address to listen on; beyond loopback TABWRIGHT_SERVE_KEY must be set'),
  checkpoints: z.string().min(1).default('runs/serve').describe('folder of the checkpoints; what is there is served'),
  threads: z.int().min(1).max(256).optional().describe('threads of the engine (default: one a processor)'),
  contextLength: z.int().min(16).optional().describe('longest sequence of a pretrained model (default: 8192 at most)'),
  decodeWeights: z
    .enum(['f32', 'q8', 'q4'])
    .default('f32')
    .describe(
      'weights that samplers of pretrained models decode with: as they are, or rounded to 8 or 4 bits, which is faster',
    ),
  chatFormat: z
    .string()
    .min(1)
    .optional()
    .describe(
      'how a pretrained model speaks, e.g. qwen3 (default: as the known model of its name or alias, else by its own template)',
    ),
  maxModels: z.int().min(1).default(64).describe('models that are trained at one time'),
  sessionTimeoutSeconds: z
    .number()
    .min(1)
    .default(300)
    .describe('a client that sends no heartbeat for this long is taken to be gone'),
});

export const serve: CommandSpec<typeof schema> = {
  name: 'serve',
  summary: "Serve models of this machine by Tinker's API, for the official Python SDK, and by OpenAI's.",
  examples: [
    'serve --model nano',
    'serve --model models/qwen3-tiny --model-name Qwen/Qwen3-8B --port 9000',
    'serve --model hf:Qwen/Qwen3-0.6B   fetched once',
    'serve --model gguf:SmolLM2-135M-Instruct.Q8_0.gguf --checkpoints runs/smol',
    'serve --host 0.0.0.0   with TABWRIGHT_SERVE_KEY=tml-... in the environment',
  ],
  schema,
  flags: [],
  async action({ config, given, listener, signal, print }) {
    const { host, port, checkpoints, sessionTimeoutSeconds } = config;
    const key = process.env.TABWRIGHT_SERVE_KEY;
    const note = (message: string): void => listener({ kind: 'note', level: 'warning', message });
    if (key !== undefined && key !== '' && !/^(tml-|eyJ)/.test(key)) {
      note('TABWRIGHT_SERVE_KEY does not begin with tml-; the Python SDK will not send such a key.');
    }
    const { serveTinker, openServedModels } = await load();
    const models = await openServedModels({
      models: config.model,
      aliases: config.modelName,
      threads: config.threads,
      contextLength: config.contextLength,
      decodeWeights: config.decodeWeights,
      chatFormat: config.chatFormat,
      signal,
      warn: note,
      onProgress: fetching((message) => listener({ kind: 'note', level: 'info', message })),
    });
    try {
      await using server = await serveTinker({
        models,
        folder: checkpoints,
        host,
        port,
        ...(key === undefined || key === '' ? {} : { key }),
        limits: { sessionTimeoutMs: sessionTimeoutSeconds * 1000, maxModels: config.maxModels },
        onFailure: (error) => note(describeFailure(error, given.debug ?? false)),
      });
      const names = models.flatMap((model) => model.names);
      const sdkKey = key === undefined || key === '' ? 'tml-local' : '<the key>';
      print(
        [
          `Serving ${names.join(', ')} on ${server.url}. Ctrl-C stops it.`,
          `  Tinker's SDK:  TINKER_BASE_URL=${server.url} TINKER_API_KEY=${sdkKey}`,
          `  OpenAI's SDKs: OPENAI_BASE_URL=${server.url}/v1 OPENAI_API_KEY=${sdkKey}`,
          `  Checkpoints:   ${checkpoints}`,
        ].join('\n'),
        { url: server.url, models: names, checkpoints },
      );
      const stopped = new Promise<undefined>((resolve) => {
        if (signal.aborted) resolve(undefined);
        else onAbort(signal, () => resolve(undefined));
      });
      // Without its engine a server would refuse everything for ever, and whoever watches over it would not notice.
      const failure = await Promise.race([stopped, ...models.map(({ backend }) => backend.gone)]);
      if (failure !== undefined) throw failure;
    } finally {
      for (const { backend } of models) await backend[Symbol.asyncDispose]();
    }
  },
};

/**
 * The libraries are loaded by whoever serves. Not in a function that has `await using`: tsc writes such a function anew and
 * leaves the ending of what it imports as it is (seen in TypeScript 6.0.3).
 */
async function load() {
  const { serveTinker } = await import('../../server/index.ts');
  const { openServedModels } = await import('../served-models.ts');
  return { serveTinker, openServedModels };
}

/** Tells of every tenth that is there. */
function fetching(tell: (message: string) => void): ResolveModelOptions['onProgress'] {
  let told = -1;
  return ({ file, bytes, totalBytes }) => {
    const tenth = Math.floor((10 * bytes) / totalBytes);
    if (tenth === told) return;
    told = tenth;
    tell(`fetching ${file}: ${tenth * 10} % of ${(totalBytes / 1e9).toFixed(1)} GB`);
  };
}
