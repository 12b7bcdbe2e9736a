import { LocalError, ProtocolError, isTransient } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { elicitModesOf, isExtensionList } from "../client-capabilities.ts";
import { doubtOf } from "../connect/revision-doubt.ts";
import type { Session } from "../connect/session.ts";
import { type Call, type Next, sessionFor } from "./call.ts";

/** A reason to send a request again. */
interface Repair {
  /** Each kind is tried once in a round. */
  kind: "session" | "revision" | "headers" | "visits";
  run(): unknown;
}

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  const repaired = new Set<string>();
  for (;;) {
    // In a later round of input requests the server has run a part of the call.
    call.isSent = call.answers !== undefined;
    call.session = await openFor(call);
    try {
      return await next.step(call, next.next);
    } catch (error) {
      // The next step may have opened another session.
      const possible = repairOf(call, call.session, error);
      if (!possible || repaired.has(possible.kind)) throw explain(call, error);
      repaired.add(possible.kind);
      await possible.run();
    }
  }
}

/** Returns the session of a call. An error says whether the call is safe to repeat. */
export async function openFor(call: Call): Promise<Session> {
  try {
    return await sessionFor(call);
  } catch (error) {
    throw explain(call, error);
  }
}

function repairOf(call: Call, session: Session, error: unknown): Repair | undefined {
  const { core, method } = call;
  const { sessions, options } = core;
  if (error instanceof LocalError && error.code === "session_lost") {
    return { kind: "session", run: () => sessions.drop(session) };
  }
  const doubt = doubtOf(error, call, session);
  if (doubt) {
    const isCertain = doubt === "certain";
    const negotiateAgain = async (): Promise<void> => {
      const { replaceIfChanged } = await import("../connect/on-demand.ts");
      return replaceIfChanged(call, session, { error, isCertain });
    };
    return { kind: "revision", run: negotiateAgain };
  }
  if (!(error instanceof ProtocolError)) return undefined;
  const isModern = session.revision.era === "modern";
  if (error.code === ErrorCode.HeaderMismatch && session.mirrors && method === Method.callTool) {
    return { kind: "headers", run: async () => (await import("./on-demand.ts")).findAgain(call, call.listed) };
  }
  if (error.code === ErrorCode.UrlElicitationRequired && !isModern && elicitModesOf(options).includes("url")) {
    return { kind: "visits", run: async () => (await import("./on-demand.ts")).visitUrls(call, error) };
  }
  return undefined;
}

/**
 * Adds `data.safeToRepeat` to an error that leaves open whether the server has run the call: `closed`, `exited`, `timeout`,
 * `unreachable`, and `http` with a transient status. Returns other errors unchanged.
 */
function explain(call: Call, error: unknown): unknown {
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
      : "The server may have run it: repeat it only if it does no harm to run it twice.";
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
