// The chat template as tokenizer_config.json has it: a text, or several with names.

import { expect, it } from 'vitest';
import { templateOf } from './open-pretrained.ts';

it('takes a template that is a text, with the tokens that it may name', () => {
  const config = { chat_template: 'x', bos_token: { content: '<s>', lstrip: false }, eos_token: '</s>' };
  expect(templateOf(config)).toEqual({ template: 'x', bosToken: '<s>', eosToken: '</s>' });
});

it('takes of several the default one, and the one for tools beside it', () => {
  const [usual, tools] = ['default', 'tool_use'].map((name) => ({ name, template: `of ${name}` }));
  const rag = { name: 'rag', template: 'other' };
  expect(templateOf({ chat_template: [rag, tools, usual] })).toEqual({
    template: 'of default',
    toolTemplate: 'of tool_use',
  });
  expect(templateOf({ chat_template: [usual] })).toEqual({ template: 'of default' });
  expect(templateOf({ chat_template: [rag] })).toBeUndefined();
  expect(templateOf({ eos_token: '</s>' })).toBeUndefined();
});
