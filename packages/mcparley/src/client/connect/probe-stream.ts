import { link, pause } from "../../rpc/abort.ts";
import { latestLegacy, latestModern } from "../../mcp/revisions/index.ts";
import { agreeAfter, initializeOn, isLegacyAnswer } from "./agree.ts";
import type { Connection } from "./connection.ts";
import type { Opening } from "./find-revision.ts";
import { type Agreed, discover } from "./handshake.ts";
import { isModernError } from "./legacy-handshake.ts";
import { remember } from "./remembered.ts";

type Settled = { agreed: Agreed } | { error: unknown };

const settle = (running: Promise<Agreed>): Promise<Settled> =>
  running.then(
    (agreed) => ({ agreed }),
    (error: unknown) => ({ error }),
  );

/**
 * Finds the revision of a server on a stream. It is asked in a modern revision first. If it answers with an error, it is
 * asked in a legacy one on the same connection.
 *
 * A server on a stream may be silent because it is legacy or because it is slow to start. After a while it is asked both
 * ways, and the first good answer counts. A server that was modern before is only asked in that way. All of it takes at
 * most `timeout`.
 */
export async function probeStream(connection: Connection, opening: Opening, wasModern: boolean): Promise<Agreed> {
  const { clock, timeout } = opening;
  // A short limit leaves half of its time to `initialize`.
  const probeTimeout = opening.probeTimeout === Infinity ? Infinity : Math.min(opening.probeTimeout, timeout / 2);
  const asking = link(opening.signal);
  const timing = link(opening.signal);
  const request = { ...opening, revision: latestModern, signal: asking.signal };
  const discovering = settle(discover(connection, request));
  try {
    const silence = pause(clock, probeTimeout, timing.signal).catch(() => undefined);
    const first = await Promise.race(wasModern ? [discovering] : [discovering, silence]);
    if (first) return await afterAnswer(first, connection, opening);
    return await bothWays(discovering, connection, {
      ...opening,
      timeout: timeout - probeTimeout,
      signal: asking.signal,
    });
  } finally {
    timing.abort(undefined);
    timing.unlink();
    // The request that is still open is no longer needed.
    asking.abort(undefined);
    asking.unlink();
  }
}

function afterAnswer(answer: Settled, connection: Connection, opening: Opening): Agreed | Promise<Agreed> {
  return "agreed" in answer ? rememberModern(opening, answer.agreed) : agreeAfter(answer.error, connection, opening);
}

async function bothWays(discovering: Promise<Settled>, connection: Connection, opening: Opening): Promise<Agreed> {
  const initializing = settle(initializeOn(connection, { ...opening, revision: latestLegacy }));
  const first = await Promise.race([
    discovering.then((answer) => ({ modern: answer })),
    initializing.then((answer) => ({ legacy: answer })),
  ]);
  if ("modern" in first) {
    const { modern } = first;
    if ("agreed" in modern) return rememberModern(opening, modern.agreed);
    if (isModernError(modern.error) || !isLegacyAnswer(modern.error)) throw modern.error;
    const agreed = unwrap(await initializing);
    remember(opening.transports, { revision: agreed.revision, isOlder: false });
    return agreed;
  }
  // The server may be modern and slow, so this result is not remembered.
  if ("agreed" in first.legacy) return first.legacy.agreed;
  const modern = await discovering;
  if ("agreed" in modern) return rememberModern(opening, modern.agreed);
  return unwrap(isModernError(modern.error) ? modern : first.legacy);
}

function unwrap(settled: Settled): Agreed {
  if ("agreed" in settled) return settled.agreed;
  throw settled.error;
}

function rememberModern({ transports }: Opening, agreed: Agreed): Agreed {
  remember(transports, { revision: agreed.revision, isOlder: false });
  return agreed;
}
