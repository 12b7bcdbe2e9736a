import type { Attributes } from "@opentelemetry/api";
import { Method } from "../mcp/methods.ts";

/** What a call is known by, for its span and its metrics. Only what comes in few forms is in here. */
export interface Operation {
  method: string;
  /** The tool or prompt, where it is one that exists. */
  target: string | undefined;
  revision: string;
  network: "tcp" | "pipe" | undefined;
}

/** The name for methods that a peer made up, of which there could be any number. */
export const otherMethod = "_OTHER";

export function spanName({ method, target }: Operation): string {
  return target === undefined ? method : `${method} ${target}`;
}

/** The attributes that spans and metrics have in common (OpenTelemetry's conventions for MCP). */
export function operationAttributes({ method, target, revision, network }: Operation): Attributes {
  const attributes: Attributes = { "mcp.method.name": method, "mcp.protocol.version": revision };
  if (method === Method.callTool) attributes["gen_ai.operation.name"] = "execute_tool";
  if (target !== undefined) attributes[method === Method.callTool ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  if (network !== undefined) attributes["network.transport"] = network;
  if (network === "tcp") attributes["network.protocol.name"] = "http";
  return attributes;
}

export interface End {
  outcome: string;
  code: number | string | undefined;
}

/** How it ended: the class of its outcome, and the kind of error where it was one. */
export function endAttributes({ outcome, code }: End): Attributes {
  const attributes: Attributes = { "mcparley.outcome": outcome };
  if (typeof code === "number") attributes["rpc.response.status_code"] = String(code);
  const error = errorType({ outcome, code });
  if (error !== undefined) attributes["error.type"] = error;
  return attributes;
}

/** The kind of error; undefined where it was none. A call that its client gave up is no error of the server. */
export function errorType({ outcome, code }: End): string | undefined {
  if (outcome === "ok" || outcome === "input_required") return undefined;
  return code === undefined ? outcome : String(code);
}
