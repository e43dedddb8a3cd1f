// Replies of judges: what counts as one, what is invalid, and the faults of published parsers, one by one.

import { describe, expect, it } from 'vitest';
import { readJson } from './read-json.ts';
import { readVerdict, verdictReply } from './verdict-reply.ts';

const read = (text: string) => readVerdict(readJson(text, verdictReply));
const reply = (verdict: string, unmet: readonly string[], reasoning = 'Because.'): string =>
  JSON.stringify({ reasoning, unmet, verdict });
const block = (json: string): string => `\`\`\`json\n${json}\n\`\`\``;
const bad = (code: string): unknown => expect.objectContaining({ boundary: 'judge', code });

describe('a verdict', () => {
  it('is success without anything unmet, failure with something', () => {
    expect(read(reply('success', [])).verdict).toBe('success');
    expect(read(` ${reply('failure', ['not sent'])}\n`)).toMatchObject({ verdict: 'failure', unmet: ['not sent'] });
    expect(read(block(reply('failure', ['```json']))).verdict).toBe('failure');
  });

  it.each([
    ['success with something unmet', reply('success', ['not sent']), 'judge-contradiction'],
    ['failure with nothing unmet', reply('failure', []), 'judge-contradiction'],
    ['a blocked website', reply('blocked', ['captcha']), 'judge-blocked'],
    ['a word that is no verdict', reply('probably', []), 'judge-bad-reply'],
    ['capitals', reply('Success', []), 'judge-bad-reply'],
    ['no reason', reply('success', [], ' '), 'judge-bad-reply'],
    ['nothing', ' \n', 'judge-empty'],
    ['a missing field', '{"reasoning": "x", "verdict": "success"}', 'judge-bad-reply'],
    ['a field too many', '{"reasoning": "x", "unmet": [], "verdict": "success", "score": 1}', 'judge-bad-reply'],
    ['a cut reply', reply('success', []).slice(0, -2), 'judge-bad-reply'],
    ['a list of replies', `[${reply('success', [])}]`, 'judge-bad-reply'],
    ['text around it', `Here it is: ${reply('success', [])}`, 'judge-bad-reply'],
    ['a code block after words', `Here:\n${block(reply('success', []))}`, 'judge-bad-reply'],
    ['two code blocks', `${block(reply('success', []))}\n${block(reply('failure', ['x']))}`, 'judge-bad-reply'],
    ['two replies', `${reply('success', [])}\n${reply('failure', ['x'])}`, 'judge-bad-reply'],
    [
      'a name twice, of which parsers keep the last',
      '{"reasoning": "x", "unmet": [], "verdict": "failure", "verdict": "success"}',
      'judge-bad-reply',
    ],
    [
      'a name twice in other spelling',
      '{"reasoning": "x", "unmet": [], "verdict": "failure", "\\u0076erdict" : "success"}',
      'judge-bad-reply',
    ],
    ['the verdict before the reasons', '{"verdict": "success", "reasoning": "x", "unmet": []}', 'judge-bad-reply'],
  ])('that is %s is invalid', (_, text, code) => expect(() => read(text)).toThrow(bad(code)));

  it('keeps names apart from texts that look like names', () => {
    expect(read(reply('success', [], '"verdict": "failure", {"verdict": "x"} \\" "verdict":')).verdict).toBe('success');
  });
});

describe('faults of published parsers', () => {
  it('“Status: unsuccessful” was a success: the word success is in it', () => {
    expect(() => read('Status: unsuccessful')).toThrow(bad('judge-bad-reply'));
    expect(() => read(reply('unsuccessful', []))).toThrow(bad('judge-bad-reply'));
  });

  it('thoughts that speak of a status were taken for the verdict', () => {
    const thoughts = 'Order status: filter applied successfully. Then it went wrong.';
    expect(() => read(`Thoughts: ${thoughts} Status: "failure"`)).toThrow(bad('judge-bad-reply'));
    expect(read(reply('failure', ['sent'], `${thoughts} Status: "success"`)).verdict).toBe('failure');
  });

  it('“**Status**: "success"” was a failure: the marks were in the way', () => {
    expect(() => read('**Status**: "success"')).toThrow(bad('judge-bad-reply'));
    expect(read(reply('success', [], '**Status**: "failure"')).verdict).toBe('success');
  });

  it('a reply without a verdict was a failure, in one judge, and a success unless it said FAILURE, in another', () => {
    expect(() => read('I cannot say.')).toThrow(bad('judge-bad-reply'));
    expect(() => read('')).toThrow(bad('judge-empty'));
  });
});
