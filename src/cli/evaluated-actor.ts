// Whoever is evaluated, by the name after --model: a model, a script, or one of the environment's own policies that need
// no model, which may want an environment of their own.

import { TabwrightError, type Actor, type ChatRecord, type Env, type TokenRecord } from '../core/index.ts';
import type { DecodeWeights } from '../engine/index.ts';
import { openActor } from './actors.ts';
import type { ChatSettings } from './chat-policy.ts';
import type { OpenedEnvironment } from './opened-environment.ts';
import { roundingWithoutEffect } from './policy-model.ts';
import type { CommandContext } from './run-command.ts';
import { policyModelOptions } from './stage-context.ts';

export type EvaluatedActor = AsyncDisposable & {
  /** As it was asked for; with how its weights are rounded, since that is another policy. */
  readonly name: string;
  readonly env: Env;
  /** Null where no tokens are sampled here. */
  readonly renderer: string | null;
  readonly noted: { readonly baseUrl?: string };
  readonly isSlow: boolean;
} & (
    | { readonly kind: 'chat'; readonly actor: Actor<ChatRecord> }
    | { readonly kind: 'tokens'; readonly actor: Actor<TokenRecord> }
  );

export type EvaluatedActorOptions = Pick<CommandContext<unknown>, 'given' | 'listener' | 'signal'> & {
  readonly config: ChatSettings & {
    readonly temperature: number;
    readonly tokenizer?: string | undefined;
    readonly decodeWeights?: DecodeWeights | undefined;
  };
  readonly opened: OpenedEnvironment;
};

const SCRIPTED = 'scripted:';
/** Of chat endpoints in environments that say nothing of it. */
const REPLY_TOKENS = 1_024;

export async function openEvaluatedActor(options: EvaluatedActorOptions): Promise<EvaluatedActor> {
  const { opened, given, config } = options;
  const name = given.model ?? 'nano';
  const policy = name.startsWith(SCRIPTED) ? name.slice(SCRIPTED.length) : undefined;
  if (policy !== undefined && opened.policyNames.includes(policy)) {
    if ((config.decodeWeights ?? 'f32') !== 'f32') throw roundingWithoutEffect(name, 'none that decodes here');
    const { env, actor } = opened.policy(policy);
    const dispose = (): Promise<void> => Promise.resolve(); // the environment's, not ours
    return { kind: 'chat', name, env, actor, renderer: null, noted: {}, isSlow: false, [Symbol.asyncDispose]: dispose };
  }
  const { settings, tokenizer, resumes, baseUrl, signal, onNotice } = policyModelOptions(options);
  const { turnTokens } = opened;
  const { decodeWeights } = config;
  const actor = await openActor({
    model: name,
    baseUrl,
    maxTokens: config.maxActionTokens ?? turnTokens ?? REPLY_TOKENS,
    temperature: config.temperature,
    policy: {
      settings: { ...settings, ...(turnTokens === undefined ? {} : { replyTokens: turnTokens }) },
      tokenizer,
      resumes,
      decodeWeights,
    },
    signal,
    onNotice,
  }).catch((error: unknown) => {
    throw policy === undefined ? error : withPolicies(error, opened);
  });
  return { renderer: null, ...actor, name: policyName(name, decodeWeights), env: opened.env };
}

/** Comparisons, tables and noise go by the name: a policy of rounded weights is never taken for the whole one. */
export function policyName(model: string, decodeWeights: DecodeWeights = 'f32'): string {
  return decodeWeights === 'f32' ? model : `${model} (decoded in ${decodeWeights})`;
}

/** What is no file may have been meant for a policy. */
function withPolicies(error: unknown, { env, policyNames }: OpenedEnvironment): unknown {
  if (!(error instanceof TabwrightError) || error.code !== 'script-unreadable' || policyNames.length === 0)
    return error;
  return new TabwrightError('config', `${error.message}. Policies of ${env.name}: ${policyNames.join(', ')}.`, {
    code: 'script-unreadable',
    cause: error,
  });
}
