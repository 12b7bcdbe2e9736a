import { isSecureUrl } from "../../net/loopback.ts";
import { invalidParams } from "../../rpc/errors.ts";

/**
 * Checks a URL that a server asks the user to visit: https, or http on this machine (client/elicitation, Safe URL
 * Handling). Throws an error that explains the reason to the server. The URL is never fetched.
 */
export function checkUrl(url: unknown): string {
  const shown = JSON.stringify(String(url).slice(0, 200));
  if (typeof url !== "string" || !URL.canParse(url))
    throw invalidParams(`params.url must be an absolute URL; got ${shown}`);
  const parsed = new URL(url);
  if (!isSecureUrl(parsed))
    throw invalidParams(`params.url must be https, or http on a loopback address; got ${shown}`);
  // A user could mistake the text before an @ for the host.
  if (parsed.username || parsed.password) throw invalidParams(`params.url must hold no user name or password`);
  return url;
}
