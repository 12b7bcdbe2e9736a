import { type Clock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { findRevision, latestLegacy, revisions } from "../../mcp/revisions/index.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { link, pause, unlessAborted } from "../../rpc/abort.ts";
import type { Connection } from "./connection.ts";
import {
  type Agreed,
  OnlyLegacy,
  discoverIn,
  discoverServer,
  initialize,
  isModernError,
  supportedBy,
  unsupported,
} from "./handshake.ts";
import type { Offer } from "./session.ts";
import type { TransportFactory } from "./transports.ts";

interface Opening {
  transports: TransportFactory;
  makeConnection: (transport: Transport) => Connection;
  offer: Offer;
  clock: Clock;
  /** A version, or `auto`. */
  revision: string;
  probeTimeout: number;
  /** Milliseconds to wait for each answer. */
  timeout: number;
  signal: AbortSignal | undefined;
}

type Opened = Agreed & { connection: Connection };

interface Known {
  readonly revision: Revision;
  /** The server has the transport of the first revision. */
  readonly isOlder: boolean;
}

/** The revisions of targets, for the lifetime of the process. */
const remembered = new Map<string, Known>();
const maxRemembered = 1000;

/** Forgets the remembered revisions of all targets. */
export function forgetEras(): void {
  remembered.clear();
}

/** Forgets the remembered revision of one target. */
export function forgetEra({ target }: TransportFactory): void {
  remembered.delete(target);
}

/** Opens a connection in the pinned revision, the remembered one, or the one that the server supports. */
export async function negotiate(opening: Opening): Promise<Opened> {
  const { transports, revision } = opening;
  if (revision !== "auto") return openPinned(opening, readPin(revision));
  const known = remembered.get(transports.target);
  if (known) {
    try {
      return await openAs(opening, known);
    } catch (error) {
      if (!mayBeAnotherEra(error) || transports.once) throw error;
      forgetEra(transports);
    }
  }
  return detect(opening);
}

function readPin(version: string): Revision {
  const revision = findRevision(version);
  if (revision) return revision;
  const known = revisions.map((one) => one.version).join(", ");
  const message = `revision: "${version}" is no version of the protocol. Known are auto, ${known}.`;
  throw new LocalError("unsupported_revision", message);
}

function openPinned(opening: Opening, revision: Revision): Promise<Opened> {
  return withFallback(opening, revision, async (connection) => {
    try {
      if (revision.era === "legacy") return await initializeOn(connection, opening, { revision, exactly: true });
      const agreed = await discoverPinned(connection, opening, revision);
      if (agreed.revision !== revision) throw unsupported(agreed.server.supportedVersions, revision.version);
      return agreed;
    } catch (error) {
      if (!(error instanceof ProtocolError) && !(error instanceof OnlyLegacy)) throw error;
      // An internal error does not mean that the server lacks support for the revision.
      if (error.code === ErrorCode.InternalError) throw error;
      const theirs = supportedBy(error);
      if (theirs) throw unsupported(theirs, revision.version, error);
      const message = `The server does not speak ${revision.version}, which is pinned: ${error.message}`;
      throw new LocalError("unsupported_revision", message, { cause: error });
    }
  });
}

/** Asks again if the server refuses the revision and yet lists it as supported (2026-07-28, basic/versioning). */
async function discoverPinned(connection: Connection, opening: Opening, revision: Revision): Promise<Agreed> {
  const ask = (): Promise<Agreed> => discoverIn(connection, opening.offer, { ...sendOptions(opening), revision });
  try {
    return await ask();
  } catch (error) {
    if (supportedBy(error)?.includes(revision.version)) return ask();
    throw error;
  }
}

async function openAs(opening: Opening, { revision, isOlder }: Known): Promise<Opened> {
  const older = isOlder ? await openOlder(opening, {}) : undefined;
  if (older) return older;
  return withFallback(opening, undefined, (connection) =>
    revision.era === "legacy"
      ? initializeOn(connection, opening, { revision: latestLegacy })
      : discoverServer(connection, opening.offer, sendOptions(opening)),
  );
}

/**
 * Finds the revision of a server. It is asked in a modern revision first. If it does not know the request, it is asked in a
 * legacy one on the same connection.
 *
 * A server on a stream may be silent because it is legacy or because it is slow to start. After a while it is asked both
 * ways, and the first good answer counts. A server that exits because of the modern request is started again and gets only
 * the legacy one.
 */
async function detect(opening: Opening): Promise<Opened> {
  const { transports } = opening;
  let probed: Connection | undefined;
  try {
    return await withFallback(opening, undefined, (connection) => {
      probed = connection;
      return probe(connection, opening);
    });
  } catch (error) {
    if (!probed?.wasLost || transports.kind !== "stream" || transports.once || opening.signal?.aborted) throw error;
    const opened = await openAs(opening, { revision: latestLegacy, isOlder: false });
    remember(transports, opened);
    return opened;
  }
}

type Settled = { agreed: Agreed } | { error: unknown };

const settle = (running: Promise<Agreed>): Promise<Settled> =>
  running.then(
    (agreed) => ({ agreed }),
    (error: unknown) => ({ error }),
  );

async function probe(connection: Connection, opening: Opening): Promise<Agreed> {
  const { transports, clock, probeTimeout, timeout } = opening;
  const asking = link(opening.signal);
  const timing = link(opening.signal);
  const limit = transports.kind === "stream" ? probeTimeout + timeout : timeout;
  const options = { ...sendOptions(opening), idleTimeout: limit, signal: asking.signal, silent: true };
  const discovering = settle(discoverServer(connection, opening.offer, options));
  try {
    const silence = pause(clock, probeTimeout, timing.signal).catch(() => undefined);
    const first = await Promise.race(transports.kind === "stream" ? [discovering, silence] : [discovering]);
    if (first) return remember(transports, await afterDiscover(first, connection, opening));
    return await bothWays(discovering, connection, { ...opening, signal: asking.signal });
  } finally {
    timing.abort(undefined);
    timing.unlink();
    // The request that is still open is no longer needed.
    asking.abort(undefined);
    asking.unlink();
  }
}

/** Handles the answer to the modern request. */
async function afterDiscover(answer: Settled, connection: Connection, opening: Opening): Promise<Agreed> {
  if ("agreed" in answer) return answer.agreed;
  const { error } = answer;
  if (isModernError(error) || !mayBeAnotherEra(error)) throw error;
  const revision = error instanceof OnlyLegacy ? error.revision : latestLegacy;
  return initializeOn(connection, opening, { revision });
}

async function bothWays(discovering: Promise<Settled>, connection: Connection, opening: Opening): Promise<Agreed> {
  const { transports } = opening;
  const initializing = settle(initializeOn(connection, opening, { revision: latestLegacy }));
  const first = await Promise.race([
    discovering.then((answer) => ({ modern: answer })),
    initializing.then((answer) => ({ legacy: answer })),
  ]);
  if ("modern" in first) {
    const { modern } = first;
    if ("agreed" in modern) return remember(transports, modern.agreed);
    if (isModernError(modern.error) || !mayBeAnotherEra(modern.error)) throw modern.error;
    return remember(transports, unwrap(await initializing));
  }
  // The server may be modern and slow, so this result is not remembered.
  if ("agreed" in first.legacy) return first.legacy.agreed;
  const modern = await discovering;
  if ("agreed" in modern) return remember(transports, modern.agreed);
  return unwrap(isModernError(modern.error) ? modern : first.legacy);
}

function unwrap(settled: Settled): Agreed {
  if ("agreed" in settled) return settled.agreed;
  throw settled.error;
}

function initializeOn(
  connection: Connection,
  opening: Opening,
  offered: { revision: Revision; exactly?: boolean },
): Promise<Agreed> {
  return initialize(connection, opening.offer, { ...sendOptions(opening), ...offered });
}

function sendOptions({ timeout, signal }: Opening): { what: string; idleTimeout: number; signal?: AbortSignal } {
  const options = { what: "Connecting", idleTimeout: timeout };
  return signal ? { ...options, signal } : options;
}

/** Opens a connection. If it fails because the server is of the first revision, opens one over the transport of that. */
async function withFallback(
  opening: Opening,
  pinned: Revision | undefined,
  agree: (connection: Connection) => Promise<Agreed>,
): Promise<Opened> {
  const transport = opening.transports.open();
  try {
    return await onConnection(opening, transport, agree);
  } catch (error) {
    const mayBeOlder = !opening.signal?.aborted && !isNewer(error);
    const older = mayBeOlder ? await openOlder(opening, { refused: transport, pinned }) : undefined;
    if (older) return older;
    throw error;
  }
}

/** Opens a connection over the transport of the first revision. Returns undefined if the server does not have it. */
async function openOlder(
  opening: Opening,
  { refused, pinned }: { refused?: Transport; pinned?: Revision | undefined },
): Promise<Opened | undefined> {
  const { transports, signal } = opening;
  const transport = await transports.openOlder?.(refused ? { refused, signal } : { signal });
  if (!transport) return undefined;
  const opened = await onConnection(opening, transport, (connection) =>
    initializeOn(connection, opening, { revision: pinned ?? latestLegacy, exactly: pinned !== undefined }),
  );
  if (!pinned) remember(transports, opened, true);
  return opened;
}

/** Whether the error can only come from a server of a revision without that transport. */
function isNewer(given: unknown): boolean {
  const wraps = given instanceof LocalError && given.code === "unsupported_revision";
  const error = wraps ? given.cause : given;
  return isModernError(error) || (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound);
}

async function onConnection(
  opening: Opening,
  transport: Transport,
  agree: (connection: Connection) => Promise<Agreed>,
): Promise<Opened> {
  const { signal } = opening;
  const connection = opening.makeConnection(transport);
  try {
    await unlessAborted(connection.open(), signal, "Connecting");
    return { ...(await agree(connection)), connection };
  } catch (error) {
    await connection.close().catch(() => {});
    throw error;
  }
}

function remember({ target, transient }: TransportFactory, agreed: Agreed, isOlder = false): Agreed {
  if (transient) return agreed;
  remembered.delete(target);
  remembered.set(target, { revision: agreed.revision, isOlder });
  if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
  return agreed;
}

/** Whether a failure may mean that the server does not support modern revisions, or legacy ones. */
function mayBeAnotherEra(error: unknown): boolean {
  if (error instanceof ProtocolError || error instanceof OnlyLegacy) return true;
  return (
    error instanceof LocalError && /^(http|invalid_message|too_large|closed|exited|session_lost)$/.test(error.code)
  );
}
