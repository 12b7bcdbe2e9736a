import type { Awaitable } from "../rpc/awaitable.ts";
import { ErrorCode } from "../mcp/errors.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import { storeOf } from "../server/core/store-of.ts";
import { isUnavailable, withStoreErrors } from "../store/store-errors.ts";
import type { Cluster } from "../http/server/cluster.ts";
import { HttpRefusal } from "../http/server/refusal.ts";
import { ResumableStreams } from "./resumable-streams.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SharedSessions } from "./shared-sessions.ts";
import { SharedSse } from "./shared-sse.ts";
import { completeVisit } from "./stored-visits.ts";

/** Opens the cluster of a server that has a store. */
export function openCluster(core: ServerCore): Cluster {
  const store = withStoreErrors(storeOf(core)!);
  const changes = new SharedChanges(core, store);
  return {
    relay: {
      send: (change) => changes.send(change),
      join: () => changes.join(),
      flushed: () => changes.waitUntilFlushed(),
      completeVisit: (elicitationId) => completeVisit(core, store, elicitationId),
    },
    openSessions(context, { limits, events }) {
      const sessions = new SharedSessions({
        core,
        store,
        changes,
        options: limits,
        onResumedElsewhere: (session, stream) => resumption.resumedElsewhere(session, stream),
      });
      const resumption = new ResumableStreams(context, sessions.node, events);
      return { sessions, resumption };
    },
    openHttpSse: (receive) => new SharedSse(core, store, receive),
    withStore,
    stop: () => changes.stop(),
  };
}

/**
 * Runs an operation that needs the store. Throws a refusal of 503 if the store is unavailable. Such an operation calls the
 * store before it does anything else, so the client can send the request again.
 */
async function withStore<T>(operation: () => Awaitable<T>): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    const message = "The server's store is unavailable. Nothing was done: send the request again.";
    throw new HttpRefusal(503, message, { cause, code: ErrorCode.InternalError, headers: { "retry-after": "1" } });
  }
}
