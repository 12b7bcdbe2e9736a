/** Connects to servers: `connect`, the client, and the types of its calls and handlers. */
export { LocalError, type LocalErrorCode, ProtocolError } from "./rpc/errors.ts";
export type { Awaitable } from "./rpc/awaitable.ts";
export type { JsonObject } from "./rpc/messages.ts";
export type { Envelope, Receiver, Transport } from "./rpc/transport.ts";
export { Cancelled, Declined, McpError, ToolError } from "./mcp/errors.ts";
export type { Implementation, ServerCapabilities } from "./mcp/capabilities.ts";
export type { CompleteResult, CompletionReference } from "./mcp/completion.ts";
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
export type { ElicitParams, ElicitResult } from "./mcp/elicitation.ts";
export type { LoggingLevel, LoggingMessage } from "./mcp/logging.ts";
export type { CustomNotification } from "./mcp/custom-notifications.ts";
export type { Progress } from "./mcp/progress.ts";
export type { GetPromptResult, Prompt, PromptArgument, PromptMessage } from "./mcp/prompts.ts";
export type { CacheHint, ReadResourceResult, Resource, ResourceTemplate } from "./mcp/resources.ts";
export type { Root } from "./mcp/roots.ts";
export type { CreateMessageParams, CreateMessageResult } from "./mcp/sampling.ts";
export type { CallToolResult, Tool, ToolAnnotations } from "./mcp/tools.ts";
export type { Client } from "./client/client.ts";
export type { ClientExtension, FollowedCall, PreparedCall } from "./client/extension.ts";
export type { ServerInfo } from "./client/connect/session.ts";
export { forgetRevisions } from "./client/connect/remembered-revisions.ts";
export type {
  InProcessCaller,
  InProcessServer,
  CommandTarget,
  ProcessListener,
  ReceivedPart,
  TransportFactory,
} from "./client/connect/transports.ts";
export type { PagedList } from "./client/lists/list-pages.ts";
export type { ClientCall, ClientObserver } from "./client/options.ts";
export type { CallEnd, CallObserver, CallRecord, CallRun, ObservedCall, CallOutcome } from "./mcp/observe.ts";
export { openClient } from "./client/open-client.ts";
export { readContent, readPromptMessages, readResourceContents } from "./mcp/read-content.ts";
export { validateJson } from "./schema/validation/validate-json.ts";
export type {
  InputRequestSource,
  ConnectOptions,
  ElicitHandler,
  RequestOptions,
  RootsHandler,
  SampleHandler,
  Timeouts,
} from "./client/options.ts";
export type {
  ServerChange,
  ListenExtension,
  ListenFilter,
  ListKind,
  Subscription,
} from "./client/subscriptions/subscription.ts";
export type {
  ToolCallArguments,
  ToolCallValue,
  PromptFunctions,
  ToolFunctions,
  TypedClient,
} from "./client/typed-client.ts";
export type {
  HttpAuth,
  HttpAuthRefusal,
  HttpAuthRequest,
  HttpConnection,
  HttpClientLimits,
  HttpTarget,
} from "./http/client/settings.ts";
export { type ConnectTarget, type HttpClientOptions, type ServerConnectOptions, connect } from "./connect.ts";
export type { ValidationIssue } from "./schema/schema.ts";
export { type OtherImport, StdioClientTransport, StreamableHTTPClientTransport } from "./mcp/other-imports.ts";
