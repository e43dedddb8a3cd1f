// The conversation format of the `nano` model. It reads the instruction, the answer to its last action and the page
// as it is now; earlier turns are left out, because the page's states say what has been done.
//
//   <task>Select MRW and click Submit.<notice>...<page>checkbox "MRW" [1]\nbutton "Submit" [2]<act>  ->  [1]<end>
//
// The task comes first: reading a name on the page, the model already knows whether it was asked for. Measured: with
// the page first the same model was still guessing among two controls after 1.2 M tokens, with the task first it had
// learned to tell them apart.

import { TabwrightError, type Action, type Conversation, type Renderer } from '../../core/index.ts';
import { decodeNano, encodeNano, nanoControlId, referenceOf } from './tokenizer.ts';

const MAX_ACTION_TOKENS = 8;
const MAX_NOTICE_TOKENS = 64;

export type NanoRendererOptions = {
  /** Longer prompts lose the end of the page. Default 500. */
  readonly maxPromptTokens?: number;
};

export function createNanoRenderer({ maxPromptTokens = 500 }: NanoRendererOptions = {}): Renderer {
  const end = nanoControlId('<end>');
  return {
    name: 'nano/1',
    stopTokens: [end],
    maxActionTokens: MAX_ACTION_TOKENS,
    render: (conversation) => renderNano(conversation, maxPromptTokens),
    parse: (tokens) => parseNano(tokens, end),
    renderAction: (_conversation, action) => nanoReply(`[${clicked(action)}]`),
  };
}

function renderNano({ instruction, observation }: Conversation, maxPromptTokens: number): number[] {
  const { page, notice } = observation;
  const head = [nanoControlId('<task>'), ...encodeNano(instruction)];
  if (notice !== undefined) head.push(nanoControlId('<notice>'), ...encodeNano(notice).slice(0, MAX_NOTICE_TOKENS));
  head.push(nanoControlId('<page>'));
  const room = Math.max(0, maxPromptTokens - head.length - 1);
  return [...head.slice(0, maxPromptTokens - 1), ...encodeNano(page).slice(0, room), nanoControlId('<act>')];
}

/** What the model said: one reference is a click, anything else is malformed for the one tool that nano knows. */
function parseNano(tokens: readonly number[], end: number): Action {
  const text = decodeNano(tokens);
  const malformed = (problem: string): Action => ({ kind: 'malformed', problem, text });
  if (tokens.at(-1) !== end) return malformed(`the reply did not end within ${MAX_ACTION_TOKENS} tokens`);
  if (tokens.length === 1) return malformed('the reply is empty; name one reference, like [3]');
  const target = referenceOf(tokens[0]);
  if (tokens.length > 2 || target === undefined) return malformed('the reply is not one reference; name one, like [3]');
  return { kind: 'call', tool: 'click', args: { target } };
}

function clicked(action: Action): number {
  const target = action.kind === 'call' && action.tool === 'click' ? action.args['target'] : undefined;
  if (typeof target === 'number' && referenceOf(encodeNano(`[${target}]`)[0]) === target) return target;
  throw new TabwrightError(
    'policy',
    `nano can say nothing but a click on one of its references, not ${JSON.stringify(action).slice(0, 200)}.`,
    { code: 'unsayable-action' },
  );
}

/** A reply of the model, e.g. `[3]` or `yes`. */
export function nanoReply(text: string): number[] {
  return [...encodeNano(text), nanoControlId('<end>')];
}

/** Where a control of a prompt's page stands: the tokens that end its name and that name it. */
export type NanoReference = { readonly position: number; readonly nameEnd: number; readonly reference: number };

/** The controls of a prompt's page, in its order. */
export function nanoReferences(prompt: readonly number[]): readonly NanoReference[] {
  const [quote] = encodeNano('" ');
  const page = prompt.lastIndexOf(nanoControlId('<page>'));
  return prompt.flatMap((id, position) => {
    const reference = referenceOf(id);
    if (reference === undefined || position < page) return [];
    return [{ position, nameEnd: prompt.lastIndexOf(quote, position), reference }];
  });
}
