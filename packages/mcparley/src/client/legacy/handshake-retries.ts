import { pause, unlessAborted } from "../../rpc/abort.ts";
import { Backoff, retryAfterOf } from "../../rpc/backoff.ts";
import { ProtocolError, hasCode } from "../../rpc/errors.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { findRevision, latestLegacy, legacyEncoderOf } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import { remember } from "../connect/remembered-revisions.ts";
import {
  type Opened,
  type Opening,
  type Handshake,
  type Negotiated,
  discover,
  readNegotiated,
} from "../connect/handshake.ts";
import { acceptRequests } from "./incoming-requests.ts";
import {
  isBusy,
  isLegacyAnswer,
  isModernError,
  newestOf,
  statusOf,
  supportedBy,
  unsupportedRevision,
} from "../connect/revision-errors.ts";

/** The number of times that a request of a handshake is repeated. */
const maxRetries = 3;

/** Opens a connection and runs a handshake on it. Closes the connection if that fails. */
export function openWith(
  opening: Opening,
  connection: ClientConnection,
  handshake: () => Promise<Negotiated>,
): Promise<Opened> {
  return closedOnFailure(opening, connection, async () => {
    await unlessAborted(connection.open(), opening.signal, "Connecting");
    return handshake();
  });
}

/** Runs a handshake on an open connection, on which the server may send requests. Closes the connection if that fails. */
export async function closedOnFailure(
  { core, signal, closing }: Opening,
  connection: ClientConnection,
  handshake: () => Promise<Negotiated>,
): Promise<Opened> {
  acceptRequests(core, connection);
  try {
    return { ...(await handshake()), connection };
  } catch (error) {
    const connectionEnd = connection.close().catch(() => {});
    // A process may take seconds to end. A caller that aborts, or whose time is over, does not wait for it.
    if (signal.aborted || hasCode(error, "timeout")) closing(connectionEnd);
    else await connectionEnd;
    throw error;
  }
}

/**
 * Continues a handshake after `server/discover` has failed with `error`: in a revision that the server names, or with
 * `initialize` if only a legacy server can have sent the error. Throws other errors again.
 */
export async function continueAfter(
  error: unknown,
  connection: ClientConnection,
  opening: Opening,
): Promise<Negotiated> {
  const versions = supportedBy(error);
  const revision = versions ? newestOf(versions) : latestLegacy;
  if (revision.kind === "modern") return discoverWithRetries(connection, { ...opening, revision });
  if (!versions && (isModernError(error) || !isLegacyAnswer(error))) throw error;
  const result = await initializeWithRetries(connection, { ...opening, revision });
  // Status 500, or a malformed message, may have another cause than the revision.
  const isCertain = error instanceof ProtocolError || (statusOf(error) > 0 && statusOf(error) < 500);
  if (versions || isCertain) remember(opening.transports, { revision: result.revision, isHttpSse: false });
  return result;
}

/** An attempt of `server/discover` that was made before, if any. */
export interface Attempt {
  attempt?: Promise<Negotiated> | undefined;
}

type HandshakeWithRetries = Handshake & Omit<Opening, "revision">;

/** Sends `server/discover`, and again if the server is busy. */
export function discoverWithRetries(
  connection: ClientConnection,
  { attempt, ...opening }: HandshakeWithRetries & Attempt,
): Promise<Negotiated> {
  return withRetries(opening, (timeLeft) => discover(connection, { ...opening, timeLeft }), attempt);
}

/** Sends `initialize`, and again if the server is busy. */
export function initializeWithRetries(
  connection: ClientConnection,
  opening: HandshakeWithRetries & { exactly?: boolean },
): Promise<Negotiated> {
  return withRetries(opening, (timeLeft) => initialize(connection, { ...opening, timeLeft }));
}

/**
 * Sends a request of a handshake over HTTP, and again after a pause if the server or a proxy is busy or the connection
 * breaks. Waits as long as the server asks for in `Retry-After`, but not longer than the timeout. Throws the last error.
 *
 * None of these failures depends on the revision of the server.
 */
export async function withRetries<T>(
  { transports, clock, signal, timeout, timeLeft = timeout }: Omit<Opening, "revision">,
  send: (timeLeft: number) => Promise<T>,
  firstAttempt: Promise<T> = send(timeLeft),
): Promise<T> {
  const end = clock.now() + timeLeft;
  const backoff = new Backoff(clock, signal);
  let attempt = firstAttempt;
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
  return hasCode(error, "closed") || isBusy(status) ? maxRetries : 0;
}

/**
 * Opens a legacy session with `initialize`. Accepts any legacy revision that the server answers with, or with `exactly`
 * only the offered one.
 */
export async function initialize(
  connection: ClientConnection,
  { revision, exactly = false, offer, timeout, timeLeft, signal }: Handshake & { exactly?: boolean },
): Promise<Negotiated> {
  const params = {
    protocolVersion: revision.version,
    capabilities: offer.capabilities("legacy"),
    clientInfo: encodeInfo(revision, offer.info),
  };
  const options = { what: "Connecting", idleTimeout: timeout, idleLeft: timeLeft, signal, silent: true };
  const result = await connection.exchange(Method.initialize, params, options);
  const serverRevision = findRevision(result.protocolVersion);
  if (serverRevision?.kind !== "legacy" || (exactly && serverRevision !== revision)) {
    throw unsupportedRevision([String(result.protocolVersion)], exactly ? revision.version : undefined);
  }
  connection.sendNotification(Notification.initialized);
  return readNegotiated(serverRevision, { ...result, info: result.serverInfo, versions: [serverRevision.version] });
}

/** Returns the client's description with the members that the revision defines. All define the name and the version. */
function encodeInfo(revision: Revision, info: Implementation): Implementation {
  return Object.keys(info).length <= 2 ? info : legacyEncoderOf(revision).implementation(info);
}
