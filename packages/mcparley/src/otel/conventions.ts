import type { Attributes } from "@opentelemetry/api";
import { redact } from "../rpc/redact.ts";
import { Method } from "../mcp/methods.ts";
import type { CallEnd } from "../mcp/observe.ts";
import type { ClientCall } from "../client/observer.ts";
import type { ServerCall } from "../server/observe/observer.ts";

interface Operation {
  spanName: string;
  /** The attributes that the call's span and metrics share. */
  attributes: Attributes;
}

/**
 * Returns the name of a call's span, and the attributes that its span and metrics share, by OpenTelemetry's semantic
 * conventions for MCP.
 *
 * A method, tool or prompt that a client invented is left out, because there could be any number of such names.
 */
export function operationOf(call: ClientCall | ServerCall): Operation {
  const { network } = call;
  const known = call.side === "client" || call.known;
  const namesTarget = call.method === Method.callTool || call.method === Method.getPrompt;
  const method = known || namesTarget ? call.method : "_OTHER";
  const target = known && namesTarget ? call.name : undefined;
  const attributes: Attributes = { "mcp.method.name": method, "mcp.protocol.version": call.revision };
  if (method === Method.callTool) attributes["gen_ai.operation.name"] = "execute_tool";
  if (target !== undefined) attributes[method === Method.callTool ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  if (network !== undefined) attributes["network.transport"] = network;
  if (network === "tcp") attributes["network.protocol.name"] = "http";
  if (network === "tcp" && call.side === "client") Object.assign(attributes, addressOf(call.target));
  return { spanName: target === undefined ? method : `${method} ${target}`, attributes };
}

function addressOf(target: string): Attributes {
  if (!URL.canParse(target)) return {};
  const { hostname, port, protocol } = new URL(target);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "https:" ? 443 : 80) };
}

/** Returns the attributes of a call's span alone: they can have any number of values. */
export function spanAttributes(call: ClientCall | ServerCall): Attributes {
  const attributes: Attributes = call.side === "server" ? { "jsonrpc.request.id": String(call.id) } : {};
  const { method, name } = call;
  if (method.startsWith("resources/") && name !== undefined) attributes["mcp.resource.uri"] = redact(name);
  return attributes;
}

/** Returns the attributes of a call's outcome, for its span and its metrics. */
export function endAttributes({ outcome, code }: Pick<CallEnd, "outcome" | "code">): Attributes {
  const attributes: Attributes = { "mcparley.outcome": outcome };
  if (typeof code === "number") attributes["rpc.response.status_code"] = String(code);
  if (isFailure(outcome)) attributes["error.type"] = code === undefined ? outcome : String(code);
  return attributes;
}

/** Whether the span of a call with this outcome has the status ERROR. */
export function isFailure(outcome: CallEnd["outcome"]): boolean {
  return outcome !== "ok" && outcome !== "input_required";
}
