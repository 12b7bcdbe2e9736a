import { LocalError } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { link, pause } from "../../rpc/abort.ts";
import { type Connection, modernMeta } from "../connect/session.ts";
import type { ClientCore } from "../calls/call.ts";
import { type Ended, type Listening, toWire } from "./subscription.ts";

/**
 * Opens a subscription with a request that stays open (2026-07-28, basic/patterns/subscriptions). Settles once it is
 * acknowledged; `signal` ends the waiting for that, `life` the subscription.
 */
export async function listenModern(
  core: ClientCore,
  listening: Listening,
  connection: Connection,
  signals: { life: AbortSignal; signal: AbortSignal },
): Promise<Ended> {
  const request = link(signals.life);
  const waiting = link(signals.signal);
  const acknowledged = new Promise<void>((resolve) => {
    listening.onAcknowledged = (filter) => {
      listening.acknowledged = filter;
      resolve();
    };
  });
  const ended = untilEnded(core, listening, connection, request.signal).finally(() => {
    // Ends a request that has not ended by itself, so that the server does not go on for nobody.
    request.abort(new LocalError("closed", "The subscription has ended."));
    request.unlink();
  });
  ended.catch(() => {});
  try {
    await Promise.race([acknowledged, ended, tooLate(core, waiting.signal)]);
  } catch (error) {
    request.abort(error);
    throw error;
  } finally {
    waiting.abort(undefined);
    waiting.unlink();
  }
  return { ended };
}

async function untilEnded(
  { offer }: ClientCore,
  listening: Listening,
  { channel, revision }: Connection,
  signal: AbortSignal,
): Promise<void> {
  const params = { notifications: toWire(listening.wanted), _meta: modernMeta(revision, offer) };
  const answered = channel.request(Method.listen, params, {
    what: Method.listen,
    signal,
    onId: (id) => (listening.id = id),
  });
  answered.catch(() => {});
  const cancelled = new Promise<void>((resolve) => {
    listening.onEnded = resolve;
  });
  await Promise.race([answered, cancelled, channel.lost.then((reason) => Promise.reject(reason))]);
}

async function tooLate({ clock, options }: ClientCore, signal: AbortSignal): Promise<never> {
  const limit = options.timeout?.idle ?? 60_000;
  await pause(clock, limit, signal);
  throw new LocalError("timeout", `${Method.listen} was not acknowledged within ${limit} ms.`);
}
