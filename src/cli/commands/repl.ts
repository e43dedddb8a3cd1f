// `tabwright repl`: cells of the Browser REPL for people, one from the command line or as many as are typed, against
// a browser of this machine. The jail is the same that models get.

import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { isUnfinishedCell, METHOD_NAMES, openLocalSession, type BrowserReplResult } from '../../repl/index.ts';
import { egressRules } from '../egress-option.ts';
import { jailFor } from '../local-browsers.ts';
import { printable } from '../printable.ts';
import type { CommandSpec } from '../run-command.ts';

const schema = z.strictObject({
  code: z.string().min(1).optional().describe('one cell to run; without it and --file, cells are read from the input'),
  file: z.string().min(1).optional().describe('file with one cell to run'),
  url: z.url().optional().describe('page to open first'),
  profile: z
    .enum(['kernel', 'train'])
    .default('kernel')
    .describe('what cells find: all of Node, or what models are given'),
  timeoutSec: z.number().min(1).max(300).default(60).describe('seconds that a cell may take'),
  allow: z.string().default('*').describe('hosts that the browser may reach, host or host:port, divided by commas'),
  relaxedRedeclare: z.boolean().default(false).describe('let and const may be declared again (not so in Kernel)'),
  unsafeLocal: z.boolean().default(false).describe('run without a jail, with all rights of this user'),
});

export const repl: CommandSpec<typeof schema> = {
  name: 'repl',
  summary: 'Run JavaScript cells in a session with a browser, as models do.',
  examples: [
    'repl',
    `repl --url https://example.com --code 'repl.write((await accessibilitySnapshot()).nodes)'`,
    'repl --file steps.mjs --allow example.com,localhost:3000',
  ],
  schema,
  flags: [],
  async action({ config, signal, print }) {
    const { code: given, file, url, timeoutSec } = config;
    if (given !== undefined && file !== undefined) {
      throw new TabwrightError('config', '--code and --file are both given: one cell comes from one place.', {
        code: 'two-cells',
      });
    }
    const only = given ?? (file === undefined ? undefined : await readCell(file));
    const egress = egressRules(config.allow);
    const jail = await jailFor(config.unsafeLocal, signal);
    const cell = { profile: config.profile, relaxedRedeclaration: config.relaxedRedeclare };
    await using session = await openLocalSession({ jail, egress, cell, extensions: { snapshot: true } }, signal);
    const execute: Execute = (code, stop) => session.execute({ code, timeoutMs: timeoutSec * 1000, signal: stop });
    if (url !== undefined) {
      const opened = await execute(`await gotoUrl(${JSON.stringify(url)}); await waitForLoad();`, signal);
      if (!opened.success) throw cellFailed(opened);
    }
    if (only !== undefined) {
      const result = await execute(only, signal);
      print(textOf(result), { ...result });
      if (!result.success) throw cellFailed(result);
      return;
    }
    await converse(execute, signal);
  },
};

async function readCell(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new TabwrightError('config', `--file ${file}: ${code === 'ENOENT' ? 'there is no such file' : message}.`, {
      code: 'cell-file',
      cause: error,
    });
  }
}

function cellFailed(result: BrowserReplResult): TabwrightError {
  return new TabwrightError('env', result.stack ?? result.error ?? 'the cell failed', { code: 'cell-failed' });
}

/** Everything a cell showed, as text; images by their kind and size. */
function textOf({ content = [], content_truncated: isTruncated }: BrowserReplResult): string {
  const lines = content.map((item) =>
    item.type === 'text'
      ? item.text
      : `[${item.mime_type}, ${Math.round(Buffer.byteLength(item.data_b64, 'base64') / 1024)} kB]`,
  );
  return [...lines, ...(isTruncated === true ? ['[cut: the limits of one answer were reached]'] : [])].join('\n');
}

type Execute = (code: string, signal: AbortSignal) => Promise<BrowserReplResult>;

/** Cells from the input until it ends. On a terminal, Ctrl-C ends the running cell, drops what is typed, or ends. */
async function converse(execute: Execute, signal: AbortSignal): Promise<void> {
  const terminal = process.stdin.isTTY;
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal,
    signal,
    completer: complete,
  });
  let running: AbortController | undefined;
  let cell = '';
  lines.on('SIGINT', () => {
    if (running !== undefined) running.abort(new Error('cancelled'));
    else if (cell === '' && lines.line === '') lines.close();
    else {
      cell = '';
      process.stdout.write('\n');
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
      prompt('> ');
    }
  });
  const prompt = (text: string): void => {
    if (!terminal) return;
    lines.setPrompt(text);
    lines.prompt();
  };
  if (terminal)
    process.stdout.write('Cells run when they are complete. repl.help() lists what there is; Ctrl-D ends.\n');
  prompt('> ');
  for await (const line of lines) {
    cell += `${line}\n`;
    if (isUnfinishedCell(cell)) {
      prompt('. ');
      continue;
    }
    if (cell.trim() !== '') {
      running = new AbortController();
      await show(execute(cell, AbortSignal.any([signal, running.signal])), signal);
      running = undefined;
    }
    cell = '';
    prompt('> ');
  }
  signal.throwIfAborted();
  if (cell.trim() !== '') await show(execute(cell, signal), signal);
}

/** Names of methods by their beginning. */
function complete(line: string): [string[], string] {
  const start = /[\w.]*$/.exec(line)?.[0] ?? '';
  return [start === '' ? [] : METHOD_NAMES.filter((name) => name.startsWith(start)), start];
}

async function show(cell: Promise<BrowserReplResult>, signal: AbortSignal): Promise<void> {
  let result: BrowserReplResult;
  try {
    result = await cell;
  } catch (error) {
    signal.throwIfAborted();
    process.stderr.write(`${(error as Error).message}; the variables are gone.\n`);
    return;
  }
  // What a page says must not act on the terminal; a program that reads the output gets it as it is.
  const written = (stream: NodeJS.WriteStream, text: string): unknown =>
    stream.write(`${stream.isTTY ? printable(text) : text}\n`);
  const text = textOf(result);
  if (text !== '') written(process.stdout, text);
  if (result.error !== undefined) written(process.stderr, result.stack ?? result.error);
  if (result.repl_terminated === true) process.stderr.write('The session ended; the variables are gone.\n');
}
