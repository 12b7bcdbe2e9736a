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
  const known = challenges.filter(({ scheme }) => scheme === "bearer" || scheme === "dpop");
  const find = (name: "error" | "error_description" | "scope" | "resource_metadata"): string | undefined =>
    known.map(({ parameters }) => parameters[name]).find((value) => value !== undefined);
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
export interface Discovered {
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
  readonly discoverNext?: (() => Promise<Discovered>) | undefined;
}

/** Maximum number of authorization servers that are tried. */
const MAX_ISSUERS = 3;

interface DiscoverOptions {
  fetch: GuardedFetch;
  server: URL;
  /** The URL of the metadata, from a challenge. */
  challenged: string | undefined;
  /** Whether the server refused a request because of its token. */
  isTokenRequired: boolean;
  /** The issuer of the stored tokens has precedence, and is not replaced while it is unavailable. Their resource was accepted before. */
  stored: { readonly issuer: string; readonly resource: string } | undefined;
  /** The other issuers for which credentials exist, best first. */
  preferred: readonly string[];
  /** Whether another authorization server is used if the best one fails. */
  mayChangeIssuer: boolean;
  options: Pick<AuthorizationOptions, "issuer" | "resource" | "acceptResource">;
  signal: AbortSignal;
}

/**
 * Finds the authorization server of an MCP server: the first of those that it names whose metadata can be used.
 *
 * Throws `LocalError` `authorization_failed` if none can be used: its metadata is missing, names another issuer, or is not
 * that of the issuer that `options.issuer` requires. The same if the server's identifier is not accepted.
 */
export async function discover(request: DiscoverOptions): Promise<Discovered> {
  const { fetch, server, challenged, isTokenRequired, stored, options, signal } = request;
  const published = await discoverResource(fetch, server, { challenged, signal });
  if (published?.isShorter && published.resource !== stored?.resource) {
    await requireAcceptance(published.resource, server, options);
  }
  // The URL of a server is its identifier without the slash that the URL parser adds to an origin.
  const isOrigin = server.pathname === "/" && server.search === "";
  const resource = published?.resource ?? (isOrigin ? server.origin : server.href);
  const resourceMembers = {
    server,
    isTokenRequired,
    resource,
    resourceParameter: parameterFor(resource, options),
    scopesSupported: published?.scopesSupported,
    isDpopRequired: published?.isDpopRequired ?? false,
    dpopAlgorithms: published?.dpopAlgorithms,
  };

  async function discoverFirst([issuer, ...others]: readonly string[]): Promise<Discovered> {
    if (issuer === undefined) {
      const found = await legacyIssuer(fetch, server, signal);
      return { ...resourceMembers, ...found, issuer: found.metadata.issuer };
    }
    const discoverNext = others.length > 0 ? (): Promise<Discovered> => discoverFirst(others) : undefined;
    try {
      const metadata = await discoverIssuer(fetch, issuer, signal);
      return { ...resourceMembers, metadata, isAssumed: false, issuer, discoverNext };
    } catch (error) {
      signal.throwIfAborted();
      const mayRecover = issuer === stored?.issuer && isUnavailable(error);
      if (mayRecover || !discoverNext) throw error;
      return discoverNext().catch(() => {
        throw error;
      });
    }
  }

  return discoverFirst(chooseIssuers(published?.authorizationServers ?? [], request));
}

/** Throws `LocalError` `authorization_failed` unless `acceptResource` accepts the identifier for this server. */
async function requireAcceptance(
  resource: string,
  server: URL,
  { acceptResource }: DiscoverOptions["options"],
): Promise<void> {
  const accepted: unknown = await acceptResource?.({ resource, server: server.href });
  if (accepted === true) return;
  const message =
    `${nameOf(server)} publishes the resource identifier ${JSON.stringify(resource.slice(0, 500))}, which is shorter than its URL. ` +
    "A token for it may also be valid at other servers of that origin, so none is requested. " +
    "The server should publish its own URL. If you trust it with such a token, set the option `acceptResource`.";
  throw new LocalError("authorization_failed", message, { data: { resource } });
}

/** Returns the issuers to try, best first. Empty if the server names none. */
function chooseIssuers(
  named: readonly string[],
  { options: { issuer }, stored, preferred, mayChangeIssuer, server }: DiscoverOptions,
): readonly string[] {
  if (issuer === undefined) {
    const withCredentials = [stored?.issuer ?? [], preferred].flat().filter((one) => named.includes(one));
    return [...new Set([...withCredentials, ...named])].slice(0, mayChangeIssuer ? MAX_ISSUERS : 1);
  }
  if (named.length === 0 || named.includes(issuer)) return [issuer];
  const accepted = named.map((one) => JSON.stringify(one.slice(0, 500))).join(", ");
  const message =
    `${nameOf(server)} accepts tokens from ${accepted}, but not from ${JSON.stringify(issuer)}. ` +
    "Change the option `issuer` if you trust that issuer.";
  throw new LocalError("authorization_failed", message, { data: { issuers: named } });
}

/**
 * Finds the authorization server that issued a token, to renew or revoke the token. It uses only the token's issuer, because
 * the metadata of the MCP server may have changed.
 */
export async function discoverFor(
  { issuer, resource, tokenType }: { issuer: string; resource: string; tokenType: "bearer" | "dpop" },
  { fetch, server, options, signal }: Pick<DiscoverOptions, "fetch" | "server" | "options" | "signal">,
): Promise<Discovered> {
  const isOwnOrigin = issuer === server.origin || issuer === `${server.origin}/`;
  const found = isOwnOrigin
    ? await legacyIssuer(fetch, server, signal)
    : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  if (found.metadata.issuer !== issuer) {
    const message = `The authorization server ${JSON.stringify(issuer)} no longer exists at its origin.`;
    throw new LocalError("authorization_failed", message);
  }
  return {
    ...found,
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
