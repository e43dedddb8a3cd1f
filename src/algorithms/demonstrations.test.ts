import { describe, expect, it } from 'vitest';
import type { FinishedOutcome, Trajectory, Turn } from '../core/index.ts';
import { accepts, demonstrationData, demonstrations, worthImitating } from './demonstrations.ts';

/** A page of boxes: the checked ones are marked, as an accessibility tree would. */
const page = (checked: string): string =>
  ['a', 'b', 'c'].map((name) => `checkbox "${name}"${checked.includes(name) ? ' [checked]' : ''}`).join('\n');

function turn(target: string, before: string, after: string): Turn {
  return {
    promptTokens: [before.length, target.charCodeAt(0)],
    actionTokens: [target.charCodeAt(0), 0],
    logprobs: [-0.1, 0],
    samplerVersion: 0,
    stop: 'stop',
    action: { kind: 'call', tool: 'click', args: { target } },
    page: page(before),
    nextPage: page(after),
    changed: before !== after,
    info: {},
  };
}

function episode(turns: Turn[], outcome: Partial<FinishedOutcome> = {}, wanted = 'a'): Trajectory {
  return {
    task: { id: 'toy/1', env: 'toy', instruction: wanted, seed: 1 },
    member: 0,
    turns,
    outcome: { kind: 'finished', success: true, reward: 1, stop: 'submitted', details: {}, ...outcome },
    seconds: 0,
  };
}

const targets = (turns: readonly Turn[]): unknown[] =>
  turns.map(({ action }) => (action.kind === 'call' ? action.args['target'] : action.kind));

describe('worthImitating', () => {
  it('drops actions without effect, but not the submission that ended the episode', () => {
    const turns = [turn('a', '', 'a'), turn('x', 'a', 'a'), turn('Submit', 'a', 'a')];
    expect(targets(worthImitating(episode(turns)))).toEqual(['a', 'Submit']);
  });

  it('drops a box that was set and taken back, and keeps what lay between', () => {
    const turns = [turn('b', '', 'b'), turn('a', 'b', 'ab'), turn('b', 'ab', 'a'), turn('Submit', 'a', 'a')];
    expect(targets(worthImitating(episode(turns)))).toEqual(['a', 'Submit']);
  });

  it('keeps the third of three clicks on the same box: only two of them cancel', () => {
    const turns = [turn('a', '', 'a'), turn('a', 'a', ''), turn('a', '', 'a')];
    expect(worthImitating(episode(turns))).toEqual([turns[2]]);
  });

  it('does not take the same call twice for a pair when the page moves on', () => {
    const next = (before: string, after: string): Turn => ({
      ...turn('next', '', ''),
      page: before,
      nextPage: after,
      changed: true,
    });
    expect(worthImitating(episode([next('1', '2'), next('2', '3')]))).toHaveLength(2);
  });

  it('keeps the answer that ended the episode', () => {
    const answer: Turn = { ...turn('a', 'a', 'a'), action: { kind: 'answer', text: 'It is done.' } };
    const turns = [turn('a', '', 'a'), answer];
    expect(targets(worthImitating(episode(turns, { stop: 'answered' })))).toEqual(['a', 'answer']);
  });

  it('drops malformed and cut-off replies', () => {
    const malformed: Turn = { ...turn('a', '', 'a'), action: { kind: 'malformed', problem: 'no call', text: '?' } };
    expect(worthImitating(episode([malformed, { ...turn('a', '', 'a'), stop: 'length' }]))).toEqual([]);
  });
});

describe('demonstrations', () => {
  it('keeps exact successes by default; the lenient filter lets a box that is missing pass', () => {
    const short = episode([turn('a', '', 'a')], { success: false, reward: 1 / 3 });
    expect(accepts(short, 'exact')).toBe(false);
    expect(accepts(short, 'lenient')).toBe(true);
    const invalid: Trajectory = {
      ...short,
      outcome: { kind: 'invalid', boundary: 'browser', code: 'gone', message: '' },
    };
    expect(accepts(invalid, 'none')).toBe(false);
    expect(demonstrations([short, invalid])).toEqual([]);
  });

  it('keeps one of equal rows', () => {
    const turns = [turn('a', '', 'a'), turn('Submit', 'a', 'a')];
    expect(demonstrations([episode(turns), episode(turns)])).toHaveLength(2);
  });
});

describe('demonstrationData', () => {
  const row = (key: string, action: number) => ({ prompt: [1, 2], action: [action, 0], balanceKey: key });

  it('reads what turns of one episode share once; what was not kept between them is read and not learnt', () => {
    const first = row('0', 5);
    const third = { prompt: [1, 2, 5, 0, 7, 8, 9], action: [6, 0], balanceKey: '0' };
    expect(demonstrationData([first, third, row('0', 4)])).toEqual([
      {
        tokens: [1, 2, 5, 0, 7, 8, 9, 6],
        lossInputs: { targetTokens: [2, 5, 0, 7, 8, 9, 6, 0], weights: [0, 1, 1, 0, 0, 0, 1, 1] },
      },
      { tokens: [1, 2, 4], lossInputs: { targetTokens: [2, 4, 0], weights: [0, 1, 1] } },
    ]);
  });

  it('puts the loss on action tokens and nowhere else, shifted by one', () => {
    expect(demonstrationData([row('0', 5)])).toEqual([
      { tokens: [1, 2, 5], lossInputs: { targetTokens: [2, 5, 0], weights: [0, 1, 1] } },
    ]);
  });

  it('gives each class the same total weight and an average of one', () => {
    const rows = [row('0', 1), row('0', 2), row('0', 3), row('1', 4)];
    const weights = demonstrationData(rows).map((datum) => datum.lossInputs.weights![1]);
    expect(weights[0] + weights[1] + weights[2]).toBeCloseTo(weights[3], 12);
    expect(weights.reduce((a, b) => a + b, 0) / 4).toBeCloseTo(1, 12);
  });

  it('limits how much one rare row may count', () => {
    const rows = [...Array.from({ length: 99 }, (_, i) => row('0', i)), row('1', 100)];
    const weights = demonstrationData(rows, 4).map((datum) => datum.lossInputs.weights![1]);
    expect(weights[99] / weights[0]).toBeCloseTo(4 / (50 / 99), 10);
  });
});
