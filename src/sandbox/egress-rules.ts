// Where jailed programs may go: rules by host and port, and what a rule resolves to. Addresses are looked up here,
// once a connection, and the connection goes to exactly what was looked up and checked: a name that resolves to
// something else a moment later (rebinding) changes nothing, and a redirect is a new request that is judged anew.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export type EgressRule = {
  /** A name, `*.example.com` for every name below one, `*` for every name, or an IP address. */
  readonly host: string;
  /** Default: 80 and 443. */
  readonly port?: number;
  /** Goes to this address without a lookup. A name's only way to an address that is not public. */
  readonly address?: string;
  /** With `address`: connects to this port there, so that what programs call port 80 may be served anywhere. */
  readonly toPort?: number;
};

/** All addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export type EgressVerdict =
  /** `port` where the connection goes to another than the one that was asked for. */
  | { readonly allowed: true; readonly addresses: readonly string[]; readonly port?: number }
  | { readonly allowed: false; readonly reason: string };

export const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

export type JudgeOptions = {
  readonly rules: readonly EgressRule[];
  readonly lookup: Lookup;
  /** As the program gives it. */
  readonly host: string;
  readonly port: number;
};

export async function judgeEgress({ rules, lookup, host: given, port }: JudgeOptions): Promise<EgressVerdict> {
  const host = given
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  const matching = rules.filter((rule) => matchesHost(rule, host) && matchesPort(rule, port));
  if (matching.length === 0) return { allowed: false, reason: 'it is not on the list of allowed hosts' };
  for (const rule of matching) {
    const pinned = pinnedAddress(rule, host);
    if (pinned === undefined) continue;
    const { address, toPort } = rule;
    return {
      allowed: true,
      addresses: [pinned],
      ...(address === undefined || toPort === undefined ? {} : { port: toPort }),
    };
  }
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await lookup(host) : [host];
  } catch (error) {
    return {
      allowed: false,
      reason: `its address is not found (${(error as NodeJS.ErrnoException).code ?? 'lookup failed'})`,
    };
  }
  // One address that is not public spoils the name: nobody honest mixes them.
  const local = addresses.find((address) => !isPublicAddress(address));
  if (local !== undefined) return { allowed: false, reason: `its address ${local} is not one of the public internet` };
  if (addresses.length === 0) return { allowed: false, reason: 'it has no address' };
  return { allowed: true, addresses };
}

function matchesHost(rule: EgressRule, host: string): boolean {
  const wanted = rule.host.toLowerCase();
  if (wanted === '*') return true;
  if (wanted.startsWith('*.')) return host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1;
  return wanted === host;
}

function matchesPort({ port }: EgressRule, wanted: number): boolean {
  return port === undefined ? wanted === 80 || wanted === 443 : wanted === port;
}

/** Addresses that the rule itself names, with its port: local servers are listed one by one or not at all. */
function pinnedAddress(rule: EgressRule, host: string): string | undefined {
  if (rule.address !== undefined) return rule.address;
  if (rule.port === undefined) return undefined;
  if (rule.host.toLowerCase() === 'localhost') return '127.0.0.1';
  return isIP(rule.host) === 0 ? undefined : host;
}
