import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReferences, type PageObservation } from '../../browser/index.ts';
import type { Action, JsonObject } from '../../core/index.ts';
import { readAction } from './click-tool.ts';

const references = createReferences();
for (const node of [11, 12, 13]) references.of(node);
const control = { reference: 1, backendNodeId: 11, role: 'checkbox', name: 'a', states: [] };
const page: PageObservation = {
  text: '',
  controls: new Map([
    [1, control],
    [3, { ...control, reference: 3, backendNodeId: 13 }],
  ]),
};
const call = (args: JsonObject, tool = 'click'): Action => ({ kind: 'call', tool, args });

test('a call with the number of a control is a click on it', () => {
  expect(readAction(call({ target: 1 }), page, references)).toEqual({ kind: 'click', control });
});

test.each<[string, Action, string]>([
  ['an unknown id', call({ target: 9 }), 'There is no control 9; the page has 1, 3.'],
  ['a stale id', call({ target: 2 }), 'Control 2 is no longer on the page.'],
  ['a fraction', call({ target: 1.5 }), 'target must be a whole number, got 1.5.'],
  ['a word', call({ target: 'one' }), 'target must be a whole number, got "one".'],
  ['no target', call({}), 'click needs the argument target, the number of a control.'],
  ['another argument', call({ target: 1, button: 'left' }), 'click has no argument "button"; it takes target alone.'],
  ['another tool', call({ target: 1 }, 'type'), 'There is no tool "type"; the only tool is click.'],
  [
    'a malformed reply',
    { kind: 'malformed', problem: 'no call found', text: 'x' },
    'The reply could not be read: no call found',
  ],
])('%s is answered with what was wrong', (_name, action, problem) => {
  expect(readAction(action, page, references)).toMatchObject({ kind: 'refused', problem });
});

test('no call, however odd, throws', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (tool, args, target) => {
      const odd = [call(args as JsonObject, tool), call(args as JsonObject), call({ target: target as JsonObject })];
      for (const action of odd) expect(['click', 'refused']).toContain(readAction(action, page, references).kind);
    }),
  );
});
