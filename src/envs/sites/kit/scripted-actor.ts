// Policies that need no model, as actors: what they decide of what they have seen, in the shape of a chat model's turn.

import { asJson, type Action, type Actor, type ChatRecord } from '../../../core/index.ts';

/** A call of `browser_repl`. */
export function cell(code: string): Action {
  return { kind: 'call', tool: 'browser_repl', args: { code } };
}

type Seen = Parameters<Actor<ChatRecord>['act']>[0];

export function actor(name: string, decide: (seen: Seen) => Action): Actor<ChatRecord> {
  return {
    name,
    async act(conversation) {
      const action = decide(conversation);
      const reply =
        action.kind === 'call'
          ? { text: '', calls: [{ id: 'call_0', name: action.tool, arguments: JSON.stringify(asJson(action.args)) }] }
          : { text: action.text, calls: [] };
      return { action, record: { reply, stop: 'stop' }, usage: undefined };
    },
  };
}
