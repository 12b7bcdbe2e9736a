import { routineEnd } from "../../rpc/abort.ts";
import { LocalError, hasCode } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { waitFor } from "./call.ts";
import type { Call, ClientCore } from "../core.ts";
import type { KnownTool, Lookup } from "./known-tools.ts";

/**
 * Returns the tool of a call. Lists the tools if it is unknown: once between two changes of the list, for all calls. If the
 * tool is not in the list, or the list cannot be read, returns undefined, and the call is sent without it.
 */
export async function findTool(call: Call): Promise<KnownTool | undefined> {
  const { core, params, what } = call;
  const { tools } = core;
  const { name } = params;
  call.listGeneration = tools.generation;
  if (tools.isSettled(name)) return tools.get(name);
  const lookup = (tools.lookup ??= startLookup(core));
  lookup.waiting++;
  try {
    while (!lookup.isDone && !lookup.tools.has(name)) await waitFor(call, lookup.page);
  } catch (error) {
    if (lookup.waiting === 1) lookup.cancel();
    throw error;
  } finally {
    lookup.waiting--;
  }
  if (hasCode(lookup.error, "timeout")) {
    const message = `${what} was not sent, because the server did not answer tools/list in time.`;
    throw new LocalError("timeout", message, { cause: lookup.error });
  }
  return lookup.tools.get(name);
}

/** Looks the tool of a call up in a new listing, unless another call has started one since `generation`. */
export function findAgain(call: Call, generation: number): Promise<KnownTool | undefined> {
  const { tools, cache } = call.core;
  if (tools.generation === generation) {
    tools.clear();
    cache?.forget(Method.listTools);
  }
  return findTool(call);
}

function startLookup(core: ClientCore): Lookup {
  const { tools } = core;
  const { generation } = tools;
  const controller = new AbortController();
  const pages = core.toolPages({ signal: controller.signal });
  const end = (error?: unknown): void => {
    lookup.isDone = true;
    lookup.error = error;
    if (tools.lookup === lookup) tools.lookup = undefined;
  };
  const read = (): Promise<void> =>
    pages.next().then(
      ({ value, done }) => {
        if (done) return end();
        lookup.tools = value.tools;
        lookup.page = read();
      },
      (error: unknown) => {
        end(error);
        if (controller.signal.aborted || core.closing.aborted) return;
        core.report(error);
        // After these errors the next call can probably read the list.
        const isTransient = hasCode(error, "closed", "exited", "unreachable", "http", "session_lost", "aborted");
        if (!isTransient) tools.giveUp(generation);
      },
    );
  const lookup: Lookup = {
    tools: new Map(),
    page: Promise.resolve(),
    isDone: false,
    waiting: 0,
    cancel: () => {
      if (tools.lookup === lookup) tools.lookup = undefined;
      controller.abort(routineEnd);
    },
  };
  lookup.page = read();
  return lookup;
}
