import { Notification } from "../mcp/methods.ts";
import { encode, notification } from "../rpc/messages.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import type { Store } from "../store/store.ts";
import { defaultIdleTimeout } from "../http/server/sessions/sessions.ts";
import { ClusterNode } from "./cluster-node.ts";
import { appendToOutbox } from "./session-stream.ts";
import { sessionKey } from "./stored-sessions.ts";

/** Milliseconds for which the session of a visit is stored, if the visit is not complete earlier. */
const visitTtl = 86_400_000;

/** Stores the session whose client is asked for a visit to a URL. Reports an error of the store, and never rejects. */
export async function noteVisit({ report, store }: ClusterNode, elicitationId: string, session: string): Promise<void> {
  await store.set(visitKey(elicitationId), session, { ttl: visitTtl }).catch(report);
}

/** Notifies the client of a session of any process that a visit is complete. Returns false if no session has the visit. */
export async function completeVisit(core: ServerCore, store: Store, elicitationId: string): Promise<boolean> {
  const key = visitKey(elicitationId);
  const session = await store.get(key);
  // Of several processes that complete the visit, one sends the notification.
  if (session === undefined || !(await store.compareAndSet(key, session, undefined, { ttl: 1 }))) return false;
  if ((await store.get(sessionKey(session))) === undefined) return false;
  const node = new ClusterNode(core, store, { onMessage: () => {}, onBroadcast: () => {} });
  const json = encode(notification(Notification.elicitationComplete, { elicitationId }));
  await appendToOutbox(node, session, { json, ttl: defaultIdleTimeout });
  return true;
}

function visitKey(elicitationId: string): string {
  return `visit:${elicitationId}`;
}
