// What the parts of a run share: where to work, where logs go, the report, and the Python environments, each made at
// most once a run. Not the order of the parts: that is main.ts.

import type { Report } from './report.ts';
import { ensureVenv, type Venv, type VenvName } from './venvs.ts';

export type Context = {
  readonly report: Report;
  /** Kept between runs: environments, compile caches. */
  readonly cache: string;
  /** Of this run only. */
  readonly work: string;
  readonly logs: string;
  readonly print: (line: string) => void;
  readonly venv: (name: VenvName) => Promise<Venv>;
};

export function createContext(options: Omit<Context, 'venv'>): Context {
  const made = new Map<VenvName, Promise<Venv>>();
  const venv = (name: VenvName): Promise<Venv> => {
    const known = made.get(name) ?? ensureVenv(name, options);
    made.set(name, known);
    return known;
  };
  return { ...options, venv };
}
