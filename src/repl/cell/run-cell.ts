// Runs one cell after another in a realm and keeps the names they declare. Names are checked before anything runs, so
// a cell that is refused has done nothing. What a cell prints, and how long it may take, is decided elsewhere.

import { Script, SourceTextModule } from 'node:vm';
import type { Position } from 'acorn';
import { analyseCell, type CellSyntax } from './cell-syntax.ts';
import type { Realm } from './realm.ts';

export type CellRunnerOptions = {
  readonly realm: Realm;
  readonly relaxedRedeclaration: boolean;
  /** Names that no cell may declare. */
  readonly reserved: readonly string[];
  /** What `import(specifier)` gives. */
  readonly importModule: (specifier: string) => Promise<object>;
};

export interface CellRunner {
  /** Settles as the cell does; rejects with what it threw, or with a `SyntaxError` before any of it ran. */
  run(code: string, cell: number): Promise<void>;
}

type Binding = readonly [get: () => unknown, set: (value: unknown) => void];
type ImportMeta = { bind?: (bindings: Readonly<Record<string, Binding>>) => void };

export function cellFileName(cell: number): string {
  return `browser-repl-cell-${cell}.mjs`;
}

export function createCellRunner(options: CellRunnerOptions): CellRunner {
  const { realm, importModule } = options;
  const kinds = new Map<string, 'variable' | 'lexical'>(options.reserved.map((name) => [name, 'lexical']));

  const checkNames = ({ lexicals, variables, functions }: CellSyntax): void => {
    for (const name of [...variables, ...functions]) if (kinds.get(name) === 'lexical') throw alreadyDeclared(name);
    for (const name of lexicals) {
      const fixed = Object.getOwnPropertyDescriptor(realm.global, name)?.configurable === false;
      if (kinds.has(name) || fixed) throw alreadyDeclared(name);
    }
  };

  return {
    async run(code, cell) {
      const filename = cellFileName(cell);
      const syntax = placed(filename, () => {
        const found = analyseCell(code, { relaxedRedeclaration: options.relaxedRedeclaration });
        checkNames(found);
        return found;
      });
      const importModuleDynamically = importModule as () => Promise<never>; // Node takes namespaces as well as modules
      const prelude = bindingPrelude(syntax.lexicals);
      const module = new SourceTextModule(prelude + syntax.body, {
        context: realm.context,
        identifier: filename,
        columnOffset: -prelude.length,
        initializeImportMeta: (meta) => offerBinding(realm, meta as ImportMeta),
        importModuleDynamically,
      });
      const strict = '"use strict";';
      const functions =
        syntax.functionSource === ''
          ? undefined
          : new Script(strict + syntax.functionSource, {
              filename,
              columnOffset: -strict.length,
              importModuleDynamically,
            });
      await module.link(() => {
        throw new Error('internal: a cell has no static imports');
      });

      for (const name of syntax.lexicals) kinds.set(name, 'lexical');
      for (const name of [...syntax.variables, ...syntax.functions]) kinds.set(name, 'variable');
      for (const name of syntax.variables) declareVariable(realm, name);
      functions?.runInContext(realm.context);
      await module.evaluate();
    },
  };
}

/** Gives a `SyntaxError` the stack it would have had from V8: the place in the cell. */
function placed<T>(filename: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { loc } = error as { loc?: Position };
    const place = loc === undefined ? filename : `${filename}:${loc.line}:${loc.column + 1}`;
    error.stack = `SyntaxError: ${error.message}\n    at ${place}`;
    throw error;
  }
}

function alreadyDeclared(name: string): SyntaxError {
  return new SyntaxError(`Identifier '${name}' has already been declared; use a new name or reset the REPL to retry`);
}

/** As a script's `var`: an existing property keeps its value, a new one cannot be deleted. */
function declareVariable({ global }: Realm, name: string): void {
  if (Object.hasOwn(global, name)) return;
  Object.defineProperty(global, name, { value: undefined, writable: true, enumerable: true, configurable: false });
}

/**
 * Code before the cell's own, on its first line, that hands out access to its lexical names. The functions close over the
 * module's real bindings, so the dead zone before a declaration, constants and names of functions are the language's.
 */
function bindingPrelude(names: readonly string[]): string {
  if (names.length === 0) return '';
  const entries = names.map((name) => {
    const value = name === 'v' ? 'w' : 'v';
    return `${name}:[()=>${name},(${value})=>{${name}=${value}}]`;
  });
  return `import.meta.bind({__proto__:null,${entries.join()}});`;
}

/** The way in is gone before the cell's first own statement. */
function offerBinding({ global }: Realm, meta: ImportMeta): void {
  meta.bind = (bindings) => {
    delete meta.bind;
    for (const name of Object.keys(bindings)) {
      const binding = bindings[name]; // the realm's array: by index, because a cell may have changed how it iterates
      Object.defineProperty(global, name, { get: binding[0], set: binding[1], enumerable: false, configurable: false });
    }
  };
}
