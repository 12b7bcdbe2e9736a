import { pause, routineEnd } from "../../rpc/abort.ts";
import type { Clock } from "../../rpc/clock.ts";
import { hasCode, isTransient } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";

/** Maximum milliseconds that messages after `notifications/initialized` wait until the server has accepted it. */
const INITIALIZED_MS = 5_000;
/** Milliseconds before each repetition of a notification or a response that did not reach the server. The last delay is used again. */
const RETRY_DELAYS = [250, 500, 1_000, 2_000];
/** Maximum milliseconds for which a response is repeated. Calls have a limit of 60 seconds by default, whose error would name no cause. */
const RESPONSE_MS = 30_000;

/**
 * Sends a notification or a response, up to five times if the server is unavailable, or for half a minute as long as a call
 * needs it. It does no harm to send it twice.
 */
export async function sendUntilAccepted(
  post: () => Promise<void>,
  { clock, signal, isNeeded = () => false }: { clock: Clock; signal: AbortSignal; isNeeded?: () => boolean },
): Promise<void> {
  const end = clock.now() + RESPONSE_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await post();
    } catch (error) {
      const isLast = tries >= RETRY_DELAYS.length && (clock.now() >= end || !isNeeded());
      if (isLast || !isUnavailable(error)) throw error;
    }
    await pause(clock, RETRY_DELAYS[tries] ?? RETRY_DELAYS.at(-1)!, signal);
  }
}

/** Whether a proxy or the network kept a message from the server, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  if (hasCode(error, "unreachable", "closed")) return true;
  return hasCode(error, "http") && isObject(error.data) && isTransient(error.data.status);
}

/** Returns a promise that settles when the server has accepted `notifications/initialized`, or after five seconds. */
export async function untilAccepted(
  sending: Promise<unknown>,
  clock: Clock,
  ms: number = INITIALIZED_MS,
): Promise<void> {
  const limit = new AbortController();
  try {
    await Promise.race([sending, pause(clock, ms, limit.signal)]);
  } catch {
    // The sender gets the error. Later messages are sent in any case.
  } finally {
    limit.abort(routineEnd);
  }
}
