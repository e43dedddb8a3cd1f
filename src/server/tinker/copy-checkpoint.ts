// A checkpoint copied into a run of its own: of a session, or of a project. The content is copied too, so that the copy
// stays when its source is saved anew, is deleted or expires.
// Source: SDK 0.38.0's CopyWeightsRequest.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import type { copyWeightsRequestSchema } from '../../tinker/index.ts';
import { isGiven } from './absent.ts';
import type { RunRecord } from './checkpoint-records.ts';
import { formatPath, modelId, parsePath } from './names.ts';
import { userFault } from './refusals.ts';
import type { ServiceParts } from './service-parts.ts';

export type CopyRequest = z.infer<typeof copyWeightsRequestSchema>;

/** `key` is the same when the same copy is asked for again; the path of the copy is then the same too. */
export async function copyCheckpoint(
  { checkpoints, sessions }: ServiceParts,
  request: CopyRequest,
  key: string,
): Promise<string> {
  const source = parsePath(request.source_path);
  const stored = checkpoints.get(source);
  const ttlSeconds = request.ttl_seconds ?? undefined;
  if (ttlSeconds !== undefined && ttlSeconds < 1) {
    throw userFault(`ttl_seconds is ${ttlSeconds}; it must be a whole number of at least 1.`);
  }
  const of = destination(request, key);
  if ('sessionId' in of) sessions.use(of.sessionId).modelIds.add(of.runId);
  const known = checkpoints.runs.find(({ runId }) => runId === of.runId);
  if (known === undefined) {
    const { projectId: _, ...run } = stored.run;
    await checkpoints.addRun({ ...run, sessionId: '', ...of, createdAt: new Date().toISOString() });
  } else if (!sameModel(known, stored.run)) {
    throw userFault(`The run ${of.runId} is of ${known.baseModel} or of other LoRA settings; copy into another one.`);
  }
  await checkpoints.reading(stored, (folder) =>
    checkpoints.save({
      ...source,
      runId: of.runId,
      content: stored.record.content,
      overwrite: false,
      ttlSeconds,
      userMetadata: stored.record.userMetadata,
      write: (into) => copyFolder(folder, into),
    }),
  );
  return formatPath({ ...source, runId: of.runId });
}

type Destination =
  { readonly runId: string; readonly sessionId: string } | { readonly runId: string; readonly projectId: string };

function destination({ session_id, model_seq_id, destination_project_id }: CopyRequest, key: string): Destination {
  if (isGiven(session_id) && isGiven(model_seq_id)) {
    return { runId: modelId(session_id, model_seq_id), sessionId: session_id };
  }
  if (isGiven(session_id) || isGiven(model_seq_id) || !isGiven(destination_project_id)) {
    throw userFault('copy_weights needs destination_project_id, or session_id and model_seq_id.');
  }
  const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return { runId: modelId(`copy-${name}`, 0), projectId: destination_project_id };
}

function sameModel(one: RunRecord, other: RunRecord): boolean {
  return one.baseModel === other.baseModel && JSON.stringify(one.lora) === JSON.stringify(other.lora);
}

/** Shares the blocks where the file system can. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    await (entry.isDirectory() ? copyFolder(source, target) : copyFile(source, target, constants.COPYFILE_FICLONE));
  }
}
