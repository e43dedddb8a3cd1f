// The trained weights by their path on the server, `tinker://.../sampler_weights/...`, on the tasks of the baseline; then the
// two compared task by task.

import { readFile } from 'node:fs/promises';
import { at, BROWSERS, MEASUREMENT, more, tabwright } from './workflow.ts';

const lines = (await readFile(at('train', 'checkpoints.jsonl'), 'utf8')).trim().split('\n');
const path = lines.map((line) => (JSON.parse(line) as { sampler_path?: string }).sampler_path).findLast(Boolean);
if (path === undefined) throw new Error('No checkpoint for sampling: is the training complete?');
await tabwright(
  ...['eval', ...MEASUREMENT, '--model', path, ...BROWSERS],
  ...['--out', at('after'), '--overwrite', '--output', at('after.json'), ...more],
);
await tabwright('baseline', at('before.json'), at('after.json'), '--table', at('baselines.md'));
