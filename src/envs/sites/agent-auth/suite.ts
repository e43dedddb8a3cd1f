// The suite `agent_auth`: find the page or panel where one signs in or creates an account, and list the fields of its
// form. Judged in code: by the list, and by what the site's server was asked for.

import { TabwrightError } from '../../../core/index.ts';
import type { WebSuite, WebSuiteTask } from '../../web-suite.ts';
import type { Verdict } from '../../web-task/index.ts';
import { openSiteHost, type SiteHostOptions, type SiteLogEntry } from '../host.ts';
import { refuseSiteFault } from '../site-fault.ts';
import { blueprints, type Blueprint } from './blueprint.ts';
import { describeAgentAuth } from './description.ts';
import { FIELD_TYPES } from './fields.ts';
import { compareFields, readAnswer } from './grade.ts';
import { agentAuthPolicies } from './policies.ts';
import { siteOf } from './program.ts';

/** Serves all sites until it is disposed. */
export async function openAgentAuth(options: SiteHostOptions = {}): Promise<WebSuite> {
  const sites = new Map(blueprints().map((site) => [site.id, { site, served: siteOf(site) }]));
  const host = await openSiteHost(
    [...sites.values()].map(({ served }) => served),
    options,
  );
  const all = [...sites.values()].map(({ site }) => site);
  return {
    description: describeAgentAuth(),
    tasks: agentAuthTasks(),
    egress: host.egress,
    policies: agentAuthPolicies(new Map(all.map((site) => [instructionOf(site), site]))),
    async begin(id) {
      const found = sites.get(id);
      if (found === undefined) {
        throw new TabwrightError('env', `agent_auth has no task ${id}.`, {
          code: 'unknown-task',
          details: { task: id },
        });
      }
      const instance = host.begin(found.served);
      return {
        startUrl: instance.startUrl,
        async verify({ answer }) {
          refuseSiteFault(instance, id);
          return judge(found.site, instance.log, answer);
        },
        async [Symbol.asyncDispose]() {
          instance[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** For judges: the grader here is as strict. */
const CRITERIA = `The task is done if the page or panel with the form that was asked for was opened, and the answer lists every field of that form that a person can see and fill in, each with the name that the page gives it, and no other. Nothing was filled in and nothing sent: no form of the site, no search, no newsletter.`;

export function agentAuthTasks(): readonly WebSuiteTask[] {
  return blueprints().map((site) => ({
    id: site.id,
    url: `http://${site.host}/`,
    instruction: instructionOf(site),
    criteria: CRITERIA,
    split: site.family.split,
    group: site.family.name,
  }));
}

export function instructionOf({ host, asked }: Blueprint): string {
  const what = asked.action === 'sign-in' ? 'existing customers sign in' : 'a new customer creates an account';
  return `On http://${host}/, find the page or panel where ${what}, and list the input fields of its form. Fill in nothing and send nothing.

Your final answer is JSON and nothing else: a list with one {"name": "...", "type": "..."} for each field. "name" is the field's label as the page shows it, in the page's language. "type" is one of ${FIELD_TYPES.join(', ')}.
Every control of that form that a person can see and fill in is a field: text boxes, tick boxes, lists; the radio buttons of one question are one field, named by the question. Buttons, hidden inputs and other forms on the page are not. Of a form that comes in steps, only the first step counts.`;
}

/** `answer` is undefined where none was given. */
export function judge(site: Blueprint, log: readonly SiteLogEntry[], answer: string | undefined): Verdict {
  const reached = log.some((entry) => entry.status === 200 && isForm(site, entry));
  const sent = log.find(({ method, path, query }) => method !== 'GET' || (path === '/search' && query.has('q')));
  const read = readAnswer(answer ?? '');
  const seen = { reached, sent: sent === undefined ? null : `${sent.method} ${sent.host}${sent.path}` };
  if (read.kind === 'unreadable') {
    return { success: false, reward: 0, details: { ...seen, unreadable: read.problem } };
  }
  const { right, missing, wrong, f1 } = compareFields(read.fields, site.asked.fields);
  const counts = reached && sent === undefined;
  return {
    success: counts && missing.length === 0 && wrong.length === 0,
    reward: counts ? f1 : 0,
    details: { ...seen, right, missing, wrong: wrong.slice(0, 20).map((name) => name.slice(0, 80)) },
  };
}

/** Whether it asked for what the form is in. */
function isForm({ family, asked, other }: Blueprint, { method, host, path }: SiteLogEntry): boolean {
  const both = family.container === 'twin' || family.container === 'accordion';
  const places = both ? [asked.place, other.place] : [asked.place];
  return method === 'GET' && places.some((place) => place.host === host && place.path === path);
}
