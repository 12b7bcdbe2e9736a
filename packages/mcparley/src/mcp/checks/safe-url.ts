import { isSecureUrl } from "../../net/loopback.ts";

/** Maximum length of a URL in UTF-16 units. The URL parser takes quadratic time for a long name in Punycode. */
const maxLength = 16_384;

/**
 * Returns why a user must not be sent to a URL: it is neither https nor http on this machine, or it contains a user name or
 * password (client/elicitation, Safe URL Handling), or has more than 16,384 characters. Returns undefined if the URL is safe. It is never fetched.
 */
export function findUnsafe(url: unknown): string | undefined {
  const excerpt = JSON.stringify(String(url).slice(0, 200));
  if (typeof url === "string" && url.length > maxLength)
    return `url must have at most ${maxLength} characters; got ${url.length}: ${excerpt}`;
  if (typeof url !== "string" || !URL.canParse(url)) return `url must be an absolute URL; got ${excerpt}`;
  const parsedUrl = new URL(url);
  if (!isSecureUrl(parsedUrl)) return `url must be https, or http on a loopback address; got ${excerpt}`;
  // A user could mistake the text before an @ for the host.
  if (parsedUrl.username || parsedUrl.password) return "url must not contain a user name or password";
  return undefined;
}
