// A policy without a model, such as an oracle, as an actor whose turns can be learnt from: it decides, and what it decides is
// said in the tokens of the model that is to learn it.

import type { Actor, ChatRecord, Renderer, TokenRecord } from '../core/index.ts';

export type DemonstratingActorOptions = {
  /** Shown each page by itself: what it knows of earlier ones it remembers. */
  readonly teacher: Actor<ChatRecord>;
  /** Of the model that learns. */
  readonly renderer: Renderer;
};

export function demonstratingActor({ teacher, renderer }: DemonstratingActorOptions): Actor<TokenRecord> {
  return {
    name: teacher.name,
    async act({ past, ...now }, options) {
      const { action } = await teacher.act({ ...now, past: [] }, options);
      const earlier = past.map(({ observation, record }) => ({ observation, actionTokens: record.actionTokens }));
      const conversation = { ...now, past: earlier };
      const promptTokens = renderer.render(conversation);
      const actionTokens = renderer.renderAction(conversation, action);
      // Nothing was drawn: the teacher says this and nothing else, so each token has probability one.
      const logprobs = actionTokens.map(() => 0);
      return {
        action,
        record: { promptTokens, actionTokens, logprobs, samplerVersion: 0, stop: 'stop' },
        usage: { promptTokens: promptTokens.length, completionTokens: actionTokens.length },
      };
    },
  };
}
