/** The parts of the library that the proofs use, from its sources, so that a proof needs no build. */
export { jwtVerifier } from "../../packages/mcparley/src/auth/server/jwt-verifier.ts";
export {
  type ProtectedResourceOptions,
  protectedResource,
} from "../../packages/mcparley/src/auth/server/protected-resource.ts";
export { connect } from "../../packages/mcparley/src/connect.ts";
export type { TransportFactory } from "../../packages/mcparley/src/client/connect/transports.ts";
export { openClient } from "../../packages/mcparley/src/client/open-client.ts";
export type { Client } from "../../packages/mcparley/src/client/client.ts";
export type { ClientExtension } from "../../packages/mcparley/src/client/extension.ts";
export { forgetRevisions } from "../../packages/mcparley/src/client/connect/remembered-revisions.ts";
export type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
export { asTask, continueAsTask, followTasks, tasks, tasksOf } from "../../packages/mcparley/src/tasks.ts";
export { toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
export type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
export { HttpRefusal } from "../../packages/mcparley/src/http/server/refusal.ts";
export { LocalError, ProtocolError } from "../../packages/mcparley/src/rpc/errors.ts";
export {
  Cancelled,
  Declined,
  ErrorCode,
  ToolError,
  isResourceNotFound,
} from "../../packages/mcparley/src/mcp/errors.ts";
export { MetaKey } from "../../packages/mcparley/src/mcp/methods.ts";
export { readContent, readPromptMessages } from "../../packages/mcparley/src/mcp/read-content.ts";
export { memoryPair } from "../../packages/mcparley/src/rpc/memory-transport.ts";
export type { JsonObject, JsonRpcErrorBody } from "../../packages/mcparley/src/rpc/messages.ts";
export type { Transport } from "../../packages/mcparley/src/rpc/transport.ts";
export { findRevision } from "../../packages/mcparley/src/mcp/revisions/index.ts";
export type { Revision } from "../../packages/mcparley/src/mcp/revisions/revision.ts";
export * as content from "../../packages/mcparley/src/server/features/content.ts";
export type { Context } from "../../packages/mcparley/src/server/core/context.ts";
export { openUrl } from "../../packages/mcparley/src/node/sign-in/loopback-sign-in.ts";
export { listen } from "../../packages/mcparley/src/node/listen.ts";
export { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
export { prompt, resource, tool } from "../../packages/mcparley/src/server/definition.ts";
export {
  type ServerExtension,
  declaresExtension,
  requireExtension,
} from "../../packages/mcparley/src/server/core/extension.ts";
export { inputRequired } from "../../packages/mcparley/src/server/core/input-required.ts";
export { urlRequired } from "../../packages/mcparley/src/server/input/url-required.ts";
export type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
export { rateLimit } from "../../packages/mcparley/src/server/observe/rate-limit.ts";
export { resourceNotFound } from "../../packages/mcparley/src/server/features/resources.ts";
export { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
export { toolResult } from "../../packages/mcparley/src/server/core/tool-types.ts";
export { serveStdio } from "../../packages/mcparley/src/stdio/serve-stdio.ts";
export { commandTransports } from "../../packages/mcparley/src/stdio/command-transport.ts";
export { streamTransport } from "../../packages/mcparley/src/stdio/stream-transport.ts";
export { type FakeClock, fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
export type { EventFeed, SentRequest } from "../support/fetch-stub.ts";
export { gate } from "../support/gate.ts";
export { type RawAnswer, type RawHttp, type RawMessage, rawHttp } from "../support/raw-http.ts";
export { oauth } from "../../packages/mcparley/src/auth/client/oauth.ts";
export type { OAuthOptions } from "../../packages/mcparley/src/auth/client/options.ts";
export { memoryCredentials } from "../../packages/mcparley/src/auth/client/credentials.ts";
export { type ScriptedIssuer, scriptedIssuer, serverUrl } from "../support/scripted-issuer.ts";
export { clientCredentials } from "../../packages/mcparley/src/auth/client/machine-grants.ts";
export { enterpriseManaged } from "../../packages/mcparley/src/auth/client/machine-grants.ts";
export type { MachineOptions } from "../../packages/mcparley/src/auth/client/options.ts";
export type { HttpAuth } from "../../packages/mcparley/src/http/client/settings.ts";
export { type AnswerToken, type TokenServer, authorizationDocuments, tokenServer } from "../support/token-server.ts";
export { spendState } from "../../packages/mcparley/src/server/input/spend-state.ts";
