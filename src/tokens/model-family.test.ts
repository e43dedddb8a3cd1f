import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAT_FORMATS } from './formats.ts';
import { KNOWN_MODELS, modelFamily } from './model-family.ts';

const published = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../conformance/renderers/models.json'), 'utf8'),
) as Readonly<Record<string, readonly string[]>>;

describe('model families', () => {
  it('give published models the format of the template that they were published with', () => {
    const tails = KNOWN_MODELS.map((name) => name.toLowerCase().replace(/^[^/]+/, ''));
    let checked = 0;
    for (const [template, models] of Object.entries(published)) {
      for (const model of models) {
        if (!tails.includes(model.toLowerCase().replace(/^[^/]+/, ''))) continue;
        // The small Qwen3.5 have a template of their own that differs in the default alone.
        const format = template === 'qwen3.5-small' ? 'qwen3.5+no-thinking' : template;
        expect([model, modelFamily(model).format]).toEqual([model, format]);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThanOrEqual(50);
  });

  it('name formats that exist, the default first', () => {
    for (const name of KNOWN_MODELS) {
      const { format, formats } = modelFamily(name);
      expect(formats[0]).toBe(format);
      expect(formats.filter((variant) => !CHAT_FORMATS.includes(variant))).toEqual([]);
      expect(new Set(formats).size).toBe(formats.length);
    }
    expect(modelFamily('Qwen/Qwen3-8B').formats).toEqual(['qwen3', 'qwen3+no-thinking']);
    expect(modelFamily('google/gemma-3-1b-it').formats).toEqual(['gemma3', 'gemma3+tool-prompt']);
  });

  it('take names with a backend, a revision, or of a mirror', () => {
    expect(modelFamily('tinker:Qwen/Qwen3.6-35B-A3B')).toMatchObject({ parameters: 35e9, activeParameters: 3e9 });
    expect(modelFamily('hf:huggingfacetb/smollm2-135m-instruct@main').name).toBe('HuggingFaceTB/SmolLM2-135M-Instruct');
    expect(modelFamily('unsloth/Llama-3.2-1B-Instruct').name).toBe('meta-llama/Llama-3.2-1B-Instruct');
  });

  it('refuse what they do not know with what they know', () => {
    expect(() => modelFamily('hf:someone/model')).toThrow(
      expect.objectContaining({
        code: 'unknown-model',
        message: expect.stringMatching(/Qwen3-8B.*qwen3\.6/) as string,
      }),
    );
  });
});
