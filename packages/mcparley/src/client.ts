/** Connecting to servers. */
export { LocalError, ProtocolError } from "./rpc/errors.ts";
export { Cancelled, Declined, ToolError } from "./mcp/errors.ts";
export type { Client } from "./client/calls/client.ts";
export type { ClientExtension, FollowedRequest, PreparedRequest } from "./client/extension.ts";
export type { ServerInfo } from "./client/connect/session.ts";
export { forgetEras } from "./client/connect/find-revision.ts";
export type { Attachable, CommandTarget, TransportFactory } from "./client/connect/transports.ts";
export type { List } from "./client/calls/list-pages.ts";
export type { ClientCall, ClientObserver } from "./client/observer.ts";
export type { CallEnd, CallObserver, CallRecord, CallRun, ObservedCall, Outcome } from "./mcp/observe.ts";
export { openClient } from "./client/connect/open-client.ts";
export type {
  Asker,
  ConnectOptions,
  ElicitHandler,
  RequestOptions,
  RootsHandler,
  SampleHandler,
  Timeouts,
} from "./client/options.ts";
export type { Change, ListenFilter, ListKind, Subscription } from "./client/subscriptions/subscription.ts";
export type { TypedClient } from "./client/typed-client.ts";
export type {
  HttpAuth,
  HttpAuthRefusal,
  HttpAuthRequest,
  HttpClientLimits,
  HttpTarget,
} from "./http/client/settings.ts";
export { type ConnectTarget, type HttpClientOptions, connect } from "./connect.ts";
export type { Issue } from "./schema/schema.ts";
