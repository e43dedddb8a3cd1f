// What a cell's code declares, and the code that is run in its place. A cell is an ES module whose top-level names
// must outlive it. `let`, `const` and `class` stay as they are, and accessors reach into the module (see run-cell.ts).
// `var` and functions may be declared again by later cells, so they are properties of the global object: `var` becomes
// an assignment, and functions go to a script of their own. Every character keeps its line and, after the first
// line's prelude, its column. It runs nothing.

import { Parser, type Node, type Options, type Pattern, type Statement } from 'acorn';
import type { VariableDeclaration, ForInStatement, ForOfStatement } from 'acorn';

export type CellSyntax = {
  /** Names of the top-level `let`, `const` and `class`. None in relaxed mode, where they are variables. */
  readonly lexicals: readonly string[];
  /** Names of `var` at any depth outside functions, and of everything declared in relaxed mode but functions. */
  readonly variables: readonly string[];
  readonly functions: readonly string[];
  /** The module's code without its functions. */
  readonly body: string;
  /** The top-level functions in their places, everything else blank; empty without functions. */
  readonly functionSource: string;
};

export type CellSyntaxOptions = {
  /** `let`, `const` and `class` may be declared again, as `var` may. Default false. */
  readonly relaxedRedeclaration?: boolean;
};

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** Throws `SyntaxError`, with the place, for what is no cell. */
export function analyseCell(
  code: string,
  { relaxedRedeclaration: relaxed = false }: CellSyntaxOptions = {},
): CellSyntax {
  const program = CellParser.parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: false });
  const lexicals: string[] = [];
  const variables: string[] = [];
  const functions: string[] = [];
  const edits: Edit[] = [];
  const functionRanges: Edit[] = [];

  for (const statement of program.body as Statement[]) {
    if (statement.type === 'FunctionDeclaration') {
      functions.push(statement.id.name);
      functionRanges.push({ start: statement.start, end: statement.end, text: '' });
      // The semicolon keeps the neighbours apart: `a` and `(b)` on the next line would become a call.
      edits.push({
        start: statement.start,
        end: statement.end,
        text: `;${blank(code.slice(statement.start + 1, statement.end))}`,
      });
    } else if (statement.type === 'ClassDeclaration') {
      if (relaxed) {
        variables.push(statement.id.name);
        edits.push({ start: statement.start, end: statement.start, text: `${statement.id.name} = ` });
        edits.push({ start: statement.end, end: statement.end, text: ';' });
      } else lexicals.push(statement.id.name);
    } else if (statement.type === 'VariableDeclaration' && statement.kind !== 'var') {
      const names = statement.declarations.flatMap(({ id }) => namesIn(id));
      if (relaxed && statement.kind !== 'using' && statement.kind !== 'await using') {
        variables.push(...names);
        edits.push(...asAssignments(statement));
      } else lexicals.push(...names);
    } else {
      collectVariables(statement, variables, edits);
    }
  }
  return {
    lexicals,
    variables: [...new Set(variables)],
    functions,
    body: applyEdits(code, edits),
    functionSource: functions.length === 0 ? '' : keepOnly(code, functionRanges),
  };
}

/** Whether `code`, which ends with a line break, goes on: what is wrong with it is that it ends. */
export function isUnfinishedCell(code: string): boolean {
  try {
    analyseCell(code);
    return false;
  } catch (error) {
    const { pos = 0, raisedAt = 0 } = error as { pos?: number; raisedAt?: number };
    return Math.max(pos, raisedAt) >= code.length || code.startsWith('/*', pos); // an open comment is told by its start
  }
}

type StatementMethods = {
  readonly inFunction: boolean;
  raise(position: number, message: string): never;
  parseReturnStatement(node: Node): Node;
};

/** The grammar of modules without what has no meaning in a cell, refused where the parser meets it. */
const CellParser = Parser.extend((Base) => {
  const Statements = Base as unknown as new (options: Options, input: string) => StatementMethods;
  class Refusing extends Statements {
    parseImport(node: Node): never {
      return this.raise(
        node.start,
        'static import/export is not supported in REPL cells; use dynamic import() instead',
      );
    }
    parseExport(node: Node): never {
      return this.parseImport(node);
    }
    override parseReturnStatement(node: Node): Node {
      if (!this.inFunction) {
        this.raise(node.start, 'top-level return is not supported in REPL cells; show a value with repl.write()');
      }
      return super.parseReturnStatement(node);
    }
  }
  return Refusing as unknown as typeof Parser;
});

/** `var` belongs to the whole cell wherever a statement may stand; functions and classes keep theirs. */
function collectVariables(statement: Statement | null | undefined, names: string[], edits: Edit[]): void {
  const visit = (inner: Statement | null | undefined): void => collectVariables(inner, names, edits);
  switch (statement?.type) {
    case 'VariableDeclaration':
      if (statement.kind !== 'var') return;
      names.push(...statement.declarations.flatMap(({ id }) => namesIn(id)));
      edits.push(...asAssignments(statement));
      return;
    case 'BlockStatement':
      statement.body.forEach(visit);
      return;
    case 'IfStatement':
      visit(statement.consequent);
      visit(statement.alternate);
      return;
    case 'ForStatement':
      if (statement.init?.type === 'VariableDeclaration') visit(statement.init);
      visit(statement.body);
      return;
    case 'ForInStatement':
    case 'ForOfStatement':
      collectFromHead(statement, names, edits);
      visit(statement.body);
      return;
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'LabeledStatement':
      visit(statement.body);
      return;
    case 'SwitchStatement':
      for (const { consequent } of statement.cases) consequent.forEach(visit);
      return;
    case 'TryStatement':
      visit(statement.block);
      visit(statement.handler?.body);
      visit(statement.finalizer);
      return;
    default:
      return; // expressions and jumps hold no statements, functions and classes hold their own
  }
}

function collectFromHead({ left }: ForInStatement | ForOfStatement, names: string[], edits: Edit[]): void {
  if (left.type !== 'VariableDeclaration' || left.kind !== 'var') return;
  const { id } = left.declarations[0];
  names.push(...namesIn(id));
  edits.push({ start: left.start, end: left.start + 3, text: '   ' });
  // `for (async of …)` is reserved for arrow functions to come; in parentheses it is the variable.
  if (id.type === 'Identifier' && id.name === 'async') edits.push({ start: id.start, end: id.end, text: '(async)' });
}

/**
 * `var a = 1, {b} = c` becomes `0,  a = 1, {b} = c`. The number keeps an object pattern from being a block, cannot
 * continue the line before, as a parenthesis could, and is as long as the keyword.
 */
function asAssignments(declaration: VariableDeclaration): Edit[] {
  const { start, kind } = declaration;
  const edits = [{ start, end: start + kind.length, text: '0,'.padEnd(kind.length) }];
  if (kind !== 'let') return edits;
  for (const { id, init } of declaration.declarations) {
    if (init === null || init === undefined) edits.push({ start: id.end, end: id.end, text: ' = undefined' });
  }
  return edits;
}

function namesIn(pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'RestElement' ? property.argument : property.value),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : namesIn(element)));
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'MemberExpression':
      return []; // a target of assignments, never of declarations
    default:
      return pattern satisfies never;
  }
}

function blank(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, ' ');
}

function applyEdits(code: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text } of edits) {
    result += code.slice(at, start) + text;
    at = end;
  }
  return result + code.slice(at);
}

function keepOnly(code: string, ranges: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    result += blank(code.slice(at, start)) + code.slice(start, end);
    at = end;
  }
  return result;
}
