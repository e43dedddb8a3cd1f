// A chat model as a policy of episodes: the task and the first page are the user's message, each later page answers the
// call before it. Sampled tokens are never rendered again: a prompt is the prompt before, the tokens that were sampled, and
// what follows, so that a trajectory is one row to train on until it outgrows the prompt.

import {
  AGENT_INSTRUCTIONS,
  TabwrightError,
  type Action,
  type AssistantMessage,
  type ChatConversation,
  type ChatRenderer,
  type Conversation,
  type JsonObject,
  type Message,
  type Observation,
  type Renderer,
  type ToolSpec,
} from '../core/index.ts';
import { readJson, toJsonValue } from './text/json-text.ts';

export type PolicyRendererOptions = {
  readonly chat: ChatRenderer;
  /** Longer conversations begin anew at a later turn, longer pages lose their end. Context less `maxActionTokens`. */
  readonly maxPromptTokens: number;
  /** Of one reply, thinking included. */
  readonly maxActionTokens: number;
  /** Of one page; what is cut off is said. Default 8192. */
  readonly maxPageTokens?: number;
};

export type PolicyRenderer = Renderer & {
  /** `thinking` is said before the action, by formats that think. */
  renderAction(conversation: Conversation, action: Action, thinking?: string): readonly number[];
};

/** Part of the name: a change of what is said around pages is another renderer. */
const VERSION = 'agent-1';

export function createPolicyRenderer(options: PolicyRendererOptions): PolicyRenderer {
  const { chat, maxPromptTokens, maxActionTokens, maxPageTokens = 8192 } = options;
  const cut = (text: string, tokens: number): string => cutText(chat, text, tokens);
  const open = (conversation: Conversation, observation: Observation): Started =>
    start(chat, conversation, observation, { cut, maxPromptTokens, maxPageTokens });
  const prompt = (conversation: Conversation): Started => {
    const { past } = conversation;
    const seen = [...past.map((turn) => turn.observation), conversation.observation];
    let current = open(conversation, seen[0]);
    past.forEach(({ actionTokens }, turn) => {
      const observation = seen[turn + 1];
      const next = follow(chat, current, actionTokens, cutPage(observation, cut, maxPageTokens));
      // Beginning anew keeps nothing of the past, so the next turns extend each other again.
      current = next.ids.length <= maxPromptTokens ? next : open(conversation, observation);
    });
    return current;
  };
  return {
    name: `${chat.name}/${VERSION}`,
    stopTokens: chat.stopTokens,
    maxActionTokens,
    render: (conversation) => prompt(conversation).ids,
    parse: (tokens, tools = []) => readAction(chat, tokens, tools),
    renderAction: (conversation, action, thinking?: string) =>
      chat.renderTurn(prompt(conversation).conversation, actionMessage(action, thinking)),
  };
}

/** A prompt, and the conversation that it is of. */
type Started = { readonly ids: readonly number[]; readonly conversation: ChatConversation };

type StartOptions = {
  readonly cut: (text: string, tokens: number) => string;
  readonly maxPromptTokens: number;
  readonly maxPageTokens: number;
};

function start(
  chat: ChatRenderer,
  { instruction, tools }: Conversation,
  observation: Observation,
  { cut, maxPromptTokens, maxPageTokens }: StartOptions,
): Started {
  const begin = (seen: Observation): Started => {
    const content = [instruction, seen.notice, seen.page].filter((part) => (part ?? '') !== '').join('\n\n');
    const messages: readonly Message[] = [
      { role: 'system', content: AGENT_INSTRUCTIONS },
      { role: 'user', content },
    ];
    return { ids: chat.render({ messages, tools }), conversation: { messages, tools } };
  };
  let limit = maxPageTokens;
  for (;;) {
    const started = begin(cutPage(observation, cut, limit));
    const excess = started.ids.length - maxPromptTokens;
    if (excess <= 0) return started;
    if (limit <= 0) {
      throw new TabwrightError(
        'config',
        `The task and its tools take ${started.ids.length} tokens without any page, and a prompt may have ` +
          `${maxPromptTokens}: allow more, or take away tools.`,
        { code: 'prompt-too-long', details: { tokens: started.ids.length, maxPromptTokens } },
      );
    }
    const length = chat.tokenizer.encode(observation.page).length;
    limit = Math.max(0, Math.min(limit, length) - excess);
  }
}

