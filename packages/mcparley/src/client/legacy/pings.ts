import { Method } from "../../mcp/methods.ts";
import { LocalError, hasCode } from "../../rpc/errors.ts";
import type { ClientCore } from "../core.ts";
import { type Session, modernMeta } from "../connect/session.ts";

/** The number of pings in a row without an answer after which a connection is closed. */
const maxFailures = 2;

/** Pings the server of the open session at each `pingInterval`, until the client is closed (2025-11-25, basic/utilities/ping). */
export function startPings(core: ClientCore): void {
  const { clock, closing, options, sessions, transports } = core;
  const interval = options.pingInterval ?? Infinity;
  if (interval === Infinity || closing.aborted) return;
  let timer: unknown;

  async function ping(): Promise<void> {
    const { current } = sessions;
    // Each request of a modern revision over HTTP has a connection of its own, so there is none that can break.
    const canBreak = current?.revision.kind === "legacy" || transports.kind === "stream";
    if (current && canBreak) await pingUntilAnswered(core, current, interval);
    if (!closing.aborted) timer = clock.setTimeout(() => void ping(), interval);
  }

  timer = clock.setTimeout(() => void ping(), interval);
  closing.addEventListener("abort", () => clock.clearTimeout(timer), { once: true });
}

/** Pings a server until it answers. Closes the connection if it does not answer in time too often. */
async function pingUntilAnswered({ closing, offer }: ClientCore, session: Session, timeout: number): Promise<void> {
  const { connection, revision } = session;
  const options = { what: "The ping", idleTimeout: timeout, signal: closing, silent: true };
  // Modern revisions have no ping.
  const hasPing = revision.clientRequests.has(Method.ping);
  for (let failures = 0; failures < maxFailures; failures++) {
    try {
      if (hasPing) await connection.exchange(Method.ping, {}, options);
      else await connection.exchange(Method.discover, { _meta: modernMeta(revision, offer) }, options);
      return;
    } catch (error) {
      // An answer with an error also shows that the server is running. A lost connection needs no ping.
      if (!hasCode(error, "timeout")) return;
    }
  }
  await connection.close(new LocalError("closed", `The server answered none of ${maxFailures} pings.`));
}
