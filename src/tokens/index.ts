// Text to token ids and back: tokenizers, conversation renderers.

export { createChatRenderer, type ChatFormat, type ChatRendererOptions } from './chat-format.ts';
export { chatFormat, CHAT_FORMATS, type ChatFormatOptions } from './formats.ts';
export {
  createGgufTokenizer,
  ggufTokenizerFiles,
  ggufTokenizerJson,
  type GgufTokenizerMetadata,
  type GgufTokenizerOptions,
} from './gguf-tokenizer.ts';
export { ggufEndTokens } from './gguf/end-tokens.ts';
export { tokenizerToGguf, type GgufTokenizerEntry, type ToMetadataOptions } from './gguf/to-metadata.ts';
export { KNOWN_MODELS, modelFamily, type ModelFamily } from './model-family.ts';
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
export { createPolicyRenderer, type PolicyRenderer, type PolicyRendererOptions } from './policy-renderer.ts';
export { createTemplateFormat, type TemplateFormatOptions } from './template-format.ts';
export { withToolPrompt } from './tool-prompt.ts';
