import { Method } from "../../mcp/methods.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { ClientCore } from "../calls/call.ts";
import { type Session, modernMeta } from "./session.ts";

/** The number of pings in a row without an answer after which a connection is closed. */
const maxFailures = 2;

/** Pings the server of the open session at each `pingInterval`, until the client is closed (2025-11-25, basic/utilities/ping). */
export function startPings(core: ClientCore): void {
  const { clock, closing, options, sessions } = core;
  const interval = options.pingInterval ?? Infinity;
  if (interval === Infinity || closing.aborted) return;
  let timer: unknown;

  async function ping(): Promise<void> {
    const { current } = sessions;
    if (current && hasPings(core, current)) await pingUntilAnswered(core, current, interval);
    if (!closing.aborted) timer = clock.setTimeout(() => void ping(), interval);
  }

  timer = clock.setTimeout(() => void ping(), interval);
  closing.addEventListener("abort", () => clock.clearTimeout(timer), { once: true });
}

/** Pings a server until it answers. Closes the connection if it does not answer in time too often. */
async function pingUntilAnswered(core: ClientCore, session: Session, timeout: number): Promise<void> {
  for (let failures = 0; failures < maxFailures; failures++) {
    try {
      return await sendPing(core, session, timeout);
    } catch (error) {
      // An answer with an error shows as well that the server is there. A connection that was lost needs no ping.
      if (!(error instanceof LocalError && error.code === "timeout")) return;
    }
  }
  await session.connection.close(new LocalError("closed", `The server answered none of ${maxFailures} pings.`));
}

/** Whether a session has a connection that can break. Each request of a modern revision over HTTP has its own. */
function hasPings({ transports }: ClientCore, { revision }: Session): boolean {
  return revision.kind === "legacy" || transports.kind === "stream";
}

async function sendPing({ closing, offer }: ClientCore, session: Session, timeout: number): Promise<void> {
  const { connection, revision } = session;
  const wait = { idleTimeout: timeout, signal: closing, silent: true };
  // Modern revisions have no ping.
  if (revision.clientRequests.has(Method.ping))
    await connection.exchange(Method.ping, {}, { what: "The ping", ...wait });
  else
    await connection.exchange(Method.discover, { _meta: modernMeta(revision, offer) }, { what: "The ping", ...wait });
}
