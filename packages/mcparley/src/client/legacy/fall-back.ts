import { LocalError, ProtocolError, hasCode } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { findRevision, latestLegacy, latestModern, revisions } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import { type Remembered, forgetRevision, recall, remember } from "../connect/remembered-revisions.ts";
import { type Opened, type Opening, type Negotiated, NotSupported } from "../connect/handshake.ts";
import {
  type Attempt,
  closedOnFailure,
  continueAfter,
  discoverWithRetries,
  initialize,
  initializeWithRetries,
  openWith,
  withRetries,
} from "./handshake-retries.ts";
import { probeStream } from "./probe-stream.ts";
import {
  isLegacyAnswer,
  isModernError,
  statusOf,
  supportedBy,
  unsupportedRevision,
} from "../connect/revision-errors.ts";

/** An open connection over HTTP on which `server/discover` has failed. */
interface Failed {
  transport: Transport;
  connection: ClientConnection;
  error: unknown;
}

/** Continues after `server/discover` has failed over HTTP. */
export async function fallBack(opening: Opening, { transport, connection, error }: Failed): Promise<Opened> {
  const handshake = async (): Promise<Negotiated> => {
    const attempt = Promise.reject<Negotiated>(error);
    if (opening.revision !== "auto") {
      return negotiatePinned(readPinned(opening.revision), connection, { ...opening, attempt });
    }
    try {
      return await discoverWithRetries(connection, { ...opening, revision: latestModern, attempt });
    } catch (last) {
      return continueAfter(last, connection, opening);
    }
  };
  return orHttpSse(opening, transport, closedOnFailure(opening, connection, handshake));
}

/**
 * Opens a connection to a server on a stream, or in a legacy revision that is pinned or remembered. Returns undefined if a
 * server over HTTP no longer has the remembered revision.
 */
export async function negotiateOtherwise(opening: Opening): Promise<Opened | undefined> {
  const { transports, revision } = opening;
  if (revision !== "auto") {
    const pinnedRevision = readPinned(revision);
    return open(opening, (connection) => negotiatePinned(pinnedRevision, connection, opening));
  }
  const entry = recall(transports);
  if (entry?.revision.kind === "legacy" && !entry.isDoubtful) {
    try {
      const overSse = entry.isHttpSse ? await openHttpSse(opening) : undefined;
      return overSse ?? (await openLegacy(opening));
    } catch (error) {
      forgetRevision(transports);
      if (!mayBeAnotherRevision(error, opening)) throw error;
    }
  }
  return transports.kind === "stream" ? detectOnStream(opening, entry) : undefined;
}

/** Whether a failure to open a server in its remembered revision may mean that it has another one now. */
function mayBeAnotherRevision(error: unknown, { transports, signal }: Opening): boolean {
  if (transports.once || signal.aborted) return false;
  if (isLegacyAnswer(error)) return true;
  const isLost = hasCode(error, "closed", "exited");
  return hasCode(error, "unsupported_revision") || (isLost && transports.kind === "stream");
}

/**
 * Finds the revision of a server on a stream. A server that exits because of the modern request is started again and
 * receives only the legacy one.
 */
async function detectOnStream(opening: Opening, entry: Remembered | undefined): Promise<Opened> {
  const { transports, signal, makeConnection } = opening;
  const connection = makeConnection(transports.open());
  try {
    const wasModern = entry?.revision.kind === "modern";
    return await openWith(opening, connection, () => probeStream(connection, opening, wasModern));
  } catch (error) {
    forgetRevision(transports);
    if (!connection.wasLost || transports.once || signal.aborted) throw error;
    const negotiation = await openLegacy(opening);
    // One exit may have had another cause. After a second one the revision is certain.
    remember(transports, { revision: negotiation.revision, isHttpSse: false, isDoubtful: !entry?.isDoubtful });
    return negotiation;
  }
}

/** Opens a connection with `initialize`. */
function openLegacy(opening: Opening): Promise<Opened> {
  const handshake = { ...opening, revision: latestLegacy };
  return open(opening, (connection) => initializeWithRetries(connection, handshake));
}

