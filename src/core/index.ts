// The vocabulary of the project. Everything above layer 1 speaks in these types.

export type * from './actor.ts';
export { AGENT_INSTRUCTIONS } from './agent-instructions.ts';
export type * from './backend.ts';
export type * from './chat-renderer.ts';
export type * from './env.ts';
export { isAbort, TabwrightError, type Boundary, type TabwrightErrorOptions } from './errors.ts';
export type * from './events.ts';
export { asJson, isJsonObject, type JsonObject, type JsonValue } from './json.ts';
export {
  contentText,
  type AssistantMessage,
  type ContentPart,
  type DeveloperMessage,
  type ImagePart,
  type MalformedCall,
  type Message,
  type MessageContent,
  type SystemMessage,
  type TextPart,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
} from './message.ts';
export type * from './outcome.ts';
export type * from './policy.ts';
export type * from './task.ts';
export type * from './training.ts';
export type * from './trajectory.ts';
