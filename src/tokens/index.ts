// Text to token ids and back: tokenizers, conversation renderers.

export { createNanoRenderer, nanoClick, type NanoRendererOptions } from './nano/renderer.ts';
export { decodeNano, encodeNano, nanoControlId, NANO_VOCABULARY_SIZE } from './nano/tokenizer.ts';
