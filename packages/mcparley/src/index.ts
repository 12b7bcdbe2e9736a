/** The types, errors and revisions that every part of the library shares. */
export {
  Cancelled,
  Declined,
  ErrorCode,
  LocalError,
  type LocalErrorCode,
  McpError,
  ProtocolError,
  ToolError,
  isResourceNotFound,
} from "./rpc/errors.ts";
export {
  type JsonObject,
  type JsonRpcFailure,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonRpcSuccess,
  type RequestId,
  encode,
} from "./rpc/messages.ts";
export type { Envelope, Receiver, Transport } from "./rpc/transport.ts";
export { type Clock, systemClock } from "./rpc/clock.ts";
export type { ClientCapabilities, Implementation, ServerCapabilities } from "./protocol/capabilities.ts";
export type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  ResourceContents,
  ResourceLink,
  Role,
  TextContent,
  TextResourceContents,
} from "./protocol/content.ts";
export type { CompleteResult, CompletionReference } from "./protocol/completion.ts";
export type {
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
  RequestedSchema,
} from "./protocol/elicitation.ts";
export type { InputRequest, InputRequiredResult } from "./protocol/input-required.ts";
export type { DiscoverResult, InitializeResult } from "./protocol/lifecycle.ts";
export { type LoggingLevel, type LoggingMessage, loggingLevels } from "./protocol/logging.ts";
export type { Progress } from "./protocol/progress.ts";
export type { GetPromptResult, Prompt, PromptArgument, PromptMessage } from "./protocol/prompts.ts";
export type { CacheHint, ReadResourceResult, Resource, ResourceTemplate } from "./protocol/resources.ts";
export type { Root } from "./protocol/roots.ts";
export type {
  CreateMessageParams,
  CreateMessageResult,
  ModelPreferences,
  SamplingContent,
  SamplingMessage,
  ToolResultContent,
  ToolUseContent,
} from "./protocol/sampling.ts";
export type { SubscriptionFilter } from "./protocol/subscriptions.ts";
export type { CallToolResult, Tool, ToolAnnotations } from "./protocol/tools.ts";
export { supportedVersions } from "./revisions/revisions.ts";
