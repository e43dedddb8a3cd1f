// Filling a field as a person does: focus, select all, delete, press a key per character. Slower than setting a value,
// and right for editors that accept nothing else.

import { z } from 'zod';
import { describeNode, readyElement, targetSchema } from './elements.ts';
import { callOn } from './evaluate.ts';
import { findKey } from './key-layout.ts';
import { press, pressText } from './keyboard.ts';
import { hostMethod, options, seconds, text } from './method.ts';
import { CHANGED, FOCUS } from './page-scripts.ts';
import { untilDialog } from './scope.ts';

const SELECT_ALL = process.platform === 'darwin' ? 4 : 2;

export const fillInput = hostMethod(
  {
    name: 'fillInput',
    namespace: 'browser',
    effect: 'acts',
    signature: 'fillInput(target, text, {clearFirst = true, timeoutSec = 10}?)',
    description:
      'Fills a text field or an editor: waits until it is visible, enabled and editable, scrolls to it, focuses it, clears it (unless `clearFirst` is false), presses a key per character, then sends `input` and `change`. A `<select>` is not editable: choose by `js`.',
    example: 'await fillInput("input[name=email]", "person@example.com");',
  },
  [
    targetSchema,
    text('text'),
    options({
      clearFirst: z.boolean({ error: 'clearFirst must be a boolean' }).default(true),
      timeoutSec: seconds('timeoutSec', 10),
    }),
  ],
  async ({ scope, page, about }, target, value, { clearFirst, timeoutSec }) => {
    const on = await page();
    const { objectId } = await readyElement(scope, on, { helper: 'fillInput', target, timeoutSec, editable: true });
    const element = await describeNode(scope, on, { objectId });
    about({ text: value, ...(element === undefined ? {} : { element }) });
    await untilDialog(scope, on, async () => {
      await callOn(scope, on, { objectId, script: FOCUS });
      if (clearFirst) {
        await press(scope, on, findKey('a', false)!, SELECT_ALL);
        await press(scope, on, findKey('Backspace', false)!, 0);
      }
      await pressText(scope, on, value);
      await callOn(scope, on, { objectId, script: CHANGED });
    });
  },
);
