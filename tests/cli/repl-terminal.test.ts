// `tabwright repl` on a terminal: prompts, Ctrl-C at each of its moments, completion, and that pages cannot act on it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { noJail, whyNot } from '../sandbox/jail.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = '/usr/bin/script'; // util-linux's: gives a program a terminal

test.skipIf(noJail || !existsSync(SCRIPT))(
  `a person types, takes back, cancels, completes and leaves${whyNot}`,
  { timeout: 120_000 },
  async () => {
    const command = `${process.execPath} --import tsx src/cli/main.ts repl`;
    const child = spawn(SCRIPT, ['-qefc', command, '/dev/null'], {
      cwd: ROOT,
      env: { ...process.env, TERM: 'xterm', CI: '' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    /** Types, and gives what the terminal says until it says `until`. */
    const say = async (keys: string, until: RegExp): Promise<string> => {
      text = '';
      child.stdin.write(keys);
      await expect.poll(() => text, { timeout: 60_000, interval: 20 }).toMatch(until);
      return text;
    };
    const PROMPT = /> (?:\u001b\[3G)?$/;

    await say('', /Ctrl-D ends\.[^]*> /);
    await say('var kept = 1\r', PROMPT);
    await say('half a line', /half a line$/);
    await say('\u0003', PROMPT);
    await say('function f() {\r', /\. (?:\u001b\[3G)?$/);
    await say('\u0003', PROMPT);
    expect(await say('repl.write("\\u001b[31m" + kept)\r', /31m1[^]*> (?:\u001b\[3G)?$/)).toContain('\\u{1b}[31m1');
    await say('captureS\t', /captureScreenshot/);
    await say('\u0003', PROMPT);
    await say('await new Promise(() => {})\r', /=> \{\}\)\r+\n/);
    await say('\u0003', /cancelled; the variables are gone\.[^]*> /);
    child.stdin.write('\u0004');
    expect(await exited).toEqual([0, null]);
  },
);
