// Group-relative policy gradient on the training half, held-out tasks measured on the way. Add --dry-run to see the whole
// plan first, --resume to go on, --reward webjudge --judge-model openai/o4-mini to be graded by WebJudge (OPENROUTER_API_KEY).

import { at, BROWSERS, environment, HELD_OUT, MODEL, more, tabwright } from './workflow.ts';

await tabwright(
  ...['train', ...environment('train'), '--model', MODEL, ...BROWSERS],
  ...['--eval-tasks', HELD_OUT, '--eval-every', '10', '--groups', '12', '--group-size', '4', '--lora-rank', '32'],
  ...['--out', at('train'), ...more],
);
