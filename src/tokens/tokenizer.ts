// A tokenizer from the contents of a tokenizer.json, with Hugging Face's own JavaScript implementation behind core's
// small interface. It is built without the control tokens: those are found here, so that one instance encodes text
// both ways, and literal text can never become one. It adds no begin and no end token, ever; formats write those.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as library from '@huggingface/tokenizers';
import { z } from 'zod';
import { TabwrightError, type Tokenizer } from '../core/index.ts';
import { controlSplitter, type ControlToken } from './control-splitter.ts';

// The package's own types import without extensions, which this project's module resolution does not follow.
type Implementation = {
  encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: number[] };
  decode(ids: readonly number[], options: { readonly skip_special_tokens: boolean }): string;
  id_to_token(id: number): string | undefined;
};
const { Tokenizer: Implementation } = library as unknown as {
  readonly Tokenizer: new (json: object, config: object) => Implementation;
};

const addedTokenSchema = z.object({
  id: z.number().int().nonnegative(),
  content: z.string(),
  special: z.boolean().default(false),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
});

const componentSchema = z.looseObject({ type: z.string() }).nullish();

const tokenizerJsonSchema = z.looseObject({
  added_tokens: z.array(addedTokenSchema.loose()).default([]),
  pre_tokenizer: componentSchema,
  model: z.looseObject({
    type: z.string().default('BPE'),
    vocab: z.union([z.record(z.string(), z.number()), z.array(z.tuple([z.string(), z.number()]))]),
  }),
});

export type TokenizerOptions = {
  /** For messages and records, e.g. the model's name. */
  readonly name: string;
  /** Parsed contents of a tokenizer.json. */
  readonly json: unknown;
};

export function createTokenizer({ name, json }: TokenizerOptions): Tokenizer {
  const parsed = tokenizerJsonSchema.safeParse(json);
  if (!parsed.success) {
    throw new TabwrightError('config', `${name}: this is no tokenizer.json: ${z.prettifyError(parsed.error)}`, {
      code: 'tokenizer-unreadable',
      details: { tokenizer: name },
    });
  }
  const { added_tokens: added, model, pre_tokenizer: preTokenizer } = parsed.data;
  const control = added.filter(isControl);
  const odd = control.find((token) => token.single_word);
  if (odd !== undefined) throw unsupported(name, `the control token ${odd.content} matches whole words only`);
  const implementation = new Implementation(
    {
      ...parsed.data,
      added_tokens: added.filter((token) => !isControl(token)),
      pre_tokenizer: adaptPreTokenizer(name, preTokenizer),
      post_processor: null,
    },
    { tokenizer_class: 'PreTrainedTokenizerFast', clean_up_tokenization_spaces: false },
  );
  const ids = Array.isArray(model.vocab) ? [model.vocab.length - 1] : Object.values(model.vocab);
  return tokenizerOf(name, implementation, control, maximum([...added.map(({ id }) => id)], maximum(ids, -1)) + 1);
}

function tokenizerOf(
  name: string,
  implementation: Implementation,
  control: readonly ControlToken[],
  vocabSize: number,
): Tokenizer {
  const controlTokens = new Map(control.map((token) => [token.content, token.id]));
  const nameById = new Map(control.map((token) => [token.id, token.content]));
  const split = controlSplitter(control);
  const encodeText = (text: string): number[] =>
    text === '' ? [] : implementation.encode(text, { add_special_tokens: false }).ids;
  return {
    name,
    vocabSize,
    controlTokens,
    encode(text, options = {}) {
      if (options.control !== true) return literal(name, encodeText(text), nameById);
      const result: number[] = [];
      for (const piece of split(text)) {
        if (piece.id === undefined) append(result, encodeText(piece.text));
        else result.push(piece.id);
      }
      return result;
    },
    decode(tokens) {
      let text = '';
      let run: number[] = [];
      const flush = (): void => {
        if (run.length > 0) text += implementation.decode(run, { skip_special_tokens: false });
        run = [];
      };
      for (const token of tokens) {
        const control = nameById.get(token);
        if (control !== undefined) {
          flush();
          text += control;
        } else if (implementation.id_to_token(token) !== undefined) run.push(token);
        else {
          // Rows of the embedding beyond the vocabulary: a sampler may draw one, and no text belongs to it.
          flush();
          text += '\ufffd';
        }
      }
      flush();
      return text;
    },
  };
}

/** What the safe mode rests on; a vocabulary that spells a control token with an ordinary piece would break it. */
function literal(name: string, ids: number[], controls: ReadonlyMap<number, string>): number[] {
  const found = ids.find((id) => controls.has(id));
  if (found === undefined) return ids;
  throw new TabwrightError(
    'policy',
    `${name} made the control token ${controls.get(found)} out of plain text: its vocabulary holds it as a word.`,
    { code: 'control-token-in-text', details: { tokenizer: name, token: found } },
  );
}

/** A tokenizer.json, or a folder that holds one. */
export async function loadTokenizer(path: string, name: string = path): Promise<Tokenizer> {
  try {
    const file = (await stat(path)).isDirectory() ? join(path, 'tokenizer.json') : path;
    return createTokenizer({ name, json: JSON.parse(await readFile(file, 'utf8')) as unknown });
  } catch (error) {
    if (error instanceof TabwrightError) throw error;
    throw new TabwrightError('config', `No tokenizer could be read from ${path}: ${String(error)}`, {
      code: 'tokenizer-unreadable',
      details: { path },
      cause: error,
    });
  }
}

// Added tokens that are ordinary writing: Gemma adds runs of white space and the elements of HTML.
const HTML_ELEMENTS = new Set(
  (
    'table caption thead tbody tfoot tr th td h1 h2 h3 h4 h5 h6 blockquote strong em b i u s sub sup code a html body ' +
    'img span bbox ul li div iframe footer'
  ).split(' '),
);

function isControl({ content, special }: { readonly content: string; readonly special: boolean }): boolean {
  if (special) return true;
  if (/^[\s\u2581]+$/.test(content)) return false;
  const element = /^<\/?([a-z0-9]+)>$/.exec(content)?.[1];
  return element === undefined || !HTML_ELEMENTS.has(element);
}

type Component = { readonly type: string; readonly [key: string]: unknown };

/**
 * `Digits` of the implementation knows only 0 to 9, while the original takes every numeric character (such as a half or
 * a Roman eight); the same split as a pattern has the right class. Shown by SmolLM2's goldens.
 */
function adaptPreTokenizer(name: string, component: Component | null | undefined): Component | null {
  if (component === null || component === undefined) return null;
  if (component.type === 'Sequence' && Array.isArray(component.pretokenizers)) {
    const parts = component.pretokenizers as readonly Component[];
    return { ...component, pretokenizers: parts.map((part) => adaptPreTokenizer(name, part)) };
  }
  if (component.type === 'Digits') {
    const pattern = component.individual_digits === true ? '\\p{N}' : '\\p{N}+';
    return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
  }
  if (component.type === 'Metaspace' && (component.prepend_scheme ?? 'always') === 'first') {
    throw unsupported(name, 'Metaspace with prepend_scheme "first" depends on what stands before a text');
  }
  return component;
}

function unsupported(name: string, what: string): TabwrightError {
  return new TabwrightError('config', `${name}: this tokenizer is not supported: ${what}.`, {
    code: 'tokenizer-unsupported',
    details: { tokenizer: name },
  });
}

function append(target: number[], ids: readonly number[]): void {
  for (const id of ids) target.push(id);
}

function maximum(values: readonly number[], least: number): number {
  let result = least;
  for (const value of values) if (value > result) result = value;
  return result;
}
