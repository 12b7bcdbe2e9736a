import { LocalError } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import type { KnownTarget } from "../known-target.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { visibleLine } from "../../terminal/text.ts";

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

/** The option that sends a token or a key. */
export const tokenOption = '--header "Authorization: Bearer TOKEN"';

/** The cure for a server that requires a token and has no authorization server. */
const sendToken = 'Send the token or key in a header: mcparley list TARGET --header "Authorization: Bearer TOKEN"';

/** The cure for an authorization server that does not grant the scopes. */
const otherScopes = 'Sign in with other scopes: mcparley login TARGET --scope "SCOPE ..."';

/** The cure for a server that refuses the token of the sign-in. */
const refusedToken =
  "The server refused the token of your sign-in. Its operator can check which issuers and audiences it accepts. To get a new token, sign in again: mcparley login TARGET";

/** Whether an authorization server does not accept the client, or does not register one. */
export function isClientRefusal(error: Error): boolean {
  if (!(error instanceof LocalError) || !isObject(error.data)) return false;
  return clientRefusals.has(error.data.error) || error.data.request === "registration";
}

/** Whether a server requires a token or a key, and has no authorization server to sign in at. */
export function hasNoSignIn(error: unknown): boolean {
  return error instanceof LocalError && isObject(error.data) && error.data.hasSignIn === false;
}

/** Whether a server refuses the token of the sign-in. */
export function isTokenRefusal(error: Error): boolean {
  if (!(error instanceof LocalError) || !isObject(error.data)) return false;
  const { status, challenge } = error.data;
  return status === 401 && typeof challenge === "string" && /[\s,]error="?invalid_token/i.test(challenge);
}

/** Returns a step of a sign-in if it is the reason for which tokens could not be renewed. */
export function renewalRefusal(step: string): string | undefined {
  return /^The authorization server .* refused to refresh tokens: /.test(step) ? step : undefined;
}

/** Whether a user, or a rule of the authorization server, denied the sign-in (RFC 6749, 4.1.2.1). */
export function isDeniedByUser({ code, data }: LocalError): boolean {
  return code === "sign_in_failed" && isObject(data) && data.error === "access_denied";
}

/** Returns the scopes that a request needs and that the user has not granted. Undefined if an error has another reason. */
export function missingScopes({ data }: LocalError): readonly string[] | undefined {
  return isObject(data) && Array.isArray(data.missingScopes) ? data.missingScopes : undefined;
}

/** Returns the command that signs in. If scopes are missing, it requests them and those that were granted before. */
export function signInHint(error: LocalError): string {
  const data = isObject(error.data) ? error.data : {};
  if (data.hasSignIn === false) return sendToken;
  if (isClientRefusal(error)) return registerClient;
  if (data.error === "invalid_scope") return otherScopes;
  const scopes = missingScopes(error) && Array.isArray(data.scopes) ? data.scopes.join(" ") : undefined;
  const repetition = error.code === "sign_in_failed" ? " again" : "";
  // The server chooses the scopes, so a shell must not interpret them.
  return `Sign in${repetition}: mcparley login TARGET${scopes === undefined ? "" : ` --scope ${quotedWord(scopes)}`}`;
}

/** Returns the cure for an error code of an authorization server. Undefined if only its message helps. */
function refusalHint({ error, description }: Record<string, unknown>): string | undefined {
  const isAboutScopes = typeof description === "string" && /\bscopes?\b/i.test(description);
  if (error === "invalid_scope" || isAboutScopes) return otherScopes;
  return error === "invalid_grant" ? "Sign in again: mcparley login TARGET" : undefined;
}

/** Returns the cure for tokens that `logout` could not revoke. Undefined for other errors. */
export function notRevokedHint({ data }: LocalError): string | undefined {
  if (!isObject(data) || typeof data.notRevokedAt !== "string") return undefined;
  return `To revoke them, end the session of this client in your account at ${visibleLine(data.notRevokedAt)}.`;
}

/** Returns the cure for a server that refuses access. It depends on the headers that were sent. */
export function accessHint(error: LocalError, target: KnownTarget | undefined): string | undefined {
  const data = isObject(error.data) ? error.data : {};
  if (typeof data.resource === "string") {
    return `Accept it: mcparley login TARGET --resource ${quotedWord(visibleLine(data.resource))}`;
  }
  const [, challengedScopes] = /[\s,]scope="([^"]+)"/i.exec(String(data.status === 403 ? data.challenge : "")) ?? [];
  const scopes = challengedScopes === undefined ? undefined : visibleLine(challengedScopes);
  const sentHeaders = (target?.headerNames ?? []).filter((name) => !harmless.has(name.toLowerCase()));
  if (sentHeaders.length === 0) {
    const isRefused = error.code === "authorization_failed";
    if (data.hasSignIn === false) return sendToken;
    if (isRefused && isClientRefusal(error)) return registerClient;
    if (isRefused && typeof data.error === "string") return refusalHint(data);
    // A token does not help if the user chose another authorization server than that of the MCP server.
    if (isRefused && target?.options?.some(({ name }) => name === "issuer")) {
      return "Check the value of --issuer, or sign in without it at the authorization server that the server names.";
    }
    // The server refuses the token of the sign-in itself, and its message states the reason.
    if (!isRefused && typeof data.issuer === "string") return undefined;
    if (scopes !== undefined) {
      return `The authorization server did not grant the scopes ${scopes}. Sign in with an account that may have them: mcparley login TARGET`;
    }
    if (isTokenRefusal(error)) return refusedToken;
    const token = 'the token: --header "Authorization: Bearer TOKEN"';
    return isRefused
      ? `If the server accepts a token or a key, send it in place of the sign-in, such as ${token}`
      : `Sign in: mcparley login TARGET. Or send ${token}`;
  }
  const names = sentHeaders.join(", ");
  const isBearer = sentHeaders.some((name) => name.toLowerCase() === "authorization");
  const need = scopes === undefined ? [] : [`The request needs the scopes ${scopes}.`];
  const check = `The server did not accept the header ${names} that you gave. Check that its value is complete, valid for this server and not expired.`;
  const signIn = isBearer
    ? ["If the server has a sign-in, you can use it without the header: mcparley login TARGET"]
    : [];
  return [...need, check, ...signIn].join(" ");
}
