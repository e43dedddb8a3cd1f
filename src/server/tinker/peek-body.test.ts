// What is found at the beginning of bodies that are cut off or wrong.

import { expect, test } from 'vitest';
import { peekJson } from './peek-body.ts';

const peek = (text: string) => peekJson(new TextEncoder().encode(text));
const found = { modelId: 'a:train:0', seqId: 7 };

test('both are found in whatever order, also where the rest is missing or wrong', () => {
  expect(peek('{"seq_id": 7, "model_id": "a:train:0", "data": [1, 2')).toEqual(found);
  expect(peek('{"model_id":"a:train:0","seq_id":7,')).toEqual(found);
  expect(peek('{"x": {"seq_id": 3, "model_id": "other"}, "model_id": "a:train:0", "seq_id": 7}')).toEqual(found);
  expect(peek('{"x": "\\"}, {", "seq_id": 7, "model_id": "a\\u003atrain:0" nonsense')).toEqual(found);
});

test('what is cut off, elsewhere or no text is not taken', () => {
  expect(peek('{"model_id": "a:train:0", "seq_id": 7')).toBeUndefined(); // it may be 71
  expect(peek('{"model_id": "a:tra')).toBeUndefined();
  expect(peek('[{"model_id": "a:train:0", "seq_id": 7}]')).toBeUndefined();
  expect(peek('{"seq_id": "7", "model_id": 7}')).toBeUndefined();
  expect(peek('{"x": ["model_id", "a:train:0"], "seq_id": 7}')).toBeUndefined();
  expect(peek('')).toBeUndefined();
});
