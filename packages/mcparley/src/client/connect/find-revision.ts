import { unlessAborted } from "../../rpc/abort.ts";
import { findRevision, latestModern } from "../../mcp/revisions/index.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { loadLegacy } from "../legacy/load.ts";
import { type Opened, type Opening, discover } from "./handshake.ts";
import { recall } from "./remembered-revisions.ts";

/**
 * Opens a connection in the pinned revision, the remembered one, or the one that the server supports.
 *
 * This function is the part that every client over HTTP needs: it sends `server/discover` in a modern revision. The rest is
 * loaded for servers on streams, for legacy revisions, and after a failure.
 */
export async function negotiate(opening: Opening): Promise<Opened> {
  const { transports, makeConnection, signal } = opening;
  const revision = firstRevision(opening);
  if (transports.kind === "stream" || !revision) {
    const { negotiateOtherwise } = await loadLegacy();
    const negotiation = await negotiateOtherwise(opening);
    if (negotiation) return negotiation;
  }
  const transport = transports.open();
  const connection = makeConnection(transport);
  try {
    await unlessAborted(connection.open(), signal, "Connecting");
    const result = await discover(connection, { ...opening, revision: revision ?? latestModern });
    return { ...result, connection };
  } catch (error) {
    const { fallBack } = await loadLegacy();
    return fallBack(opening, { transport, connection, error });
  }
}

/** Returns the modern revision of the first request. Undefined if the connection is opened in a legacy revision. */
function firstRevision({ revision, transports }: Opening): Revision | undefined {
  if (revision === "auto") return recall(transports)?.revision.kind === "legacy" ? undefined : latestModern;
  const pinnedRevision = findRevision(revision);
  return pinnedRevision?.kind === "modern" ? pinnedRevision : undefined;
}
