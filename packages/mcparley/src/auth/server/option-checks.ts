import { isSecureUrl } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { TokenVerifier } from "./verified-token.ts";

/**
 * Checks the identifier of a resource or an issuer. It is returned unchanged, because identifiers are compared as strings:
 * an additional slash makes another identifier.
 *
 * Throws `LocalError` `invalid_definition` unless it is an https URL (or http on loopback) without query and fragment.
 */
export function checkIdentifier(what: string, value: unknown): string {
  const identifier = checkUrl(what, value);
  const { search, hash } = new URL(identifier);
  if (search === "" && hash === "") return identifier;
  throw invalid(`${what} must have no query and no fragment; got ${JSON.stringify(identifier)}.`);
}

/** Checks a URL for requests. Throws `LocalError` `invalid_definition` unless it is https, or http on loopback. */
export function checkUrl(what: string, value: unknown): string {
  if (typeof value !== "string" || value === "") throw invalid(`${what} is required, as a string.`);
  if (!URL.canParse(value)) throw invalid(`${what} must be a URL; got ${JSON.stringify(value)}.`);
  const url = new URL(value);
  if (!isSecureUrl(url))
    throw invalid(`${what} must be an https URL, or http on a loopback address; got ${JSON.stringify(value)}.`);
  if (url.username !== "" || url.password !== "") throw invalid(`${what} must not contain a user or password.`);
  return value;
}

/** Returns the accepted audiences. Throws `LocalError` `invalid_definition` if there is none. */
export function checkAudience(audience: string | readonly string[] | undefined): readonly string[] {
  const audiences = typeof audience === "string" ? [audience] : (audience ?? []);
  if (audiences.length > 0 && audiences.every((audience) => typeof audience === "string" && audience !== "")) {
    return audiences;
  }
  const why = "Without it, tokens for any other service would be accepted.";
  throw invalid(`audience is required: the \`aud\` of tokens for this server. ${why}`);
}

/** Returns the accepted clock difference in seconds. Throws `LocalError` `invalid_definition` above 300. */
export function checkTolerance(seconds: number = 30): number {
  if (seconds >= 0 && seconds <= 300) return seconds;
  throw invalid(`clockTolerance must be from 0 to 300 seconds; got ${String(seconds)}.`);
}

/** Returns the verifiers of a resource. Throws `LocalError` `invalid_definition` if there is none. */
export function checkVerifiers(
  verifier: TokenVerifier | readonly TokenVerifier[] | undefined,
): readonly TokenVerifier[] {
  const verifiers = typeof verifier === "function" ? [verifier] : (verifier ?? []);
  if (verifiers.length > 0 && verifiers.every((one) => typeof one === "function")) return verifiers;
  throw invalid("verifier is required: jwtVerifier({ ... }), introspectionVerifier({ ... }), or a custom function.");
}

/** Returns the error for an invalid option. */
export function invalid(message: string): LocalError {
  return new LocalError("invalid_definition", message);
}
