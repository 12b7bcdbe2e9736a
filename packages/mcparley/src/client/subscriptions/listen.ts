import { DEFAULT_IDLE_TIMEOUT } from "../../rpc/pending-requests.ts";
import { link, pause } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { ClientCore } from "../calls/call.ts";
import type { Connection } from "../connect/connection.ts";
import { type Session, modernMeta } from "../connect/session.ts";
import { type Ended, type ListenFilter, type Listening, listKinds, toWire } from "./subscription.ts";

/** The signals of a subscription: `life` ends the subscription, `signal` the wait for its acknowledgement. */
interface Signals {
  life: AbortSignal;
  signal: AbortSignal;
}

/**
 * Opens a subscription with a request that stays open (2026-07-28, basic/patterns/subscriptions). Settles when the server
 * has acknowledged it.
 */
export async function listenModern(
  core: ClientCore,
  listening: Listening,
  { session, life, signal }: Signals & { session: Session },
): Promise<Ended> {
  const request = link(life);
  const waiting = link(signal);
  const acknowledged = new Promise<void>((resolve) => {
    listening.onAcknowledged = (filter) => {
      listening.acknowledged = filter;
      resolve();
    };
  });
  const ended = sendListen(core, listening, { session, signal: request.signal }).finally(() => {
    // Cancels a request that is still open, so that the server stops sending.
    request.abort(new LocalError("closed", "The subscription has ended."));
    request.unlink();
  });
  ended.catch(() => {});
  try {
    await Promise.race([acknowledged, ended, timeout(core, waiting.signal)]);
  } catch (error) {
    request.abort(error);
    throw error;
  } finally {
    waiting.abort(undefined);
    waiting.unlink();
  }
  return { ended };
}

/** Settles when the subscription has ended. */
async function sendListen(
  { offer }: ClientCore,
  listening: Listening,
  { session, signal }: { session: Session; signal: AbortSignal },
): Promise<void> {
  const { connection, revision } = session;
  const params = { notifications: toWire(listening.wanted), _meta: modernMeta(revision, offer) };
  const answered = connection.exchange(Method.listen, params, {
    what: Method.listen,
    signal,
    onId: (id) => (listening.id = id),
  });
  answered.catch(() => {});
  const cancelled = new Promise<void>((resolve) => {
    listening.onEnded = resolve;
  });
  await Promise.race([answered, cancelled, connection.lost.then((reason) => Promise.reject(reason))]);
}

async function timeout({ clock, options }: ClientCore, signal: AbortSignal): Promise<never> {
  const limit = options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT;
  await pause(clock, limit, signal);
  throw new LocalError("timeout", `${Method.listen} was not acknowledged within ${limit} ms.`);
}

/**
 * Opens a subscription in a legacy session. A server that declares list changes sends them without a subscription. Each
 * resource is subscribed to.
 */
export async function listenLegacy(
  core: ClientCore,
  listening: Listening,
  { session, life, signal, others }: Signals & { session: Session; others: () => Iterable<Listening> },
): Promise<Ended> {
  const { connection, server } = session;
  const { capabilities } = server;
  const acknowledged: ListenFilter = {};
  for (const kind of listKinds) {
    if (listening.wanted[kind] && capabilities[kind]?.listChanged) acknowledged[kind] = true;
  }
  const { uris } = listening.wanted;
  if (uris && capabilities.resources?.subscribe) {
    for (const uri of uris) await requestFor(core, uri, { method: Method.subscribe, connection, signal });
    acknowledged.uris = uris;
  }
  listening.acknowledged = acknowledged;
  const over = new Promise<void>((resolve) => {
    life.addEventListener("abort", () => resolve(), { once: true });
  });
  const ended = Promise.race([over, connection.lost.then((reason) => Promise.reject(reason))]).finally(() => {
    unsubscribe(core, listening, { connection, others: others() });
  });
  ended.catch(() => {});
  return { ended };
}

/** Unsubscribes from the resources that no other subscription needs. */
function unsubscribe(
  core: ClientCore,
  listening: Listening,
  { connection, others }: { connection: Connection; others: Iterable<Listening> },
): void {
  listening.connection = undefined;
  if (!connection.isOpen) return;
  const unwanted = new Set(listening.acknowledged.uris);
  for (const other of others) {
    if (other === listening || other.connection !== connection) continue;
    for (const uri of other.wanted.uris ?? []) unwanted.delete(uri);
  }
  for (const uri of unwanted) {
    requestFor(core, uri, { method: Method.unsubscribe, connection }).catch((error: unknown) => core.report(error));
  }
}

function requestFor(
  { options }: ClientCore,
  uri: string,
  { method, connection, signal }: { method: string; connection: Connection; signal?: AbortSignal },
): Promise<JsonObject> {
  const what = `${method} ${JSON.stringify(uri.slice(0, 200))}`;
  const idleTimeout = options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT;
  return connection.exchange(method, { uri }, { what, idleTimeout, signal });
}
