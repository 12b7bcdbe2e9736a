import type { HttpRequestHead } from "../../http/exchange.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { printable } from "../../rpc/printable.ts";
import type { Principal } from "../../server/core/context.ts";

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
 * Refuses a token. The message is sent to the client as `error_description`, so it must contain no secret. The `cause`, if any,
 * is passed to the server's `onError` and not sent.
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

/** Reads the scopes from the claims of a token. */
export type ScopesOf = (claims: JsonObject) => readonly string[];

/**
 * Returns the error for an authorization server that is unavailable, so that the validity of a token is unknown. The message
 * contains that of the cause.
 */
export function issuerUnavailable(issuer: string, why: string, cause?: unknown): LocalError {
  const server = `The authorization server ${issuer} `;
  if (cause instanceof LocalError && cause.message.startsWith(server)) return cause;
  const reason = cause instanceof Error ? ` ${printable(cause.message).slice(0, 500)}` : "";
  return new LocalError("unreachable", `${server}${why}, so its tokens cannot be checked.${reason}`, { cause });
}

/**
 * The tokens that have authenticated principals in this process, for token exchange. A handler cannot get the token from its principal, so it cannot forward it
 * by mistake (2026-07-28, authorization, Access Token Privilege Restriction).
 */
export const principalTokens: WeakMap<Principal, string> = new WeakMap();

/** Returns the error of a token exchange. `why` is a sentence. */
export function noUpstreamToken(why: string, data?: unknown): LocalError {
  return new LocalError("unauthorized", `Cannot get an upstream token: ${why}`, { data });
}

/** The algorithms with which proofs may be signed. */
export const proofAlgorithms: readonly string[] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

/** The codes of refused proofs (RFC 9449, 7.1 and 9). */
type ProofErrorCode = "invalid_dpop_proof" | "use_dpop_nonce";

/** The error for a missing proof, or one that is invalid for its request. The message is sent to the client. */
export class InvalidProof extends Error {
  override readonly name: string = "InvalidProof";
  readonly code: ProofErrorCode;

  constructor(
    message: string,
    { code = "invalid_dpop_proof", cause }: { code?: ProofErrorCode; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
  }
}
