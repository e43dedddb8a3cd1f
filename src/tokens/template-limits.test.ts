// Templates that mean harm end in time, before memory does, and with the reason; ordinary ones are as before.

import * as jinja from '@huggingface/jinja';
import { expect, it } from 'vitest';
import { createTemplateFormat } from './template-format.ts';
import { templateLimits, type JinjaEnvironment } from './template-limits.ts';
import { templateRenderer } from './template-runtime.ts';
import { byteTokenizer } from './test-support.ts';

const { Template, Environment } = jinja as unknown as {
  readonly Template: new (text: string) => { readonly parsed: unknown };
  readonly Environment: new () => JinjaEnvironment;
};

const nested = '{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}';
const ends = '{% endfor %}';
/** A value that holds itself twice, 40 times over: small, but not when it is written. */
const bush = (write: string): string =>
  `{% set ns = namespace(a=['x']) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ${write} }}`;

const ATTACKS: Readonly<Record<string, readonly [template: string, why: string]>> = {
  'nested loops': [`${nested}${ends}${ends}${ends}`, 'takes more than 1500000 steps'],
  'nested loops with a body': [`${nested}x{{ c }}${ends}${ends}${ends}`, 'takes more than 1500000 steps'],
  'a long list': ['{{ range(60000000)|length }}', 'a list of 60000000 items'],
  'a list without end': ['{% for a in range(1000000000000) %}{% endfor %}', 'a list of 1000000000000 items'],
  'a text that doubles': [
    "{% set ns = namespace(s='xxxxxxxxxx') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    'a text of more than',
  ],
  'a list that doubles': [
    '{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}',
    'a list of 1048576 items',
  ],
  'lists that are kept': [
    '{% set ns = namespace(s=[1]) %}{% for i in range(100000) %}{% set ns.s = [ns.s, range(900000)] %}{% endfor %}',
    'takes more than 1500000 steps',
  ],
  'loops over one list': [
    `{% set l = range(100000) %}{% for a in l %}{% for b in l %}{% for c in l if c %}${ends}${ends}${ends}`,
    'takes more than 1500000 steps',
  ],
};

it.each(Object.entries(ATTACKS))('%s', { timeout: 60_000 }, (_, [template, why]) => {
  const render = templateRenderer({ name: 'evil', template });
  expect(() => render([{ role: 'user', content: 'x' }], [], 'prompt')).toThrow(
    expect.objectContaining({
      boundary: 'config',
      code: 'template-too-long',
      message: expect.stringMatching(new RegExp(`template of evil was stopped.*${why}`)) as string,
    }),
  );
});

it.each(['ns.a | tojson', "ns.a ~ ''", "ns.a == ''"])(
  'what one node writes without end is ended by the clock: %s',
  { timeout: 60_000 },
  (write) => {
    const limits = templateLimits('evil', { deadlineMs: 500 });
    const environment = new Environment();
    environment.set('range', limits.range);
    const program = new Template(bush(write)).parsed;
    expect(() => limits.run(program, environment)).toThrow(
      expect.objectContaining({
        code: 'template-too-long',
        message: expect.stringContaining('evil was stopped: it takes longer than 0.5 seconds') as string,
      }),
    );
    expect(limits.within(() => 42)).toBe(42);
  },
);

it('a format is refused by its first attempt, whatever its probes would put up with', { timeout: 60_000 }, () => {
  const answer =
    "{% for m in messages %}{{ m.role + ': ' + m.content + '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";
  for (const [when, rendered] of [
    ['', 'the exchange that shows where turns end'],
    ['messages | length == 1', 'a lone question'],
    ['tools', 'a call'],
  ]) {
    const attack = `${nested}${ends}${ends}${ends}`;
    const template = answer + (when === '' ? attack : `{% if ${when} %}${attack}{% endif %}`);
    expect(() => createTemplateFormat({ name: 'evil', template, tokenizer: byteTokenizer() }), rendered).toThrow(
      expect.objectContaining({ code: 'template-too-long' }),
    );
  }
});

it('a long conversation is far from the limits', () => {
  const template =
    "{% set ns = namespace(s='') %}{% for m in messages %}{% set ns.s = ns.s + m.role + m.content | trim %}" +
    '{% for n in messages %}{% if n.role == m.role %}{% endif %}{% endfor %}{% endfor %}{{ ns.s }}';
  const messages = Array.from({ length: 80 }, (_, i) => ({
    role: i % 2 ? 'assistant' : 'user',
    content: 'y'.repeat(4000),
  }));
  const text = templateRenderer({ name: 'long', template })(messages, [], 'history');
  expect(text).toHaveLength(80 * 4000 + 40 * ('user'.length + 'assistant'.length));
});
