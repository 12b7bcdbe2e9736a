import type { HttpRequestHead } from "../../http/exchange.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { Principal } from "../../server/dispatch/context.ts";

/** The content of a token that has been verified. */
export interface VerifiedToken {
  /** The issuer, exactly as the token names it. */
  readonly issuer: string;
  /** The subject of the token, unique for the issuer. */
  readonly subject: string;
  /** The recipients of the token. It is refused unless the resource is one of them. */
  readonly audience: readonly string[];
  /** The granted scopes, before any hierarchy is applied. */
  readonly scopes: readonly string[];
  /** The client to which the token was issued, if the token names it. */
  readonly clientId?: string;
  /** Seconds since 1970. */
  readonly expiresAt?: number;
  /** The thumbprint of the key to which the token is bound (RFC 9449, `cnf.jkt`). It is then refused without a proof. */
  readonly jkt?: string;
  /** All claims, for handlers. Never the token itself. */
  readonly claims?: JsonObject;
}

/**
 * Verifies a token.
 *
 * Returns undefined for a token that another verifier should check. Throws `InvalidToken` if the token is refused. After a
 * `LocalError` `unreachable` or `timeout` the response asks the client to retry, and not to sign in again. Any other error
 * is reported and answered with 500.
 */
export type TokenVerifier = (
  token: string,
  request: HttpRequestHead,
) => VerifiedToken | undefined | Promise<VerifiedToken | undefined>;

/**
 * Refuses a token. The message is sent to the client as `error_description`, so it must contain no secret.
 *
 * @example
 * ```ts
 * import { InvalidToken, type TokenVerifier } from "mcparley/auth";
 *
 * const verifier: TokenVerifier = async (token) => {
 *   const response = await fetch("https://auth.example.com/check", { method: "POST", body: token });
 *   if (response.status === 403) throw new InvalidToken("The token was revoked.");
 *   return response.json();
 * };
 * ```
 */
export class InvalidToken extends Error {
  override readonly name: string = "InvalidToken";
}

/** Returns the error for an authorization server that is unavailable, so that the validity of a token is unknown. */
export function issuerUnavailable(issuer: string, why: string, cause?: unknown): LocalError {
  const message = `The authorization server ${issuer} ${why}, so its tokens cannot be checked.`;
  return new LocalError("unreachable", message, { cause });
}

/** Reads the scopes from the claims of a token. */
export type ScopesOf = (claims: JsonObject) => readonly string[];

/** Reads `scope`, separated by spaces (RFC 9068, RFC 7662), or the `scp` of some authorization servers. */
function scopesIn({ scope, scp }: JsonObject): readonly string[] {
  const given = scope ?? scp;
  return typeof given === "string" ? given.split(" ").filter((one) => one !== "") : stringsIn(given);
}

/** Returns the audiences in the claims of a token. */
export function audienceIn({ aud }: JsonObject): readonly string[] {
  return typeof aud === "string" ? [aud] : stringsIn(aud);
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/**
 * Converts claims, which the caller has verified together with the issuer.
 *
 * Without a subject, the subject is the client, as in tokens that a client requested for itself (RFC 9068, 2.2). Throws
 * `InvalidToken` if there is neither, and if the token is bound by a method that is not supported.
 */
export function tokenOf(issuer: string, claims: JsonObject, scopesOf: ScopesOf = scopesIn): VerifiedToken {
  const { sub, client_id, azp, exp } = claims;
  const clientId = textOf(client_id) ?? textOf(azp);
  const subject = textOf(sub) ?? textOf(client_id);
  if (subject === undefined) throw new InvalidToken("The token has no subject.");
  const jkt = thumbprintIn(claims);
  return {
    issuer,
    subject,
    audience: audienceIn(claims),
    scopes: scopesOf(claims),
    claims,
    ...(clientId !== undefined && { clientId }),
    ...(typeof exp === "number" && { expiresAt: exp }),
    ...(jkt !== undefined && { jkt }),
  };
}

function thumbprintIn({ cnf }: JsonObject): string | undefined {
  if (cnf === undefined) return undefined;
  if (isObject(cnf) && Object.keys(cnf).length === 1 && typeof cnf.jkt === "string") return cnf.jkt;
  throw new InvalidToken("The token is bound by a method that this server does not support.");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * The tokens of principals, for token exchange. A handler cannot get the token from its principal, so it cannot forward it
 * by mistake (2026-07-28, authorization, Access Token Privilege Restriction).
 */
const tokens = new WeakMap<Principal, string>();

/** Remembers the token that authenticated a principal. */
export function keepToken(principal: Principal, token: string): void {
  tokens.set(principal, token);
}

/** Returns the token of a principal. Undefined if no token has authenticated it in this process. */
export function keptToken(principal: Principal): string | undefined {
  return tokens.get(principal);
}

/** Returns the error of a token exchange. `why` is a sentence. */
export function noUpstreamToken(why: string, data?: unknown): LocalError {
  return new LocalError("unauthorized", `Cannot get an upstream token: ${why}`, { data });
}
