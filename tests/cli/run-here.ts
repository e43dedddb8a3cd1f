// A command in this process: what its flags mean and what it does, without the start of another one. Exit codes, signals and
// what a terminal shows are for `runCli`.

import { Command } from 'commander';
import type { z } from 'zod';
import type { JsonObject } from '../../src/core/index.ts';
import { openRun, type CommandSpec, type GlobalOptions } from '../../src/cli/run-command.ts';
import { addSchemaOptions, readSchemaOptions } from '../../src/cli/schema-options.ts';

export type HereResult = { readonly printed: string; readonly data: JsonObject; readonly notes: readonly string[] };

/** Rejects where the command fails. */
export async function runHere<T extends z.ZodObject>(
  spec: CommandSpec<T>,
  args: readonly string[],
  { signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {},
): Promise<HereResult> {
  const command = new Command(spec.name).exitOverride();
  for (const flag of spec.flags) {
    const name = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    command.option(flag === 'resume' || flag === 'overwrite' ? `--${name}` : `--${name} <value>`);
  }
  addSchemaOptions(command, spec.schema);
  command.parse([...args], { from: 'user' });
  const options = command.opts<Record<string, unknown>>();
  const given = options as GlobalOptions;
  const notes: string[] = [];
  const listener: Parameters<typeof spec.action>[0]['listener'] = (event) => {
    if (event.kind === 'note') notes.push(event.message);
  };
  let result: HereResult = { printed: '', data: {}, notes };
  await spec.action({
    config: readSchemaOptions(spec.schema, options),
    given,
    operands: [],
    listener,
    signal,
    openRun: (config) => openRun({ command: spec.name, given, config, listener }),
    print: (printed, data) => (result = { printed, data, notes }),
  });
  return result;
}
