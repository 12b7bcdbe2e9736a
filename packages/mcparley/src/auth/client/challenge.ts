import type { WWWAuthenticateChallenge } from "oauth4webapi";

/** What a server asks for in `WWW-Authenticate` (RFC 6750, 3; RFC 9728, 5.1). */
export interface Challenge {
  readonly error: string | undefined;
  /** The scopes that the request needs. */
  readonly scopes: readonly string[] | undefined;
  readonly resourceMetadata: string | undefined;
}

/** Reads the challenge for a bearer token, or for one bound by DPoP. What is not well formed is no challenge. */
export async function readChallenge(headers: Headers): Promise<Challenge> {
  const challenges = await parse(headers.get("www-authenticate"));
  const known = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const find = (name: "error" | "scope" | "resource_metadata"): string | undefined =>
    known.map(({ parameters }) => parameters[name]).find((value) => value !== undefined);
  const scope = find("scope");
  return {
    error: find("error"),
    scopes: scope === undefined ? undefined : splitScope(scope),
    resourceMetadata: find("resource_metadata"),
  };
}

/** The scopes that a parameter lists. */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(" ").filter((token) => token !== ""))];
}

async function parse(header: string | null): Promise<readonly WWWAuthenticateChallenge[]> {
  if (header === null) return [];
  const { WWWAuthenticateChallengeError, processRevocationResponse } = await import("oauth4webapi");
  const refused = new Response(null, { status: 401, headers: { "www-authenticate": header } });
  try {
    // The library gives its parser's result only in the error for a response that was refused.
    await processRevocationResponse(refused);
  } catch (error) {
    if (error instanceof WWWAuthenticateChallengeError) return error.cause;
  }
  return [];
}
