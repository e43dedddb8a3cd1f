// What every command shares: flags for output and debugging, interruption by Ctrl-C, the run folder, and one clear
// line for every failure. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

import { z } from 'zod';
import type { Command } from 'commander';
import { isAbort, TabwrightError, type JsonObject, type ProgressListener } from '../core/index.ts';
import {
  configDifferences,
  createRun,
  describeDifferences,
  readRun,
  resumeRun,
  type RunFolder,
} from '../store/index.ts';
import { checkOverwrite } from './overwrite-guard.ts';
import { printable } from './printable.ts';
import { PROGRAM } from './program-name.ts';
import { createProgress, type ProgressMode } from './progress.ts';
import { resumeCommand } from './resume-command.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

export type CommandContext<T> = {
  readonly config: T;
  readonly given: GlobalOptions;
  /** What stands on the command line beside flags; empty unless the command names some. */
  readonly operands: readonly string[];
  readonly listener: ProgressListener;
  readonly signal: AbortSignal;
  /** Creates the command's run folder, or opens the one that is to be gone on with. */
  readonly openRun: (config: JsonObject) => Promise<RunFolder>;
  /** Prints a result, whose names and words may be a stranger's; in JSON mode an event of kind `result` goes out instead. */
  readonly print: (text: string, data: JsonObject) => void;
};

export type GlobalOptions = {
  readonly out?: string;
  readonly resume?: boolean;
  readonly overwrite?: boolean;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
};

export type CommandSpec<T extends z.ZodObject> = {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly schema: T;
  /** What may stand beside flags, as commander writes it: `<file>`, `[name]`, `<runs...>`. Default nothing. */
  readonly operands?: { readonly name: string; readonly description: string };
  /** Flags that are no settings of the run. */
  readonly flags: readonly (keyof GlobalOptions)[];
  /** What --model takes here beside the models of every command, for --help. */
  readonly moreModels?: string;
  readonly action: (context: CommandContext<z.infer<T>>) => Promise<void>;
};

const FLAGS = {
  out: ['--out <folder>', 'run folder, new or empty (default: runs/<command>-<time>)'],
  resume: ['--resume', 'go on with the run in --out after its last completed step'],
  overwrite: ['--overwrite', 'delete the run that is in --out first'],
  model: [
    '--model <name>',
    'nano, hf:<name or folder>, gguf:<file>, a run or model folder, tinker:<name> or tinker://<checkpoint> (default: nano)',
  ],
  baseUrl: [
    '--base-url <url>',
    'Tinker server of tinker:... models (default: what the run noted, TINKER_BASE_URL, then Tinker itself)',
  ],
  quiet: ['--quiet', 'warnings and the result only'],
  json: ['--json', 'progress and result as lines of JSON'],
  debug: ['--debug', 'show stack traces and causes'],
} as const;

/** Returns the command, to which others may be added. */
export function addCommand<T extends z.ZodObject>(program: Command, spec: CommandSpec<T>): Command {
  // A command under another has flags of the same names; each takes those that come after it.
  const command = program.command(spec.name).description(spec.summary).enablePositionalOptions();
  for (const flag of [...spec.flags, 'quiet', 'json', 'debug'] as const) {
    const [option, description] = FLAGS[flag];
    const more = flag === 'model' && spec.moreModels !== undefined ? `, ${spec.moreModels}` : '';
    command.option(option, description.replace(' (default', `${more} (default`));
  }
  addSchemaOptions(command, spec.schema);
  if (spec.operands !== undefined) command.argument(spec.operands.name, spec.operands.description);
  command.addHelpText(
    'after',
    `\nExamples:\n${spec.examples.map((example) => `  $ ${PROGRAM} ${example}`).join('\n')}\n`,
  );
  command.allowExcessArguments(false);
  command.action(async (...heard: readonly unknown[]) => {
    // Operands come first, the flags after them, and the command itself last.
    const options = heard.at(-2) as Record<string, unknown>;
    const operands = heard
      .slice(0, -2)
      .flat()
      .filter((one): one is string => typeof one === 'string');
    const given = options as GlobalOptions;
    let folder: string | undefined;
    const stopped = (): string => stoppedMessage(folder, spec.flags.includes('resume'));
    process.exitCode = await guarded({ debug: given.debug ?? false, stopped }, async (signal) => {
      checkOut(given);
      const mode: ProgressMode = given.json ? 'json' : given.quiet ? 'quiet' : 'normal';
      const listener = createProgress({
        stream: given.json ? process.stdout : process.stderr,
        mode,
        environment: process.env,
      });
      const print = (text: string, data: JsonObject): void => {
        process.stdout.write(given.json ? `${JSON.stringify({ kind: 'result', ...data })}\n` : `${printable(text)}\n`);
      };
      const open = async (config: JsonObject): Promise<RunFolder> => {
        const run = await openRun({ command: spec.name, given, config, listener });
        folder = run.dir;
        return run;
      };
      const config = readSchemaOptions(spec.schema, options);
      await spec.action({ config, given, operands, listener, signal, openRun: open, print });
    });
  });
  return command;
}

