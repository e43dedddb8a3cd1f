// Files for a file input, from the scratch folder.

import { basename } from 'node:path';
import { z } from 'zod';
import { describeNode, describeTarget, targetSchema } from './elements.ts';
import { callWithSelector, resolveNode } from './evaluate.ts';
import { helperFailed } from './failures.ts';
import { hostMethod, nonEmpty } from './method.ts';
import { FIRST } from './page-scripts.ts';
import { pageSend } from './scope.ts';

const PATHS_ERROR = 'paths must be a path or a non-empty array of paths';

export const uploadFile = hostMethod(
  {
    name: 'uploadFile',
    namespace: 'browser',
    effect: 'acts',
    signature: 'uploadFile(target, path | path[])',
    description:
      'Gives a file input one file or several, from the scratch folder. The first match of a selector is taken, visible or not, without waiting.',
    example: 'await uploadFile("input[type=file]", "/tmp/report.pdf");',
  },
  [
    targetSchema,
    z.union([nonEmpty('path'), z.array(z.string().min(1)).min(1, { error: PATHS_ERROR })], { error: PATHS_ERROR }),
  ],
  async ({ scope, page, scratch, about }, target, paths) => {
    const list = typeof paths === 'string' ? [paths] : paths;
    const files = await Promise.all(list.map((path) => scratch.existing('uploadFile', path)));
    const on = await page();
    const objectId =
      typeof target === 'string'
        ? (await callWithSelector(scope, on, { helper: 'uploadFile', script: FIRST, selector: target, byValue: false }))
            .objectId
        : await resolveNode(scope, on, target.backendNodeId);
    if (objectId === undefined) throw helperFailed('uploadFile', `${describeTarget(target)} was not found`);
    const element = await describeNode(scope, on, { objectId });
    about({ files: files.map((file) => basename(file)), ...(element === undefined ? {} : { element }) });
    await pageSend(scope, on, 'DOM.setFileInputFiles', { objectId, files });
  },
);
