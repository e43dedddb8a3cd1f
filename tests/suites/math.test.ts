// GSM8K-style problems from files, and episodes on them through the same rollouts as everywhere: by a chat endpoint
// over HTTP and by a policy of tokens.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createChatActor, createChatEndpoint, createScriptedActor } from '../../src/chat/index.ts';
import { createMathEnv, mathProblems, parseRows, readRows, type MathProblem } from '../../src/envs/index.ts';
import { DEFAULT_DEADLINES, runActorEpisodes, runGroups } from '../../src/rollout/index.ts';
import { createScriptedSampler } from '../../src/testing/index.ts';
import { createPolicyRenderer } from '../../src/tokens/index.ts';
import { chat, END, tokenizer } from '../servers/tiny-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'math-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

const problemsOf = async (text: string): Promise<readonly MathProblem[]> =>
  mathProblems(await parseRows('sums.jsonl', Buffer.from(text)));
const ROWS = [
  { question: 'Ann has 3 pears and buys 4. How many has she?', answer: 'She has 3 + 4 = <<3+4=7>>7 pears.\n#### 7' },
  { question: 'A coat costs $1,200. Half of that?', answer: 'Half of 1200 is 600.\n#### 600' },
  { id: 'minus', question: 'What is 2 less 5?', answer: -3 },
];
const LINES = ROWS.map((row) => JSON.stringify(row)).join('\n');

