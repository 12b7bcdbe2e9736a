import { LocalError } from "../../rpc/errors.ts";
import type { HttpReply } from "./reply.ts";
import { nameOf } from "./settings.ts";

const MAX_HOPS = 3;

/**
 * Returns the URL of a redirect. Throws `http` unless the redirect keeps the origin and the method: others would send
 * messages and headers elsewhere.
 */
export function redirectTarget(response: HttpReply, from: URL, hops: number): URL {
  const { status } = response;
  const location = response.headers.get("location");
  const to = location === null || !URL.canParse(location, from.href) ? undefined : new URL(location, from);
  const follows = to?.origin === from.origin && (status === 307 || status === 308);
  if (follows && hops < MAX_HOPS) return to;
  const where = to ? ` to ${nameOf(to)}` : "";
  const why = follows ? `more than ${MAX_HOPS} times` : "which is not followed";
  const cure = to ? " Connect to that URL if you trust it." : "";
  const message = `${nameOf(from)} redirects${where} (${status}), ${why}.${cure}`;
  throw new LocalError("http", message, { data: { status, location: to && nameOf(to) } });
}
