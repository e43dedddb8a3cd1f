import { describe, expect, it } from 'vitest';
import { observePage, createReferences } from '../../browser/index.ts';
import { createLesson, LESSON_KINDS, LESSON_LEVELS, type Lesson } from './lessons.ts';

const MIX = { click: 1, 'is-checked': 1, 'which-of': 1, 'select-then': 1 };
const LESSONS = Array.from({ length: 3000 }, (_, seed) => createLesson(seed, MIX));

type Line = { role: string; name: string; checked: boolean; reference: string };
const linesOf = (page: string): Line[] =>
  page.split('\n').map((line) => {
    const [, role, name, checked, reference] = /^(\w+) "(\w+)"( \[checked\])? (\[\d+\])$/.exec(line)!;
    return { role: role, name: name, checked: checked !== undefined, reference: reference };
  });

/** The answer, worked out from the text alone. */
function solve({ kind, instruction, page }: Lesson): string {
  const lines = linesOf(page);
  const named = (name: string): Line => lines.find((line) => line.name === name)!;
  switch (kind) {
    case 'click':
      return named(/(\w+)\.$/.exec(instruction)![1]).reference;
    case 'is-checked':
      return named(/^Is (\w+) checked\?$/.exec(instruction)![1]).checked ? 'yes' : 'no';
    case 'which-of': {
      const [, list] = /^Which of (.*) is on the page\?$/.exec(instruction)!;
      const fitting = lines.filter(({ name }) => list.split(', ').includes(name));
      expect(fitting).toHaveLength(1);
      return fitting[0].reference;
    }
    case 'select-then': {
      const [, box, button] = /^Select (\w+) and click (\w+)\.$/.exec(instruction)!;
      return (named(box).checked ? named(button) : named(box)).reference;
    }
  }
}

describe('pretraining lessons', () => {
  it('have the one answer that their page gives', () => {
    for (const lesson of LESSONS) expect(lesson.answer, `${lesson.page}\n${lesson.instruction}`).toBe(solve(lesson));
  });

  it('never ask to select several controls and then press something: that is the task to be learned', () => {
    for (const { instruction } of LESSONS) {
      const selected = /^Select (.*?) and click /.exec(instruction)?.[1];
      if (selected !== undefined) expect(selected).toMatch(/^\w+$/);
      else expect(instruction).not.toMatch(/select|submit.*and/i);
      // One press at most, and none after a list.
      expect(instruction.match(/click/gi)?.length ?? 0).toBeLessThanOrEqual(1);
      if (instruction.includes(', ')) expect(instruction).toMatch(/^Which of /);
    }
  });

  it('never ask to select nothing either', () => {
    expect(LESSONS.some(({ instruction }) => instruction.includes('nothing'))).toBe(false);
  });

  it('follow the shares of the mix', () => {
    const only = Array.from({ length: 50 }, (_, seed) => createLesson(seed, { ...MIX, click: 0, 'is-checked': 0 }));
    const kinds = new Set(only.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['select-then', 'which-of']);
    expect(new Set(LESSONS.map(({ kind }) => kind))).toEqual(new Set(LESSON_KINDS));
  });

  it('get larger pages with the level, starting with two controls and clicks alone', () => {
    const sizes = Array.from({ length: LESSON_LEVELS }, (_, level) =>
      Math.max(...Array.from({ length: 300 }, (_, seed) => createLesson(seed, MIX, level).page.split('\n').length)),
    );
    expect(sizes.slice(0, 4)).toEqual([2, 3, 4, 5]);
    expect(sizes.at(-1)).toBeGreaterThan(9);
    expect(
      Array.from({ length: 50 }, (_, seed) => createLesson(seed, MIX, 1)).every(({ kind }) => kind === 'click'),
    ).toBe(true);
  });

  it('are written as the observation of a real page is', () => {
    const nodes = [
      { nodeId: '1', ignored: false, role: { type: 'role', value: 'RootWebArea' }, childIds: ['2', '3'] },
      {
        nodeId: '2',
        ignored: false,
        role: { type: 'role', value: 'checkbox' },
        name: { type: 'computedString', value: 'MRW' },
        backendDOMNodeId: 10,
        parentId: '1',
        properties: [{ name: 'checked', value: { type: 'tristate', value: 'true' } }],
      },
      {
        nodeId: '3',
        ignored: false,
        role: { type: 'role', value: 'button' },
        name: { type: 'computedString', value: 'OK' },
        backendDOMNodeId: 11,
        parentId: '1',
      },
    ] as unknown as Parameters<typeof observePage>[0];
    for (const line of observePage(nodes, createReferences()).text.split('\n')) expect(linesOf(line)).toHaveLength(1);
    expect(observePage(nodes, createReferences()).text).toBe('checkbox "MRW" [checked] [1]\nbutton "OK" [2]');
  });
});
