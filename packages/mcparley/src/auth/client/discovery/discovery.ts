import { type AuthorizationServer, WWWAuthenticateChallengeError, processRevocationResponse } from "oauth4webapi";
import { nameOf } from "../../../http/client/settings.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { GuardedFetch } from "../guarded-fetch.ts";
import { isUnavailable } from "../oauth-error.ts";
import type { AuthorizationOptions } from "../options.ts";
import { discoverIssuer, discoverResource, legacyIssuer } from "./metadata.ts";
import type { ReplyHeaders } from "../../../http/client/reply.ts";

/** The parameters of a `WWW-Authenticate` header (RFC 6750, 3; RFC 9728, 5.1). */
export interface Challenge {
  readonly error: string | undefined;
  readonly description: string | undefined;
  /** The scopes that the request needs. */
  readonly scopes: readonly string[] | undefined;
  readonly resourceMetadata: string | undefined;
}

/** Maximum characters of a `WWW-Authenticate` header. The parser takes quadratic time, and some runtimes have no limit of headers. */
const maxHeader = 16_384;

/** Reads the challenges of the schemes Bearer and DPoP. A header that is malformed or has more than 16,384 characters is ignored. */
export async function readChallenge(headers: ReplyHeaders): Promise<Challenge> {
  const header = headers.get("www-authenticate");
  const challenges = header === null || header.length > maxHeader ? [] : await parseChallenges(header);
  const tokenChallenges = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const find = (name: "error" | "error_description" | "scope" | "resource_metadata"): string | undefined =>
    tokenChallenges.map(({ parameters }) => parameters[name]).find((value) => value !== undefined);
  const scope = find("scope");
  return {
    error: find("error"),
    description: find("error_description"),
    scopes: scope === undefined ? undefined : splitScope(scope),
    resourceMetadata: find("resource_metadata"),
  };
}

async function parseChallenges(header: string): Promise<WWWAuthenticateChallengeError["cause"]> {
  try {
    // oauth4webapi exposes the result of its parser only in the error for a refused response.
    await processRevocationResponse(new Response(null, { status: 401, headers: { "www-authenticate": header } }));
  } catch (error) {
    if (error instanceof WWWAuthenticateChallengeError) return error.cause;
  }
  return [];
}

/** Returns the scopes in a `scope` parameter, each once. */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(" ").filter((token) => token !== ""))];
}

/** An MCP server and the authorization server that issues tokens for it. */
export interface Discovery {
  readonly server: URL;
  readonly issuer: string;
  readonly metadata: AuthorizationServer;
  /** Whether there is no metadata, so that the endpoints are those that 2025-03-26 defines. */
  readonly isAssumed: boolean;
  /** Whether the MCP server refused a request because of its missing or invalid token. */
  readonly isTokenRequired: boolean;
  /** The identifier that the server published, or else its URL. */
  readonly resource: string;
  /** The value of the `resource` parameter (RFC 8707). */
  readonly resourceParameter: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether the server accepts only tokens that are bound to a key (RFC 9449). */
  readonly isDpopRequired: boolean;
  /** The algorithms of DPoP proofs that the server accepts. Undefined if it does not state them. */
  readonly dpopAlgorithms: readonly string[] | undefined;
  /** Finds the next authorization server that the MCP server names. Undefined if this one is the last. */
  readonly discoverNext?: (() => Promise<Discovery>) | undefined;
}

/** Maximum number of authorization servers that are tried. */
const MAX_ISSUERS = 3;

interface DiscoverOptions {
  fetch: GuardedFetch;
  server: URL;
  /** The URL of the metadata, from a challenge. */
  challengeUrl: string | undefined;
  /** Whether the server refused a request because of its token. */
  isTokenRequired: boolean;
  /** The issuer of the stored tokens has precedence, and is not replaced while it is unavailable. Their resource was accepted before. */
  location: { readonly issuer: string; readonly resource: string } | undefined;
  /** The other issuers for which credentials exist, best first. */
  preferredIssuers: readonly string[];
  /** Whether another authorization server is used if the best one fails. */
  mayChangeIssuer: boolean;
  options: Pick<AuthorizationOptions, "issuer" | "resource" | "acceptResource">;
  signal: AbortSignal;
}

/**
 * Finds the authorization server of an MCP server. The MCP server names some, and the first one with usable metadata is returned.
 *
 * Throws `LocalError` `authorization_failed` if none can be used: its metadata is missing, names another issuer, or is not
 * that of the issuer that `options.issuer` requires. Also throws it if the identifier of the MCP server is not accepted.
 */
