import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { isPublicAddress } from './public-address.ts';

test.each(['1.1.1.1', '93.184.215.14', '172.15.255.255', '172.32.0.0', '100.128.0.1', '2606:2800:21f:cb07::1'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.0.1', '168.63.129.16'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192', '192.168.1.1', '198.18.0.1', '224.0.0.1'],
  ...['255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', 'fc00::1'],
  ...[
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'example.com',
    '',
  ],
])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));

test("none of this machine's own addresses is public", () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(isPublicAddress)).toEqual([]);
});
