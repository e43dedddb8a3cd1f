// Cosines and sines of rotary positions (Su et al. 2021, equation 15), with the ways of stretching them that models use.

import { isSliding, type ModelConfig, type RopeScaling } from './model-config.ts';

export type RopeAngles = {
  /** [positions, headDim / 2] */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
};

/** Angles of the first `positions` positions in a layer. */
export function ropeAngles(config: ModelConfig, layer: number, positions = config.maxPositions): RopeAngles {
  const { headDim, ropeSinglePrecision = false } = config;
  const half = headDim / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  const frequencies = layerFrequencies(config, layer);
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      // Rounded twice where the reference rounds twice: at position 8,000 that moves an angle by up to 2e-4.
      const angle = ropeSinglePrecision
        ? Math.fround(position * Math.fround(1 / frequencies[i]))
        : position / frequencies[i];
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Positions a radian, by half dimension. */
function layerFrequencies(config: ModelConfig, layer: number): number[] {
  const { headDim, sliding, ropeScaling } = config;
  const half = headDim / 2;
  const local = isSliding(config, layer);
  const theta = local ? sliding!.ropeTheta : config.ropeTheta;
  const plain = Array.from({ length: half }, (_, i) => theta ** (i / half));
  const scaled = !local || sliding!.ropeScaled;
  return ropeScaling && scaled ? plain.map((positions) => stretch(positions, ropeScaling)) : plain;
}

function stretch(positions: number, scaling: RopeScaling): number {
  switch (scaling.type) {
    case 'linear':
      return positions * scaling.factor;
    case 'llama3': {
      const { factor, lowFreqFactor, highFreqFactor, originalMaxPositions } = scaling;
      const wavelength = 2 * Math.PI * positions;
      if (wavelength < originalMaxPositions / highFreqFactor) return positions;
      if (wavelength > originalMaxPositions / lowFreqFactor) return positions * factor;
      const smooth = (originalMaxPositions / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
      return 1 / ((1 - smooth) / (positions * factor) + smooth / positions);
    }
    default:
      return scaling satisfies never;
  }
}
