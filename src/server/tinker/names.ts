// Ids and paths as Tinker's clients build and take them apart: `<session>:train:<n>`, `<session>:sample:<n>`,
// `tinker://<run>/<kind>/<name>`.

import { refusal, userFault } from './refusals.ts';

export const CHECKPOINT_KINDS = ['weights', 'sampler_weights', 'external_weights'] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

export type CheckpointPath = { readonly runId: string; readonly kind: CheckpointKind; readonly name: string };

export function modelId(sessionId: string, sequence: number): string {
  return `${sessionId}:train:${sequence}`;
}

export function samplerId(sessionId: string, sequence: number): string {
  return `${sessionId}:sample:${sequence}`;
}

/** The session that an id of a model, a sampler or a request begins with. */
export function sessionOf(id: string): string {
  return id.split(':', 1)[0];
}

/** Requests of a sampler, whose client asks again under a new number when they are gone. */
export function isSampleRequest(requestId: string): boolean {
  return requestId.includes(':sample:');
}

export function formatPath({ runId, kind, name }: CheckpointPath): string {
  return `tinker://${runId}/${kind}/${name}`;
}

export function parsePath(text: string): CheckpointPath {
  const match = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(text);
  const kind = CHECKPOINT_KINDS.find((known) => known === match?.[2]);
  if (match === null || kind === undefined) {
    throw userFault(
      `path ${JSON.stringify(text)} is none of tinker://<training run>/${CHECKPOINT_KINDS.join('|')}/<name>.`,
    );
  }
  return { runId: match[1], kind, name: match[3] };
}

/** A name is a folder of its own, so it may not lead anywhere else. */
export function checkName(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw userFault(
    `path ${JSON.stringify(name)} is no name of a checkpoint: 1 to 128 letters, digits, dots, dashes and underscores, no slash, not beginning with a dot or dash.`,
  );
}

/** The kind and name in a REST address, e.g. `weights/000020`. */
export function parseCheckpointId(kind: string, name: string): { kind: CheckpointKind; name: string } {
  const known = CHECKPOINT_KINDS.find((one) => one === kind);
  if (known === undefined) throw refusal('not-found', `There is no checkpoint ${kind}/${name}.`);
  return { kind: known, name };
}