/** The next prompt, as the one before, what was sampled, and what came of it. */
function follow(chat: ChatRenderer, before: Started, tokens: readonly number[], observation: Observation): Started {
  const { message } = chat.parse(tokens, before.conversation.tools);
  const content = [observation.notice, observation.page].filter((part) => (part ?? '') !== '').join('\n\n');
  const calls = message.toolCalls ?? [];
  const next: readonly Message[] =
    calls.length === 0
      ? [{ role: 'user', content }]
      : calls.map(({ name }, index) => ({
          role: 'tool',
          name,
          content: index < calls.length - 1 ? 'Not carried out.' : content,
        }));
  const rest = chat.renderNext(before.conversation, { tokens, message }, next);
  // As `renderNext` writes it: what was said is tokens now, and its text is nowhere rendered again.
  const spoken: AssistantMessage = {
    role: 'assistant',
    content: '',
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
  const { messages, ...others } = before.conversation;
  return {
    ids: [...before.ids, ...tokens, ...rest],
    conversation: { ...others, messages: [...messages, spoken, ...next] },
  };
}

function cutPage(observation: Observation, cut: StartOptions['cut'], limit: number): Observation {
  return { ...observation, page: cut(observation.page, limit) };
}

const CUT = '\n[The rest of the page is left out.]';

function cutText(chat: ChatRenderer, text: string, limit: number): string {
  // No token is less than a byte, so most pages need no counting.
  if (Buffer.byteLength(text) <= limit) return text;
  const ids = chat.tokenizer.encode(text);
  if (ids.length <= limit) return text;
  const room = limit - chat.tokenizer.encode(CUT).length;
  if (room <= 0) return '';
  return chat.tokenizer.decode(ids.slice(0, room)).replace(/\ufffd+$/, '') + CUT;
}

/** One call is an action, text without a call is the answer, everything else is malformed and says why. */
function readAction(chat: ChatRenderer, tokens: readonly number[], tools: readonly ToolSpec[]): Action {
  const { message, ended } = chat.parse(tokens, tools);
  const malformed = (problem: string): Action => ({ kind: 'malformed', problem, text: chat.tokenizer.decode(tokens) });
  const calls = message.toolCalls ?? [];
  const [broken] = message.malformedCalls ?? [];
  if (!ended) return malformed(`the reply was cut off after ${tokens.length} tokens, because it was too long`);
  if (broken !== undefined) return malformed(broken.problem);
  if (calls.length > 1) {
    return malformed(`there are ${calls.length} calls in one reply; make one, and wait for its result`);
  }
  const [call] = calls;
  if (call !== undefined) {
    const reading = readJson(call.arguments);
    if ('problem' in reading) return malformed(`${reading.problem} of the call`);
    return { kind: 'call', tool: call.name, args: toJsonValue(reading.node) as JsonObject };
  }
  const text = typeof message.content === 'string' ? message.content : '';
  return text.trim() === '' ? malformed('the reply is empty') : { kind: 'answer', text };
}

function actionMessage(action: Action, thinking: string | undefined): AssistantMessage {
  const thought = thinking === undefined ? {} : { thinking };
  switch (action.kind) {
    case 'call':
      return {
        role: 'assistant',
        content: '',
        ...thought,
        toolCalls: [{ name: action.tool, arguments: JSON.stringify(action.args) }],
      };
    case 'answer':
      return { role: 'assistant', content: action.text, ...thought };
    case 'malformed':
      throw new TabwrightError('policy', 'A malformed reply is nothing to imitate.', { code: 'nothing-to-say' });
  }
}
