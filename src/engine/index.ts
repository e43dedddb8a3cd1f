// The embedded backend: a small transformer engine on ONNX Runtime, in this process. Token ids in and out, no text.

export { EmbeddedBackend, type EmbeddedBackendOptions } from './backend.ts';
export { loadModel, saveModel } from './checkpoint.ts';
export {
  readPeftAdapter,
  writePeftAdapter,
  type PeftAdapter,
  type PeftAdapterToWrite,
} from './formats/peft-adapter.ts';
export {
  LORA_TARGETS,
  loraConfigOf,
  loraConfigSchema,
  loraParts,
  loraSpecs,
  mergeLora,
  type LoraConfig,
  type LoraPart,
} from './lora.ts';
export { measureMatmulRate } from './matmul-rate.ts';
export { modelConfigSchema, parseModelConfig, type ModelConfig } from './model-config.ts';
export { EmbeddedSampler, SamplerRuntime } from './sampler.ts';
export { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts';
export type { WeightSource } from './weight-source.ts';
export { initWeights, Weights, weightSpecs } from './weights.ts';