function checkOut({ out, resume }: GlobalOptions): void {
  if (resume && out === undefined) {
    throw new TabwrightError('config', '--resume needs --out <folder>: the run to go on with.', {
      code: 'resume-without-out',
    });
  }
  if (out === '') {
    throw new TabwrightError('config', '--out is empty: name a folder, or leave --out away.', { code: 'empty-out' });
  }
}

export type OpenRunOptions = {
  readonly command: string;
  readonly given: GlobalOptions;
  readonly config: JsonObject;
  readonly listener: ProgressListener;
};

/** Creates a command's run folder, or opens the one that is to be gone on with. */
export async function openRun({ command, given, config: settings, listener }: OpenRunOptions): Promise<RunFolder> {
  const config = { command, ...settings };
  const out = given.out ?? `runs/${command}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`;
  if (!given.resume) {
    const { data } = settings;
    if (given.overwrite) await checkOverwrite(out, [given.model, typeof data === 'string' ? data : undefined]);
    return createRun(out, { config, ...(given.overwrite ? { overwrite: true } : {}) });
  }
  // Servers move: another address may be given, and runs of before noted none.
  const noted = (await readRun(out)).config['baseUrl'];
  const mayMove = given.baseUrl !== undefined || noted === undefined;
  // How many pages are open at once changes no result, and may be what was wrong.
  const mayDiffer = ['commit', 'versions', 'pages', ...(mayMove ? ['baseUrl'] : [])];
  const run = await resumeRun(out, { config, mayDiffer, renewed: ['baseUrl', 'pages'] });
  const differences = configDifferences(run.config, config).filter(
    ({ key }) => key !== 'pages' && (key !== 'baseUrl' || noted !== undefined),
  );
  if (differences.length > 0) {
    const message = `The run was begun by another program: ${describeDifferences(differences)}. The result may differ from that of an uninterrupted run.`;
    const note = { kind: 'note', level: 'warning', message } as const;
    run.appendEvent(note);
    listener(note);
  }
  return run;
}

/** What Ctrl-C leaves behind, and how to go on. */
function stoppedMessage(folder: string | undefined, canResume: boolean): string {
  if (folder === undefined) return 'Stopped; nothing had been written.';
  if (!canResume) return `Stopped; what was written is in ${folder}.`;
  const command = resumeCommand({ args: process.argv.slice(2), out: folder, program: PROGRAM });
  return `Stopped; the run is in ${folder}. Go on with:\n  ${command}`;
}

type GuardOptions = {
  readonly debug: boolean;
  /** What to say when it was interrupted. */
  readonly stopped: () => string;
};

/** Ctrl-C, a polite kill, a terminal that is closed. */
const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs `work` under a signal that the first Ctrl-C aborts; gives the exit code. A second Ctrl-C ends at once. */
async function guarded(
  { debug, stopped }: GuardOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const controller = new AbortController();
  let interrupted = 0;
  const interrupt = (): void => {
    if (interrupted++ > 0) process.exit(130);
    process.stderr.write('\nStopping; what is complete is kept. Ctrl-C again to stop at once.\n');
    controller.abort();
  };
  for (const name of INTERRUPTIONS) process.on(name, interrupt);
  try {
    await work(controller.signal);
    return 0;
  } catch (error) {
    if (interrupted > 0 && isAbort(error)) {
      process.stderr.write(`${stopped()}\n`);
      return 130;
    }
    process.stderr.write(`${printable(describeFailure(error, debug))}\n`); // servers' words are in it
    return error instanceof TabwrightError && error.boundary === 'config' ? 2 : 1;
  } finally {
    for (const name of INTERRUPTIONS) process.off(name, interrupt);
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
