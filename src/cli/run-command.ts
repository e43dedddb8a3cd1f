// What every command shares: flags for output and debugging, interruption by Ctrl-C, the run folder, and one clear
// line for every failure. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

import { z } from 'zod';
import type { Command } from 'commander';
import { isAbort, TabwrightError, type JsonObject, type ProgressListener } from '../core/index.ts';
import { createRun, resumeRun, type RunFolder } from '../store/index.ts';
import { createProgress, type ProgressMode } from './progress.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

export type CommandContext<T> = {
  readonly config: T;
  readonly given: GlobalOptions;
  readonly listener: ProgressListener;
  readonly signal: AbortSignal;
  /** Prints a result line; in JSON mode it goes out as an event of kind `result` instead. */
  readonly print: (text: string, data: JsonObject) => void;
};

export type GlobalOptions = {
  readonly out?: string;
  readonly resume?: boolean;
  readonly overwrite?: boolean;
  readonly model?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
};

export type CommandSpec<T extends z.ZodObject> = {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly schema: T;
  /** Flags that are no settings of the run. */
  readonly flags: readonly (keyof GlobalOptions)[];
  readonly action: (context: CommandContext<z.infer<T>>) => Promise<void>;
};

const FLAGS = {
  out: ['--out <folder>', 'run folder, new or empty (default: runs/<command>-<time>)'],
  resume: ['--resume', 'go on with the run in --out after its last completed step'],
  overwrite: ['--overwrite', 'delete the run that is in --out first'],
  model: ['--model <name>', 'nano, a model folder or a run folder (default: nano)'],
  quiet: ['--quiet', 'warnings and the result only'],
  json: ['--json', 'progress and result as lines of JSON'],
  debug: ['--debug', 'show stack traces and causes'],
} as const;

export function addCommand<T extends z.ZodObject>(program: Command, spec: CommandSpec<T>): void {
  const command = program.command(spec.name).description(spec.summary);
  for (const flag of [...spec.flags, 'quiet', 'json', 'debug'] as const) command.option(FLAGS[flag][0], FLAGS[flag][1]);
  addSchemaOptions(command, spec.schema);
  command.addHelpText(
    'after',
    `\nExamples:\n${spec.examples.map((example) => `  $ tabwright ${example}`).join('\n')}\n`,
  );
  command.allowExcessArguments(false);
  command.action(async (options: Record<string, unknown>) => {
    const given = options as GlobalOptions;
    process.exitCode = await guarded(given, async (signal) => {
      const mode: ProgressMode = given.json ? 'json' : given.quiet ? 'quiet' : 'normal';
      const listener = createProgress({
        stream: given.json ? process.stdout : process.stderr,
        mode,
        environment: process.env,
      });
      const print = (text: string, data: JsonObject): void => {
        process.stdout.write(given.json ? `${JSON.stringify({ kind: 'result', ...data })}\n` : `${text}\n`);
      };
      await spec.action({ config: readSchemaOptions(spec.schema, options), given, listener, signal, print });
    });
  });
}

/** A config as JSON: without the settings that were left out, because `undefined` is no JSON. */
export function asJson(config: object): JsonObject {
  return JSON.parse(JSON.stringify(config)) as JsonObject;
}

/** Creates the command's run folder, or opens the one that is to be gone on with. */
export async function openRun(command: string, given: GlobalOptions, config: JsonObject): Promise<RunFolder> {
  if (given.resume && given.out === undefined) {
    throw new TabwrightError('config', '--resume needs --out <folder>: the run to go on with.', {
      code: 'resume-without-out',
    });
  }
  if (given.out === '') {
    throw new TabwrightError('config', '--out is empty: name a folder, or leave --out away.', { code: 'empty-out' });
  }
  const out = given.out ?? `runs/${command}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`;
  if (given.resume) return resumeRun(out, { config, mayDiffer: ['commit', 'version'] });
  return createRun(out, { config, ...(given.overwrite ? { overwrite: true } : {}) });
}

/** Runs `work` under a signal that the first Ctrl-C aborts; gives the exit code. A second Ctrl-C ends at once. */
async function guarded(given: GlobalOptions, work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const controller = new AbortController();
  let interrupted = 0;
  const interrupt = (): void => {
    if (interrupted++ > 0) process.exit(130);
    process.stderr.write('\nStopping; what is complete is kept. Ctrl-C again to stop at once.\n');
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    await work(controller.signal);
    return 0;
  } catch (error) {
    if (interrupted > 0 && isAbort(error)) {
      process.stderr.write(given.out ? `Stopped. Go on with: the same command and --resume\n` : 'Stopped.\n');
      return 130;
    }
    process.stderr.write(`${describeFailure(error, given.debug ?? false)}\n`);
    return error instanceof TabwrightError && error.boundary === 'config' ? 2 : 1;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** One line for people; everything that is known with `debug`. */
export function describeFailure(error: unknown, debug: boolean): string {
  if (debug) {
    const details =
      error instanceof TabwrightError
        ? `\n${JSON.stringify({ boundary: error.boundary, code: error.code, details: error.details })}`
        : '';
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const cause =
      error instanceof Error && error.cause !== undefined ? `\ncaused by: ${describeFailure(error.cause, true)}` : '';
    return `error: ${text}${details}${cause}`;
  }
  if (error instanceof TabwrightError) return `error: ${error.message}`;
  const message = error instanceof Error ? error.message : String(error);
  return `error: ${message.split('\n')[0]} (this is a fault of tabwright; run again with --debug for its details)`;
}
