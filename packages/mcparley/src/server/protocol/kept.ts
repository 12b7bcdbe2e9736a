import { invalidParams } from "../../rpc/errors.ts";
import type { InitializeParams } from "../../mcp/capabilities.ts";
import type { ServerLimits } from "../options.ts";

/**
 * Throws -32602 if a session or stream would store more data of its client than the limits allow. `kept` is the number of
 * characters that it already stores, and `uris` are the URIs of its subscriptions.
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
 * Returns the members of `initialize` that a session keeps, and their size in characters. The other members of the message
 * are not kept. Throws -32602 if they are over the limit.
 */
export function keepInitialize(
  limits: ServerLimits,
  { protocolVersion, capabilities, clientInfo }: InitializeParams,
): { params: InitializeParams; size: number } {
  const params = { protocolVersion, capabilities, clientInfo };
  const size = JSON.stringify(params).length;
  checkKept(limits, size, []);
  return { params, size };
}
