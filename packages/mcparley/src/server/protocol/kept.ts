import { invalidParams } from "../../rpc/errors.ts";
import type { InitializeParams } from "../../mcp/lifecycle.ts";
import type { ServerLimits } from "../options.ts";

/**
 * Throws -32602 if a session or stream would keep more of its client than the limits allow: the URIs that it is
 * subscribed to, beside a number of characters that it keeps already.
 */
export function checkKept(limits: ServerLimits, kept: number, uris: Iterable<string>): void {
  const { sessionSize, subscriptions, uriLength } = limits;
  let size = kept;
  let count = 0;
  for (const uri of uris) {
    if (uri.length > uriLength) {
      throw invalidParams(`The URI of a subscription must have at most ${uriLength} characters (limits.uriLength).`);
    }
    size += uri.length;
    count++;
  }
  if (count > subscriptions) {
    throw invalidParams(`At most ${subscriptions} resources can be subscribed (limits.subscriptions). Name fewer.`);
  }
  if (size <= sessionSize) return;
  const what = `The client's name, capabilities and subscribed URIs take ${size} characters`;
  throw invalidParams(`${what}; at most ${sessionSize} are kept (limits.sessionSize). Send less.`);
}

/**
 * Returns a copy of what a session keeps of `initialize`, and its size in characters. A copy, because a part of a parsed
 * message can keep the whole message in memory. Throws -32602 if it is over the limit.
 */
export function keepInitialize(
  limits: ServerLimits,
  { protocolVersion, capabilities, clientInfo }: InitializeParams,
): { params: InitializeParams; size: number } {
  const text = JSON.stringify({ protocolVersion, capabilities, clientInfo });
  checkKept(limits, text.length, []);
  return { params: JSON.parse(text) as InitializeParams, size: text.length };
}
