// What `import(specifier)` in a cell gives: Node's built-in modules and packages that are installed where the process
// was told to look; in the strict profile, of those, only what is listed.

import { constants, Script } from 'node:vm';
import { join } from 'node:path';

export type ImportOptions = {
  /** Folder from which packages are looked up, as for a file that lies there. */
  readonly from: string;
  /** Specifiers that may be imported; `undefined` allows all. */
  readonly allowed?: readonly string[];
};

export function createImport({ from, allowed }: ImportOptions): (specifier: string) => Promise<object> {
  // A script that claims to lie in the folder: Node's loader then resolves as it does for a module there.
  const load = new Script('(specifier) => import(specifier)', {
    filename: join(from, 'cell.mjs'),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext() as (specifier: string) => Promise<object>;
  return async (specifier) => {
    const name = specifier.replace(/^node:/, '');
    if (allowed !== undefined && !allowed.includes(name)) {
      throw new Error(`import of '${specifier}' is not allowed here; allowed: ${allowed.join(', ') || 'nothing'}`);
    }
    try {
      return await load(specifier);
    } catch (error) {
      if (name === 'playwright-core' && (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') {
        throw new Error(NO_PLAYWRIGHT, { cause: error });
      }
      throw error;
    }
  };
}

const NO_PLAYWRIGHT =
  'playwright-core is not installed beside tabwright; run "npm install playwright-core" there and open a new session, or use cdp() and the helpers';
