import type { Principal } from "../../server/dispatch/context.ts";
import type { ServerCore } from "../../server/dispatch/core.ts";
import type { Store } from "../../store/store.ts";
import type { Accepted } from "../accept.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenExchanges } from "./open-exchanges.ts";
import type { SharedChanges } from "../../cluster/shared-changes.ts";
import type { HttpServerAuth } from "./server-auth.ts";
import type { Resumption } from "../../cluster/resumption.ts";
import type { SessionTable } from "./sessions/sessions.ts";

/** What an endpoint shares with the others of its server by way of a store. */
export interface Sharing {
  readonly store: Store;
  changes(this: void): Promise<SharedChanges>;
  stop(this: void): Promise<void>;
}

/** What all requests to one endpoint share. */
export interface EndpointContext {
  readonly core: ServerCore;
  readonly open: OpenExchanges;
  readonly auth: HttpServerAuth | undefined;
  /** Undefined where there is no store. */
  readonly sharing: Sharing | undefined;
}

/** What the requests of legacy revisions share besides. */
export interface LegacyContext extends EndpointContext {
  /** Undefined where each request is served by itself. */
  readonly sessions: SessionTable | undefined;
  /** Undefined where no store keeps events. */
  readonly resumption: Resumption | undefined;
}

/** The sender of an HTTP request. */
export interface Sender {
  readonly principal: Principal | undefined;
  readonly address: string | undefined;
  /** The key of the caller whose shares the request counts for; see `callerKey`. */
  readonly caller: string;
}

/** One POST, as far as it is known before its message is looked at. */
export interface Posted extends Sender {
  readonly exchange: Exchange;
  readonly accepted: Accepted;
}
