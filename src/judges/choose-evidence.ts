// Whether there is anything to judge by, and which pictures of it are shown.

import type { JsonObject } from '../core/index.ts';
import type { JudgeLimits } from './evidence.ts';
import { judgeFault } from './fault.ts';
import type { JudgeInput } from './judge.ts';
import { choosePictures, type ShownPicture } from './pictures.ts';

/** `record` says which pictures there were, which are shown, and why others are not. */
export type Evidence = { readonly shown: readonly ShownPicture[]; readonly record: JsonObject };

export function chooseEvidence(input: JudgeInput, limits: JudgeLimits): Evidence {
  const { shown, omitted } = choosePictures(input.pictures, limits);
  const given = input.pictures.length;
  if (shown.length === 0 && given > 0 && limits.maxPictures > 0) {
    throw judgeFault('judge-no-evidence', `None of the ${given} pictures can be shown to the judge.`, { ...omitted });
  }
  if (shown.length === 0 && input.actions === undefined && (input.pages ?? []).length === 0) {
    throw judgeFault('judge-no-evidence', 'There is no log, no picture and no page to judge by.');
  }
  return { shown, record: { given, shown: shown.map(({ number }) => number), omitted: { ...omitted } } };
}