/** Opens a connection. If the server has only the transport of the first revision, opens one over that transport. */
function open(opening: Opening, handshake: (connection: ClientConnection) => Promise<Negotiated>): Promise<Opened> {
  const transport = opening.transports.open();
  const connection = opening.makeConnection(transport);
  const negotiation = openWith(opening, connection, () => handshake(connection));
  return orHttpSse(opening, transport, negotiation);
}

/** Returns a connection. If it fails because the server has only HTTP+SSE, opens one over HTTP+SSE instead. */
async function orHttpSse(opening: Opening, transport: Transport, connecting: Promise<Opened>): Promise<Opened> {
  try {
    return await connecting;
  } catch (error) {
    const negotiation =
      opening.signal.aborted || excludesHttpSse(error) ? undefined : await openHttpSse(opening, transport);
    if (negotiation) return negotiation;
    throw error;
  }
}

/** Whether only a server of a later revision than the one with HTTP+SSE can have sent the error. */
function excludesHttpSse(failure: unknown): boolean {
  const error = hasCode(failure, "unsupported_revision") ? failure.cause : failure;
  return isModernError(error) || (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound);
}

/**
 * Opens a connection over HTTP+SSE, the transport of the first revision. `refusedTransport` is one whose handshake has
 * failed. Returns undefined if the server does not have HTTP+SSE.
 */
async function openHttpSse(opening: Opening, refusedTransport?: Transport): Promise<Opened | undefined> {
  const { transports, signal, revision } = opening;
  const options = refusedTransport ? { refused: refusedTransport, signal } : { signal };
  const openOlder = async (ms: number): Promise<Transport | undefined> => transports.openOlder?.({ ...options, ms });
  const transport = await withRetries(opening, openOlder).catch((error: unknown) => {
    // Some servers answer unknown requests with 500.
    if (refusedTransport && statusOf(error) === 500) return undefined;
    throw error;
  });
  if (!transport) return undefined;
  const pinnedRevision = findRevision(revision);
  const handshake = { ...opening, revision: pinnedRevision ?? latestLegacy, exactly: pinnedRevision !== undefined };
  const connection = opening.makeConnection(transport);
  const negotiation = await openWith(opening, connection, () => initialize(connection, handshake));
  if (!pinnedRevision) remember(transports, { revision: negotiation.revision, isHttpSse: true });
  return negotiation;
}

function readPinned(version: string): Revision {
  const revision = findRevision(version);
  if (revision) return revision;
  const versions = revisions.map((one) => one.version).join(", ");
  const message = `The option revision is "${version}", which is not a protocol revision. Use auto, ${versions}.`;
  throw new LocalError("unsupported_revision", message);
}

/** Runs the handshake of a pinned revision. `attempt` is the first attempt, if it was made before. */
async function negotiatePinned(
  revision: Revision,
  connection: ClientConnection,
  opening: Opening & Attempt,
): Promise<Negotiated> {
  const pinnedOpening = { ...opening, revision };
  try {
    if (revision.kind === "legacy") return await initializeWithRetries(connection, { ...pinnedOpening, exactly: true });
    return await discoverWithRetries(connection, pinnedOpening).catch((error: unknown) => {
      // The server refuses the revision and yet lists it as supported (2026-07-28, basic/versioning).
      if (!supportedBy(error)?.includes(revision.version)) throw error;
      return discoverWithRetries(connection, { ...pinnedOpening, attempt: undefined });
    });
  } catch (error) {
    const isRefusal = error instanceof ProtocolError || error instanceof NotSupported;
    // An internal error does not mean that the server lacks support for the revision.
    if (!isRefusal || error.code === ErrorCode.InternalError) throw error;
    const versions = supportedBy(error);
    if (versions) throw unsupportedRevision(versions, revision.version, error);
    const message = `The server does not support ${revision.version}, which the option revision requires: ${error.message}`;
    throw new LocalError("unsupported_revision", message, { cause: error });
  }
}
