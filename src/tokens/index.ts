// Text to token ids and back: tokenizers, conversation renderers.

export { createNanoChat, nanoTokenizer } from './nano/chat.ts';
export {
  createNanoRenderer,
  nanoReferences,
  nanoReply,
  type NanoReference,
  type NanoRendererOptions,
} from './nano/renderer.ts';
export { decodeNano, encodeNano, nanoControlId, NANO_VOCABULARY_SIZE } from './nano/tokenizer.ts';
export { createTokenizer, loadTokenizer, type TokenizerOptions } from './tokenizer.ts';
