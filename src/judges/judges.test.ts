// Judges against an endpoint that speaks the wire: what they ask, in which order and how often, what they make of the
// replies, and that nothing but a clear reply is a verdict.

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  FAILURE,
  modelOf,
  promptOf,
  questionOf,
  sendJson,
  serveJudge,
  SUCCESS,
  wholeAnswer,
  type JudgeReplies,
} from './fixtures/judge-server.ts';
import type { Judge, JudgeInput } from './judge.ts';
import type { JudgeModel, JudgeModelOptions } from './judge-model.ts';
import { createOutcomeJudge } from './outcome-judge.ts';
import { createRubricJudge } from './rubric-judge.ts';
import { createTextJudge } from './text-judge.ts';
import { createWebJudge } from './web-judge.ts';

const { signal } = new AbortController();
const png = (n: number): Uint8Array => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, n]);

const INPUT: JudgeInput = {
  instruction: 'Send the form.',
  startUrl: 'http://shop.test/',
  stop: 'answered',
  actions: ['click "button" "Send" on "http://shop.test/"'],
  pictures: [png(1), png(2), png(3)],
  answer: 'It is sent.',
};

type JudgeOptions = {
  readonly replies?: JudgeReplies;
  readonly input?: Partial<JudgeInput>;
  readonly create?: (model: JudgeModel) => Judge;
  readonly model?: Partial<JudgeModelOptions>;
};

async function judged({ replies, input, create = (model) => createWebJudge({ model }), model }: JudgeOptions = {}) {
  await using server = await serveJudge(replies);
  const judge = create(modelOf(server, model));
  const judgement = await judge.judge({ ...INPUT, ...input }, { signal });
  return { judgement, judge, asked: server.asked, questions: server.asked.map(questionOf) };
}

const outcome = (model: JudgeModel): Judge => createOutcomeJudge({ model });
const rubric = (model: JudgeModel): Judge => createRubricJudge({ model });
const ofPicture = (scores: readonly number[]) => (asked: Parameters<typeof promptOf>[0]) => {
  const number = Number(/Picture (\d+) of/.exec(promptOf(asked))?.[1]);
  return { reasoning: `note ${number}`, score: scores[number - 1] };
};

describe('WebJudge', () => {
  it('asks for requirements, scores every picture, and decides over those that tell enough and the last', async () => {
    const { judgement, questions, asked } = await judged({ replies: { score_picture: ofPicture([3, 2, 1]) } });
    expect(judgement).toMatchObject({
      verdict: 'success',
      cached: false,
      spending: { calls: 5, promptTokens: 55, completionTokens: 35, cost: null },
      details: {
        keyPoints: ['The form is sent.'],
        scores: [
          { picture: 1, score: 3 },
          { picture: 2, score: 2 },
          { picture: 3, score: 1 },
        ],
        kept: [1, 3],
        pictures: { given: 3, shown: [1, 2, 3] },
      },
    });
    expect(questions).toEqual(['key_points', 'score_picture', 'score_picture', 'score_picture', 'webjudge_verdict']);
    const last = promptOf(asked[4]);
    expect(last).toMatch(/Picture 1 of 3:\n\[begin quoted note \w+\]\n\| note 1\n/);
    expect(last).not.toContain('Picture 2 of 3');
    expect(last).toContain('| action 1: click "button" "Send"');
    expect(last).toMatch(/claim to check.*\n\[begin quoted claim \w+\]\n\| It is sent\.\n/);
    expect(promptOf(asked[0])).not.toContain('It is sent.');
  });

  it('holds a task to its own criteria in place of the usual ones', async () => {
    const usual = promptOf((await judged()).asked[4]);
    const own = promptOf((await judged({ input: { criteria: 'Nothing is to be submitted.' } })).asked[4]);
    expect(usual).toContain('Every requirement of the task is met');
    expect(own).toContain('Criteria:\nNothing is to be submitted.');
    expect(own).not.toContain('Every requirement of the task is met');
  });

  it.each([
    ['a score in words', '**Score:** 4'],
    ['a score after a dash', 'Score - 4'],
    ['a score in brackets', '[4]'],
    ['a score as text', { reasoning: 'x', score: '4' }],
    ['a score out of range', { reasoning: 'x', score: 7 }],
  ])('%s is no score and makes the judgement invalid: the picture does not just vanish', async (_, score) => {
    const { judgement, questions } = await judged({ replies: { score_picture: score } });
    expect(judgement).toMatchObject({ verdict: 'invalid', code: 'judge-bad-reply' });
    expect(questions).not.toContain('webjudge_verdict');
  });

  it.each([
    ['no requirement', []],
    ['a list without end', new Array<string>(31).fill('more')],
  ])('%s is no reading of a task', async (_, points) => {
    const { judgement } = await judged({ replies: { key_points: { points } } });
    expect(judgement).toMatchObject({ verdict: 'invalid', code: 'judge-bad-reply' });
  });

  it('labels each picture as what it is', async () => {
    const { asked } = await judged({ input: { pictures: [Uint8Array.from([0xff, 0xd8, 0xff, 0xe0])] } });
    expect(JSON.stringify(asked[1].body.messages)).toContain('data:image/jpeg;base64,/9j/4A==');
  });
});

