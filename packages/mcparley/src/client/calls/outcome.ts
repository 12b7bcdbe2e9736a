import { McpError, ToolError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { CallRecord } from "../options.ts";

/** The outcome of a call that failed. */
export function outcomeOf(error: unknown): CallRecord["outcome"] {
  if (error instanceof ToolError) return "tool_error";
  const code = error instanceof McpError ? error.code : undefined;
  if (code === "timeout") return "timeout";
  return code === "aborted" || code === "declined" || code === "cancelled" ? "cancelled" : "error";
}

/** The tool, prompt or URI that a request names. */
export function nameOf({ name, uri }: JsonObject): string | undefined {
  const named = name ?? uri;
  return typeof named === "string" ? named : undefined;
}
