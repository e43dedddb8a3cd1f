// The layer check on tiny trees: each kind of violation is found, and the project's own table is consistent.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLayers, tableProblems } from '../../scripts/check-layers.ts';
import { LAYERS, TEST_ONLY_FOLDERS, type LayerTable } from '../../scripts/layers.ts';

const TABLE: LayerTable = {
  base: { layer: 0, imports: [], packages: [], node: true, why: 'base is the bottom' },
  left: { layer: 1, imports: ['base'], packages: ['zod'], node: false, why: 'left stands alone' },
  right: { layer: 1, imports: ['base'], packages: [], node: false, why: 'right stands alone' },
  fakes: { layer: 2, imports: ['base'], packages: [], node: false, why: 'fakes are fakes' },
};

describe('checkLayers', () => {
  let root = '';
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function problems(files: Record<string, string>): string[] {
    root = mkdtempSync(join(tmpdir(), 'layers-'));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return checkLayers({ root, table: TABLE, testOnly: ['fakes'] }).map(
      ({ file, problem, why }) => `${file}: ${problem} (${why})`,
    );
  }

  it('accepts imports that go down through a door, and packages of the row', () => {
    expect(
      problems({
        'base/index.ts': `import 'node:fs';`,
        'left/a.ts': `import { x } from '../base/index.ts'; import * as z from 'zod'; import './b.ts';`,
        'left/b.ts': '',
        'left/a.test.ts': `import { f } from '../fakes/index.ts'; import { it } from 'vitest'; import './a.ts';`,
        'fakes/index.ts': '',
      }),
    ).toEqual([]);
  });

  it('refuses a sideways import, with the reason of the row', () => {
    expect(problems({ 'left/a.ts': `import type { X } from '../right/index.ts';`, 'right/index.ts': '' })).toEqual([
      'left/a.ts: imports right/index.ts, but left/ may import only: base (left stands alone)',
    ]);
  });

  it('refuses an import past the door, even a re-export or a dynamic one', () => {
    const found = problems({
      'base/inner.ts': '',
      'left/a.ts': `export * from '../base/inner.ts';`,
      'left/b.ts': `await import('../base/inner.ts');`,
    });
    expect(found).toHaveLength(2);
    expect(found[0]).toContain('past base/index.ts');
  });

  it('refuses packages and built-ins that the row does not list', () => {
    const found = problems({ 'right/a.ts': `import 'zod'; import 'node:fs'; import 'fs';` });
    expect(found.map((line) => line.slice('right/a.ts: '.length))).toEqual([
      'imports the package zod (right stands alone)',
      'imports node:fs (right stands alone)',
      'imports "fs" without the node: prefix (a built-in should be recognisable as one)',
    ]);
  });

  it('refuses fakes outside tests, folders without a row, and ways out of src', () => {
    const found = problems({
      'left/a.ts': `import '../fakes/index.ts'; import '../../elsewhere.ts';`,
      'fakes/index.ts': '',
      'odd/a.ts': '',
    });
    expect(found.join('\n')).toContain('fakes/ is for tests only');
    expect(found.join('\n')).toContain('outside src/');
    expect(found.join('\n')).toContain('folder "odd" is not in the import table');
  });

  it('names the files of a cycle once', () => {
    const found = problems({
      'left/a.ts': `import './b.ts';`,
      'left/b.ts': `import './c.ts';`,
      'left/c.ts': `import './a.ts';`,
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('left/a.ts -> left/b.ts -> left/c.ts -> left/a.ts');
  });
});

describe('the import table', () => {
  it('only goes down', () => {
    expect(tableProblems(LAYERS, TEST_ONLY_FOLDERS)).toEqual([]);
  });

  it('is reported when it goes sideways or names what it does not have', () => {
    const bad = { ...TABLE, left: { ...TABLE['left'], imports: ['right', 'gone'] } };
    expect(tableProblems(bad)).toEqual([
      'left (layer 1) may import right (layer 1)',
      'left may import gone, which is not in the table',
    ]);
  });
});
