import { afterAll, expect, test } from 'vitest';
import type { BrowserReplResult } from './browser-repl-result.ts';
import { createCellProcess } from './cell-process.ts';
import { ECHO_HELP, ECHO_METHODS, echoCalls } from './fixtures/echo-calls.ts';
import { PERSISTENCE_VECTORS, type CellVector } from './fixtures/persistence-vectors.ts';

const repl = createCellProcess({ calls: echoCalls(), methods: ECHO_METHODS, help: ECHO_HELP });
afterAll(() => repl[Symbol.asyncDispose]());

/** What a vector speaks of. */
function seen({ content = [], error }: BrowserReplResult, expected: CellVector): { shows: string; error?: string } {
  const shows = content.map((item) => (item.type === 'text' && item.channel === 'write' ? item.text : '?')).join('');
  if (error === undefined) return { shows };
  return { shows, error: expected.error?.endsWith('…') ? `${error.slice(0, expected.error.length - 1)}…` : error };
}

test.each(PERSISTENCE_VECTORS.map((vector) => [vector.rule, vector] as const))('%s', async (_rule, { cells }) => {
  const { replId } = repl;
  for (const [i, cell] of cells.entries()) {
    const result = await repl.execute({ code: cell.code, timeoutMs: 5000 });
    const wanted = { shows: cell.shows ?? '', ...(cell.error === undefined ? {} : { error: cell.error }) };
    expect({ i, ...seen(result, cell) }).toEqual({ i, ...wanted });
    expect(result.repl_terminated).toBeUndefined();
  }
  if (replId !== undefined) expect(repl.replId).toBe(replId);
});
