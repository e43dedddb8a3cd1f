import { expect, it } from 'vitest';
import { supervisedRate } from './supervised-rate.ts';

const rate = (family: string, hiddenSize: number): number =>
  supervisedRate({ name: 'm', family, hiddenSize, adapters: true });

it('is the rule of the family, by the width of the model', () => {
  expect(rate('qwen3', 2000)).toBeCloseTo(5e-4, 12);
  expect(rate('llama', 2000)).toBeCloseTo(5e-4, 12);
  // By hand: 5e-4 x (2000/4096)^0.0775 and 5e-4 x (2000/4096)^0.781.
  expect(rate('qwen3', 4096)).toBeCloseTo(4.7298e-4, 7);
  expect(rate('llama3.1', 4096)).toBeCloseTo(2.8567e-4, 7);
});

it('is refused where the rule says nothing, with what is missing', () => {
  const of = (model: Partial<Parameters<typeof supervisedRate>[0]>) => () =>
    supervisedRate({ name: 'm', family: 'qwen3', hiddenSize: 64, adapters: true, ...model });
  expect(of({ adapters: false })).toThrow(/every weight is trained/);
  expect(of({ hiddenSize: undefined })).toThrow(/width is not known/);
  expect(of({ family: 'gemma3_text' })).toThrow(/Qwen and Llama models only.*gemma3_text/);
  expect(of({ family: undefined })).toThrow(
    expect.objectContaining({ boundary: 'config', code: 'no-supervised-rate' }),
  );
});
