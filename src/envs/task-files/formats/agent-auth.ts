// The rows of kernel-tinker-rl's agent_auth tasks: {"id", "initial_url", "task"}. They hold no answer: a judge decides.

import { z } from 'zod';
import { NO_NEEDS } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, siteOf, type Format } from './format.ts';

const schema = z.strictObject({ id: rowId, initial_url: address, task: filled });

export const agentAuthFormat: Format = {
  name: 'agent-auth',
  claims: (row) => 'initial_url' in row && 'task' in row,
  read: rowReader(schema, ({ id, initial_url, task }) => ({
    id,
    startUrls: [initial_url],
    instruction: task,
    sites: [siteOf(initial_url)],
    needs: NO_NEEDS,
    checks: [{ kind: 'judged', question: { about: 'outcome', references: [], note: '' } }],
  })),
};
