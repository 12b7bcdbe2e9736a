import type { HttpRequestHead } from "../../http/exchange.ts";

/** The scheme of a token: alone, or with a proof of possession of its key (RFC 9449). */
type Scheme = "Bearer" | "DPoP";

export interface PresentedToken {
  readonly scheme: Scheme;
  /** Empty if the token is malformed or in the wrong part of the request. */
  readonly token: string;
  /** The reason why the token is empty. It is sent to the client. */
  readonly problem?: string;
}

/** Maximum length of a token in characters. */
export const maxToken = 16_384;

/**
 * Reads the token in the `Authorization` header of a request (2026-07-28, authorization, Token Requirements). Returns
 * undefined if there is none, or if the scheme is another one.
 *
 * A token in the query is a problem, because it would appear in logs and histories, and so is a malformed token.
 */
export function readPresented(request: HttpRequestHead): PresentedToken | undefined {
  if (request.query !== "") {
    // The parameter `access_token` (RFC 6750, 2.3), in any position and encoding.
    const names = [...new URLSearchParams(request.query).keys()];
    if (names.some((name) => name.toLowerCase() === "access_token"))
      return withProblem("Logs store tokens in URLs. Send the token in the Authorization header.");
  }
  const header = request.header("authorization");
  const match = header === undefined ? null : /^(Bearer|DPoP)(?: +(.*))?$/i.exec(header);
  if (!match) return undefined;
  const [, scheme = "", token = ""] = match;
  if (token.length > maxToken || !/^[\w.~+/-]+=*$/.test(token)) {
    return withProblem("The Authorization header must contain one token after its scheme.");
  }
  return { scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}

const withProblem = (problem: string): PresentedToken => ({ scheme: "Bearer", token: "", problem });

export interface ChallengeOptions {
  /** The URL of the resource's metadata. */
  metadataUrl: string;
  /** The accepted schemes. */
  schemes: readonly Scheme[];
  proofAlgorithms: readonly string[];
}

/** Why a request is refused. */
export interface Reason {
  /** The scheme of the request's token. The error is stated in the challenge of this scheme. */
  scheme: Scheme;
  error: string;
  description?: string;
  /** An error for the operator. It is not sent. */
  cause?: unknown;
}

/**
 * Returns a `WWW-Authenticate` header with one challenge per scheme (RFC 6750, RFC 9449, RFC 9728). `scopes` are those that
 * the client should request. `reason` is undefined if the request has no token.
 */
export function challengeHeader(options: ChallengeOptions, scopes: readonly string[], reason?: Reason): string {
  const challenges = options.schemes.map((scheme) => {
    const statedReason = reason?.scheme === scheme ? reason : undefined;
    const parameters = {
      error: statedReason?.error,
      error_description: statedReason?.description,
      resource_metadata: options.metadataUrl,
      scope: scopes.length > 0 ? scopes.join(" ") : undefined,
      algs: scheme === "DPoP" ? options.proofAlgorithms.join(" ") : undefined,
    };
    const texts = Object.entries(parameters).flatMap(([name, value]) => {
      // A quoted string of a header cannot contain other characters.
      const quotedValue = value?.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&");
      return quotedValue === undefined ? [] : `${name}="${quotedValue}"`;
    });
    return `${scheme} ${texts.join(", ")}`;
  });
  return challenges.join(", ");
}
