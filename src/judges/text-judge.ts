// Questions about an answer alone, for graders that need a model for one string: whether two answers say the same, whether
// one says that a task cannot be done, whether a statement is true of one. It sees no episode.

import { z } from 'zod';
import type { ChatPart } from '../chat/index.ts';
import { fence } from './fence.ts';
import type { Judgement } from './judge.ts';
import type { AskOptions, JudgeModel } from './judge-model.ts';
import { promptHashOf, settle, type Decided } from './make-judge.ts';
import { hashOf, question, type Question } from './prompts.ts';
import { addSpending, NOTHING_SPENT, type JudgeSpending } from './spending.ts';
import { checkReasoning } from './verdict-reply.ts';

type Call = { readonly signal: AbortSignal };

/** `invalid` is no "no": whoever asked must not count it as one. */
export interface TextJudge {
  /** Model and a short hash of prompts and settings. */
  readonly id: string;
  readonly promptHash: string;
  readonly deadlineMs: number;
  spent(): JudgeSpending;
  /** Whether `answer` says the same as `reference`. */
  equivalent(
    texts: { readonly question: string; readonly reference: string; readonly answer: string },
    call: Call,
  ): Promise<Judgement>;
  /** Whether `answer` says that the task cannot be done, for the reason in `note`. */
  unachievable(
    texts: { readonly question: string; readonly note: string; readonly answer: string },
    call: Call,
  ): Promise<Judgement>;
  /** Whether the statement `rubric` is true of `answer`. */
  holds(
    texts: { readonly question: string; readonly rubric: string; readonly answer: string },
    call: Call,
  ): Promise<Judgement>;
}

export type TextJudgeOptions = {
  readonly model: JudgeModel;
  /** Milliseconds for a question. Default 120,000. */
  readonly deadlineMs?: number;
};

const reply = z.strictObject({ reasoning: z.string(), verdict: z.enum(['yes', 'no']) });
type Reply = z.output<typeof reply>;

const MAX_CHARACTERS = 8_000;

export function createTextJudge({ model, deadlineMs = 120_000 }: TextJudgeOptions): TextJudge {
  const equivalent = question('text-equivalent', reply);
  const unachievable = question('text-unachievable', reply);
  const holds = question('text-holds', reply);
  const promptHash = promptHashOf([equivalent, unachievable, holds]);
  let total = NOTHING_SPENT;
  const ask = async (
    about: Question<Reply>,
    texts: Readonly<Record<string, string>>,
    { signal }: Call,
  ): Promise<Judgement> => {
    const material = Object.entries(texts).map(([label, text]): ChatPart => {
      return { type: 'text', text: fence(text, { label, maxCharacters: MAX_CHARACTERS }) };
    });
    const decide = async (options: AskOptions): Promise<Decided> => {
      const { reasoning, verdict } = await model.ask(about, material, options);
      checkReasoning(reasoning);
      return { verdict: verdict === 'yes' ? 'success' : 'failure', reasoning, details: {} };
    };
    const judgement = await settle({ deadlineMs, signal, decide });
    total = addSpending(total, judgement.spending);
    return judgement;
  };
  return {
    id: `text/${model.name}/${hashOf([promptHash, model.settings]).slice(0, 12)}`,
    promptHash,
    deadlineMs,
    spent: () => total,
    equivalent: ({ question: asked, reference, answer }, call) =>
      ask(equivalent, { question: asked, 'correct answer': reference, 'given answer': answer }, call),
    unachievable: ({ question: asked, note, answer }, call) =>
      ask(unachievable, { task: asked, reason: note, 'given answer': answer }, call),
    holds: ({ question: asked, rubric, answer }, call) =>
      ask(holds, { task: asked, statement: rubric, 'given answer': answer }, call),
  };
}
