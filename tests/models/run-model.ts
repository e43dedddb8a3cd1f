// `tabwright model ...` in this process, for tests of what it prints and writes.

import { Command } from 'commander';
import { expect, vi } from 'vitest';
import { modelExport, modelInfo } from '../../src/cli/commands/model.ts';
import { addCommand } from '../../src/cli/run-command.ts';

/** Output of a command that must succeed, given without the program's name: `model info --name nano`. */
export async function runModel(line: string): Promise<string> {
  const program = new Command('tabwright').enablePositionalOptions().exitOverride();
  const model = program.command('model');
  addCommand(model, modelInfo);
  addCommand(model, modelExport);
  let output = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
  try {
    await program.parseAsync(line.split(' '), { from: 'user' });
  } finally {
    write.mockRestore();
  }
  expect(process.exitCode ?? 0, line).toBe(0);
  return output;
}
