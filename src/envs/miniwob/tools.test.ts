import { expect, test } from 'vitest';
import { createReferences, type PageObservation } from '../../browser/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { MINIWOB_TOOLS, readMiniwobAction } from './tools.ts';

const references = createReferences();
for (const node of [101, 102, 103]) references.of(node);
const page: PageObservation = {
  text: 'button "A" [1]\ntextbox "B" [2]',
  controls: new Map(
    [1, 2].map((reference) => [
      reference,
      { reference, backendNodeId: 100 + reference, role: 'button', name: 'A', states: [] },
    ]),
  ),
};
const read = (tool: string, args: JsonObject) => readMiniwobAction({ kind: 'call', tool, args }, page, references);

test('a call is read with its defaults and the elements that it names', () => {
  const action = read('click', { target: 1 });
  expect(action).toMatchObject({ kind: 'call', call: { tool: 'click', args: { target: 1, count: 1 } } });
  expect(action.kind === 'call' && [...action.controls.keys()]).toEqual([1]);
  const drag = read('drag', { from: 1, to: 2 });
  expect(drag.kind === 'call' && [...drag.controls.keys()]).toEqual([1, 2]);
});

test.each([
  ['jump', {}, /no tool "jump"; the tools are click, /],
  ['click', {}, /click was not understood: target/],
  ['click', { target: 'first' }, /target/],
  ['click', { target: 1, force: true }, /force/],
  ['click', { target: 9 }, /There is no element 9/],
  ['click', { target: 3 }, /Element 3 is no longer on the page/],
  ['drag_at', { points: [[1, 2]] }, /points/],
  ['fill', { target: 2 }, /text/],
] as const)('%s %j is refused in words', (tool, args, words) => {
  const action = read(tool, args);
  expect(action.kind === 'refused' && action.problem).toMatch(words);
});

test('replies that are no calls are refused in words', () => {
  expect(readMiniwobAction({ kind: 'malformed', problem: 'empty', text: '' }, page, references)).toMatchObject({
    kind: 'refused',
    problem: 'The reply could not be read: empty',
  });
  expect(readMiniwobAction({ kind: 'answer', text: 'done' }, page, references)).toMatchObject({ kind: 'refused' });
});

test('every tool says what it takes', () => {
  for (const { name, description, parameters } of MINIWOB_TOOLS) {
    expect(description, name).not.toBe('');
    expect(parameters, name).toMatchObject({ type: 'object', additionalProperties: false });
  }
  const click = MINIWOB_TOOLS.find(({ name }) => name === 'click')!;
  expect(click.parameters.required).toEqual(['target']);
});
