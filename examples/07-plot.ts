// The curves of the run: reward and success with their intervals, SVG and PNG.

import { at, more, tabwright } from './workflow.ts';

await tabwright('plot', at('train'), '--metric', 'reward', '--to', at('reward'), ...more);
await tabwright('plot', at('train'), '--metric', 'success', '--to', at('success'), ...more);
