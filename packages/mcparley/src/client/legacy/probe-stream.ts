import { link, pause, routineEnd } from "../../rpc/abort.ts";
import { latestLegacy, latestModern } from "../../mcp/revisions/index.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import { remember } from "../connect/remembered-revisions.ts";
import { type Opening, type Negotiated, discover } from "../connect/handshake.ts";
import { continueAfter, initializeWithRetries } from "./handshake-retries.ts";
import { isLegacyAnswer, isModernError } from "../connect/revision-errors.ts";

/** The outcome of a handshake. */
type Outcome = { result: Negotiated } | { error: unknown };

const outcomeOf = (handshake: Promise<Negotiated>): Promise<Outcome> =>
  handshake.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );

/**
 * Finds the revision of a server on a stream. Sends `server/discover` first. If the server answers with an error, sends
 * `initialize` on the same connection.
 *
 * A server on a stream may be silent because it is legacy or because it is slow to start. After `probeTimeout` both
 * requests are sent, and the first good answer counts. A server that was modern before only receives `server/discover`.
 * All of it takes at most `timeout`.
 */
export async function probeStream(
  connection: ClientConnection,
  opening: Opening,
  wasModern: boolean,
): Promise<Negotiated> {
  const { clock, timeout } = opening;
  // A short limit leaves half of its time to `initialize`.
  const probeTimeout = opening.probeTimeout === Infinity ? Infinity : Math.min(opening.probeTimeout, timeout / 2);
  const requests = link(opening.signal);
  const timing = link(opening.signal);
  const discovering = outcomeOf(discover(connection, { ...opening, revision: latestModern, signal: requests.signal }));
  try {
    const silence = pause(clock, probeTimeout, timing.signal).catch(() => undefined);
    const first = await Promise.race(wasModern ? [discovering] : [discovering, silence]);
    if (first) {
      return "result" in first
        ? rememberFound(opening, first.result)
        : await continueAfter(first.error, connection, opening);
    }
    return await firstOfBoth(discovering, connection, {
      ...opening,
      timeLeft: timeout - probeTimeout,
      signal: requests.signal,
    });
  } finally {
    timing.abort(routineEnd);
    timing.unlink();
    // The request that is still open is no longer needed.
    requests.abort(routineEnd);
    requests.unlink();
  }
}

/** Sends `initialize` while `server/discover` is still open. Returns the first good answer. */
async function firstOfBoth(
  discovering: Promise<Outcome>,
  connection: ClientConnection,
  opening: Opening,
): Promise<Negotiated> {
  const initializing = outcomeOf(initializeWithRetries(connection, { ...opening, revision: latestLegacy }));
  const first = await Promise.race([
    discovering.then((outcome) => ({ modern: outcome })),
    initializing.then((outcome) => ({ legacy: outcome })),
  ]);
  if ("modern" in first) {
    const { modern } = first;
    if ("result" in modern) return rememberFound(opening, modern.result);
    if (isModernError(modern.error) || !isLegacyAnswer(modern.error)) throw modern.error;
    return rememberFound(opening, resultOf(await initializing));
  }
  // The server may be modern and slow, so this result is not remembered.
  if ("result" in first.legacy) return first.legacy.result;
  const modern = await discovering;
  if ("result" in modern) return rememberFound(opening, modern.result);
  return resultOf(isModernError(modern.error) ? modern : first.legacy);
}

function resultOf(outcome: Outcome): Negotiated {
  if ("result" in outcome) return outcome.result;
  throw outcome.error;
}

function rememberFound({ transports }: Opening, result: Negotiated): Negotiated {
  remember(transports, { revision: result.revision, isHttpSse: false });
  return result;
}
