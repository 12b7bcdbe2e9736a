import { ErrorCode, LocalError, ProtocolError } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { elicitModesOf } from "../client-capabilities.ts";
import type { Connection } from "../connect/session.ts";
import type { Call, ClientCore } from "./call.ts";
import { forgetEra } from "../connect/find-revision.ts";
import type { RequestOptions } from "../options.ts";

/** What makes it worth to send a request once more. */
export interface Repair {
  /** Each kind is tried once in a round. */
  kind: "session" | "headers" | "visits";
  run(): void | Promise<void>;
}

/** How a failure may be repaired, if it may: in all these cases the server has not carried the request out. */
export function repairOf(core: ClientCore, call: Call, connection: Connection, error: unknown): Repair | undefined {
  if (error instanceof LocalError && error.code === "session_lost") {
    return { kind: "session", run: () => core.line.drop(connection) };
  }
  if (!(error instanceof ProtocolError)) return undefined;
  const { era } = connection.revision;
  const { revision: pinned = "auto" } = core.options;
  if (error.code === ErrorCode.UnsupportedProtocolVersion && era === "modern" && pinned === "auto") {
    return { kind: "session", run: () => findEraAnew(core, connection) };
  }
  if (error.code === ErrorCode.HeaderMismatch && connection.mirrors && call.method === Method.callTool) {
    return { kind: "headers", run: () => listAnew(core, call) };
  }
  if (
    error.code === ErrorCode.UrlElicitationRequired &&
    era === "legacy" &&
    elicitModesOf(core.options).includes("url")
  ) {
    return { kind: "visits", run: async () => (await import("../input/visit-urls.ts")).visitUrls(core, call, error) };
  }
  return undefined;
}

function findEraAnew(core: ClientCore, connection: Connection): void {
  forgetEra(core.dialer);
  core.line.drop(connection);
}

async function listAnew(core: ClientCore, { params, options }: Call): Promise<void> {
  core.tools.clear();
  core.cache?.forget(Method.listTools);
  await findTool(core, params.name, options);
}

/**
 * Makes a tool known, by listing the tools until it comes, at most once between two changes of the list. A tool that
 * the list does not have, and a list that cannot be had, are no reason not to call.
 */
export async function findTool(core: ClientCore, name: unknown, { signal }: RequestOptions): Promise<void> {
  const { tools } = core;
  if (tools.isComplete || tools.get(name as string)) return;
  try {
    for await (const tool of core.listTools(signal ? { signal } : {})) if (tool.name === name) return;
  } catch (error) {
    if (signal?.aborted || core.closing.aborted) throw error;
    core.report(error);
    tools.isComplete = true;
  }
}

/** Says of a call whose connection broke whether it is safe to make it again; other errors are left as they are. */
export function explain(core: ClientCore, call: Call, error: unknown): unknown {
  const isLost = error instanceof LocalError && (error.code === "closed" || error.code === "exited");
  if (!isLost || core.closing.aborted) return error;
  const safeToRepeat = isSafeToRepeat(core, call);
  const advice = safeToRepeat
    ? "It is safe to repeat it."
    : "It may have been carried out: repeat it only if doing it twice does no harm.";
  const message = `The connection was lost before ${call.what} was answered. ${advice} ${error.message}`;
  return new LocalError(error.code, message, { cause: error, data: { safeToRepeat } });
}

function isSafeToRepeat({ tools }: ClientCore, { method, params }: Call): boolean {
  if (method !== Method.callTool) return Object.values(Method).includes(method as never);
  const annotations = tools.get(params.name as string)?.annotations;
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
