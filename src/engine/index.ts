// The embedded backend: a small transformer engine on ONNX Runtime, in this process. Token ids in and out, no text.

export { EmbeddedBackend, type EmbeddedBackendOptions } from './backend.ts';
export { loadModel, readSettings, saveModel } from './checkpoint.ts';
export { unpackAdapterArchive, type ArchiveOptions } from './formats/adapter-archive.ts';
export { exportGguf, type GgufExport } from './formats/gguf-export.ts';
export { openGguf, type GgufModel } from './formats/gguf-source.ts';
export type { GgufEntry, GgufMetadata, GgufValue } from './formats/gguf-types.ts';
export {
  fetchModel,
  type FetchedModel,
  type FetchModelOptions,
  type FetchProgress,
} from './formats/hub/fetch-model.ts';
export { createHubClient } from './formats/hub/hub-client.ts';
export { mergedModel, type MergedModel, type MergeOptions } from './formats/merged-model.ts';
export { writeMergedFolder, type MergedFolder } from './formats/merged-folder.ts';
export { COMPANION as MODEL_COMPANION } from './formats/output-place.ts';
export {
  readPeftAdapter,
  writePeftAdapter,
  type PeftAdapter,
  type PeftAdapterToWrite,
} from './formats/peft-adapter.ts';
export { openModelFolder } from './formats/safetensors-source.ts';
export { readTrained, type Trained } from './formats/trained-adapter.ts';
export type { FloatType, TensorToWrite } from './formats/safetensors-writer.ts';
export { exportAdapter, type AdapterToExport } from './export-adapter.ts';
export { parseHuggingFaceConfig, type ModelFamily } from './hugging-face-config.ts';
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
export { KEPT_PROMPT_FLOATS } from './prefix-cache.ts';
export { loadPretrained, type PretrainedModel, type PretrainedOptions } from './pretrained.ts';
export { EmbeddedSampler } from './sampler.ts';
export { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts';
export { DECODE_WEIGHTS, type DecodeWeights } from './step-weights.ts';
export type { WeightSource } from './weight-source.ts';
export { initWeights, Weights, weightSpecs } from './weights.ts';
export { SamplerRuntime } from './whole-decoder.ts';
