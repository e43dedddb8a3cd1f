// Group-relative policy gradient on the training half, held-out tasks measured on the way. Add --dry-run to see the whole
// plan first, --resume to go on. Public tasks are graded by WebJudge (OPENROUTER_API_KEY); our own sites by code, or by it
// with --reward webjudge --judge-model openai/o4-mini.

import { at, BROWSERS, HELD_OUT, MODEL, more, tabwright, TRAINING } from './workflow.ts';

await tabwright(
  ...['train', ...TRAINING, '--model', MODEL, ...BROWSERS],
  ...['--eval-tasks', HELD_OUT, '--eval-every', '10', '--groups', '12', '--group-size', '4', '--lora-rank', '32'],
  ...['--out', at('train'), ...more],
);
