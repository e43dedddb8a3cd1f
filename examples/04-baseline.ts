// The model as it is, on the held-out half: what training will be measured against.

import { at, BROWSERS, MEASUREMENT, MODEL, more, tabwright } from './workflow.ts';

await tabwright(
  ...['eval', ...MEASUREMENT, '--model', MODEL, ...BROWSERS],
  ...['--out', at('before'), '--overwrite', '--output', at('before.json'), ...more],
);
await tabwright('baseline', at('before.json'), '--table', at('baselines.md'));
