import { type AuthorizationServer, WWWAuthenticateChallengeError, processRevocationResponse } from "oauth4webapi";
import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { discoverIssuer, fetchDocument, legacyIssuer, resourceMetadataUrls } from "./well-known.ts";

/** The parameters of a `WWW-Authenticate` header (RFC 6750, 3; RFC 9728, 5.1). */
export interface Challenge {
  readonly error: string | undefined;
  /** The scopes that the request needs. */
  readonly scopes: readonly string[] | undefined;
  readonly resourceMetadata: string | undefined;
}

/** Reads the challenges of the schemes Bearer and DPoP. A malformed header is ignored. */
export async function readChallenge(headers: Headers): Promise<Challenge> {
  const header = headers.get("www-authenticate");
  const challenges = header === null ? [] : await parseChallenges(header);
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
  /** The identifier that the server published, or else its URL. */
  readonly resource: string;
  /** The value of the `resource` parameter (RFC 8707). */
  readonly resourceParameter: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether the server accepts only tokens that are bound to a key (RFC 9449). */
  readonly isDpopRequired: boolean;
  /** The algorithms of DPoP proofs that the server accepts. Undefined if it does not state them. */
  readonly dpopAlgorithms: readonly string[] | undefined;
}

export interface DiscoverOptions {
  fetch: GuardedFetch;
  server: URL;
  /** The URL of the metadata, from a challenge. */
  challenged: string | undefined;
  /** The preferred issuers, best first: those for which credentials exist. */
  preferred: readonly string[];
  /** The only issuer to use. */
  issuer: string | undefined;
  /** Replaces the published resource. `false` sends none. */
  resource: string | false | undefined;
  signal: AbortSignal;
}

/**
 * Finds the authorization server of an MCP server.
 *
 * Throws `LocalError` `authorization_failed` if none can be used: its metadata is missing, names another issuer, or is not
 * that of the issuer that `options.issuer` requires.
 */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const { fetch, server, challenged, signal } = options;
  const published = await discoverResource({ fetch, server, challenged, signal });
  const issuer = chooseIssuer(published?.authorizationServers ?? [], options);
  const found =
    issuer === undefined
      ? await legacyIssuer(fetch, server, signal)
      : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  const resource = published?.resource ?? urlOf(server);
  return {
    ...found,
    server,
    issuer: found.metadata.issuer,
    resource,
    resourceParameter: options.resource === false ? undefined : (options.resource ?? resource),
    scopesSupported: published?.scopesSupported,
    isDpopRequired: published?.isDpopRequired ?? false,
    dpopAlgorithms: published?.dpopAlgorithms,
  };
}

function chooseIssuer(named: readonly string[], { issuer, preferred, server }: DiscoverOptions): string | undefined {
  if (issuer === undefined) return preferred.find((one) => named.includes(one)) ?? named[0];
  if (named.length === 0 || named.includes(issuer)) return issuer;
  const theirs = named.map((one) => JSON.stringify(one.slice(0, 500))).join(", ");
  const message = `${nameOf(server)} wants tokens of ${theirs}, and not of ${JSON.stringify(issuer)}, which is the only issuer to use.`;
  throw new LocalError("authorization_failed", message, { data: { issuers: named } });
}

/** The URL of a server as its identifier: without the slash that the URL parser adds to an origin. */
function urlOf({ origin, pathname, search, href }: URL): string {
  return pathname === "/" && search === "" ? origin : href;
}

interface Held {
  readonly issuer: string;
  readonly resource: string;
  readonly tokenType: string;
}

/**
 * Finds the authorization server that issued a token, to renew or revoke the token. It uses only the token's issuer, because
 * the metadata of the MCP server may have changed.
 */
export async function discoverFor(
  { issuer, resource, tokenType }: Held,
  options: Pick<DiscoverOptions, "fetch" | "server" | "resource" | "signal">,
): Promise<Discovered> {
  const { fetch, server, signal } = options;
  const isOwnOrigin = issuer === server.origin || issuer === `${server.origin}/`;
  const found = isOwnOrigin
    ? await legacyIssuer(fetch, server, signal)
    : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  if (found.metadata.issuer !== issuer) {
    const message = `There is no authorization server ${JSON.stringify(issuer)} any more.`;
    throw new LocalError("authorization_failed", message);
  }
  const resourceParameter = options.resource === false ? undefined : (options.resource ?? resource);
  const unknown = { scopesSupported: undefined, dpopAlgorithms: undefined };
  return { ...found, ...unknown, server, issuer, resource, resourceParameter, isDpopRequired: tokenType === "dpop" };
}

/** The metadata that an MCP server published (RFC 9728), with identifiers as they were written. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly dpopAlgorithms: readonly string[] | undefined;
  readonly isDpopRequired: boolean;
}

/**
 * Fetches the metadata of an MCP server from the URL in its challenge, or from the path or the root of its origin
 * (2026-07-28, authorization server discovery). Returns undefined if there is none, as in the first revisions.
 *
 * Throws `LocalError` `authorization_failed` for metadata of another resource. Otherwise one server could request the
 * tokens of another.
 */
export async function discoverResource({
  fetch,
  server,
  challenged,
  signal,
}: Pick<DiscoverOptions, "fetch" | "server" | "challenged"> & { signal?: AbortSignal }): Promise<
  ResourceMetadata | undefined
> {
  const named = challenged !== undefined && URL.canParse(challenged) ? [new URL(challenged)] : [];
  let failure: unknown;
  for (const url of [...named, ...resourceMetadataUrls(server)]) {
    const document = await fetchDocument(fetch, url, { signal }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      // The challenge may contain a wrong URL, such as that of a proxy. The well-known URLs are still tried.
      failure ??= error;
      return undefined;
    });
    if (typeof document?.resource === "string") return readMetadata(document, document.resource, { server, url });
  }
  if (failure instanceof Error) throw failure;
  return undefined;
}

function readMetadata(
  document: JsonObject,
  resource: string,
  { server, url }: { server: URL; url: URL },
): ResourceMetadata {
  if (!covers(resource, server)) {
    const message = `The metadata at ${nameOf(url)} is for ${JSON.stringify(resource.slice(0, 500))}, which is not ${nameOf(server)}.`;
    throw new LocalError("authorization_failed", `${message} Its authorization servers are not used.`);
  }
  return {
    resource,
    authorizationServers: strings(document.authorization_servers) ?? [],
    scopesSupported: strings(document.scopes_supported),
    dpopAlgorithms: strings(document.dpop_signing_alg_values_supported),
    isDpopRequired: document.dpop_bound_access_tokens_required === true,
  };
}

/** Returns whether the identifier is that of the server, or of a path of its origin that contains the server. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const { origin, pathname, search } = new URL(resource);
  if (origin !== server.origin || (search !== "" && search !== server.search)) return false;
  return `${server.pathname}/`.startsWith(pathname.endsWith("/") ? pathname : `${pathname}/`);
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
}