describe('problems from files', () => {
  it('come from JSON Lines with the answer after ####, or as a number alone', async () => {
    const problems = await problemsOf(LINES);
    expect(problems.map(({ id, answer }) => [id, answer])).toEqual([
      ['0', { numerator: 7n, denominator: 1n }],
      ['1', { numerator: 600n, denominator: 1n }],
      ['minus', { numerator: -3n, denominator: 1n }],
    ]);
  });

  it('come from a JSON array and from a path', async () => {
    const path = join(folder, 'sums.json');
    writeFileSync(path, JSON.stringify(ROWS));
    expect(mathProblems(await readRows(path, { signal }))).toEqual(await problemsOf(LINES));
  });

  it.each([
    ['{"question":"?","answer":"seven"}', /sums\.jsonl, line 1: the answer "seven" is no exact number/u],
    ['{"question":"?","answer":"#### 7 or 8"}', /no exact number/u],
    ['{"question":"?","answer":"7"}\n{"answer":"7"}', /line 2: question .*a problem is \{"question"/u],
    ['{"id":"a","question":"?","answer":7}\n{"id":"a","question":"!","answer":8}', /the id "a" was there before/u],
    ['{"question":"?","answer":7}\nnot JSON', /line 2: no JSON/u],
  ])('%s is refused, by row and field', async (text, message) => {
    await expect(problemsOf(text)).rejects.toThrow(message);
  });
});

describe('episodes', () => {
  const play = async (replies: readonly string[], index = 0): ReturnType<typeof outcomeOf> => {
    await using env = createMathEnv({ problems: await problemsOf(LINES) });
    const actor = createScriptedActor(
      'script',
      replies.map((text) => ({ text, calls: [] })),
    );
    return outcomeOf(env, actor, index);
  };
  const outcomeOf = async (
    env: ReturnType<typeof createMathEnv>,
    actor: Parameters<typeof runActorEpisodes>[1]['actor'],
    index: number,
  ): Promise<Awaited<ReturnType<typeof runActorEpisodes>>['trajectories'][number]> => {
    const { trajectories } = await runActorEpisodes([{ task: env.task(index), member: 0 }], {
      env,
      actor,
      runSeed: 1,
      stage: 'eval',
      deadlines: DEFAULT_DEADLINES,
      maxRetries: 0,
      screenshots: { wants: () => false, prefix: 'eval', save: () => Promise.resolve() },
      listener: () => undefined,
      signal,
    });
    return trajectories[0];
  };

  it('a right answer is success 1, a wrong one failure 0, both after one turn', async () => {
    const right = await play(['3 + 4 = 7\n#### 7']);
    expect(right.outcome).toMatchObject({ kind: 'finished', success: true, reward: 1, stop: 'answered' });
    expect(right.turns).toHaveLength(1);
    expect((await play(['#### 8'])).outcome).toMatchObject({ kind: 'finished', success: false, reward: 0 });
  });

  it('the task holds the question and nothing of the answer', async () => {
    await using env = createMathEnv({ problems: await problemsOf(LINES) });
    const task = env.task(1);
    expect(task).toMatchObject({ id: 'math/1', env: 'math' });
    expect(JSON.stringify(task)).not.toContain('600');
    expect(env.task(4).id).toBe('math/1');
  });

  it('a call of a tool that there is not ends it without success', async () => {
    await using env = createMathEnv({ problems: await problemsOf(LINES) });
    const episode = await env.open(env.task(0), { signal });
    expect(episode.tools).toEqual([]);
    const { outcome } = await episode.step({ kind: 'call', tool: 'calculate', args: { sum: '3+4' } }, { signal });
    expect(outcome).toMatchObject({ success: false, reward: 0, stop: 'malformed' });
    await episode[Symbol.asyncDispose]();
  });

  it('never more episodes at once than it says, and each gives its place back', async () => {
    await using env = createMathEnv({ problems: await problemsOf(LINES), capacity: 1 });
    const first = await env.open(env.task(0), { signal });
    const late = new AbortController();
    const second = env.open(env.task(1), { signal: late.signal });
    await first[Symbol.asyncDispose]();
    await (await second)[Symbol.asyncDispose]();
  });

  it('a chat endpoint over HTTP plays it', async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        seen.push(JSON.parse(body));
        const message = { role: 'assistant', content: 'Half of 1,200 is 600.\n#### $600' };
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            id: '1',
            object: 'chat.completion',
            created: 0,
            model: 'm',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const endpoint = createChatEndpoint({ baseUrl, model: 'm', apiKey: 'none' });
      await using env = createMathEnv({ problems: await problemsOf(LINES) });
      const { outcome } = await outcomeOf(env, createChatActor({ endpoint, maxTokens: 100 }), 1);
      expect(outcome).toMatchObject({ kind: 'finished', success: true });
      expect(seen).toHaveLength(1);
      expect(JSON.stringify(seen[0])).toContain('A coat costs $1,200');
      expect(seen[0]).not.toHaveProperty('tools');
    } finally {
      server.close();
    }
  });

  it('a policy of tokens plays groups of it, as training does', async () => {
    const replies = ['It is 7.\n#### 7', '#### 8', 'no idea', '#### 7'];
    let draws = 0;
    // The tokens of each reply in turn; what was asked is there as tokens.
    const sampler = createScriptedSampler({
      answer({ prompt }) {
        expect(tokenizer.decode(prompt)).toContain('Ann has 3 pears');
        return [...tokenizer.encode(replies[draws++ % replies.length]), END];
      },
    });
    const renderer = createPolicyRenderer({ chat, maxPromptTokens: 2000, maxActionTokens: 100 });
    await using env = createMathEnv({ problems: await problemsOf(LINES), capacity: 1 });
    const { groups } = await runGroups([env.task(0)], replies.length, {
      env,
      policy: { sampler, renderer },
      sampling: { temperature: 1 },
      runSeed: 1,
      stage: 'train',
      deadlines: DEFAULT_DEADLINES,
      maxRetries: 0,
      screenshots: { wants: () => false, prefix: 'train', save: () => Promise.resolve() },
      listener: () => undefined,
      signal,
    });
    const [{ trajectories }] = groups;
    const rewards = trajectories.map(({ outcome }) => (outcome.kind === 'finished' ? outcome.reward : NaN));
    expect([...rewards].sort()).toEqual([0, 0, 1, 1]);
    for (const { turns } of trajectories) {
      expect(turns).toHaveLength(1);
      expect(turns[0].actionTokens.at(-1)).toBe(END);
    }
  });
});