describe('what is no verdict is invalid, never a failure and never a success', () => {
  const failing = (status: number) => () => (response: ServerResponse) =>
    sendJson(response, status, { error: { message: 'no' } });
  it.each([
    [
      'a reply that was cut off',
      () => wholeAnswer({ finish_reason: 'length', message: { content: '{"rea' } }),
      'judge-cut',
    ],
    [
      'a whole reply that was cut off behind its end',
      () => wholeAnswer({ finish_reason: 'length', message: { content: JSON.stringify(SUCCESS) } }),
      'judge-cut',
    ],
    ['a refusal', () => wholeAnswer({ finish_reason: 'stop', message: { refusal: 'I will not.' } }), 'judge-refused'],
    ['a filter', () => wholeAnswer({ finish_reason: 'content_filter', message: { content: '' } }), 'chat-filtered'],
    ['nothing', '', 'judge-empty'],
    ['an answer without a choice', () => (response: ServerResponse) => sendJson(response, 200, {}), 'chat-bad-answer'],
    ['a contradiction', { ...FAILURE, verdict: 'success' }, 'judge-contradiction'],
    ['a website that is blocked', { ...FAILURE, verdict: 'blocked' }, 'judge-blocked'],
    ['a server error', failing(500), 'chat-server-error'],
    ['too many requests', failing(429), 'chat-rate-limited'],
    ['a broken connection', () => (response: ServerResponse) => void response.destroy(), 'chat-unreachable'],
  ] as const)('%s', async (_, reply, code) => {
    const { judgement, asked } = await judged({ replies: { outcome_verdict: reply }, create: outcome });
    expect(judgement).toMatchObject({ verdict: 'invalid', code });
    expect(asked).toHaveLength(1);
  });

  it('counts what an unreadable reply has cost', async () => {
    const { judgement, judge } = await judged({ replies: { outcome_verdict: 'no JSON' }, create: outcome });
    expect(judgement.spending).toMatchObject({ calls: 1, promptTokens: 11, completionTokens: 7 });
    expect(judge.spent()).toEqual(judgement.spending);
  });

  it('a key that is refused is no episode’s failure: it ends the run', async () => {
    await expect(judged({ replies: { outcome_verdict: failing(401) }, create: outcome })).rejects.toMatchObject({
      boundary: 'config',
      code: 'chat-key-refused',
    });
  });

  it('without anything to judge by nobody is asked', async () => {
    const { judgement, asked } = await judged({ input: { actions: undefined, pictures: [] }, create: outcome });
    expect(judgement).toMatchObject({ verdict: 'invalid', code: 'judge-no-evidence' });
    const broken = await judged({ input: { pictures: [Buffer.from('no picture')] }, create: outcome });
    expect(broken.judgement).toMatchObject({ verdict: 'invalid', code: 'judge-no-evidence' });
    expect([...asked, ...broken.asked]).toEqual([]);
  });
});

