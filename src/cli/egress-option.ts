// Hosts on the command line, as rules for what a jailed browser may reach.

import { TabwrightError } from '../core/index.ts';
import type { EgressRule } from '../sandbox/index.ts';

/**
 * `example.com`, `*.example.com`, `10.0.0.7:8080`, `localhost:3000`, divided by commas. `*` is the public internet: what
 * lies on this machine or its network is reached by naming it. `*.test=127.0.0.1:8600` sends names (their port 80) to a
 * server whatever they resolve to.
 */
export function egressRules(list: string): readonly EgressRule[] {
  return list.split(',').map((entry) => {
    const pin = /^\s*([^\s:=]+)=(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})\s*$/.exec(entry);
    if (pin !== null) {
      const [, name, address, toPort] = pin;
      return { host: name, port: 80, address, toPort: checkPort(Number(toPort), entry) };
    }
    const match = /^\s*(?:\[([0-9a-f:]+)\]|([^\s:=]+))(?::(\d{1,5}))?\s*$/i.exec(entry);
    const host = match?.[1] ?? match?.[2];
    const port = match?.[3] === undefined ? undefined : Number(match[3]);
    if (host === undefined) throw badHost(entry);
    return { host, ...(port === undefined ? {} : { port: checkPort(port, entry) }) };
  });
}

function checkPort(port: number, entry: string): number {
  if (port >= 1 && port <= 65_535) return port;
  throw badHost(entry);
}

function badHost(entry: string): TabwrightError {
  return new TabwrightError('config', `--allow: "${entry}" is not a host, host:port or name=address:port.`, {
    code: 'bad-host',
  });
}
