#!/usr/bin/env node
// The command line: the composition root, and the only place that prints.

import { Command, CommanderError } from 'commander';
import { baseline } from './commands/baseline.ts';
import { browsersServe } from './commands/browsers-serve.ts';
import { collect } from './commands/collect.ts';
import { compare } from './commands/compare.ts';
import { doctor } from './commands/doctor.ts';
import { evaluate } from './commands/eval.ts';
import { judge } from './commands/judge.ts';
import { mcp } from './commands/mcp.ts';
import { modelExport, modelInfo } from './commands/model.ts';
import { plot } from './commands/plot.ts';
import { pretrain } from './commands/pretrain.ts';
import { quickstart } from './commands/quickstart.ts';
import { repl } from './commands/repl.ts';
import { replDocs } from './commands/repl-docs.ts';
import { serve } from './commands/serve.ts';
import { sft } from './commands/sft.ts';
import { suiteAddMiniwob, suiteList } from './commands/suite.ts';
import { tasksSplit } from './commands/tasks-split.ts';
import { tasksValidate } from './commands/tasks-validate.ts';
import { train } from './commands/train.ts';
import { surviveOutputErrors } from './output-errors.ts';
import { addCommand, describeFailure } from './run-command.ts';
import { packageVersion } from './version.ts';

surviveOutputErrors(process, () => process.on('exit', () => (process.exitCode = 1)));

const program = new Command('tabwright')
  .description('Train small language models to drive real browsers, and prove what they learned.')
  .version(packageVersion())
  .showHelpAfterError('(--help lists what is possible)')
  .enablePositionalOptions()
  .exitOverride();
addCommand(program, quickstart);
addCommand(program, evaluate);
addCommand(program, compare);
addCommand(program, judge);
addCommand(program, collect);
addCommand(program, sft);
addCommand(program, train);
addCommand(program, pretrain);
addCommand(program, plot);
addCommand(program, baseline);
addCommand(program, serve);
const model = program
  .command('model')
  .description('Models of this machine: what they are, and what was trained in other forms.');
addCommand(model, modelInfo);
addCommand(model, modelExport);
addCommand(program, doctor);
addCommand(addCommand(program, repl), replDocs);
addCommand(program.command('browsers').description('Browsers of this machine for other programs.'), browsersServe);
addCommand(program, mcp);
const suite = program.command('suite').description('Suites of tasks.');
addCommand(suite, suiteList);
addCommand(suite.command('add').description('Make a suite of other people’s pages available.'), suiteAddMiniwob);
const tasks = program.command('tasks').description('Files of tasks that others wrote.');
addCommand(tasks, tasksValidate);
addCommand(tasks, tasksSplit);

try {
  await program.parseAsync();
} catch (error) {
  // Help and version end in a CommanderError with exit code 0; wrong usage has been explained by then.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`${describeFailure(error, process.argv.includes('--debug'))}\n`);
    process.exitCode = 1;
  }
}
