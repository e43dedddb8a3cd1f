// Environments by the names that the command line knows: opened once, with their tasks, the policies that need no model,
// and all that a run notes of them. What is played in them, and what it adds up to, is for others.

import { TabwrightError, type Task } from '../core/index.ts';
import { CLICK_CHECKBOXES, describeMiniwob, MINIWOB, type SuiteDescription } from '../envs/index.ts';
import { CUSTOM, openCustomEnvironment } from './custom-environment.ts';
import { MATH_FILE, openMathFile, openTaskFile, TASK_FILE } from './file-environments.ts';
import type { OpenedEnvironment, OpenEnvironmentOptions, Split } from './opened-environment.ts';
import { openClickCheckboxes, openMiniwob } from './page-environments.ts';
import { openWebSuiteEnvironment } from './website-environments.ts';
import { WEB_SUITES } from './web-suites.ts';

/** Starts browsers and servers; refuses settings that would be without effect. */
export async function openEnvironment(options: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  const { env } = options.config;
  if (env === CLICK_CHECKBOXES) return openClickCheckboxes(options);
  if (env === MINIWOB || env.startsWith(`${MINIWOB}/`)) return openMiniwob(options);
  if (env.startsWith(CUSTOM)) return openCustomEnvironment(options);
  if (env.startsWith(TASK_FILE)) return openTaskFile(options);
  if (env.startsWith(MATH_FILE)) return openMathFile(options);
  const suite = WEB_SUITES.get(env)?.open;
  if (suite !== undefined) return openWebSuiteEnvironment(suite, options);
  const known = [
    CLICK_CHECKBOXES,
    MINIWOB,
    `${MINIWOB}/<task>`,
    ...WEB_SUITES.keys(),
    `${TASK_FILE}<file>`,
    `${MATH_FILE}<file>`,
    `${CUSTOM}<module>`,
  ];
  throw new TabwrightError('config', `--env ${env}: there is no such environment; there are ${known.join(', ')}.`, {
    code: 'unknown-environment',
    details: { env, known },
  });
}

/** `train`, `test`, `all`, or `<suite>:<split>` of the environment that is open: one instance of each task. */
export function readTasks(opened: OpenedEnvironment, source: string): readonly Task[] {
  const [first, second] = source.split(':');
  const split = second ?? first;
  if ((second !== undefined && first !== opened.env.name) || !isSplit(split)) {
    throw new TabwrightError('config', `${source} names no tasks of ${opened.env.name}: give train, test or all.`, {
      code: 'unknown-tasks',
      details: { source, env: opened.env.name },
    });
  }
  return opened.tasks(split).map((task) => task.instance(opened.firstEvalSeed));
}

/** In the order in which they are listed. */
export function describeSuites(): readonly SuiteDescription[] {
  return [describeMiniwob(), ...[...WEB_SUITES.values()].map(({ describe }) => describe())];
}

function isSplit(text: string): text is Split {
  return text === 'train' || text === 'test' || text === 'all';
}
