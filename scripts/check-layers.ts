// Enforces the import table of `layers.ts` on src/: allowed folders and npm packages, doors (a folder is entered by
// its index.ts only), and no cycles between files. Run by `npm run check`; prints each violation with its reason.
// Not a linter: it reads imports and nothing else.

import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { LAYERS, TEST_ONLY_FOLDERS, type LayerTable } from './layers.ts';

export type Violation = { readonly file: string; readonly problem: string; readonly why: string };

export type CheckLayersOptions = {
  /** The `src` folder. */
  readonly root: string;
  readonly table: LayerTable;
  /** Folders that only tests may import. Default none. */
  readonly testOnly?: readonly string[];
};

/** Every violation of the table in the tree, in file order. */
export function checkLayers({ root, table, testOnly = [] }: CheckLayersOptions): readonly Violation[] {
  const files = sourceFiles(root);
  const importsOf = new Map(files.map((file) => [file, importsIn(join(root, file))]));
  const violations: Violation[] = [];
  const edges = new Map<string, string[]>();

  for (const [file, specifiers] of importsOf) {
    const folder = file.split('/')[0];
    const rule = table[folder];
    const isTest = file.endsWith('.test.ts');
    if (rule === undefined) {
      violations.push({
        file,
        problem: `folder "${folder}" is not in the import table`,
        why: 'add it to scripts/layers.ts with its purpose',
      });
      continue;
    }
    const report = (problem: string, why = rule.why): number => violations.push({ file, problem, why });
    for (const specifier of specifiers) {
      if (!specifier.startsWith('.')) {
        const name = packageName(specifier);
        if (specifier.startsWith('node:')) {
          if (!rule.node && !isTest) report(`imports ${specifier}`);
        } else if (builtinModules.includes(name)) {
          report(`imports "${specifier}" without the node: prefix`, 'a built-in should be recognisable as one');
        } else if (!isTest && !rule.packages.includes(name)) {
          report(`imports the package ${name}`);
        }
        continue;
      }
      const target = posix.normalize(posix.join(posix.dirname(file), specifier));
      edges.set(file, [...(edges.get(file) ?? []), target]);
      if (target.startsWith('..')) {
        if (!isTest && !target.endsWith('.json')) report(`imports ${specifier}, which lies outside src/`);
        continue;
      }
      const targetFolder = target.split('/')[0];
      if (targetFolder === folder) continue;
      if (testOnly.includes(targetFolder)) {
        if (!isTest) report(`imports ${target}`, `${targetFolder}/ is for tests only`);
      } else if (!rule.imports.includes(targetFolder)) {
        report(`imports ${target}, but ${folder}/ may import only: ${rule.imports.join(', ') || 'nothing'}`);
      }
      if (target !== `${targetFolder}/index.ts`) {
        report(`imports ${target} past ${targetFolder}/index.ts`, 'index.ts is the only door of a folder');
      }
    }
  }
  for (const cycle of fileCycles(edges)) {
    violations.push({
      file: cycle[0],
      problem: `import cycle ${[...cycle, cycle[0]].join(' -> ')}`,
      why: 'files that need each other are one concept, or miss a third file',
    });
  }
  return violations;
}

/** Rows of the table that contradict its own layer numbers: an import must go to a lower layer. */
export function tableProblems(table: LayerTable, testOnly: readonly string[] = []): readonly string[] {
  const problems: string[] = [];
  for (const [folder, rule] of Object.entries(table)) {
    if (testOnly.includes(folder)) continue;
    for (const target of rule.imports) {
      const layer = table[target]?.layer;
      if (layer === undefined) problems.push(`${folder} may import ${target}, which is not in the table`);
      else if (layer >= rule.layer)
        problems.push(`${folder} (layer ${rule.layer}) may import ${target} (layer ${layer})`);
    }
  }
  return problems;
}

function sourceFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && file.includes('/') && !file.includes('/fixtures/'))
    .sort();
}

function importsIn(path: string): string[] {
  return ts.preProcessFile(readFileSync(path, 'utf8'), true, true).importedFiles.map((file) => file.fileName);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Cycles found by depth-first search, each once, starting at the file that comes first by name. */
function fileCycles(edges: ReadonlyMap<string, readonly string[]>): readonly string[][] {
  const state = new Map<string, 'open' | 'done'>();
  const path: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    state.set(file, 'open');
    path.push(file);
    for (const target of edges.get(file) ?? []) {
      if (state.get(target) === 'open') cycles.push(path.slice(path.indexOf(target)));
      else if (!state.has(target)) visit(target);
    }
    path.pop();
    state.set(file, 'done');
  };
  for (const file of edges.keys()) if (!state.has(file)) visit(file);
  return cycles;
}

function main(): void {
  const root = resolve(dirname(new URL(import.meta.url).pathname), '../src');
  const problems = tableProblems(LAYERS, TEST_ONLY_FOLDERS);
  for (const problem of problems) console.error(`scripts/layers.ts: ${problem}`);
  const violations = checkLayers({ root, table: LAYERS, testOnly: TEST_ONLY_FOLDERS });
  for (const { file, problem, why } of violations) {
    console.error(`${relative(process.cwd(), join(root, file))}: ${problem}\n    why: ${why}`);
  }
  if (problems.length + violations.length > 0) process.exitCode = 1;
  else console.log('layers: ok');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
