import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { surviveOutputErrors } from './output-errors.ts';

function setUp(): { stdout: PassThrough; said: () => string; failures: () => number } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let failures = 0;
  surviveOutputErrors({ stdout, stderr }, () => failures++);
  return { stdout, said: () => String(stderr.read() ?? ''), failures: () => failures };
}

it('a reader that has gone is no failure', () => {
  const { stdout, said, failures } = setUp();
  stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  expect([said(), failures()]).toEqual(['', 0]);
});

it('a full disk behind standard output is said in one line, once', () => {
  const { stdout, said, failures } = setUp();
  for (let i = 0; i < 2; i++) stdout.emit('error', Object.assign(new Error('x'), { code: 'ENOSPC' }));
  expect(said()).toBe('error: standard output could not be written (ENOSPC); check what it goes to.\n');
  expect(failures()).toBe(1);
});
