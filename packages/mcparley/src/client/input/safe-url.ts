import { isSecureUrl } from "../../net/loopback.ts";
import { invalidParams } from "../../rpc/errors.ts";

/**
 * Checks a URL that a server wants a person to visit: https, or http on this machine (client/elicitation, Safe URL
 * Handling). Throws what tells the server why; nothing is ever fetched.
 */
export function checkUrl(url: unknown): string {
  const shown = JSON.stringify(String(url).slice(0, 200));
  if (typeof url !== "string" || !URL.canParse(url))
    throw invalidParams(`params.url must be an absolute URL; got ${shown}`);
  const parsed = new URL(url);
  if (!isSecureUrl(parsed))
    throw invalidParams(`params.url must be https, or http on a loopback address; got ${shown}`);
  // What stands before an @ passes for the host in the eyes of a person.
  if (parsed.username || parsed.password) throw invalidParams(`params.url must hold no user name or password`);
  return url;
}
