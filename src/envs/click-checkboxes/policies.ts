// Policies without a model, by the names under which they can be played: the oracle, one that does nothing, and one that
// submits at once.

import type { Action } from '../../core/index.ts';
import type { EpisodePolicy } from '../episode-policy.ts';
import { CLICK_TOOL } from './click-tool.ts';
import { createPuzzle } from './puzzle.ts';
import { oracleTarget, submitTarget } from './scripted-policies.ts';

function click(target: number): Action {
  return { kind: 'call', tool: CLICK_TOOL.name, args: { target } };
}

export const CLICK_CHECKBOXES_POLICIES: Readonly<Record<'oracle' | 'noop' | 'blind', EpisodePolicy>> = {
  oracle: {
    name: 'oracle',
    begin: ({ seed }) => {
      const puzzle = createPuzzle(seed);
      return { act: ({ page }) => Promise.resolve(click(oracleTarget(puzzle, page))) };
    },
  },
  noop: {
    name: 'noop',
    // There is no action that does nothing; saying nothing is answered and counts like one.
    begin: () => ({ act: () => Promise.resolve({ kind: 'malformed', problem: 'there is no action', text: '' }) }),
  },
  blind: {
    name: 'blind',
    begin: () => ({ act: ({ page }) => Promise.resolve(click(submitTarget(page))) }),
  },
};
