import type { Clock } from "../../rpc/clock.ts";
import { findRevision, latestModern } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import type { Transport } from "../../rpc/transport.ts";
import { unlessAborted } from "../../rpc/abort.ts";
import type { Connection } from "./connection.ts";
import { type Agreed, discover } from "./handshake.ts";
import { recall } from "./remembered.ts";
import type { Offer } from "./session.ts";
import type { TransportFactory } from "./transports.ts";

export { forgetRevisions } from "./remembered.ts";

/** A connection to open. */
export interface Opening {
  transports: TransportFactory;
  makeConnection: (transport: Transport) => Connection;
  offer: Offer;
  /** Its timers keep the process alive, since the caller waits for them. */
  clock: Clock;
  /** A version, or `auto`. */
  revision: string;
  probeTimeout: number;
  /** Milliseconds to wait for each answer. */
  timeout: number;
  signal: AbortSignal;
  /** Called with the end of a connection that is closed after the signal was aborted. */
  closing: (closed: Promise<void>) => void;
}

export type Opened = Agreed & { connection: Connection };

/**
 * Opens a connection in the pinned revision, the remembered one, or the one that the server supports.
 *
 * This function is the part that every client over HTTP needs: it asks the server in a modern revision. The rest is loaded
 * for servers on streams, for legacy revisions, and after a failure.
 */
export async function negotiate(opening: Opening): Promise<Opened> {
  const { transports, makeConnection, signal } = opening;
  const revision = firstRevision(opening);
  if (transports.kind === "stream" || !revision) return (await import("./on-demand.ts")).negotiateOtherwise(opening);
  const transport = transports.open();
  const connection = makeConnection(transport);
  try {
    await unlessAborted(connection.open(), signal, "Connecting");
    const agreed = await discover(connection, { ...opening, revision });
    return { ...agreed, connection };
  } catch (error) {
    const { fallBack } = await import("./on-demand.ts");
    return fallBack(opening, { transport, connection, error });
  }
}

/** The modern revision in which the server is asked first. Undefined if it is opened in a legacy revision. */
function firstRevision({ revision, transports }: Opening): Revision | undefined {
  if (revision === "auto") return recall(transports)?.revision.kind === "legacy" ? undefined : latestModern;
  const pinned = findRevision(revision);
  return pinned?.kind === "modern" ? pinned : undefined;
}
