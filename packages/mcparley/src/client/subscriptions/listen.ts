import { link, pause, routineEnd } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import type { ClientCore } from "../core.ts";
import { type Session, modernMeta } from "../connect/session.ts";
import { type SubscriptionState, type Opened, toWire } from "./subscription.ts";

/** A session, and the signal that ends the wait for the acknowledgment in it. */
export interface Opening {
  session: Session;
  signal: AbortSignal;
}

/**
 * Opens a subscription with a request that stays open (2026-07-28, basic/patterns/subscriptions). Settles when the server
 * has acknowledged it.
 */
export async function listenModern(
  core: ClientCore,
  state: SubscriptionState,
  { session, signal }: Opening,
): Promise<Opened> {
  const waiting = link(signal);
  const acknowledgment = new Promise<undefined>((resolve) => {
    state.onAcknowledged = (filter) => {
      state.acceptedFilter = filter;
      resolve(undefined);
    };
  });
  const request = link(state.life.signal);
  const end = sendListen(core, state, { session, signal: request.signal }).finally(() => {
    // Cancels a request that is still open, so that the server stops sending.
    request.abort(new LocalError("closed", "The subscription has ended."));
    request.unlink();
  });
  try {
    const failure = await Promise.race([acknowledgment, end, acknowledgmentTimeout(core, state, waiting.signal)]);
    if (failure) throw failure;
    return { end };
  } catch (error) {
    request.abort(error);
    throw error;
  } finally {
    waiting.abort(routineEnd);
    waiting.unlink();
  }
}

/** Sends the request. Resolves with the reason when the subscription has ended. */
function sendListen(
  { offer }: ClientCore,
  state: SubscriptionState,
  { session, signal }: { session: Session; signal: AbortSignal },
): Promise<Error> {
  const { connection, revision } = session;
  const params = { notifications: toWire(state.filter), _meta: modernMeta(revision, offer) };
  return new Promise((resolve) => {
    state.onEnded = resolve;
    const onId = (id: number | string): void => void (state.id = id);
    connection.exchange(Method.listen, params, { what: Method.listen, signal, onId }).then(
      // The result is a graceful end, for example because the server shuts down.
      () => resolve(endedByServer()),
      resolve,
    );
  });
}

/** Rejects if the server does not acknowledge a subscription in time, or if the signal is aborted. */
async function acknowledgmentTimeout(
  { clock }: ClientCore,
  { idle }: SubscriptionState,
  signal: AbortSignal,
): Promise<never> {
  await pause(clock, idle, signal);
  throw new LocalError("timeout", `${Method.listen} was not acknowledged within ${idle} ms.`);
}

/** The reason of a subscription that the server ended with its result or with a cancellation. */
export function endedByServer(): LocalError {
  return new LocalError("closed", "The server ended the subscription.");
}
