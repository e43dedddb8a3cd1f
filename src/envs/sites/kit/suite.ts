// A suite of tasks on sites of our own: templates and seeds become tasks, each episode gets a state of its own on the host
// of the sites, and the verdict is on that state.

import { TabwrightError } from '../../../core/index.ts';
import type { SuiteDescription } from '../../suite-description.ts';
import type { WebSuite, WebSuiteTask } from '../../web-suite.ts';
import { openSiteHost, type SiteHost } from '../host.ts';
import { judgeTask } from './judge.ts';
import { sitePolicies, type PolicyTask } from './policies.ts';
import { makeTask, taskId, type Template } from './template.ts';

export type SiteSuiteDefinition = {
  readonly name: string;
  readonly version: string;
  readonly templates: readonly Template[];
  /** Of each template. */
  readonly seeds: readonly number[];
  /** As measured; see docs/guide/suites.md. */
  readonly figures: Pick<SuiteDescription, 'oracle' | 'noop' | 'blind'>;
};

type SiteTask = WebSuiteTask & PolicyTask;

export function siteTasks({ templates, seeds }: SiteSuiteDefinition): readonly SiteTask[] {
  return templates.flatMap((template) =>
    seeds.map((seed) => {
      const { instruction, start } = makeTask(template, seed);
      const { name, split, app } = template;
      return {
        id: taskId(name, seed),
        group: name,
        split,
        url: `http://${app.host}${start}`,
        instruction,
        template,
        seed,
      };
    }),
  );
}

export function describeSiteSuite({ name, version, templates, seeds, figures }: SiteSuiteDefinition): SuiteDescription {
  const count = (split: 'train' | 'test'): number =>
    templates.filter((one) => one.split === split).length * seeds.length;
  return {
    name,
    version,
    tasks: templates.length * seeds.length,
    train: count('train'),
    test: count('test'),
    ...figures,
  };
}

/** Serves the suite's sites until it is disposed. */
export async function openSiteSuite(definition: SiteSuiteDefinition): Promise<WebSuite> {
  const { name, templates } = definition;
  const tasks = siteTasks(definition);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const hosts = [...new Set(templates.map(({ app }) => app.host))];
  const host: SiteHost = await openSiteHost(
    hosts.map((one) => ({ hosts: [one], startUrl: `http://${one}/`, open: () => () => notBegun(one) })),
  );
  return {
    description: describeSiteSuite(definition),
    tasks: tasks.map(({ id, group, split, url, instruction }) => ({ id, group, split, url, instruction })),
    egress: host.egress,
    policies: sitePolicies(name, tasks),
    async begin(id) {
      const task = byId.get(id);
      if (task === undefined) {
        throw new TabwrightError('env', `The suite ${name} has no task ${id}.`, {
          code: 'unknown-task',
          details: { suite: name, task: id },
        });
      }
      const { app } = task.template;
      const made = makeTask(task.template, task.seed);
      const state = structuredClone(made.state);
      const instance = host.begin({
        hosts: [app.host],
        startUrl: task.url,
        open: () => (request) => app.respond(state, request),
      });
      return {
        startUrl: instance.startUrl,
        async verify({ answer }) {
          if (instance.fault !== undefined) throw siteFailed(id, instance.fault);
          return judgeTask({ made, after: state, answer });
        },
        async [Symbol.asyncDispose]() {
          instance[Symbol.dispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function notBegun(host: string): never {
  throw new TabwrightError('env', `No episode has been begun on ${host}.`, { code: 'not-begun' });
}

function siteFailed(id: string, cause: unknown): TabwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TabwrightError('env', `The site of ${id} failed while it was used: ${reason}`, {
    code: 'site-failed',
    details: { task: id },
    cause,
  });
}
