import { McpError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { ClientObserver, RequestEnd, RequestRun } from "../observer.ts";
import type { CallRecord } from "../options.ts";
import { type Call, type ClientCore, type Next, sessionFor } from "./call.ts";
import { nameOf, outcomeOf } from "./outcome.ts";

/** Runs the rest of a call within its observers. Each is notified of its end exactly once. */
export async function observed(call: Call, next: Next): Promise<JsonObject> {
  const { core, method, params, options } = call;
  const { revision, connection } = await sessionFor(call);
  const at = core.clock.now();
  const request = {
    method,
    name: nameOf(params),
    revision: revision.version,
    target: core.transports.target,
    network: connection.network,
  };
  const observers: readonly ClientObserver[] = core.options.observers ?? [];
  const runs = observers.flatMap((observer) => guarded(core, () => observer.started(request)) ?? []);
  const end = (how: Omit<RequestEnd, "durationMs">): void => {
    const durationMs = core.clock.now() - at;
    for (const run of runs) guarded(core, () => run.ended({ ...how, durationMs }));
  };
  const meta = Object.assign({}, ...runs.map((run) => run.meta), options.meta) as JsonObject;
  call.options = { ...options, meta };
  try {
    const result = await within(runs, () => next.step(call, next.next))();
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

/** Calls an observer. Its errors are reported and fail no call. */
function guarded<T>(core: ClientCore, notify: () => T): T | undefined {
  try {
    return notify();
  } catch (error) {
    core.report(error);
    return undefined;
  }
}
