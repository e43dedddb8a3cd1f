import { expect, test } from 'vitest';
import { effectOf, subjectOf } from './raw-command-log.ts';

test.each([
  ['Page.enable', 'looks'],
  ['Runtime.getProperties', 'looks'],
  ['Target.setAutoAttach', 'looks'],
  ['Runtime.evaluate', 'acts'],
  ['Page.navigate', 'acts'],
  ['Input.dispatchMouseEvent', 'acts'],
  ['Page.getterOfAKindThatIsNotKnown', 'acts'],
  ['Some.thingNew', 'acts'],
])('%s %s', (method, effect) => expect(effectOf(method)).toBe(effect));

test('the log has the address, the text, the key and the point of what was done, and nothing else of its parameters', () => {
  expect(subjectOf({ method: 'Page.navigate', params: { url: 'http://a.test/', referrer: 'x' } })).toEqual({
    command: 'Page.navigate',
    url: 'http://a.test/',
  });
  expect(subjectOf({ method: 'Input.insertText', params: { text: 'tea' } })).toEqual({
    command: 'Input.insertText',
    text: 'tea',
  });
  expect(subjectOf({ method: 'Input.dispatchKeyEvent', params: { type: 'keyDown', key: 'Enter' } })).toEqual({
    command: 'Input.dispatchKeyEvent',
    key: 'Enter',
  });
  expect(subjectOf({ method: 'Input.dispatchMouseEvent', params: { type: 'mousePressed', x: 1, y: 2 } })).toEqual({
    command: 'Input.dispatchMouseEvent',
    point: { x: 1, y: 2 },
  });
  expect(subjectOf({ method: 'Runtime.evaluate', params: { expression: 'text', text: 'forged' } })).toEqual({
    command: 'Runtime.evaluate',
  });
});
