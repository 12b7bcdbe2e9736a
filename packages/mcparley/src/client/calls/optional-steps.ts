import { abortedError, link, unlessAborted } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { findNotJson } from "../../rpc/not-json.ts";
import { Declined, McpError } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type CallEnd, startCall } from "../../mcp/observe.ts";
import type { ClientCall, RequestOptions } from "../options.ts";
import type { Session } from "../connect/session.ts";
import { explain } from "./after-failure.ts";
import { type Call, type Next, endOf, isWellNamed, nameOf, sessionFor, untimed } from "./call.ts";

/** Makes the error for a request that names something by a text with a lone surrogate. The server would receive another name. */
export function brokenName(what: string): LocalError {
  const message = `${what} was not sent: its name or URI has half of a surrogate pair. Use whole characters.`;
  return new LocalError("invalid_message", message, { data: { safeToRepeat: true } });
}

/** Throws `invalid_message` for a message with a value that JSON cannot carry. The error names the member. */
export function requireJson({
  what,
  params,
  options,
}: Pick<Call, "what" | "params"> & { options?: RequestOptions }): void {
  const wrong = findNotJson(params, "") ?? findNotJson(options?.meta, "meta");
  if (wrong === undefined) {
    if (isWellNamed(params)) return;
    throw brokenName(what);
  }
  const message = `${what} was not sent: ${wrong}, which JSON cannot represent.`;
  throw new LocalError("invalid_message", message, { data: { safeToRepeat: true } });
}

/** Makes the error for a request that the server of a session cannot answer. */
export function notCapable({ revision }: Session, method: string, capability: string | undefined): LocalError {
  if (!revision.clientRequests.has(method)) {
    return new LocalError("not_capable", `Protocol revision ${revision.version} of this connection has no ${method}.`);
  }
  const message = `${method} needs the server capability "${capability}", which the server has not declared.`;
  return new LocalError("not_capable", message, { data: { capability } });
}

/** Waits until the connection has room for a call. Its timeouts begin after it. */
export async function takeTurn(call: Call, next: Next): Promise<JsonObject> {
  const { core, session, options, what } = call;
  const { signal, unlink } = options.signal ? link(options.signal, core.closing) : { signal: core.closing };
  const before = core.clock.now();
  try {
    await session?.connection.turn(signal);
  } catch (error) {
    throw signal.aborted ? abortedError(what, signal) : explain(call, error);
  } finally {
    unlink?.();
  }
  call.endsAt += core.clock.now() - before;
  return next.step(call, next.next);
}

/** Runs the rest of a call within its observers. Each is notified of its end exactly once. */
export async function observe(call: Call, next: Next): Promise<JsonObject> {
  const { core, method, params, options } = call;
  const { revision, connection } = await sessionFor(call);
  const at = core.clock.now();
  const started: ClientCall = {
    side: "client",
    at,
    method,
    name: nameOf(params),
    revision: revision.version,
    target: core.transports.target,
    network: connection.network,
  };
  const run = startCall(core.options.observers ?? [], started, core.report);
  const end = (how: Omit<CallEnd, "durationMs">): void => run.ended({ ...how, durationMs: core.clock.now() - at });
  if (run.meta) call.options = { ...options, meta: { ...run.meta, ...options.meta } };
  const runSteps = (): Promise<JsonObject> => next.step(call, next.next);
  try {
    const result = await (run.within ? endWithCall(call, run.within(runSteps)) : runSteps());
    const failed = method === Method.callTool && result.isError === true;
    end({ outcome: failed ? "tool_error" : "ok", code: undefined, message: undefined });
    return result;
  } catch (error) {
    end({ ...endOf(error), message: error instanceof McpError ? error.message : "" });
    throw error;
  }
}

/** Settles like `running`, which may wait for something else than the call, or rejects when the call is aborted. */
async function endWithCall({ core, options, what }: Call, running: Promise<JsonObject>): Promise<JsonObject> {
  const linked = link(options.signal, core.closing);
  try {
    return await unlessAborted(Promise.resolve(running), linked.signal, what);
  } finally {
    linked.unlink();
  }
}

/** Asks the user before a tool call. Throws `Declined` if the user does not confirm it. */
export async function confirm(call: Call, next: Next): Promise<JsonObject> {
  const { core, params, options, what } = call;
  const name = String(params.name);
  const args = isObject(params.arguments) ? params.arguments : {};
  const linked = link(options.signal, core.closing);
  try {
    const source = core.inputSource(what, linked.signal);
    const asked = core.options.confirm?.({ tool: core.tools.get(name)?.tool, name, arguments: args }, source);
    const confirmed: unknown = await untimed(call, unlessAborted(Promise.resolve(asked), linked.signal, what));
    if (confirmed !== true) throw new Declined(`${what} was not confirmed.`);
  } finally {
    linked.unlink();
  }
  return next.step(call, next.next);
}
