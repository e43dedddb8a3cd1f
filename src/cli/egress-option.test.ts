import { expect, test } from 'vitest';
import { egressRules } from './egress-option.ts';

test('hosts and ports become rules', () => {
  expect(egressRules('*, example.com,*.example.org:8443,localhost:3000,10.0.0.7:80,[::1]:9')).toEqual([
    { host: '*' },
    { host: 'example.com' },
    { host: '*.example.org', port: 8443 },
    { host: 'localhost', port: 3000 },
    { host: '10.0.0.7', port: 80 },
    { host: '::1', port: 9 },
  ]);
});

test('a name can be sent to a server of this machine', () => {
  expect(egressRules('*.test=127.0.0.1:8600')).toEqual([
    { host: '*.test', port: 80, address: '127.0.0.1', toPort: 8600 },
  ]);
});

test.each([
  '',
  'a b',
  'http://example.com',
  'example.com:0',
  'example.com:65536',
  'a,,b',
  '*.test=127.0.0.1',
  'a=b:80',
  'a=127.0.0.1:0',
])('"%s" is refused', (list) => {
  expect(() => egressRules(list)).toThrow(/is not a host, host:port or name=address:port/);
});
