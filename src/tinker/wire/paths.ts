// `tinker://` paths: a run, a kind, a name. Official paths have three parts; SkyRL's sampler paths have two.

import { malformed } from './wire-error.ts';

export type TinkerPath = {
  readonly runId: string;
  readonly kind: 'weights' | 'sampler_weights' | 'external_weights' | undefined;
  readonly name: string;
};

export const TINKER_SCHEME = 'tinker://';

export function parseTinkerPath(path: string): TinkerPath {
  const parts = path.startsWith(TINKER_SCHEME) ? path.slice(TINKER_SCHEME.length).split('/') : [];
  const bad = (): Error =>
    malformed('path', `"${path}" is not tinker://<run>/<weights, sampler_weights or external_weights>/<name>`);
  if (parts.some((part) => part === '')) throw bad();
  if (parts.length === 2) return { runId: parts[0], kind: undefined, name: parts[1] };
  const [runId, kind, name] = parts;
  if (parts.length !== 3) throw bad();
  if (kind !== 'weights' && kind !== 'sampler_weights' && kind !== 'external_weights') throw bad();
  return { runId, kind, name };
}

export function formatTinkerPath({ runId, kind, name }: TinkerPath): string {
  return [TINKER_SCHEME + runId, ...(kind === undefined ? [] : [kind]), name].join('/');
}
