import { McpError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Connection } from "../connect/session.ts";
import type { Call, ClientCore } from "./call.ts";
import type { ClientObserver, RequestEnd, RequestRun } from "../observer.ts";
import type { CallRecord } from "../options.ts";
import { nameOf, outcomeOf } from "./outcome.ts";

interface Observed {
  core: ClientCore;
  call: Call;
  connection: Connection;
  observers: readonly ClientObserver[];
}

/** Carries out a call under the eyes of the observers, which are told exactly once how it ended. */
export async function observed(
  { core, call, connection, observers }: Observed,
  carryOut: (call: Call) => Promise<JsonObject>,
): Promise<JsonObject> {
  const at = core.clock.now();
  const { method, params, options } = call;
  const request = {
    method,
    name: nameOf(params),
    revision: connection.revision.version,
    target: core.dialer.target,
    network: connection.channel.network,
  };
  const runs = observers.flatMap((observer) => guarded(core, () => observer.started(request)) ?? []);
  const end = (how: Omit<RequestEnd, "durationMs">): void => {
    const durationMs = core.clock.now() - at;
    for (const run of runs) guarded(core, () => run.ended({ ...how, durationMs }));
  };
  const meta = Object.assign({}, ...runs.map((run) => run.meta), options.meta) as JsonObject;
  const sent: Call = { ...call, options: { ...options, meta } };
  try {
    const result = await within(runs, () => carryOut(sent))();
    const failed = method === Method.callTool && result.isError === true;
    end({ outcome: failed ? "tool_error" : "ok", code: undefined, message: undefined });
    return result;
  } catch (error) {
    end(endOf(error));
    throw error;
  }
}

function endOf(error: unknown): { outcome: CallRecord["outcome"]; code: number | string | undefined; message: string } {
  const known = error instanceof McpError;
  return { outcome: outcomeOf(error), code: known ? error.code : undefined, message: known ? error.message : "" };
}

function within<T>(runs: readonly RequestRun[], send: () => T): () => T {
  return runs.reduceRight<() => T>((inner, run) => (run.within ? () => run.within!(inner) : inner), send);
}

/** What an observer throws is reported, and fails no call. */
function guarded<T>(core: ClientCore, tell: () => T): T | undefined {
  try {
    return tell();
  } catch (error) {
    core.report(error);
    return undefined;
  }
}
