import { expect, test } from 'vitest';
import { judgeEgress, type EgressRule } from './egress-rules.ts';

const PUBLIC = '93.184.215.14';
const judge = (rule: EgressRule, host: string, port: number, addresses: readonly string[] = [PUBLIC]) =>
  judgeEgress({ rules: [rule], lookup: async () => addresses, host, port });

test.each([
  [{ host: 'example.com' }, 'example.com', 443],
  [{ host: 'example.com' }, 'EXAMPLE.com.', 80],
  [{ host: 'example.com', port: 8443 }, 'example.com', 8443],
  [{ host: '*.example.com' }, 'a.b.example.com', 443],
  [{ host: '*' }, 'anything.test', 443],
] as const)('%j lets %s:%i through, to what was looked up', async (rule, host, port) => {
  expect(await judge(rule, host, port)).toEqual({ allowed: true, addresses: [PUBLIC] });
});

test.each([
  [{ host: 'example.com' }, 'example.com', 22],
  [{ host: 'example.com', port: 8443 }, 'example.com', 443],
  [{ host: 'example.com' }, 'www.example.com', 443],
  [{ host: '*.example.com' }, 'example.com', 443],
  [{ host: '*.example.com' }, 'evilexample.com', 443],
  [{ host: '*.example.com' }, '.example.com', 443],
] as const)('%j does not let %s:%i through', async (rule, host, port) => {
  expect(await judge(rule, host, port)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('list') as string,
  });
});

test.each([
  ['loopback', ['127.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['a public and a private address together', [PUBLIC, '10.0.0.1']],
  ['an IPv4 address in IPv6', ['::ffff:127.0.0.1']],
  ['nothing', []],
])('an allowed name that resolves to %s is refused', async (_name, addresses) => {
  for (const rule of [{ host: 'example.com' }, { host: '*' }, { host: 'example.com', port: 443 }])
    expect(await judge(rule, 'example.com', 443, addresses)).toMatchObject({ allowed: false });
});

test.each(['127.0.0.1', '2130706433', '[::1]', '169.254.169.254', 'localhost', '0.0.0.0'])(
  '%s is not among all names',
  async (host) => {
    const local = ['2130706433', 'localhost'].includes(host) ? ['127.0.0.1'] : [PUBLIC];
    expect(await judge({ host: '*' }, host, 80, local)).toMatchObject({ allowed: false });
  },
);

test.each([
  [{ host: '127.0.0.1', port: 8080 }, '127.0.0.1', '127.0.0.1'],
  [{ host: 'localhost', port: 8080 }, 'localhost', '127.0.0.1'],
  [{ host: '::1', port: 8080 }, '[::1]', '::1'],
  [{ host: 'shop.test', port: 8080, address: '127.0.0.1' }, 'shop.test', '127.0.0.1'],
])('a local server that is listed by itself is reached without a lookup: %j', async (rule, host, address) => {
  expect(await judge(rule, host, 8080, ['10.0.0.1'])).toEqual({ allowed: true, addresses: [address] });
  expect(await judge(rule, host, 8081)).toMatchObject({ allowed: false });
});

test('a pinned name may be served at another port; the port that is asked for is what is judged', async () => {
  const rule: EgressRule = { host: 'shop.test', port: 80, address: '127.0.0.1', toPort: 43_121 };
  expect(await judge(rule, 'shop.test', 80)).toEqual({ allowed: true, addresses: ['127.0.0.1'], port: 43_121 });
  expect(await judge(rule, 'shop.test', 43_121)).toMatchObject({ allowed: false });
  // Without an address of its own there is nothing that a port could be one of.
  expect(await judge({ host: 'example.com', toPort: 43_121 }, 'example.com', 80)).toEqual({
    allowed: true,
    addresses: [PUBLIC],
  });
});

test('a local address without a port is not listed by itself', async () => {
  expect(await judge({ host: '127.0.0.1' }, '127.0.0.1', 80)).toMatchObject({ allowed: false });
});

test('a name that is not found is refused with the code of the lookup', async () => {
  const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  expect(await judgeEgress({ rules: [{ host: '*' }], lookup, host: 'a.test', port: 80 })).toMatchObject({
    reason: expect.stringContaining('ENOTFOUND') as string,
  });
});
