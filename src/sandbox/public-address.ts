// Whether an address is one of the public internet. Everything else (this machine, its neighbours, its cloud's
// metadata service) is not for jailed code. Source: IANA's special-purpose registries of IPv4 and IPv6 addresses.

import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT; also some clouds' services
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's platform service, public in form
  ['169.254.0.0', 16], // link-local; metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Of IPv6 only 2000::/3 is handed out; loopback, local and IPv4-mapped addresses all lie outside. */
const PUBLIC_6 = ['2000::', 3] as const;
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries any IPv4 address
  ['3fff::', 20], // documentation
];

/** False for what is no address at all. This machine's own addresses are not public, whatever they look like. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const refused = new BlockList();
  for (const [net, prefix] of NOT_PUBLIC_4) refused.addSubnet(net, prefix, 'ipv4');
  for (const [net, prefix] of NOT_PUBLIC_6) refused.addSubnet(net, prefix, 'ipv6');
  for (const entry of own) refused.addAddress(entry.address, entry.family === 'IPv4' ? 'ipv4' : 'ipv6');
  if (family === 4) return !refused.check(address, 'ipv4');
  const handedOut = new BlockList();
  handedOut.addSubnet(...PUBLIC_6, 'ipv6');
  return handedOut.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}