describe('limits', () => {
  it('a judge that takes too long is invalid; an abort is passed on', async () => {
    const silent = { outcome_verdict: () => () => undefined };
    const slow = await judged({ replies: silent, create: (model) => createOutcomeJudge({ model, deadlineMs: 100 }) });
    expect(slow.judgement).toMatchObject({ verdict: 'invalid', code: 'judge-timeout' });
    await using server = await serveJudge(silent);
    const controller = new AbortController();
    const judging = outcome(modelOf(server)).judge(INPUT, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(judging).rejects.toThrow('enough');
  });

  it('asks so many questions at a time, over all judgements', async () => {
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    await using server = await serveJudge({
      score_picture: () => (response: ServerResponse) => {
        most = Math.max(most, ++open);
        waiting.push(() => {
          open--;
          const content = JSON.stringify({ reasoning: 'x', score: 3 });
          sendJson(response, 200, { choices: [{ finish_reason: 'stop', message: { content } }] });
        });
        // Answered once as many wait as may.
        if (open === 2) while (waiting.length > 0) waiting.shift()!();
      },
    });
    const judge = createWebJudge({ model: modelOf(server, { concurrency: 2 }) });
    const pictures = [png(1), png(2), png(3), png(4)];
    const two = [1, 2].map(() => judge.judge({ ...INPUT, pictures }, { signal }));
    expect((await Promise.all(two)).map(({ verdict }) => verdict)).toEqual(['success', 'success']);
    expect(most).toBe(2);
    expect(judge.spent()).toMatchObject({ calls: 12, uncountedCalls: 8, cost: null });
  });

  it('says what it leaves out', async () => {
    const { asked, judgement } = await judged({
      input: { answer: `${'x'.repeat(9_000)}END`, pages: [{ url: 'http://a/', text: 'p'.repeat(20_000) }] },
      create: (model) => createOutcomeJudge({ model, maxPictures: 2 }),
    });
    const prompt = promptOf(asked[0]);
    expect(prompt).toContain('characters left out');
    expect(prompt).toContain('END\n');
    expect(prompt.length).toBeLessThan(30_000);
    expect(judgement.details.pictures).toMatchObject({ shown: [1, 3], omitted: { surplus: [2] } });
  });
});

describe('cost', () => {
  const paid = wholeAnswer(
    { finish_reason: 'stop', message: { content: JSON.stringify(SUCCESS) } },
    { prompt_tokens: 1_000, completion_tokens: 100, cost: 0.25 },
  );
  it.each([
    ['is what the endpoint charged', { outcome_verdict: () => paid }, { prices: { prompt: 1, completion: 1 } }, 0.25],
    ['is what the prices say', {}, { prices: { prompt: 2, completion: 10 } }, (11 * 2 + 7 * 10) / 1e6],
    ['is not known without either', {}, {}, null],
  ] as const)('%s', async (_, replies, model, cost) => {
    const { judgement } = await judged({ replies, model, create: outcome });
    expect(judgement.spending.cost).toBe(cost);
  });
});

describe('the rubric judge', () => {
  const groups = [{ id: 'g', description: 'all', facts: ['The form is sent.', 'The price is 3.'] }];
  const facts = (second: object) => (asked: Parameters<typeof promptOf>[0]) =>
    promptOf(asked).includes('1. The price is 3.')
      ? second
      : { reasoning: 'Sent.', evidence: ['action 1'], holds: true };
  const play = (replies: JudgeReplies = {}) => judged({ replies, create: rubric, input: { rubric: groups } });

  it('asks fact by fact, and needs every one', async () => {
    const all = await play();
    expect(all.judgement).toMatchObject({ verdict: 'success', details: { supported: true, unmet: [] } });
    expect(all.questions.filter((name) => name === 'rubric_fact')).toHaveLength(2);
    const one = await play({ rubric_fact: facts({ reasoning: 'It is 4.', evidence: ['picture 2'], holds: false }) });
    expect(one.judgement).toMatchObject({
      verdict: 'failure',
      reasoning: expect.stringContaining('It is 4.') as string,
      details: { unmet: ['The price is 3.'], facts: [{ holds: true }, { holds: false, evidence: ['picture 2'] }] },
    });
  });

  it('an answer that nothing bears out fails, whatever the facts', async () => {
    const { judgement } = await play({ rubric_support: FAILURE });
    expect(judgement).toMatchObject({ verdict: 'failure', details: { supported: false, unmet: ['it is not sent'] } });
  });

  it.each([
    ['evidence that there is not', ['picture 9'], 'judge-bad-reply'],
    ['no evidence', [], 'judge-contradiction'],
  ])('a fact that holds by %s is no verdict', async (_, evidence, code) => {
    const { judgement } = await play({ rubric_fact: { reasoning: 'x', evidence, holds: true } });
    expect(judgement).toMatchObject({ verdict: 'invalid', code });
  });

  it('a task without a rubric is a mistake of whoever chose the judge', async () => {
    await expect(judged({ create: rubric })).rejects.toMatchObject({ boundary: 'config', code: 'no-rubric' });
  });
});

describe('a judge’s name', () => {
  it('changes with model, settings and limits, and not with the run', async () => {
    await using server = await serveJudge();
    const id = (options: Partial<JudgeModelOptions> = {}, limits = {}): string =>
      createWebJudge({ model: modelOf(server, options), ...limits }).id;
    expect(id()).toMatch(/^webjudge\/judge-model\/[0-9a-f]{12}$/);
    expect(id({ concurrency: 3, prices: { prompt: 1, completion: 1 } })).toBe(id());
    const others = [
      id({ temperature: 0 }),
      id({ maxTokens: 9_999 }),
      id({}, { scoreThreshold: 4 }),
      id({}, { maxPictures: 3 }),
    ];
    expect(new Set([id(), ...others]).size).toBe(5);
    const { promptHash } = createWebJudge({ model: modelOf(server) });
    expect(promptHash).toMatch(/^[0-9a-f]{64}$/);
    expect(createOutcomeJudge({ model: modelOf(server) }).promptHash).not.toBe(promptHash);
  });
});

describe('the text judge', () => {
  const texts = { question: 'How much?', reference: '3 euros', answer: '€3' };
  it('says yes, no, or that it cannot say', async () => {
    const say = async (reply: unknown) => {
      await using server = await serveJudge({ text_equivalent: reply });
      const judge = createTextJudge({ model: modelOf(server) });
      return { ...(await judge.equivalent(texts, { signal })), prompt: promptOf(server.asked[0]) };
    };
    const yes = await say({ reasoning: 'The same.', verdict: 'yes' });
    expect([yes.verdict, (await say({ reasoning: 'Other.', verdict: 'no' })).verdict]).toEqual(['success', 'failure']);
    expect(await say('same')).toMatchObject({ verdict: 'invalid', code: 'judge-bad-reply' });
    expect(yes.prompt).toMatch(/\[begin quoted given answer \w+\]\n\| €3\n\[end quoted/);
  });

  it('asks about tasks that cannot be done, and statements', async () => {
    await using server = await serveJudge();
    const judge = createTextJudge({ model: modelOf(server) });
    await judge.unachievable({ question: 'q', note: 'sold out', answer: 'none left' }, { signal });
    await judge.holds({ question: 'q', rubric: 'names a price', answer: '3' }, { signal });
    expect(server.asked.map(questionOf)).toEqual(['text_unachievable', 'text_holds']);
    expect(promptOf(server.asked[1])).toContain('| names a price\n');
  });
});
