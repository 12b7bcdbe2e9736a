import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { findRevision, latestLegacy, latestModern, revisions } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import {
  type Attempt,
  agreeAfter,
  discoverOn,
  initializeOn,
  isLegacyAnswer,
  openWith,
  orClose,
  patiently,
  statusOf,
} from "./agree.ts";
import type { Connection } from "./connection.ts";
import { type Opened, type Opening, negotiate } from "./find-revision.ts";
import { type Agreed, NotSupported } from "./handshake.ts";
import { initialize, isModernError, supportedBy, unsupported } from "./legacy-handshake.ts";
import { probeStream } from "./probe-stream.ts";
import { type Known, forgetEra, recall, remember } from "./remembered.ts";

/** An open connection over HTTP on which `server/discover` has failed. */
interface Failed {
  transport: Transport;
  connection: Connection;
  error: unknown;
}

/** Continues after `server/discover` has failed over HTTP. */
export async function fallBack(opening: Opening, { transport, connection, error }: Failed): Promise<Opened> {
  const agree = async (): Promise<Agreed> => {
    const sent = Promise.reject<Agreed>(error);
    if (opening.revision !== "auto") return agreeOnPin(readPin(opening.revision), connection, { ...opening, sent });
    try {
      return await discoverOn(connection, { ...opening, revision: latestModern, sent });
    } catch (last) {
      return agreeAfter(last, connection, opening);
    }
  };
  return orOlder(opening, transport, orClose(opening, connection, agree));
}

/** Opens a connection to a server on a stream, or in a legacy revision that is pinned or remembered. */
export async function negotiateOtherwise(opening: Opening): Promise<Opened> {
  const { transports, revision } = opening;
  if (revision !== "auto") {
    const pinned = readPin(revision);
    return open(opening, (connection) => agreeOnPin(pinned, connection, opening));
  }
  const known = recall(transports);
  if (known?.revision.kind === "legacy" && !known.isDoubtful) {
    try {
      return await openAs(opening, known);
    } catch (error) {
      forgetEra(transports);
      if (!mayBeAnotherRevision(error, opening)) throw error;
    }
  }
  return transports.kind === "stream" ? detectOnStream(opening, known) : negotiate(opening);
}

/** Opens a connection. If the server is of the first revision, opens one over the transport of that revision. */
function open(opening: Opening, agree: (connection: Connection) => Promise<Agreed>): Promise<Opened> {
  const transport = opening.transports.open();
  const connection = opening.makeConnection(transport);
  return orOlder(
    opening,
    transport,
    openWith(opening, connection, () => agree(connection)),
  );
}

/** Runs the handshake of a pinned revision. `sent` is the first attempt, if it was made before. */
async function agreeOnPin(revision: Revision, connection: Connection, opening: Opening & Attempt): Promise<Agreed> {
  const pinned = { ...opening, revision };
  try {
    if (revision.kind === "legacy") return await initializeOn(connection, { ...pinned, exactly: true });
    return await discoverOn(connection, pinned).catch((error: unknown) => {
      // The server refuses the revision and yet lists it as supported (2026-07-28, basic/versioning).
      if (supportedBy(error)?.includes(revision.version))
        return discoverOn(connection, { ...opening, revision, sent: undefined });
      throw error;
    });
  } catch (error) {
    throw explainPin(error, revision);
  }
}

function readPin(version: string): Revision {
  const revision = findRevision(version);
  if (revision) return revision;
  const known = revisions.map((one) => one.version).join(", ");
  const message = `revision: "${version}" is no version of the protocol. Known are auto, ${known}.`;
  throw new LocalError("unsupported_revision", message);
}

function explainPin(error: unknown, { version }: Revision): unknown {
  const isRefusal = error instanceof ProtocolError || error instanceof NotSupported;
  // An internal error does not mean that the server lacks support for the revision.
  if (!isRefusal || error.code === ErrorCode.InternalError) return error;
  const theirs = supportedBy(error);
  if (theirs) return unsupported(theirs, version, error);
  const message = `The server does not speak ${version}, which is pinned: ${error.message}`;
  return new LocalError("unsupported_revision", message, { cause: error });
}

/** Opens a connection in the remembered legacy revision. */
async function openAs(opening: Opening, { isOlder }: Known): Promise<Opened> {
  const older = isOlder ? await openOlder(opening) : undefined;
  const initializing = { ...opening, revision: latestLegacy };
  return older ?? open(opening, (connection) => initializeOn(connection, initializing));
}

/**
 * Finds the revision of a server on a stream. A server that exits because of the modern request is started again and
 * receives only the legacy one.
 */
async function detectOnStream(opening: Opening, known: Known | undefined): Promise<Opened> {
  const { transports, signal, makeConnection } = opening;
  const connection = makeConnection(transports.open());
  try {
    const wasModern = known?.revision.kind === "modern";
    return await openWith(opening, connection, () => probeStream(connection, opening, wasModern));
  } catch (error) {
    forgetEra(transports);
    if (!connection.wasLost || transports.once || signal.aborted) throw error;
    const opened = await open(opening, (again) => initializeOn(again, { ...opening, revision: latestLegacy }));
    // One end may have had another cause. After a second one the revision is certain.
    remember(transports, { revision: opened.revision, isOlder: false, isDoubtful: !known?.isDoubtful });
    return opened;
  }
}

/** Waits for a connection. If it fails because the server is of the first revision, opens one over the transport of that. */
async function orOlder(opening: Opening, transport: Transport, connecting: Promise<Opened>): Promise<Opened> {
  try {
    return await connecting;
  } catch (error) {
    const older = opening.signal.aborted || isNewer(error) ? undefined : await openOlder(opening, transport);
    if (older) return older;
    throw error;
  }
}

/** Opens a connection over the transport of the first revision. Returns undefined if the server does not have it. */
async function openOlder(opening: Opening, refused?: Transport): Promise<Opened | undefined> {
  const { transports, signal, revision } = opening;
  const given = refused ? { refused, signal } : { signal };
  const transport = await patiently(opening, async () => transports.openOlder?.(given)).catch((error: unknown) => {
    // Some servers answer unknown requests with 500.
    if (refused && statusOf(error) === 500) return undefined;
    throw error;
  });
  if (!transport) return undefined;
  const pinned = findRevision(revision);
  const handshake = { ...opening, revision: pinned ?? latestLegacy, exactly: pinned !== undefined };
  const connection = opening.makeConnection(transport);
  const opened = await openWith(opening, connection, () => initialize(connection, handshake));
  if (!pinned) remember(transports, { revision: opened.revision, isOlder: true });
  return opened;
}

/** Whether the error can only come from a server of a revision without that transport. */
function isNewer(given: unknown): boolean {
  const wraps = given instanceof LocalError && given.code === "unsupported_revision";
  const error = wraps ? given.cause : given;
  return isModernError(error) || (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound);
}

/** Whether a failure to open a server in its remembered revision may mean that it has another one now. */
function mayBeAnotherRevision(error: unknown, { transports, signal }: Opening): boolean {
  if (transports.once || signal.aborted) return false;
  if (isLegacyAnswer(error)) return true;
  if (!(error instanceof LocalError)) return false;
  const isLost = error.code === "closed" || error.code === "exited";
  return error.code === "unsupported_revision" || (isLost && transports.kind === "stream");
}
