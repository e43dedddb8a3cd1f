// Hosts on the command line, as rules for what a jailed browser may reach.

import { TabwrightError } from '../core/index.ts';
import type { EgressRule } from '../sandbox/index.ts';

/**
 * `example.com`, `*.example.com`, `10.0.0.7:8080`, `localhost:3000`, divided by commas. `*` is the public internet: what
 * lies on this machine or its network is reached by naming it.
 */
export function egressRules(list: string): readonly EgressRule[] {
  return list.split(',').map((entry) => {
    const match = /^\s*(?:\[([0-9a-f:]+)\]|([^\s:]+))(?::(\d{1,5}))?\s*$/i.exec(entry);
    const host = match?.[1] ?? match?.[2];
    const port = match?.[3] === undefined ? undefined : Number(match[3]);
    if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
      throw new TabwrightError('config', `--allow: "${entry}" is not a host or host:port.`, { code: 'bad-host' });
    }
    return { host, ...(port === undefined ? {} : { port }) };
  });
}
