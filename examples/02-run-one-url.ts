// One task on one website, every cell and its output printed; nobody judges it.
// Usage: node --import tsx examples/02-run-one-url.ts [<url> <task> [flags of `tabwright eval`]]

import { at, MODEL, more, POOL, tabwright } from './workflow.ts';

const [
  url = 'https://example.com/',
  task = 'Find the page that explains what this domain is for, and tell its heading.',
  ...flags
] = more;
await tabwright(
  ...['eval', '--url', url, '--task', task, '--model', MODEL, '--pool', POOL, '--verbose'],
  ...['--out', at('one-url'), '--overwrite', ...flags],
);
