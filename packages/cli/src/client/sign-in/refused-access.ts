import { LocalError } from "mcparley";
import { isObject } from "../json.ts";
import type { KnownTarget } from "../config/known-target.ts";
import { visibleLine } from "../terminal-text.ts";

/** The names of headers that do not identify the user. */
const harmless: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

/** The OAuth error codes of an authorization server that does not accept the client. */
const clientRefusals: ReadonlySet<unknown> = new Set([
  "invalid_client",
  "unauthorized_client",
  "invalid_client_metadata",
  "invalid_redirect_uri",
]);

/** The cure for an authorization server that does not accept the client. */
export const registerClient =
  "Register a client with the authorization server, and sign in as this client: mcparley login TARGET --client-id ID --client-secret-env NAME";

/** Whether an authorization server does not accept the client, or does not register one. */
export function isClientRefusal(error: Error): boolean {
  if (!(error instanceof LocalError) || !isObject(error.data)) return false;
  return clientRefusals.has(error.data.error) || error.data.request === "registration";
}

/** Returns a sentence with the scopes that the challenge of a refused request names (RFC 6750, 3.1). Empty if it names none. */
export function scopesHint({ data }: LocalError): string {
  const challenge = isObject(data) && typeof data.challenge === "string" ? data.challenge : "";
  const [, scopes] = /\binsufficient_scope\b/.test(challenge) ? (/[\s,]scope="([^"]+)"/i.exec(challenge) ?? []) : [];
  return scopes === undefined ? "" : `The request needs the scopes ${visibleLine(scopes)}.`;
}

/** Returns the cure for a server that refuses access. It depends on the headers that were sent. */
export function accessHint(error: LocalError, target: KnownTarget | undefined): string {
  const sent = (target?.headerNames ?? []).filter((name) => !harmless.has(name.toLowerCase()));
  if (sent.length === 0) {
    const isRefused = error.code === "authorization_failed";
    if (isRefused && isClientRefusal(error)) {
      return registerClient;
    }
    const token = 'the token: --header "Authorization: Bearer TOKEN"';
    return isRefused
      ? `If the server accepts a token or a key, send it in place of the sign-in, such as ${token}`
      : `Sign in: mcparley login TARGET. Or send ${token}`;
  }
  const names = sent.join(", ");
  const isBearer = sent.some((name) => name.toLowerCase() === "authorization");
  const check = `The server did not accept the header ${names} that you gave. Check that its value is complete, valid for this server and not expired.`;
  return isBearer
    ? `${check} If the server has a sign-in, you can use it without the header: mcparley login TARGET`
    : check;
}
