import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError, hasCode, isTransient } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { elicitModesOf, isExtensionList } from "../client-capabilities.ts";
import { doubtOf } from "../connect/revision-errors.ts";
import type { Session } from "../connect/session.ts";
import type { Call, Next } from "../core.ts";
import { loadLegacy } from "../legacy/load.ts";
import { sessionFor } from "./call.ts";
import { findAgain } from "./find-tool.ts";

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  // Not a set, because almost no call needs it.
  const repairedKinds: string[] = [];
  for (;;) {
    // In a later round of input requests the server has run a part of the call.
    call.isSent = call.answers !== undefined;
    const pendingSession = openFor(call);
    call.session = isPromise(pendingSession) ? await pendingSession : pendingSession;
    try {
      return await next.step(call, next.next);
    } catch (error) {
      // The next step may have opened another session.
      const possible = repairOf(call, call.session, error);
      if (!possible || repairedKinds.includes(possible.kind)) {
        await possible?.giveUp?.();
        throw explain(call, error);
      }
      repairedKinds.push(possible.kind);
      // A new revision has a new session.
      if (possible.kind === "revision") repairedKinds.push("session");
      await possible.run();
    }
  }
}

/** Returns the session of a call. An error has `safeToRepeat`. */
export function openFor(call: Call): Awaitable<Session> {
  const pendingSession = sessionFor(call);
  if (!isPromise(pendingSession)) return pendingSession;
  return pendingSession.catch((error: unknown) => {
    throw explain(call, error);
  });
}

/** A reason to send a request again. */
interface Repair {
  /** Each kind is tried once in a round. */
  kind: "session" | "params" | "revision" | "headers" | "visits";
  run(): unknown;
  /** Called if the same failure follows the repair. May throw a better error. */
  giveUp?(): unknown;
}

/** Returns the repair for an error of a call. Undefined if the call cannot be sent again. */
function repairOf(call: Call, session: Session, error: unknown): Repair | undefined {
  const { core, method } = call;
  const { sessions, options } = core;
  if (hasCode(error, "session_lost")) {
    const drop = (): void => sessions.drop(session);
    return { kind: "session", run: drop, giveUp: drop };
  }
  const { paramsOfCaller } = call;
  if (paramsOfCaller && error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound) {
    // The server refuses the params that extensions have added, for example because the tool cannot be a task.
    return { kind: "params", run: () => Object.assign(call, { params: paramsOfCaller, paramsOfCaller: undefined }) };
  }
  const doubt = doubtOf(error, call, session);
  if (doubt) {
    const run = async (): Promise<void> =>
      (await loadLegacy()).replaceIfChanged(call, session, { error, isCertain: doubt === "certain" });
    const giveUp = async (): Promise<void> => (await loadLegacy()).requireSession(call, session, error);
    return { kind: "revision", run, giveUp };
  }
  if (!(error instanceof ProtocolError)) return undefined;
  const isModern = session.revision.kind === "modern";
  if (error.code === ErrorCode.HeaderMismatch && session.mirrors && method === Method.callTool) {
    return { kind: "headers", run: () => findAgain(call, call.listGeneration) };
  }
  if (error.code === ErrorCode.UrlElicitationRequired && !isModern && elicitModesOf(options).includes("url")) {
    return { kind: "visits", run: async () => (await loadLegacy()).visitUrls(call, error) };
  }
  return undefined;
}

/**
 * Adds `data.safeToRepeat` to an error that leaves open whether the server has run the call: `closed`, `exited`, `timeout`,
 * `unreachable`, and `http` with a transient status. Returns other errors unchanged.
 */
export function explain(call: Call, error: unknown): unknown {
  if (!(error instanceof LocalError)) return error;
  const { code, data } = error;
  const details = isObject(data) ? data : {};
  const isLost = code === "closed" || code === "exited";
  const isOpen = isLost || code === "timeout" || (code === "http" && isTransient(details.status));
  if (!isOpen && code !== "unreachable") return error;
  const safeToRepeat = !isOpen || !call.isSent || changesNothing(call);
  let { message } = error;
  if (isLost && call.isSent && !call.core.closing.aborted) {
    const advice = safeToRepeat
      ? "It is safe to repeat it."
      : "The server may have run it. Repeat it only if it is safe to run twice.";
    message = `The connection was lost before ${call.what} was answered. ${advice} ${message}`;
  }
  return new LocalError(code, message, { cause: error, data: { ...details, safeToRepeat } });
}

/** Whether a second run of a call is harmless. For a method of an extension, the extension decides. */
function changesNothing({ core, method, params }: Call): boolean {
  if (method === Method.callTool) {
    const annotations = core.tools.get(params.name)?.tool.annotations;
    return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  }
  if (Object.values<string>(Method).includes(method)) return true;
  const { extensions } = core.options;
  return isExtensionList(extensions) && extensions.some(({ repeatable }) => repeatable?.includes(method));
}
