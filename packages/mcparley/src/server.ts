/** Defines servers: tools, prompts, resources, middleware, logs and rate limits. */
export { LocalError, type LocalErrorCode, ProtocolError } from "./rpc/errors.ts";
export type { Awaitable } from "./rpc/awaitable.ts";
export type { JsonObject } from "./rpc/messages.ts";
export type { Envelope, Receiver, Transport } from "./rpc/transport.ts";
export type { Clock } from "./rpc/clock.ts";
export { Cancelled, Declined, McpError, ToolError } from "./mcp/errors.ts";
export type { ClientCapabilities, Implementation, InputKind } from "./mcp/capabilities.ts";
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
export type { InputRequest } from "./mcp/input-required.ts";
export type { LoggingLevel } from "./mcp/logging.ts";
export type { GetPromptResult, PromptMessage } from "./mcp/prompts.ts";
export type { CacheHint, ReadResourceResult } from "./mcp/resources.ts";
export type { Root } from "./mcp/roots.ts";
export type { CreateMessageParams, CreateMessageResult, SamplingContent, SamplingMessage } from "./mcp/sampling.ts";
export type { CallToolResult, ToolAnnotations } from "./mcp/tools.ts";
export type { CallEnd, CallObserver, CallRecord, CallRun, ObservedCall, CallOutcome } from "./mcp/observe.ts";
export { type AuditRecord, type RefusalRecord, auditTo } from "./server/observe/audit.ts";
export type { Connection } from "./server/protocol/connection.ts";
export { assistant, audio, embed, image, link, text, user } from "./server/features/content.ts";
export type {
  ElicitedValue,
  ClientSession,
  Context,
  FormElicitation,
  InputOptions,
  Logger,
  Peer,
  Principal,
  SampleQuestion,
  UrlElicitation,
} from "./server/core/context.ts";
export type { CustomNotification } from "./mcp/custom-notifications.ts";
export type { Progress } from "./mcp/progress.ts";
export { type UrlVisit, urlRequired } from "./server/input/url-required.ts";
export type {
  PromptArgumentDefinition,
  PromptArgumentTexts,
  PromptArgumentValues,
  PromptArguments,
  PromptArgumentsSchema,
  CompletionHandler,
  Completions,
  Prompt,
  PromptDefinition,
  Resource,
  ResourceDefinition,
  ResourceRegistry,
  Tool,
  ToolDefinition,
} from "./server/core/definition-types.ts";
export { type WithContext, prompt, resource, tool, withContext } from "./server/definition.ts";
export type { NoSchema, Schema, StandardSchema, TypedSchema } from "./schema/standard-schema.ts";
export type { JsonSchema } from "./schema/schema.ts";
export type {
  ExtensionMethod,
  ExtensionSubscription,
  ServerExtension,
  ToolExtension,
} from "./server/core/extension.ts";
export { type InputRequired, inputRequired } from "./server/core/input-required.ts";
export { spendState } from "./server/input/spend-state.ts";
export type { MethodMiddleware, Middleware, MiddlewareCall } from "./server/dispatch/middleware.ts";
export type { RejectedRequest, ServerCall, ServerObserver, SessionEnd } from "./server/core/observer.ts";
export type { CapabilityChoice, ServerDefinition, ServerLimits } from "./server/core/options.ts";
export { type RateLimitOptions, rateLimit } from "./server/observe/rate-limit.ts";
export { resourceNotFound } from "./server/features/resources.ts";
export type { Registry } from "./server/core/registry.ts";
export { localUser } from "./server/core/principal.ts";
export { requireScopes } from "./server/core/scopes.ts";
export { type PrefixedDefinitions, type Server, createServer } from "./server/create-server.ts";
export { type MemoryStoreOptions, memoryStore } from "./store/memory-store.ts";
export type { AppendOptions, CompareAndSetOptions, Lifetime, LogEntry, Store } from "./store/store.ts";
export {
  type JsonLoggerOptions,
  type LogLevel,
  type StructuredLogger,
  jsonLogger,
  logTo,
} from "./server/observe/logging.ts";
export type { UriVariables } from "./schema/uri-variables.ts";
export { type ResultWithoutOutputSchema, type ToolResult, toolResult } from "./server/core/tool-types.ts";
// These throw an error that names the right function or entry point.
export { McpServer, type OtherImport, connect, listen, serveStdio, toFetch } from "./mcp/other-imports.ts";
