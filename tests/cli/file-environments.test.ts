// The judges that checks of a task file ask: one model, whose limits are of all of them, and what figures name them by.

import { expect, test } from 'vitest';
import { sendJson, serveChat } from '../../src/chat/fixtures/chat-server.ts';
import { sleep } from '../../src/util/index.ts';
import { taskJudges } from '../../src/cli/file-environments.ts';

const { signal } = new AbortController();
const texts = { question: 'Which?', reference: 'red', answer: 'scarlet' };
const input = { instruction: 'Which?', stop: 'answered', actions: [], pictures: [], answer: 'scarlet' };

test('--judge-parallel bounds all of them together, and they have one name and one hash', async () => {
  let [open, most] = [0, 0];
  const content = JSON.stringify({ reasoning: 'It means the same.', unmet: [], verdict: 'success' });
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  await using server = await serveChat(() => (response) => {
    most = Math.max(most, ++open);
    void sleep(300, signal).then(() => {
      open--;
      sendJson(response, 200, { id: 'x', object: 'chat.completion', created: 0, model: 'm', choices });
    });
  });
  const config = { env: 'tasks:x', judgeModel: 'm', judgeBaseUrl: server.url };
  const { asked, facts } = await taskJudges({ ...config, judgeParallel: 1 });
  await Promise.all([
    asked.text!.equivalent(texts, { signal }),
    asked.episode!.judge(input, { signal }),
    asked.rubric!.judge({ ...input, rubric: [{ id: 'g', description: '', facts: ['red'] }] }, { signal }),
  ]);
  expect(server.asked.length).toBeGreaterThanOrEqual(3);
  expect(most).toBe(1);
  expect(facts).toMatchObject({
    id: 'code+m',
    kind: 'code',
    model: 'm',
    promptHash: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
  });
  expect(facts!.deadlineMs).toBeGreaterThan(asked.episode!.deadlineMs);
  expect(await taskJudges({ ...config, reward: 'outcome' })).toEqual({ asked: {} });
});
