// `tabwright model export --from tinker://…`: a checkpoint of a server is fetched as its archive and becomes a PEFT folder
// and a whole model, which say what the server's own sampler of that checkpoint says.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { modelExport } from '../../src/cli/commands/model.ts';
import { addCommand } from '../../src/cli/run-command.ts';
import { EmbeddedBackend, loadPretrained, openModelFolder, readPeftAdapter } from '../../src/engine/index.ts';
import { serveTinker } from '../../src/server/index.ts';
import { openServedModels } from '../../src/cli/served-models.ts';
import { writeTinyPretrained } from '../cli/tiny-pretrained.ts';
import { ADAM, crossEntropy, RawClient, sampleBody, supervised } from '../servers/tinker-client.ts';

const TIMEOUT = 420_000;
const TOKENS = [72, 101, 108, 108, 111, 44, 32, 119, 111, 114, 108, 100];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-tinker-export-'));
  vi.stubEnv('TINKER_API_KEY', 'tml-test');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function run(...args: readonly string[]): Promise<void> {
  const program = new Command('tabwright').enablePositionalOptions().exitOverride();
  addCommand(program, modelExport);
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  try {
    await program.parseAsync(['export', ...args], { from: 'user' });
  } finally {
    write.mockRestore();
  }
  expect(process.exitCode ?? 0, args.join(' ')).toBe(0);
}

it('exports what a server has trained', { timeout: TIMEOUT }, async () => {
  const base = await writeTinyPretrained(folder);
  const models = await openServedModels({
    ...{ models: `hf:${base}`, aliases: 'tiny', threads: 1, contextLength: undefined, chatFormat: undefined },
    signal: AbortSignal.timeout(TIMEOUT),
    warn: () => undefined,
  });
  try {
    const failures: unknown[] = [];
    await using server = await serveTinker({
      ...{ models, folder: join(folder, 'served'), port: 0 },
      onFailure: (error) => failures.push(error),
    });
    const client = new RawClient(server.url);
    const session = await client.session();
    const model = await client.model(session, { base_model: 'tiny', lora_config: { rank: 4, seed: 3 } });
    for (const step of [0, 1, 2]) {
      await client.output(await client.pass(crossEntropy(model, 1 + 2 * step, [supervised(TOKENS)])));
      const adam = { model_id: model, seq_id: 2 + 2 * step, adam_params: ADAM };
      await client.result(await client.submit('optim_step', adam));
    }
    const saving = await client.submit('save_weights_for_sampler', { model_id: model, seq_id: 7, path: 'made' });
    const path = (await client.result(saving))['path'] as string;
    expect(path).toMatch(/^tinker:\/\/.*\/sampler_weights\/made$/);

    const scored = async (of: object, number: number): Promise<number[]> => {
      const body = { session_id: session, sampling_session_seq_id: number, ...of };
      const sampler = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
      const prompt = { chunks: [{ type: 'encoded_text', tokens: TOKENS }] };
      const asked = sampleBody(sampler, 0, { prompt, prompt_logprobs: true });
      return [...(await client.samples(await client.submit('asample', asked))).promptLogprobs!].slice(1);
    };
    const trained = await scored({ model_path: path }, 100);
    const untrained = await scored({ base_model: 'tiny' }, 101);

    const from = ['--from', path, '--base-url', server.url];
    await run(...from, '--adapter', join(folder, 'adapter'));
    const adapter = await readPeftAdapter(join(folder, 'adapter'));
    expect(adapter).toMatchObject({ rank: 4, alpha: 32 });
    expect(adapter.tensors.some(({ name, data }) => name.includes('lora_B') && data.some((value) => value !== 0))).toBe(
      true,
    );

    await run(...from, '--base', base, '--merged', join(folder, 'merged'));
    const source = await openModelFolder(join(folder, 'merged'));
    const merged = await loadPretrained(source);
    await source.close();
    await using backend = new EmbeddedBackend({ modelName: 'merged', ...merged, threads: 1 });
    await using sampler = await backend.openSampler();
    const own = (await sampler.computeLogprobs(TOKENS)).slice(1);
    const far = (a: readonly number[], b: readonly number[]): number =>
      Math.max(...a.map((value, i) => Math.abs(value - b[i])));
    expect(far(own, trained)).toBeLessThan(1e-4);
    expect(far(own, untrained)).toBeGreaterThan(0.1);
    expect(failures).toEqual([]);
  } finally {
    for (const { backend } of models) await backend[Symbol.asyncDispose]();
  }
});
