// docs/guide/browsers.md does what it says: its commands start, its program runs against them and prints what it promises.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { serveByCli } from './serving-cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(new URL('../../docs/guide/browsers.md', import.meta.url), 'utf8');
const TIMEOUT = 120_000;

const blocks = [...guide.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));
const commands = blocks
  .filter(({ language }) => language === '')
  .map(({ text }) => /npm run tabwright -- browsers serve (.*)$/m.exec(text)![1].split(' '));

/** A free port instead of the one that is written there. */
function elsewhere(args: readonly string[]): readonly string[] {
  return [...args.filter((arg) => arg !== '--port' && arg !== '8484'), '--port', '0'];
}

test.skipIf(noJail)(
  `the program of the guide prints what the guide says${whyNot}`,
  async () => {
    await using server = await serveByCli(elsewhere(commands[0]));
    const program = blocks.find(({ language }) => language === 'js')!.text;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program.replace('http://127.0.0.1:8484', server.url)],
      { cwd: ROOT, timeout: 90_000 },
    );
    const promised = /It prints `([^`]*)` and `([^`]*)`/.exec(guide)!;
    expect(stdout.trim().split('\n')).toEqual([promised[1], promised[2]]);
  },
  TIMEOUT,
);

test.skipIf(noJail).each(commands.slice(1))(
  `every other command of the guide starts${whyNot}`,
  async (...args) => {
    await using server = await serveByCli(elsewhere(args), { TABWRIGHT_BROWSERS_TOKEN: 'a-token' });
    expect(new URL(server.url).port).not.toBe('');
  },
  TIMEOUT,
);
