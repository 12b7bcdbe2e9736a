import { Method } from "../../mcp/methods.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Link } from "../dispatch/call.ts";
import type { Session } from "./session.ts";

/** The number of pings in a row without an answer after which the connection is closed. */
const maxFailures = 2;

/**
 * Pings the client of a session at each `interval`, in milliseconds, as long as its link is open (2025-11-25,
 * basic/utilities/ping). An answer with an error shows as well that the client is there. Returns a function that ends it.
 */
export function startPings(session: Session, link: Link, interval: number): () => void {
  const { clock } = session.core;
  const ended = new AbortController();
  let failures = 0;
  let timer: unknown;

  function end(): void {
    clock.clearTimeout(timer);
    ended.abort(new LocalError("closed", "The session needs no more pings."));
  }

  async function ping(): Promise<void> {
    if (link.isOpen === false) return session.endPings();
    try {
      await session.request(Method.ping, {}, { link, signal: ended.signal, timeout: interval });
      failures = 0;
    } catch (error) {
      const isSilent = error instanceof LocalError && error.code === "timeout";
      failures = isSilent ? failures + 1 : 0;
    }
    if (ended.signal.aborted) return;
    if (failures === 0) timer = clock.setTimeout(() => void ping(), interval);
    else if (failures < maxFailures) void ping();
    else {
      session.endPings();
      link.reset?.(new LocalError("timeout", `The client answered none of ${maxFailures} pings.`));
    }
  }

  timer = clock.setTimeout(() => void ping(), interval);
  return end;
}
