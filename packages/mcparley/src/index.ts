/** The types, errors and functions that clients and servers share. */
export { LocalError, type LocalErrorCode, ProtocolError } from "./rpc/errors.ts";
export { Cancelled, Declined, ErrorCode, McpError, ToolError, isResourceNotFound } from "./mcp/errors.ts";
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
export { printable, printableJson } from "./rpc/printable.ts";
export { wellFormedJson } from "./rpc/well-formed.ts";
export { redact } from "./rpc/redact.ts";
export type {
  ClientCapabilities,
  DiscoverResult,
  Implementation,
  InitializeResult,
  ServerCapabilities,
} from "./mcp/capabilities.ts";
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
} from "./mcp/content.ts";
export type { CompleteResult, CompletionReference } from "./mcp/completion.ts";
export type {
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
  RequestedSchema,
} from "./mcp/elicitation.ts";
export type { InputRequest, InputRequiredResult } from "./mcp/input-required.ts";
export { type LoggingLevel, type LoggingMessage, loggingLevels } from "./mcp/logging.ts";
export type { Progress } from "./mcp/progress.ts";
export type { GetPromptResult, Prompt, PromptArgument, PromptMessage } from "./mcp/prompts.ts";
export type { CacheHint, ReadResourceResult, Resource, ResourceTemplate } from "./mcp/resources.ts";
export type { Root } from "./mcp/roots.ts";
export type {
  CreateMessageParams,
  CreateMessageResult,
  ModelPreferences,
  SamplingContent,
  SamplingMessage,
  ToolResultContent,
  ToolUseContent,
} from "./mcp/sampling.ts";
export type { SubscriptionFilter } from "./mcp/subscriptions.ts";
export type { CallToolResult, Tool, ToolAnnotations } from "./mcp/tools.ts";
export { supportedVersions } from "./mcp/revisions/index.ts";
// These throw an error that names the right entry point.
export {
  McpServer,
  type OtherImport,
  connect,
  createServer,
  listen,
  prompt,
  resource,
  serveStdio,
  toFetch,
  tool,
} from "./mcp/other-imports.ts";
