import { McpError, ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { CallEnd, CallOutcome } from "../../mcp/observe.ts";

/** Returns how a call ended that failed with `error`. */
export function endOf(error: unknown): Pick<CallEnd, "outcome" | "code"> {
  const code = error instanceof McpError ? error.code : undefined;
  return { outcome: error instanceof ToolError ? "tool_error" : outcomeOf(code), code };
}

function outcomeOf(code: CallEnd["code"]): CallOutcome {
  if (code === "timeout") return "timeout";
  return code === "aborted" || code === "declined" || code === "cancelled" ? "cancelled" : "error";
}

/** Returns the tool, prompt or URI that a request names. */
export function nameOf({ name, uri }: JsonObject): string | undefined {
  const named = name ?? uri;
  return typeof named === "string" ? named : undefined;
}
