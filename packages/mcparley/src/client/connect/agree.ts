import { pause, unlessAborted } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { LocalError, ProtocolError, isTransient } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { latestLegacy } from "../../mcp/revisions/index.ts";
import type { Connection } from "./connection.ts";
import type { Opened, Opening } from "./find-revision.ts";
import { type Agreed, type Handshake, discover } from "./handshake.ts";
import { initialize, isModernError, newestOf, supportedBy } from "./legacy-handshake.ts";
import { remember } from "./remembered.ts";

/** The number of times that a request of a handshake is repeated. */
const maxRetries = 3;

/** Opens a connection and runs a handshake on it. Closes the connection if that fails. */
export function openWith(opening: Opening, connection: Connection, shakeHands: () => Promise<Agreed>): Promise<Opened> {
  return orClose(opening, connection, async () => {
    await unlessAborted(connection.open(), opening.signal, "Connecting");
    return shakeHands();
  });
}

/** Runs a handshake on a connection. Closes the connection if that fails. */
export async function orClose(
  { signal, closing }: Opening,
  connection: Connection,
  shakeHands: () => Promise<Agreed>,
): Promise<Opened> {
  try {
    return { ...(await shakeHands()), connection };
  } catch (error) {
    const closed = connection.close().catch(() => {});
    // A process may take seconds to end. A caller that aborts does not wait for it.
    if (signal.aborted) closing(closed);
    else await closed;
    throw error;
  }
}

/**
 * Continues a handshake after `server/discover` has failed with `error`: in a revision that the server names, or with
 * `initialize` if only a legacy server can have sent the error. Throws other errors again.
 */
export async function agreeAfter(error: unknown, connection: Connection, opening: Opening): Promise<Agreed> {
  const supported = supportedBy(error);
  if (supported) {
    const revision = newestOf(supported);
    if (revision.kind === "modern") return discoverOn(connection, { ...opening, revision });
    return rememberLegacy(opening, await initializeOn(connection, { ...opening, revision }));
  }
  if (isModernError(error) || !isLegacyAnswer(error)) throw error;
  const agreed = await initializeOn(connection, { ...opening, revision: latestLegacy });
  // Status 500, or a message that is none, may have another cause than the revision.
  const isCertain = error instanceof ProtocolError || (statusOf(error) > 0 && statusOf(error) < 500);
  return isCertain ? rememberLegacy(opening, agreed) : agreed;
}

function rememberLegacy({ transports }: Opening, agreed: Agreed): Agreed {
  remember(transports, { revision: agreed.revision, isOlder: false });
  return agreed;
}

/** An attempt of `server/discover` that was made before, if any. */
export interface Attempt {
  sent?: Promise<Agreed> | undefined;
}

type HandshakeOn = Handshake & Omit<Opening, "revision">;

/** Sends `server/discover`, and again if the server is busy. */
export function discoverOn(connection: Connection, { sent, ...opening }: HandshakeOn & Attempt): Promise<Agreed> {
  return patiently(opening, (timeout) => discover(connection, { ...opening, timeout }), sent);
}

/** Sends `initialize`, and again if the server is busy. */
export function initializeOn(connection: Connection, opening: HandshakeOn & { exactly?: boolean }): Promise<Agreed> {
  return patiently(opening, (timeout) => initialize(connection, { ...opening, timeout }));
}

/**
 * Sends a request of a handshake over HTTP, and again after a pause if the server or a proxy is busy or the connection
 * breaks. Waits as long as the server asks for in `Retry-After`, but not longer than the timeout. Throws the last error.
 *
 * None of these failures depends on the revision of the server.
 */
export async function patiently<T>(
  { transports, clock, signal, timeout }: Omit<Opening, "revision">,
  send: (timeout: number) => Promise<T>,
  sent: Promise<T> = send(timeout),
): Promise<T> {
  const end = clock.now() + timeout;
  const backoff = new Backoff(clock, signal);
  let attempt = sent;
  for (let retries = 0; ; retries++) {
    try {
      return await attempt;
    } catch (error) {
      const delay = retryAfterOf(error);
      const isOver = retries >= retriesAfter(error) || clock.now() + (delay ?? 0) >= end;
      if (isOver || transports.kind === "stream") throw error;
      await (delay === undefined ? backoff.wait() : pause(clock, delay, signal));
      attempt = send(Math.max(1, end - clock.now()));
    }
  }
}

function retriesAfter(error: unknown): number {
  const status = statusOf(error);
  // Some legacy servers answer unknown requests with 500.
  if (status === 500) return 1;
  const isBroken = error instanceof LocalError && error.code === "closed";
  return isBroken || isBusy(status) ? maxRetries : 0;
}

/** Whether a server or a proxy with this status may answer a later request. Status 500 can also be a definite answer. */
function isBusy(status: number): boolean {
  return status !== 500 && isTransient(status);
}

/** The HTTP status of a response that contains no JSON-RPC error. 0 for other errors. */
export function statusOf(error: unknown): number {
  return error instanceof LocalError && error.code === "http" && isObject(error.data) ? Number(error.data.status) : 0;
}

/**
 * Whether a failed request of a handshake was answered, in a way that is possible for a server that does not have the
 * revision of the request (2026-07-28, basic/versioning, Backward Compatibility).
 */
export function isLegacyAnswer(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  if (!(error instanceof LocalError)) return false;
  const status = statusOf(error);
  return (
    error.code === "invalid_message" || (error.code === "http" && !isBusy(status) && !(status >= 300 && status < 400))
  );
}
