// Policies that need no model. The oracle shows that each task can be done; the others show what is had without looking:
// by saying nothing, and by opening the usual addresses unread and naming the fields that most forms have.

import { TabwrightError, type Actor, type ChatRecord } from '../../../core/index.ts';
import { actor, cell } from '../kit/scripted-actor.ts';
import type { Blueprint } from './blueprint.ts';
import { oracleCell } from './oracle.ts';

export const USUAL_PATHS: readonly string[] = [
  ...['/login', '/signin', '/sign-in', '/account/login', '/users/sign_in'],
  ...['/register', '/signup', '/sign-up', '/join', '/account/register'],
];

/** Sites are told apart by their address in the task's words: an actor is shown nothing else. */
export function agentAuthPolicies(
  byInstruction: ReadonlyMap<string, Blueprint>,
): Readonly<Record<'oracle' | 'noop' | 'blind', Actor<ChatRecord>>> {
  const siteOf = (instruction: string): Blueprint => {
    const site = byInstruction.get(instruction);
    if (site !== undefined) return site;
    throw new TabwrightError('policy', `agent_auth has no task with these words: ${instruction.slice(0, 200)}`, {
      code: 'not-in-suite',
    });
  };
  return {
    oracle: actor('oracle', ({ instruction, past, observation }) => {
      if (past.length === 0) return cell(oracleCell(siteOf(instruction)));
      // What the cell wrote is what was read off the page; one that failed has no answer.
      return { kind: 'answer', text: observation.notice?.startsWith('The cell ran.') === true ? observation.page : '' };
    }),
    noop: actor('noop', () => ({ kind: 'answer', text: '' })),
    blind: actor('blind', ({ instruction, past }) => {
      const site = siteOf(instruction);
      if (past.length === 0) return cell(blindCell(site));
      return { kind: 'answer', text: blindAnswer([...byInstruction.values()], site) };
    }),
  };
}

function blindCell({ host }: Blueprint): string {
  return `for (const path of ${JSON.stringify(USUAL_PATHS)}) { await gotoUrl('http://${host}' + path); await waitForLoad(); }`;
}

/** The list that is right most often among the forms of training that were asked for in the same way. */
export function blindAnswer(sites: readonly Blueprint[], { asked }: Pick<Blueprint, 'asked'>): string {
  const counts = new Map<string, number>();
  for (const site of sites) {
    if (site.family.split !== 'train' || site.asked.action !== asked.action) continue;
    const list = JSON.stringify(site.asked.fields.map(({ label, control }) => ({ name: label, type: control })));
    counts.set(list, (counts.get(list) ?? 0) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), ['[]', 0])[0];
}
