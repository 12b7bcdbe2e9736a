import { McpError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { type CallEnd, startCall } from "../../mcp/observe.ts";
import type { Connection } from "../connect/connection.ts";
import type { Call, ClientCore } from "./core.ts";
import type { ClientCall, ClientObserver } from "../observer.ts";
import { endOf, nameOf } from "./outcome.ts";

interface Observed {
  core: ClientCore;
  call: Call;
  connection: Connection;
  observers: readonly ClientObserver[];
}

/** Carries out a call inside all observers and notifies them exactly once of its end. */
export async function observed(
  { core, call, connection, observers }: Observed,
  carryOut: (call: Call) => Promise<JsonObject>,
): Promise<JsonObject> {
  const at = core.clock.now();
  const { method, params, options } = call;
  const started: ClientCall = {
    side: "client",
    at,
    method,
    name: nameOf(params),
    revision: connection.revision.version,
    target: core.dialer.target,
    network: connection.channel.network,
  };
  const run = startCall(observers, started, core.report);
  const end = (how: Omit<CallEnd, "durationMs">): void => run.ended({ ...how, durationMs: core.clock.now() - at });
  const sent: Call = { ...call, options: { ...options, meta: { ...run.meta, ...options.meta } } };
  try {
    const result = await run.within(() => carryOut(sent));
    const failed = method === Method.callTool && result.isError === true;
    end({ outcome: failed ? "tool_error" : "ok", code: undefined, message: undefined });
    return result;
  } catch (error) {
    end({ ...endOf(error), message: error instanceof McpError ? error.message : "" });
    throw error;
  }
}
