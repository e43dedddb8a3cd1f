// Chat models behind OpenAI-compatible endpoints, and scripts in their place, as actors and for whoever asks them else.

export { createChatActor, type ChatActorOptions } from './chat-actor.ts';
export {
  createChatEndpoint,
  type ChatAnswer,
  type ChatEndpoint,
  type ChatEndpointOptions,
  type ChatRequest,
} from './chat-endpoint.ts';
export type { ChatMessage, ChatPart } from './chat-message.ts';
export { createScriptedActor, readReplies } from './scripted-actor.ts';
