// Tabwright's side of the comparison on MiniWoB++: answers the same lines as `miniwob_peer.py`, plays by the same plan,
// read from what an agent is shown. One process, `--pages` pages of one browser. `--reset reload` loads the page anew
// before every episode; the default starts the next problem in the page that is there.

import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createMiniwobSuite, type MiniwobEpisode, type MiniwobSuite } from '../../src/envs/index.ts';
import type { Asked, Level, PlayedEpisode } from './contestant.ts';

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '1' }, reset: { type: 'string', default: 'task' } },
});
const pages = Number(values.pages);
const reset = values.reset === 'reload' ? 'reload' : 'task';
const { signal } = new AbortController();
const at = { signal };

/** A suite a level, started when it is asked for first: episodes before the measured ones pay for that. */
const suites = new Map<Level, MiniwobSuite>();
await using _ended = {
  async [Symbol.asyncDispose]() {
    for (const suite of suites.values()) await suite[Symbol.asyncDispose]();
  },
};
const suiteOf = async (level: Level): Promise<MiniwobSuite> => {
  const suite = suites.get(level) ?? (await createMiniwobSuite({ pages, reset, pictures: level === 'full' }));
  suites.set(level, suite);
  return suite;
};
const answer = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Asked;
  const left = [...asked.seeds];
  const episodes: PlayedEpisode[] = [];
  const suite = await suiteOf(asked.level);
  const worker = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift())
      episodes.push(await play(suite, asked, seed));
  };
  await Promise.all(Array.from({ length: Math.min(pages, left.length) }, worker));
  answer({ episodes });
}

async function play(suite: MiniwobSuite, { task, operation, level }: Asked, seed: number): Promise<PlayedEpisode> {
  const look = async (episode: MiniwobEpisode): Promise<void> => {
    if (level === 'full') await episode.screenshot(at);
  };
  const env = suite.env([task]);
  let began = performance.now();
  await using episode = await env.open(env.task(seed), at);
  await look(episode);
  const resetMs = performance.now() - began;
  const stepMs: number[] = [];
  let success = false;
  if (operation === 'episodes') {
    for (const [tool, args] of plan(task, episode)) {
      began = performance.now();
      const { outcome, observation } = await episode.step({ kind: 'call', tool, args }, at);
      await look(episode);
      stepMs.push(performance.now() - began);
      if (observation.notice !== undefined) throw new Error(`${tool}: ${observation.notice}`);
      success = outcome?.kind === 'finished' && outcome.success;
    }
  }
  return { resetMs, stepMs, success, goal: episode.utterance };
}

type Call = readonly [tool: 'click' | 'fill', args: { readonly target: number; readonly text?: string }];

/** As `plan` of miniwob_peer.py. */
function plan(task: string, { utterance, first }: MiniwobEpisode): readonly Call[] {
  const lines = [...first.page.matchAll(/^(\w+) "(.*?)".* \[(\d+)\]$/gm)];
  const elements = lines.map(([, role, name, reference]) => ({ role, name, target: Number(reference) }));
  const named = (role: string, name: string): Call => {
    const found = elements.find((one) => one.role === role && one.name.toLowerCase() === name.toLowerCase());
    if (found === undefined) throw new Error(`no ${role} ${name} in:\n${first.page}`);
    return ['click', { target: found.target }];
  };
  if (task === 'click-checkboxes') {
    const wanted = /^Select (.*) and click Submit\.$/.exec(utterance)![1];
    const names = wanted === 'nothing' ? [] : wanted.split(', ');
    return [...names.map((name) => named('checkbox', name)), named('button', 'Submit')];
  }
  if (task === 'click-test-2') return [named('button', 'ONE')];
  const texts = [...utterance.matchAll(/"(.*?)"/g)].map(([, text]) => text);
  if (task === 'click-button') return [named('button', texts[0])];
  const fields = elements.filter(({ role }) => role === 'textbox');
  const filled = texts.map((text, i): Call => ['fill', { target: fields[i].target, text }]);
  return [...filled, named('button', task === 'login-user' ? 'Login' : 'Submit')];
}
