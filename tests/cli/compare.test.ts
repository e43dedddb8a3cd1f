// `tabwright compare` as a process, on evaluations that the command line made: the whole of what it says, and what it refuses.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli, type CliResult } from './run-cli.ts';

const TIMEOUT = 240_000;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-compare-'));
  const puzzles = ['--episodes', '24', '--pages', '2', '--quiet'];
  for (const [name, ...args] of [
    ['blind', '--model', 'scripted:blind'],
    ['oracle', '--model', 'scripted:oracle'],
    ['nano', '--model', 'nano'],
    ['nano-again', '--model', 'nano', '--seed', '2'],
  ]) {
    const { code, stderr } = await runCli([
      'eval',
      ...args,
      ...puzzles,
      '--out',
      at(name),
      '--output',
      at(`${name}.json`),
    ]);
    expect(code, stderr).toBe(0);
  }
}, TIMEOUT);
afterAll(() => rm(folder, { recursive: true, force: true }));

const compare = async (...args: readonly string[]): Promise<CliResult> => {
  const result = await runCli(['compare', ...args]);
  return { ...result, stdout: result.stdout.replaceAll('\u00a0', ' ') };
};

test(
  'a difference that stands is said to, with all that it rests on',
  async () => {
    const { code, stdout, stderr } = await compare(at('blind.json'), at('oracle')); // a file, a run folder
    expect(code, stderr).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toBe('B scripted:oracle against A scripted:blind on click-checkboxes 1; success by code');
    expect(lines[1]).toMatch(
      /^ {2}A [\d.]+ %, B 100\.0 %: \+[\d.]+ pts \(95 % interval .*, paired bootstrap over 24 instances\)$/,
    );
    expect(lines[2]).toMatch(/^ {2}of 24 instances B did better on \d+ and worse on 0; McNemar exact p = < 0\.001$/);
    expect(lines[3]).toMatch(/smallest difference that 24 such instances show four times in five: [\d.]+ pts/);
    expect(lines[4]).toContain('noise floor: not known');
    expect(lines.at(-1)).toBe('B is better: the difference stands.');
  },
  TIMEOUT,
);

test(
  'the noise floor is how far a policy is from itself, and the result is there for programs too',
  async () => {
    const output = at('comparison.json');
    const args = [at('nano.json'), at('oracle.json'), '--noise', at('nano-again.json'), '--output', output, '--json'];
    const { code, stdout, stderr } = await compare(...args);
    expect(code, stderr).toBe(0);
    const result = JSON.parse(stdout) as { readonly kind: string; readonly noise: { readonly floor: number } };
    expect(result).toMatchObject({
      kind: 'result',
      verdict: 'better',
      noise: { model: 'nano', source: 'evaluation', pairs: 24 },
    });
    expect(result.noise.floor).toBeLessThan(0.6);
    expect(JSON.parse(await readFile(output, 'utf8'))).toMatchObject({ version: 1, verdict: 'better', pairs: 24 });
  },
  TIMEOUT,
);

test(
  'a policy against itself shows nothing',
  async () => {
    const { code, stdout } = await compare(at('oracle.json'), at('oracle.json'));
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('The difference does not stand: the interval holds no difference'),
    ]);
  },
  TIMEOUT,
);

test(
  'what does not compare is refused in words',
  async () => {
    const blind = JSON.parse(await readFile(at('blind.json'), 'utf8')) as { environment: object };
    await writeFile(
      at('older.json'),
      JSON.stringify({ ...blind, environment: { ...blind.environment, version: '0' } }),
    );
    await writeFile(at('other.json'), '{"some":"thing"}');
    for (const [args, message] of [
      [[at('blind.json')], /compare takes two evaluations, not 1/],
      [[at('blind.json'), at('older.json')], /environments differ, click-checkboxes 1 and click-checkboxes 0/],
      [[at('blind.json'), at('other.json')], /other\.json is not a tabwright-evaluation file/],
    ] as const) {
      const { code, stderr } = await compare(...args);
      expect(code).toBeGreaterThan(0);
      expect(stderr).toMatch(message);
    }
  },
  TIMEOUT,
);
