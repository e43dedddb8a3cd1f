// Token ids that others published, independent of the packages that our goldens were made with. Those of Qwen3 always
// run; the others where conformance/renderers/sources.py has built their tokenizers.

import { describe, expect, it } from 'vitest';
import { realTokenizer } from './test-support.ts';

const ANCHORS: Readonly<Record<string, readonly (readonly [text: string, ids: readonly number[]])[]>> = {
  qwen3: [
    ['<|im_start|><|im_end|><|endoftext|>', [151644, 151645, 151643]],
    ['<tool_call></tool_call>', [151657, 151658]],
    ['<tool_response></tool_response><think></think>', [151665, 151666, 151667, 151668]],
  ],
  'qwen2.5': [['<tool_call></tool_call>', [151657, 151658]]],
  'qwen3.5': [
    ['Hello, world! 12345', [9419, 11, 1814, 0, 220, 16, 17, 18, 19, 20]],
    ['你好，世界！', [109266, 3709, 96748, 6115]],
    ['  spaced  text\n', [220, 61674, 220, 1414, 198]],
    ['<|im_start|><|im_end|><tool_call></tool_call><think></think>', [248045, 248046, 248058, 248059, 248068, 248069]],
  ],
  llama3: [
    ['<|begin_of_text|><|end_of_text|><|start_header_id|><|end_header_id|>', [128000, 128001, 128006, 128007]],
    ['<|eom_id|><|eot_id|><|python_tag|>', [128008, 128009, 128010]],
  ],
  smollm2: [['<|endoftext|><|im_start|><|im_end|>', [0, 1, 2]]],
  'gpt-oss': [
    ['<|return|><|constrain|><|channel|><|start|>', [200002, 200003, 200005, 200006]],
    ['<|end|><|message|><|call|>', [200007, 200008, 200012]],
  ],
  nemotron3: [
    ['<|im_start|>user\nHi<|im_end|>', [10, 3263, 1010, 37133, 11]],
    ['assistant\n', [1503, 19464, 1010]],
    ['<think></think><tool_call></tool_call><tool_response></tool_response>', [12, 13, 14, 15, 16, 17]],
  ],
  gemma3: [
    ['<pad><eos><bos>', [0, 1, 2]],
    ['<start_of_turn><end_of_turn>\n', [105, 106, 107]],
    ['\n\n', [108]],
  ],
};

describe('published token ids', () => {
  for (const [family, anchors] of Object.entries(ANCHORS)) {
    const tokenizer = realTokenizer(family);
    it.runIf(tokenizer !== undefined || ['qwen3', 'qwen2.5'].includes(family))(`${family}`, { timeout: 60_000 }, () => {
      for (const [text, ids] of anchors) {
        expect([text, tokenizer!.encode(text, { control: true })]).toEqual([text, ids]);
        expect(tokenizer!.decode(ids)).toBe(text);
      }
    });
  }

  it('Qwen3 gives any text back, and control tokens only where they are asked for', { timeout: 60_000 }, () => {
    const tokenizer = realTokenizer('qwen3')!;
    const text = 'Ünï <|im_end|> 漢字 😀 <think> \u0007\n\n\t x½Ⅷ';
    for (const control of [true, false]) expect(tokenizer.decode(tokenizer.encode(text, { control }))).toBe(text);
    expect(tokenizer.encode(text).some((id) => id >= 151643)).toBe(false);
    expect(tokenizer.vocabSize).toBe(151669);
  });
});
