import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Declined, McpError } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type CallEnd, startCall } from "../../mcp/observe.ts";
import type { Call, Next } from "../core.ts";
import type { ClientCall } from "../options.ts";
import { endOf, nameOf, runAbortable, sessionFor, awaitUser } from "./call.ts";

/** Runs the rest of a call within its observers. Each is notified of its end exactly once. */
export async function observe(call: Call, next: Next): Promise<JsonObject> {
  const { core, method, params, options } = call;
  const { revision, connection } = await sessionFor(call);
  const startTime = core.clock.now();
  const observedCall: ClientCall = {
    side: "client",
    at: startTime,
    method,
    name: nameOf(params),
    revision: revision.version,
    target: core.transports.target,
    network: connection.network,
  };
  const run = startCall(core.options.observers ?? [], observedCall, core.report);
  const end = (how: Omit<CallEnd, "durationMs">): void =>
    run.ended({ ...how, durationMs: core.clock.now() - startTime });
  if (run.meta) call.options = { ...options, meta: { ...run.meta, ...options.meta } };
  const runSteps = (): Promise<JsonObject> => next.step(call, next.next);
  try {
    // The code of an observer may also wait for other things than the call.
    const result = await (run.within ? runAbortable(call, () => run.within!(runSteps)) : runSteps());
    const isToolError = method === Method.callTool && result.isError === true;
    end({ outcome: isToolError ? "tool_error" : "ok", code: undefined, message: undefined });
    return result;
  } catch (error) {
    end({ ...endOf(error), message: error instanceof McpError ? error.message : "" });
    throw error;
  }
}

/** Asks the user before a tool call. Throws `Declined` if the user does not confirm it. */
export async function confirm(call: Call, next: Next): Promise<JsonObject> {
  const { core, params, what } = call;
  const name = String(params.name);
  const args = isObject(params.arguments) ? params.arguments : {};
  const tool = core.tools.get(name)?.tool;
  const answer = runAbortable<unknown>(call, (signal) =>
    core.options.confirm?.({ tool, name, arguments: args }, core.inputSource(what, signal)),
  );
  if ((await awaitUser(call, answer)) !== true) throw new Declined(`${what} was not confirmed.`);
  return next.step(call, next.next);
}
