import { unlessAborted } from "../../rpc/abort.ts";
import { LocalError, ProtocolError, hasCode, isTransient } from "../../rpc/errors.ts";
import { DEFAULT_IDLE_TIMEOUT } from "../../rpc/pending-requests.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { latestModern } from "../../mcp/revisions/index.ts";
import type { Call, ClientCore } from "../core.ts";
import { forgetRevision } from "../connect/remembered-revisions.ts";
import { discover } from "../connect/handshake.ts";
import { isModernError, mayBeLostSession, statusOf, supportedBy } from "../connect/revision-errors.ts";
import type { Session } from "../connect/session.ts";

interface Doubt {
  error: unknown;
  isCertain: boolean;
}

/** The checks that are in progress. Calls that fail together share one. */
const checks = new WeakMap<Session, Promise<boolean>>();

/**
 * Ends a session whose revision the server no longer has. The next call negotiates the revision again. Throws the error of
 * the call if the server still has the revision, or if that cannot be found out.
 */
export async function replaceIfChanged(
  { core, options, what }: Pick<Call, "core" | "options" | "what">,
  session: Session,
  { error, isCertain }: Doubt,
): Promise<void> {
  const { current } = core.sessions;
  const isReplaced = current !== undefined && current.revision !== session.revision;
  if (!isCertain && !isReplaced) {
    let check = checks.get(session);
    if (!check) {
      check = hasChanged(core, session, error).finally(() => checks.delete(session));
      checks.set(session, check);
    }
    if (!(await unlessAborted(check, options.signal, what))) throw error;
  }
  forgetRevision(core.transports);
  core.sessions.drop(session);
}

/**
 * Throws `session_lost` if a call was refused in a new session because the server does not know that session either. `error` is the
 * refusal.
 */
export async function requireSession(
  { core, what }: Pick<Call, "core" | "what">,
  session: Session,
  error: unknown,
): Promise<void> {
  if (session.revision.kind === "modern" || !mayBeLostSession(error)) return;
  if (!(await hasChanged(core, session, error))) return;
  core.sessions.drop(session);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The server does not know the new session that it has opened for ${what}: ${reason}`;
  throw new LocalError("session_lost", message, { cause: error });
}

/** Whether a server that has the method would not have sent the error. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== ErrorCode.InternalError;
  if (hasCode(error, "session_lost")) return true;
  const status = statusOf(error);
  return status >= 400 && !isTransient(status);
}

/**
 * Asks the server whether it is of another kind than the session, modern or legacy. A server that answers `ping` still has
 * the legacy session, even if it also supports modern revisions. `error` is that of the call.
 */
async function hasChanged({ offer, closing, options }: ClientCore, session: Session, error: unknown): Promise<boolean> {
  const { connection, revision } = session;
  const timeout = options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT;
  const asking = { offer, timeout, signal: closing, revision };
  if (revision.kind === "modern") {
    const refusal = await errorOf(discover(connection, asking));
    return isModernError(refusal) ? supportedBy(refusal) !== undefined : isRefusal(refusal);
  }
  const pinging = { what: Method.ping, idleTimeout: timeout, signal: closing };
  const refusal = await errorOf(connection.exchange(Method.ping, {}, pinging));
  if (hasCode(refusal, "session_lost")) return true;
  // A server that does not know the session refuses everything in the same way. Some servers have no ping and refuse it otherwise: the
  // call was refused for another reason.
  if (mayBeLostSession(refusal) && mayBeLostSession(error)) return kindOf(refusal) === kindOf(error);
  if (!isRefusal(refusal)) return false;
  // A status without a JSON-RPC error means that the session, or its transport, does not exist any more.
  if (refusal instanceof LocalError) return true;
  const modernRefusal = await errorOf(discover(connection, { ...asking, revision: latestModern }));
  return modernRefusal === undefined || isModernError(modernRefusal);
}

/** Returns the code of a JSON-RPC error, or the status of another refusal. */
function kindOf(refusal: unknown): number {
  return refusal instanceof ProtocolError ? refusal.code : statusOf(refusal);
}

function errorOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => undefined,
    (error: unknown) => error,
  );
}
