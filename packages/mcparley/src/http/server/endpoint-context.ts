import type { JsonRpcMessage } from "../../rpc/messages.ts";
import type { Principal } from "../../server/core/context.ts";
import type { ServerCore } from "../../server/core/server-core.ts";
import type { Accepted } from "./read-request.ts";
import type { HttpExchange } from "../exchange.ts";
import type { ClusterUse, Resumption } from "./cluster.ts";
import type { OpenExchanges } from "./open-exchanges.ts";
import type { HttpServerAuth } from "./options.ts";
import type { SessionTable } from "./sessions/sessions.ts";

/** Returns the JSON text of a message with large strings in pieces, and undefined for other messages. */
export type EncodeLarge = (message: JsonRpcMessage) => readonly string[] | undefined;

/** The state that all requests to one endpoint share. */
export interface EndpointContext {
  readonly core: ServerCore;
  readonly open: OpenExchanges;
  /** The entries of the option `auth`. Empty if anyone may call. */
  readonly auths: readonly HttpServerAuth[];
  /** The other processes of the server. Undefined if the server has no store. */
  readonly cluster: ClusterUse | undefined;
  /** Encodes messages with large strings without copying them. Undefined on platforms without such an encoder. */
  readonly encodeLarge: EncodeLarge | undefined;
}

/** The state that all requests of legacy revisions share. */
export interface LegacyContext extends EndpointContext {
  /** Undefined if the endpoint serves each request by itself. */
  readonly sessions: SessionTable | undefined;
  /** Undefined if the server has no store, which would keep the events. */
  readonly resumption: Resumption | undefined;
}

/** The sender of an HTTP request. */
export interface Sender {
  readonly principal: Principal | undefined;
  readonly address: string | undefined;
  /** The key of the caller for the limits of one caller; see `callerKey`. */
  readonly caller: string;
}

/** One POST before its message is examined. */
export interface Posted extends Sender {
  readonly exchange: HttpExchange;
  readonly acceptedTypes: Accepted;
}
