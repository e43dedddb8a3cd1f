// What people and programs see of progress, with a clock and a stream that the test holds.

import { describe, expect, test } from 'vitest';
import type { ProgressEvent } from '../core/index.ts';
import type { TextStream } from './output.ts';
import { createProgress, type ProgressOptions } from './progress.ts';

const START = {
  kind: 'stage-start',
  stage: 'eval',
  title: 'Evaluate base',
  total: 200,
  unit: 'episodes',
} as const;
const END: ProgressEvent = { kind: 'stage-end', stage: 'eval', seconds: 75, summary: '38 of 200 solved exactly' };
const episode = (done: number, invalid = 0): ProgressEvent => ({
  kind: 'episode-end',
  stage: 'eval',
  done,
  total: 200,
  successes: Math.floor((done - invalid) / 2),
  invalid,
});
const step = (done: number, metrics: Record<string, number> = {}): ProgressEvent => ({
  kind: 'step-end',
  stage: 'rl',
  done,
  total: 50,
  metrics,
  tokensPerSecond: 18_340,
});

function setUp(terminal: boolean, options: Partial<ProgressOptions> = {}) {
  const clock = { ms: 0 };
  let text = '';
  const stream: TextStream = { isTTY: terminal, columns: 100, write: (more) => (text += more) };
  const listener = createProgress({ stream, now: () => clock.ms, ...options });
  return {
    clock,
    listener,
    /** Everything written, no-break spaces made ordinary. */
    text: () => text.replaceAll('\u00a0', ' '),
    /** What a terminal shows at the end. */
    screen: () =>
      text
        .replaceAll('\u00a0', ' ')
        .split('\n')
        .map((line) => line.split('\r\u001b[2K').at(-1)),
  };
}

describe('on a terminal', () => {
  test('one line shows how far, how well and how long still', () => {
    const { clock, listener, screen } = setUp(true, { environment: { NO_COLOR: '1' } });
    listener(START);
    clock.ms = 200;
    listener(episode(1));
    clock.ms = 10_000;
    listener(episode(50));
    expect(screen()).toEqual(['Evaluate base  ████░░░░░░░░░░░░  50/200 episodes  success 50.0 %  30 s left']);
  });

  test('the line is redrawn at most ten times a second', () => {
    const { clock, listener, text } = setUp(true);
    listener(START);
    for (let done = 1; done <= 100; done++) {
      clock.ms += 10;
      listener(episode(done));
    }
    expect(text().split('\r').length - 1).toBe(11);
  });

  test('success is over the valid episodes, and the invalid ones are named', () => {
    const { clock, listener, screen } = setUp(true, { environment: { NO_COLOR: '1' } });
    listener(START);
    clock.ms = 1000;
    listener(episode(10, 4));
    expect(screen()[0]).toContain('success 50.0 %');
    expect(screen()[0]).toContain('4 invalid');
  });

  test('a stage of steps shows speed, success of training and the rollout that is going on', () => {
    const { clock, listener, screen } = setUp(true, { environment: { NO_COLOR: '1' } });
    listener({ kind: 'stage-start', stage: 'rl', title: 'GRPO', total: 50, unit: 'steps' });
    clock.ms = 20_000;
    listener(step(10, { 'env/all/success': 0.625 }));
    clock.ms = 21_000;
    listener({ kind: 'episode-end', stage: 'rl', done: 64, total: 128, successes: 40, invalid: 0 });
    expect(screen()[0]).toContain('10/50 steps  success 62.5 %  18.3k tokens/s  rollout 64/128');
  });

  test('a resumed stage estimates from what was done since', () => {
    const { clock, listener, screen } = setUp(true, { environment: { NO_COLOR: '1' } });
    listener({ kind: 'stage-start', stage: 'rl', title: 'GRPO', total: 50, unit: 'steps' });
    clock.ms = 2000;
    listener(step(41));
    expect(screen()[0]).toContain('18 s left');
  });

  test('the end of a stage and notes stay, the live line does not', () => {
    const { clock, listener, screen } = setUp(true, { environment: { NO_COLOR: '1' } });
    listener(START);
    clock.ms = 1000;
    listener(episode(100));
    listener({ kind: 'note', level: 'warning', message: 'browser restarted' });
    listener(END);
    expect(screen()).toEqual([
      'warning: browser restarted',
      'done Evaluate base  38 of 200 solved exactly  1 min 15 s',
      '',
    ]);
  });

  test('no line is wider than the terminal', () => {
    const stream = { isTTY: true, columns: 40 };
    let last = '';
    const listener = createProgress({
      stream: { ...stream, write: (text) => (last = text) },
      environment: { NO_COLOR: '1' },
      now: () => 0,
    });
    listener({ ...START, title: 'A title that is by itself wider than the terminal is' });
    expect(last.replace('\r\u001b[2K', '').length).toBeLessThan(40);
    listener(START);
    expect(last.replace('\r\u001b[2K', '')).toBe('Evaluate base  ░░░░░░░░░░░░░░░░');
  });

  test('colours are there, and not with NO_COLOR', () => {
    const coloured = setUp(true);
    coloured.listener(START);
    expect(coloured.text()).toContain('\u001b[1m');
    const plain = setUp(true, { environment: { NO_COLOR: '1' } });
    plain.listener(START);
    expect(plain.text().replaceAll('\r\u001b[2K', '')).not.toContain('\u001b');
  });
});

