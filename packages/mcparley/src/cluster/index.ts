import { ErrorCode } from "../mcp/errors.ts";
import type { ServerCore } from "../server/core.ts";
import { storeOf } from "../server/store-of.ts";
import { isUnavailable, reaching } from "../store/reaching.ts";
import type { Cluster } from "../http/server/cluster.ts";
import { HttpRefusal } from "../http/server/refusal.ts";
import { Resumption } from "./resumption.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SharedSessions } from "./shared-sessions.ts";
import { SharedSse } from "./shared-sse.ts";

/** Opens the cluster of a server that has a store. */
export function openCluster(core: ServerCore): Cluster {
  const store = reaching(storeOf(core)!);
  const changes = new SharedChanges(core, store);
  return {
    relay: {
      tell: (change) => changes.tell(change),
      join: () => changes.join(),
      told: () => changes.told(),
    },
    openSessions(context, { limits, events }) {
      const sessions = new SharedSessions({
        core,
        store,
        changes,
        options: limits,
        carried: (session, stream) => resumption.carried(session, stream),
      });
      const resumption = new Resumption(context, sessions.node, events);
      return { sessions, resumption };
    },
    openHttpSse: (take) => new SharedSse(core, store, take),
    guard,
    stop: () => changes.stop(),
  };
}

/**
 * Runs an operation that needs the store, and refuses the request with 503 if the store is unavailable. Such an operation
 * reaches the store before it does anything else, so the client can send the request again.
 */
async function guard<T>(operation: () => Promise<T> | T): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    const message = "The server's store is unavailable. Nothing was done: send the request again.";
    throw new HttpRefusal(503, message, { cause, code: ErrorCode.InternalError, headers: { "retry-after": "1" } });
  }
}
