import { describe, expect, it } from 'vitest';
import { controlSplitter } from './control-splitter.ts';

const token = (id: number, content: string, strip: { lstrip?: boolean; rstrip?: boolean } = {}) => ({
  id,
  content,
  lstrip: false,
  rstrip: false,
  ...strip,
});

describe('finding control tokens in text', () => {
  it('takes the leftmost, and of those that start there the longest', () => {
    const split = controlSplitter([token(1, '<a>'), token(2, '<a><b>'), token(3, '<b><c>')]);
    expect(split('x<a><b><c>y')).toEqual([{ text: 'x' }, { text: '<a><b>', id: 2 }, { text: '<c>y' }]);
  });

  it('drops the white space that a token claims on either side', () => {
    const split = controlSplitter([token(1, '<l>', { lstrip: true }), token(2, '<r>', { rstrip: true })]);
    expect(split('a \n<l> b <r>\t c')).toEqual([
      { text: 'a' },
      { text: '<l>', id: 1 },
      { text: ' b ' },
      { text: '<r>', id: 2 },
      { text: 'c' },
    ]);
  });

  it('gives text without any as one piece, and nothing for nothing', () => {
    const split = controlSplitter([token(1, '<a>')]);
    expect(split('<a')).toEqual([{ text: '<a' }]);
    expect(split('')).toEqual([]);
  });
});