describe('elsewhere', () => {
  test('a fast stage gives a line for each tenth, without control characters', () => {
    const { listener, text } = setUp(false);
    listener(START);
    for (let done = 1; done <= 200; done++) listener(episode(done));
    listener(END);
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe('Evaluate base: 200 episodes');
    expect(lines[1]).toBe('Evaluate base  20/200 episodes  success 50.0 %  0 s left');
    expect(lines[11]).toBe('done Evaluate base  38 of 200 solved exactly  1 min 15 s');
    expect(text()).not.toMatch(/[\r\u001b]/);
  });

  test('a slow stage gives a line every five seconds', () => {
    const { clock, listener, text } = setUp(false);
    listener(START);
    for (let done = 1; done <= 12; done++) {
      clock.ms += 1000;
      listener(episode(done));
    }
    expect(
      text()
        .trimEnd()
        .split('\n')
        .map((line) => /\d+\/200/.exec(line)?.[0]),
    ).toEqual([undefined, '5/200', '10/200']);
  });

  test.each([{ TERM: 'dumb' }, { CI: 'true' }])('a terminal with %o gets plain lines', (environment) => {
    const { listener, text } = setUp(true, { environment });
    listener(START);
    expect(text()).not.toContain('\r');
  });
});

test('quiet shows warnings and nothing else', () => {
  const { listener, text } = setUp(true, { mode: 'quiet' });
  for (const event of [START, episode(200), END]) listener(event);
  listener({ kind: 'note', level: 'info', message: 'fine' });
  listener({ kind: 'note', level: 'warning', message: 'disk nearly full' });
  expect(text()).toBe('warning: disk nearly full\n');
});

test.each([{ mode: 'quiet' }, { mode: 'normal' }] as const)(
  '%o: words of a server cannot steer the terminal',
  ({ mode }) => {
    const { listener, text } = setUp(false, { mode });
    listener({ kind: 'note', level: 'warning', message: 'soon\u001b[2Jgone' });
    expect(text()).toBe('warning: soon\\u{1b}[2Jgone\n');
  },
);

test('json writes each event as one line', () => {
  const { listener, text } = setUp(true, { mode: 'json' });
  const events = [START, episode(1), step(1, { 'optim/lr': 0.1 }), END];
  for (const event of events) listener(event);
  expect(
    text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(events);
});
