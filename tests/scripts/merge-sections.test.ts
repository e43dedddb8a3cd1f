// A page of which only some sections were measured anew.

import { expect, it } from 'vitest';
import { mergeSections } from '../../bench/merge-sections.ts';

const section = (name: string, value: number): string => `## ${name} 1; by code\n\n| policy |\n| --- |\n| ${value} |\n`;
const page = (...sections: readonly string[]): string => ['# Title\n\nWords.\n', ...sections].join('\n');

it('sections of others stay, in order, and what stands below the last one is no part of it', () => {
  const before = `${page(section('ant', 1), section('cat', 1))}\nWritten by a command.\n`;
  const merged = page(section('ant', 1), section('bee', 2), section('cat', 1));
  expect(mergeSections(page(section('bee', 2)), before)).toBe(merged);
});

it('a section that was measured anew takes the place of the one before, whatever its version', () => {
  const before = page(section('ant', 1).replace('ant 1;', 'ant 0.9;'));
  expect(mergeSections(page(section('ant', 2)), before)).toBe(page(section('ant', 2)));
});

it('without a page before it is the page', () => {
  expect(mergeSections(page(section('ant', 2)), '')).toBe(page(section('ant', 2)));
});
