// Public tasks of agent_auth into train and test by whole websites: no site is on both sides. Our own sites are divided
// already, by families of designs, so with them there is only something to see.

import { at, isLocal, more, tabwright, TASKS } from './workflow.ts';

if (isLocal) await tabwright('suite', 'list', ...more);
else await tabwright('tasks', 'split', TASKS, '--out-dir', at('split'), '--test-share', '0.2', ...more);
