// What administrators ask: how much room checkpoints take, what was used, a timeline of a session. What a server of one
// machine has not is said in words that clients pass on.

import type { Hono } from 'hono';
import { refusal, userFault } from './refusals.ts';
import type { Services } from './services.ts';
import { storageUsage } from './storage-usage.ts';

export function addAccountRoutes(app: Hono, { parts }: Services): void {
  app.get('/billing/usage/checkpoints/current', (context) =>
    context.json(storageUsage(parts, context.req.query('project_id'))),
  );
  app.get('/billing/usage/events', () => {
    throw refusal('not-found', 'Nothing is billed here; GET /metrics counts tokens and pieces of work.');
  });
  app.get('/audit', () => {
    throw refusal('not-found', 'No audit log is kept here.');
  });
  app.get('/sessions/:id/trace_export', (context) => {
    const id = context.req.param('id');
    if (parts.sessions.find(id) === undefined) {
      throw refusal('not-found', `There is no session ${JSON.stringify(id)}.`);
    }
    return context.json({ status: 'failed', error: 'No timelines are kept here; GET /metrics tells times of work.' });
  });
  app.post('/create_custom_loss', () => {
    throw userFault(
      'create_custom_loss: losses are not made on this server; forward_backward_custom computes them on the client, and cross_entropy, importance_sampling, ppo, cispo, dro and gspo are here.',
    );
  });
}
