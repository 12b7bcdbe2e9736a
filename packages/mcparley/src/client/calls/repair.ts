import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { elicitModesOf } from "../client-capabilities.ts";
import { forgetEra } from "../connect/remembered.ts";
import type { Session } from "../connect/session.ts";
import { type Call, type Next, sessionFor } from "./call.ts";

/** A reason to send a request again. */
interface Repair {
  /** Each kind is tried once in a round. */
  kind: "session" | "headers" | "visits";
  run(): unknown;
}

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  const repaired = new Set<string>();
  for (;;) {
    call.session = await sessionFor(call);
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

function repairOf(call: Call, session: Session, error: unknown): Repair | undefined {
  const { core, method } = call;
  const { sessions, transports, options } = core;
  if (error instanceof LocalError && error.code === "session_lost") {
    return { kind: "session", run: () => sessions.drop(session) };
  }
  if (!(error instanceof ProtocolError)) return undefined;
  const isModern = session.revision.era === "modern";
  const { revision: pinned = "auto" } = options;
  if (error.code === ErrorCode.UnsupportedProtocolVersion && isModern && pinned === "auto") {
    const negotiateAgain = (): void => {
      forgetEra(transports);
      sessions.drop(session);
    };
    return { kind: "session", run: negotiateAgain };
  }
  if (error.code === ErrorCode.HeaderMismatch && session.mirrors && method === Method.callTool) {
    return { kind: "headers", run: async () => (await import("./on-demand.ts")).findAgain(call, call.listed) };
  }
  if (error.code === ErrorCode.UrlElicitationRequired && !isModern && elicitModesOf(options).includes("url")) {
    return { kind: "visits", run: async () => (await import("./on-demand.ts")).visitUrls(call, error) };
  }
  return undefined;
}

/** Adds to the error of a lost connection whether it is safe to repeat the call. Returns other errors unchanged. */
function explain({ core, method, params, what }: Call, error: unknown): unknown {
  const isLost = error instanceof LocalError && (error.code === "closed" || error.code === "exited");
  if (!isLost || core.closing.aborted) return error;
  const annotations = core.tools.get(params.name)?.tool.annotations;
  const safeToRepeat =
    method === Method.callTool
      ? annotations?.readOnlyHint === true || annotations?.idempotentHint === true
      : Object.values<string>(Method).includes(method);
  const advice = safeToRepeat
    ? "It is safe to repeat it."
    : "The server may have run it: repeat it only if it does no harm to run it twice.";
  const message = `The connection was lost before ${what} was answered. ${advice} ${error.message}`;
  return new LocalError(error.code, message, { cause: error, data: { safeToRepeat } });
}
