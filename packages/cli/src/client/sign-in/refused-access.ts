import type { LocalError } from "mcparley";
import { isObject } from "../json.ts";
import type { KnownTarget } from "../config/known-target.ts";

/** The names of headers that do not identify the user. */
const harmless: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

/**
 * Returns the message of an error status, with the server's explanation in place of the JSON in which it was sent.
 *
 * A body that is not JSON, or has no explanation, is unchanged.
 */
export function statusMessage({ message, data }: LocalError): string {
  if (!isObject(data) || typeof data.body !== "string" || data.body === "" || !message.endsWith(data.body))
    return message;
  const explained = explanationIn(data.body);
  if (explained === undefined) return message;
  const start = message.slice(0, -data.body.length);
  return explained === "" ? start.replace(/: $/, ".") : start + explained;
}

/** Returns the text of a JSON error, and an empty text if it has none. Returns undefined if the body is not JSON. */
function explanationIn(body: string): string | undefined {
  if (!/^\s*[[{]/.test(body)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // Long bodies are cut off.
    return "";
  }
  const inner = isObject(value) && isObject(value.error) ? value.error : value;
  if (!isObject(inner)) return "";
  // OAuth (RFC 6750), JSON-RPC, problem details (RFC 9457), and what web frameworks write.
  const texts = [inner.error_description, inner.message, inner.detail, inner.title, inner.error];
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

/** Returns the cure for a server that refuses access. It depends on the headers that were sent. */
export function accessHint(error: LocalError, target: KnownTarget | undefined): string {
  const sent = (target?.headerNames ?? []).filter((name) => !harmless.has(name.toLowerCase()));
  if (sent.length === 0) {
    const isRefused = error.code === "authorization_failed";
    const token = 'the token: --header "Authorization: Bearer TOKEN"';
    return isRefused
      ? `If the server accepts a token or a key, send it in place of the sign-in, such as ${token}`
      : `Sign in: mcparley login TARGET. Or send ${token}`;
  }
  const names = sent.join(", ");
  const isBearer = sent.some((name) => name.toLowerCase() === "authorization");
  const check = `The server did not accept the header ${names} that you gave. Check that its value is complete, valid for this server and not expired.`;
  return isBearer ? `${check} Without it, you can sign in: mcparley login TARGET` : check;
}
