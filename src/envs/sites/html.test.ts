import { expect, test } from 'vitest';
import { inScript, markup, raw } from './html.ts';

test('text is escaped, markup is not, lists are joined, and what is not there is nothing', () => {
  const items = ['<b>', '"&\''].map((text) => markup`<li title="${text}">${text}</li>`);
  expect(markup`<ul>${items}${false}${undefined}${0}${raw('<hr>')}</ul>`.text).toBe(
    '<ul><li title="&#60;b&#62;">&#60;b&#62;</li><li title="&#34;&#38;&#39;">&#34;&#38;&#39;</li>0<hr></ul>',
  );
});

test('a value in a script cannot end the script, and reads back as it was', () => {
  const value = { text: '</script><!-- \u2028 & "' };
  const { text } = inScript(value);
  expect(text).not.toMatch(/[<>&\u2028]/);
  expect(JSON.parse(text)).toEqual(value);
});
