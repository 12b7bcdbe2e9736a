import { type Clock } from "../../rpc/clock.ts";
import { ErrorCode, LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { findRevision, latestLegacy, revisions } from "../../mcp/revisions/revisions.ts";
import { link, pause, unlessAborted } from "../../rpc/abort.ts";
import type { Channel } from "./connection.ts";
import type { Offer } from "./session.ts";
import type { Dialer } from "./transports.ts";
import {
  type Agreed,
  OnlyLegacy,
  discover,
  discoverIn,
  initialize,
  isModernError,
  supportedBy,
  unsupported,
} from "./handshake.ts";

/** What is needed to open a connection. */
export interface Opening {
  dialer: Dialer;
  /** Makes a channel of a transport of the dialer. */
  channel: (transport: Transport) => Channel;
  offer: Offer;
  clock: Clock;
  /** A version, or `auto`. */
  revision: string;
  probeTimeout: number;
  /** Milliseconds to wait for each answer. */
  timeout: number;
  signal: AbortSignal | undefined;
}

export type Opened = Agreed & { channel: Channel };

interface Finding {
  readonly revision: Revision;
  /** It is reached over the transport of the first revisions. */
  readonly isOlder: boolean;
}

/** What was found out about targets, for as long as the process lives: the era is a property of the server. */
const found = new Map<string, Finding>();
const maxFound = 1000;

/** Forgets which targets speak which era, so that they are asked anew. */
export function forgetEras(): void {
  found.clear();
}

/** Forgets one finding, which has failed. */
export function forgetEra({ target }: Dialer): void {
  found.delete(target);
}

/** Opens a connection, in the revision that is pinned, was found before, or is found now. */
export async function establish(opening: Opening): Promise<Opened> {
  const { dialer, revision } = opening;
  if (revision !== "auto") return openPinned(opening, readPin(revision));
  const known = found.get(dialer.target);
  if (known) {
    try {
      return await openAs(opening, known);
    } catch (error) {
      if (!mayBeAnotherEra(error) || dialer.once) throw error;
      forgetEra(dialer);
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
  return onChannel(opening, revision, async (channel) => {
    try {
      if (revision.era === "legacy") return await initializeOn(channel, opening, revision, true);
      const agreed = await discoverPinned(channel, opening, revision);
      if (agreed.revision !== revision) throw unsupported(agreed.server.supportedVersions, revision.version);
      return agreed;
    } catch (error) {
      if (!(error instanceof ProtocolError) && !(error instanceof OnlyLegacy)) throw error;
      // What went wrong within the server says nothing of what it speaks.
      if (error.code === ErrorCode.InternalError) throw error;
      const theirs = supportedBy(error);
      if (theirs) throw unsupported(theirs, revision.version, error);
      const message = `The server does not speak ${revision.version}, which is pinned: ${error.message}`;
      throw new LocalError("unsupported_revision", message, { cause: error });
    }
  });
}

/** Asks once more where the server refuses the revision and yet says that it speaks it (2026-07-28, basic/versioning). */
async function discoverPinned(channel: Channel, opening: Opening, revision: Revision): Promise<Agreed> {
  const ask = (): Promise<Agreed> => discoverIn(revision, channel, opening.offer, sendOptions(opening));
  try {
    return await ask();
  } catch (error) {
    if (supportedBy(error)?.includes(revision.version)) return ask();
    throw error;
  }
}

async function openAs(opening: Opening, { revision, isOlder }: Finding): Promise<Opened> {
  const older = isOlder ? await openOlder(opening, {}) : undefined;
  if (older) return older;
  return onChannel(opening, undefined, (channel) =>
    revision.era === "legacy"
      ? initializeOn(channel, opening, latestLegacy)
      : discover(channel, opening.offer, sendOptions(opening)),
  );
}

/**
 * Finds out which era the server speaks. It is asked a modern question; one that does not know the question is opened
 * the legacy way, on the same channel.
 *
 * A server on a stream may stay silent because it is legacy, or because it is slow to start. After a while it is asked
 * both ways, and whichever it answers well counts. One that ends because of the question is started anew and not asked
 * it again.
 */
async function detect(opening: Opening): Promise<Opened> {
  const { dialer } = opening;
  let probed: Channel | undefined;
  try {
    return await onChannel(opening, undefined, (channel) => {
      probed = channel;
      return probe(channel, opening);
    });
  } catch (error) {
    if (!probed?.wasLost || dialer.kind !== "stream" || dialer.once || opening.signal?.aborted) throw error;
    const opened = await openAs(opening, { revision: latestLegacy, isOlder: false });
    remember(dialer, opened);
    return opened;
  }
}

type Settled = { agreed: Agreed } | { error: unknown };

const settle = (running: Promise<Agreed>): Promise<Settled> =>
  running.then(
    (agreed) => ({ agreed }),
    (error: unknown) => ({ error }),
  );

async function probe(channel: Channel, opening: Opening): Promise<Agreed> {
  const { dialer, clock, probeTimeout, timeout } = opening;
  const asking = link(opening.signal);
  const timing = link(opening.signal);
  const limit = dialer.kind === "stream" ? probeTimeout + timeout : timeout;
  const options = { ...sendOptions(opening), idleTimeout: limit, signal: asking.signal, silent: true };
  const discovering = settle(discover(channel, opening.offer, options));
  try {
    const silence = pause(clock, probeTimeout, timing.signal).catch(() => undefined);
    const first = await Promise.race(dialer.kind === "stream" ? [discovering, silence] : [discovering]);
    if (first) return remember(dialer, await afterDiscover(first, channel, opening));
    return await bothWays(discovering, channel, { ...opening, signal: asking.signal });
  } finally {
    timing.abort(undefined);
    timing.unlink();
    // Whichever question is still open is not needed any more; its late answer changes nothing.
    asking.abort(undefined);
    asking.unlink();
  }
}

/** Goes on from the answer to the modern question. */
async function afterDiscover(answer: Settled, channel: Channel, opening: Opening): Promise<Agreed> {
  if ("agreed" in answer) return answer.agreed;
  const { error } = answer;
  if (isModernError(error) || !mayBeAnotherEra(error)) throw error;
  const revision = error instanceof OnlyLegacy ? error.revision : latestLegacy;
  return initializeOn(channel, opening, revision);
}

async function bothWays(discovering: Promise<Settled>, channel: Channel, opening: Opening): Promise<Agreed> {
  const { dialer } = opening;
  const initializing = settle(initializeOn(channel, opening, latestLegacy));
  const first = await Promise.race([
    discovering.then((answer) => ({ modern: answer })),
    initializing.then((answer) => ({ legacy: answer })),
  ]);
  if ("modern" in first) {
    const { modern } = first;
    if ("agreed" in modern) return remember(dialer, modern.agreed);
    if (isModernError(modern.error) || !mayBeAnotherEra(modern.error)) throw modern.error;
    return remember(dialer, unwrap(await initializing));
  }
  // That it was slow to answer the other question does not make it legacy for good: this finding is not remembered.
  if ("agreed" in first.legacy) return first.legacy.agreed;
  const modern = await discovering;
  if ("agreed" in modern) return remember(dialer, modern.agreed);
  return unwrap(isModernError(modern.error) ? modern : first.legacy);
}

function unwrap(settled: Settled): Agreed {
  if ("agreed" in settled) return settled.agreed;
  throw settled.error;
}

function initializeOn(channel: Channel, opening: Opening, revision: Revision, exactly = false): Promise<Agreed> {
  return initialize(channel, opening.offer, { ...sendOptions(opening), revision, exactly });
}

function sendOptions({ timeout, signal }: Opening): { what: string; idleTimeout: number; signal?: AbortSignal } {
  const options = { what: "Connecting", idleTimeout: timeout };
  return signal ? { ...options, signal } : options;
}

/** Opens a connection, or where it fails because the server is an older one, one over the transport of those. */
async function onChannel(
  opening: Opening,
  pinned: Revision | undefined,
  agree: (channel: Channel) => Promise<Agreed>,
): Promise<Opened> {
  const transport = opening.dialer.open();
  try {
    return await onTransport(opening, transport, agree);
  } catch (error) {
    const mayBeOlder = !opening.signal?.aborted && !isOfNewer(error);
    const older = mayBeOlder ? await openOlder(opening, { refused: transport, pinned }) : undefined;
    if (older) return older;
    throw error;
  }
}

/** Opens a connection over the transport of the first revisions. Undefined where the server is none of those. */
async function openOlder(
  opening: Opening,
  { refused, pinned }: { refused?: Transport; pinned?: Revision | undefined },
): Promise<Opened | undefined> {
  const { dialer, signal } = opening;
  const transport = await dialer.openOlder?.(refused ? { refused, signal } : { signal });
  if (!transport) return undefined;
  const opened = await onTransport(opening, transport, (channel) =>
    initializeOn(channel, opening, pinned ?? latestLegacy, pinned !== undefined),
  );
  if (!pinned) remember(dialer, opened, true);
  return opened;
}

/** Whether only a server of a revision without that transport gives this error. */
function isOfNewer(given: unknown): boolean {
  const wraps = given instanceof LocalError && given.code === "unsupported_revision";
  const error = wraps ? given.cause : given;
  return isModernError(error) || (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound);
}

async function onTransport(
  opening: Opening,
  transport: Transport,
  agree: (channel: Channel) => Promise<Agreed>,
): Promise<Opened> {
  const { signal } = opening;
  const channel = opening.channel(transport);
  try {
    await unlessAborted(channel.open(), signal, "Connecting");
    return { ...(await agree(channel)), channel };
  } catch (error) {
    await channel.close().catch(() => {});
    throw error;
  }
}

function remember(dialer: Dialer, agreed: Agreed, isOlder = false): Agreed {
  if (dialer.transient) return agreed;
  found.delete(dialer.target);
  found.set(dialer.target, { revision: agreed.revision, isOlder });
  if (found.size > maxFound) found.delete(found.keys().next().value!);
  return agreed;
}

/** Whether a failure may be a server's way to say that it does not speak this era, rather than trouble of another kind. */
function mayBeAnotherEra(error: unknown): boolean {
  if (error instanceof ProtocolError || error instanceof OnlyLegacy) return true;
  return (
    error instanceof LocalError && /^(http|invalid_message|too_large|closed|exited|session_lost)$/.test(error.code)
  );
}
