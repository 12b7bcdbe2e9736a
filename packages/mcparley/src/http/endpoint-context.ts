import type { Principal } from "../server/context.ts";
import type { ServerCore } from "../server/core.ts";
import type { Accepted } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import type { OpenExchanges } from "./open-exchanges.ts";
import type { HttpServerAuth } from "./server-auth.ts";
import type { Resumption } from "./resumption.ts";
import type { Sessions } from "./sessions.ts";

/** What all requests to one endpoint share. */
export interface EndpointContext {
  readonly core: ServerCore;
  readonly open: OpenExchanges;
  readonly auth: HttpServerAuth | undefined;
}

/** What the requests of legacy revisions share besides. */
export interface LegacyContext extends EndpointContext {
  /** Undefined where each request is served by itself. */
  readonly sessions: Sessions | undefined;
  /** Undefined where no store keeps events. */
  readonly resumption: Resumption | undefined;
}

/** One POST, as far as it is known before its message is looked at. */
export interface Posted {
  readonly exchange: Exchange;
  readonly principal: Principal | undefined;
  readonly accepted: Accepted;
}
