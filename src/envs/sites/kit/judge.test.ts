import { expect, test } from 'vitest';
import type { JsonObject } from '../../../core/index.ts';
import { judgeTask } from './judge.ts';
import { compareStates } from './state-difference.ts';
import type { Made } from './template.ts';

type Basket = {
  basket: { id: string; quantity: number }[];
  letters: boolean;
  note: string;
  read: { id: string; seen: boolean }[];
};

const BEFORE: Basket = {
  basket: [
    { id: 'tea', quantity: 1 },
    { id: 'salt', quantity: 2 },
  ],
  letters: false,
  note: 'as it was',
  read: [{ id: 'm1', seen: false }],
};

const made = (more: Partial<Made<JsonObject>> = {}): Made<JsonObject> => ({
  state: BEFORE,
  start: '/',
  instruction: 'Take the tea out and leave a note.',
  params: {},
  goal: (state) => {
    const after = state as Basket;
    after.basket = after.basket.filter(({ id }) => id !== 'tea');
    after.note = 'no tea today';
  },
  free: ['read.*.seen'],
  oracle: '',
  ...more,
});

const after = (change: (state: Basket) => void): Basket => {
  const state = structuredClone(BEFORE);
  change(state);
  return state;
};
const goal = (state: Basket): void => made().goal!(state);

test('the state that was asked for is a success worth 1, however white space falls', () => {
  const spaced = after((state) => {
    goal(state);
    state.note = ' no tea\ntoday ';
  });
  expect(judgeTask({ made: made(), after: spaced, answer: undefined })).toMatchObject({ success: true, reward: 1 });
});

test('what may change changes nothing', () => {
  const seen = after((state) => {
    goal(state);
    state.read[0].seen = true;
  });
  expect(judgeTask({ made: made(), after: seen, answer: undefined }).success).toBe(true);
});

test('a third of what was asked for is no success and worth a sixth', () => {
  const third = after((state) => void (state.note = 'no tea today'));
  // The tea's id and quantity, and the note: one of three places is as it should be.
  const { success, reward, details } = judgeTask({ made: made(), after: third, answer: undefined });
  expect(success).toBe(false);
  expect(reward).toBeCloseTo(1 / 6, 12);
  expect(details).toMatchObject({ missing: ['basket.tea.id', 'basket.tea.quantity'], unasked: [] });
});

test('anything that was not asked for makes it worth nothing', () => {
  for (const beside of [
    (state: Basket) => void (state.letters = true),
    (state: Basket) => void state.basket.push({ id: 'gift-card', quantity: 1 }),
    (state: Basket) => void (state.basket[0].quantity = 5),
  ]) {
    const state = after((one) => {
      goal(one);
      beside(one);
    });
    expect(judgeTask({ made: made(), after: state, answer: undefined })).toMatchObject({ success: false, reward: 0 });
  }
});

test('a question needs its answer, and leaves the state alone', () => {
  const question = made({ goal: () => undefined, answer: { kind: 'number', value: 3 } });
  const ask = (state: Basket, answer: string | undefined) => judgeTask({ made: question, after: state, answer });
  expect(ask(BEFORE, '3')).toMatchObject({ success: true, reward: 1 });
  expect(ask(BEFORE, '4')).toMatchObject({ success: false, reward: 0 });
  expect(ask(BEFORE, undefined)).toMatchObject({ success: false, reward: 0 });
  expect(
    ask(
      after((state) => void (state.letters = true)),
      '3',
    ),
  ).toMatchObject({ success: false, reward: 0 });
});

test('things in lists are told apart by their ids, so one that goes moves no other', () => {
  const without = after((state) => void state.basket.shift());
  expect(compareStates({ before: BEFORE, after: without, expected: without })).toEqual({
    wanted: ['basket.tea.id', 'basket.tea.quantity'],
    missing: [],
    unasked: [],
  });
});
