import { invalidParams } from "../../rpc/errors.ts";
import type { ServerLimits } from "./options.ts";

/**
 * Throws -32602 if a session or stream would store more of its client than the limits allow. `stored` is the number of
 * characters without the subscriptions, and `uris` are the URIs of the subscriptions.
 */
export function checkStoredSize(limits: ServerLimits, baseSize: number, uris: Iterable<string>): void {
  const { sessionSize, subscriptions, uriLength } = limits;
  let size = baseSize;
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
  throw invalidParams(`${what}; at most ${sessionSize} are stored (limits.sessionSize). Send less.`);
}
