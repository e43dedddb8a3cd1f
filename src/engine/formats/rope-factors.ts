// Llama 3's rotary scaling as Hugging Face's config states it and as llama.cpp's files carry it: a tensor of factors by
// which each frequency is divided. Source: `_compute_llama3_parameters` of transformers, section 5 of the Llama 3 report.

export type Llama3Rope = {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalPositions: number;
};

/** What all published Llama 3.1 and 3.2 models have beside their own `factor`. */
const PUBLISHED = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 };

export type RopeShape = { readonly theta: number; readonly headDim: number };

export function llama3RopeFactors(rope: Llama3Rope, { theta, headDim }: RopeShape): Float32Array {
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalPositions } = rope;
  return Float32Array.from({ length: headDim / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * theta ** ((2 * i) / headDim);
    if (wavelength < originalPositions / highFrequencyFactor) return 1;
    if (wavelength > originalPositions / lowFrequencyFactor) return factor;
    const smooth = (originalPositions / wavelength - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}

/** The setting whose factors a file carries, if they are of the published kind. */
export function llama3RopeOf(factors: Float32Array, shape: RopeShape): Llama3Rope | undefined {
  const rope = { factor: Math.max(...factors), ...PUBLISHED };
  const expected = llama3RopeFactors(rope, shape);
  const same =
    factors.length === expected.length && factors.every((value, i) => Math.abs(value / expected[i] - 1) < 1e-5);
  return same ? rope : undefined;
}
