import { link, unlessAborted } from "../../rpc/abort.ts";
import { McpError } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type CallEnd, startCall } from "../../mcp/observe.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ClientCall } from "../observer.ts";
import { type Call, type Next, sessionFor } from "./call.ts";
import { endOf, nameOf } from "./outcome.ts";

/** Runs the rest of a call within its observers. Each is notified of its end exactly once. */
export async function observed(call: Call, next: Next): Promise<JsonObject> {
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
  const linked = link(options.signal, core.closing);
  call.options = { ...options, meta: { ...run.meta, ...options.meta } };
  try {
    // An observer may wait for something else than the call.
    const running = Promise.resolve(run.within(() => next.step(call, next.next)));
    const result = await unlessAborted(running, linked.signal, call.what);
    const failed = method === Method.callTool && result.isError === true;
    end({ outcome: failed ? "tool_error" : "ok", code: undefined, message: undefined });
    return result;
  } catch (error) {
    end({ ...endOf(error), message: error instanceof McpError ? error.message : "" });
    throw error;
  } finally {
    linked.unlink();
  }
}
