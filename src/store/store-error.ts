// Turns what the operating system says into the project's own error, so that a full disk reads as a full disk
// wherever it is met. It decides nothing else.

import { TabwrightError } from '../core/index.ts';

/** An operation on a file of the run folder, as the message tells it. */
export type FileOperation = { readonly doing: 'read' | 'write' | 'lock' | 'remove'; readonly path: string };

/** Carries out `work`; an error of the file system comes out as a `TabwrightError` of boundary `store`. */
export async function withStoreErrors<T>(operation: FileOperation, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(operation, error);
  }
}

/** The `store` error for a failure of the file system; a `TabwrightError` passes unchanged. */
export function toStoreError({ doing, path }: FileOperation, error: unknown): TabwrightError {
  if (error instanceof TabwrightError) return error;
  const { code, advice } = classify(systemCode(error));
  const reason = error instanceof Error ? error.message : String(error);
  return new TabwrightError('store', `Cannot ${doing} ${path}: ${reason}. ${advice}`, {
    code,
    details: { path, systemCode: systemCode(error) },
    cause: error,
  });
}

export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function classify(code: string): { readonly code: string; readonly advice: string } {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        code: 'disk-full',
        advice: 'Free some space and run again with --resume; what was written before is intact.',
      };
    case 'EFBIG':
      return {
        code: 'file-too-large',
        advice: 'Raise the file size limit (ulimit -f) and run again with --resume; what was written before is intact.',
      };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { code: 'permission-denied', advice: 'Choose a folder that you may write to with --out.' };
    case 'ENOENT':
      return { code: 'file-missing', advice: 'Check the path of the run folder (--out).' };
    case 'ENOTDIR':
    case 'EEXIST':
      return {
        code: 'not-a-folder',
        advice: 'A file, or a link that leads nowhere, is in the way; choose another folder with --out.',
      };
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'ERR_INVALID_ARG_VALUE': // a NUL in the path
      return { code: 'bad-path', advice: 'Choose another folder with --out.' };
    default:
      return { code: 'file-system', advice: 'What was written before is intact.' };
  }
}
