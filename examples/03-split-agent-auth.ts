// Public tasks of agent_auth into train and test by whole websites: no site is on both sides. Our own sites are divided
// already, by families of designs, so with them there is only something to see.

import { existsSync } from 'node:fs';
import { at, isLocal, more, tabwright, TASKS } from './workflow.ts';

if (!isLocal && !existsSync(TASKS)) {
  console.error(`There is no file ${TASKS}: set WORKFLOW_TASKS to the public tasks, rows of id, initial_url and task.`);
  process.exit(2);
}
if (isLocal) await tabwright('suite', 'list', ...more);
else await tabwright('tasks', 'split', TASKS, '--out-dir', at('split'), '--test-share', '0.2', ...more);