export async function discover(request: DiscoverOptions): Promise<Discovery> {
  const { fetch, server, challengeUrl, isTokenRequired, location, options, signal } = request;
  const resourceMetadata = await discoverResource(fetch, server, { challengeUrl, signal });
  if (resourceMetadata?.isShorter && resourceMetadata.resource !== location?.resource) {
    await requireAcceptance(resourceMetadata.resource, server, options);
  }
  // The URL of a server is its identifier without the slash that the URL parser adds to an origin.
  const isOrigin = server.pathname === "/" && server.search === "";
  const resource = resourceMetadata?.resource ?? (isOrigin ? server.origin : server.href);
  const resourceMembers = {
    server,
    isTokenRequired,
    resource,
    resourceParameter: parameterFor(resource, options),
    scopesSupported: resourceMetadata?.scopesSupported,
    isDpopRequired: resourceMetadata?.isDpopRequired ?? false,
    dpopAlgorithms: resourceMetadata?.dpopAlgorithms,
  };

  async function discoverFirst([issuer, ...otherIssuers]: readonly string[]): Promise<Discovery> {
    if (issuer === undefined) {
      const authorizationServer = await legacyIssuer(fetch, server, signal);
      return { ...resourceMembers, ...authorizationServer, issuer: authorizationServer.metadata.issuer };
    }
    const discoverNext = otherIssuers.length > 0 ? (): Promise<Discovery> => discoverFirst(otherIssuers) : undefined;
    try {
      const metadata = await discoverIssuer(fetch, issuer, signal);
      return { ...resourceMembers, metadata, isAssumed: false, issuer, discoverNext };
    } catch (error) {
      signal.throwIfAborted();
      const mayRecover = issuer === location?.issuer && isUnavailable(error);
      if (mayRecover || !discoverNext) throw error;
      return discoverNext().catch(() => {
        throw error;
      });
    }
  }

  return discoverFirst(chooseIssuers(resourceMetadata?.authorizationServers ?? [], request));
}

/** Throws `LocalError` `authorization_failed` unless `acceptResource` accepts the identifier for this server. */
async function requireAcceptance(
  resource: string,
  server: URL,
  { acceptResource }: DiscoverOptions["options"],
): Promise<void> {
  const isAccepted: unknown = await acceptResource?.({ resource, server: server.href });
  if (isAccepted === true) return;
  const message =
    `${nameOf(server)} publishes the resource identifier ${JSON.stringify(resource.slice(0, 500))}, which is shorter than its URL. ` +
    "A token for it may also be valid at other servers of that origin, so none is requested. " +
    "The server should publish its own URL. If you trust it with such a token, set the option `acceptResource`.";
  throw new LocalError("authorization_failed", message, { data: { resource } });
}

/** Returns the issuers to try, best first. Empty if the server names none. */
function chooseIssuers(
  namedIssuers: readonly string[],
  { options: { issuer }, location, preferredIssuers, mayChangeIssuer, server }: DiscoverOptions,
): readonly string[] {
  if (issuer === undefined) {
    const withCredentials = [location?.issuer ?? [], preferredIssuers]
      .flat()
      .filter((one) => namedIssuers.includes(one));
    return [...new Set([...withCredentials, ...namedIssuers])].slice(0, mayChangeIssuer ? MAX_ISSUERS : 1);
  }
  if (namedIssuers.length === 0 || namedIssuers.includes(issuer)) return [issuer];
  const issuerList = namedIssuers.map((one) => JSON.stringify(one.slice(0, 500))).join(", ");
  const message =
    `${nameOf(server)} accepts tokens from ${issuerList}, but not from ${JSON.stringify(issuer)}. ` +
    "Change the option `issuer` if you trust that issuer.";
  throw new LocalError("authorization_failed", message, { data: { issuers: namedIssuers } });
}

/**
 * Finds the authorization server that issued a token, to renew or revoke the token. It uses only the token's issuer, because
 * the metadata of the MCP server may have changed.
 */
export async function discoverFor(
  { issuer, resource, tokenType }: { issuer: string; resource: string; tokenType: "bearer" | "dpop" },
  { fetch, server, options, signal }: Pick<DiscoverOptions, "fetch" | "server" | "options" | "signal">,
): Promise<Discovery> {
  const isOwnOrigin = issuer === server.origin || issuer === `${server.origin}/`;
  const authorizationServer = isOwnOrigin
    ? await legacyIssuer(fetch, server, signal)
    : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  if (authorizationServer.metadata.issuer !== issuer) {
    const message = `The authorization server ${JSON.stringify(issuer)} no longer exists at its origin.`;
    throw new LocalError("authorization_failed", message);
  }
  return {
    ...authorizationServer,
    server,
    issuer,
    resource,
    resourceParameter: parameterFor(resource, options),
    isTokenRequired: true,
    isDpopRequired: tokenType === "dpop",
    scopesSupported: undefined,
    dpopAlgorithms: undefined,
  };
}

/** Returns the value of the `resource` parameter: that of the option, or else the identifier. */
function parameterFor(identifier: string, { resource = identifier }: DiscoverOptions["options"]): string | undefined {
  return resource === false ? undefined : resource;
}
