import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

const schema = z.strictObject({
  seed: z.int().nonnegative().default(1).describe('makes it reproducible'),
  filter: z.enum(['exact', 'lenient']).default('exact').describe('what is kept'),
  maybe: z.number().optional().describe('left out by default'),
  shuffle: z.boolean().default(false).describe('the control'),
  grpo: z.strictObject({ learningRate: z.number().positive().default(0.1).describe('rate') }).prefault({}),
});

function parse(...args: string[]): z.infer<typeof schema> {
  const command = new Command('test').exitOverride();
  addSchemaOptions(command, schema);
  command.parse(args, { from: 'user' });
  return readSchemaOptions(schema, command.opts());
}

describe('flags from a schema', () => {
  it('give the schema its own defaults where nothing is said', () => {
    expect(parse()).toEqual(schema.parse({}));
  });

  it('reach every leaf, nested ones by a dotted name', () => {
    const given = parse(
      '--seed',
      '7',
      '--filter',
      'lenient',
      '--maybe',
      '0.5',
      '--shuffle',
      '--grpo.learning-rate',
      '3e-4',
    );
    expect(given).toEqual({ seed: 7, filter: 'lenient', maybe: 0.5, shuffle: true, grpo: { learningRate: 3e-4 } });
  });

  it('name the flag, the value and what is wrong with it', () => {
    for (const [args, pattern] of [
      [['--seed', 'abc'], /--seed abc: .*number/],
      [['--seed', '-1'], /--seed -1: /],
      [['--seed', '1.5'], /--seed 1.5: /],
      [['--seed', ''], /--seed : .*number/],
      [['--filter', 'some'], /--filter some: .*exact/],
      [['--grpo.learning-rate', '0'], /--grpo\.learning-rate 0: /],
    ] as const) {
      expect(() => parse(...args)).toThrowError(
        expect.objectContaining({ code: 'bad-option', message: expect.stringMatching(pattern) as string }),
      );
    }
  });

  it('show descriptions, choices and defaults in the help', () => {
    const command = new Command('test');
    addSchemaOptions(command, schema);
    const help = command.helpInformation();
    expect(help).toContain('--grpo.learning-rate <value>');
    expect(help).toMatch(/--filter <exact\|lenient>\s+what is kept \(default: "exact"\)/);
    expect(help).not.toMatch(/left out by default \(default/);
  });
});
