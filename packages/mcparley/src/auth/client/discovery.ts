import type { AuthorizationServer } from "oauth4webapi";
import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { discoverIssuer, legacyIssuer } from "./well-known.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { type ResourceMetadata, discoverResource } from "./resource-metadata.ts";

/** An MCP server and the authorization server that gives tokens for it. */
export interface Discovered {
  readonly server: URL;
  readonly issuer: string;
  readonly metadata: AuthorizationServer;
  /** The metadata could not be had: these are the endpoints that 2025-03-26 assumes. */
  readonly isAssumed: boolean;
  /** The identifier of the server, as it published it, or else its URL. */
  readonly resource: string;
  /** What is sent as `resource` (RFC 8707). */
  readonly resourceParameter: string | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  /** The server takes only tokens that are bound to a key (RFC 9449). */
  readonly isDpopRequired: boolean;
  /** The algorithms of the proofs that the server takes; undefined where it does not say. */
  readonly dpopAlgorithms: readonly string[] | undefined;
}

export interface DiscoverOptions {
  fetch: GuardedFetch;
  server: URL;
  /** The URL of the metadata, from a challenge. */
  challenged: string | undefined;
  /** The issuers to prefer among several, the best first; they are those of credentials that are there already. */
  preferred: readonly string[];
  /** The only issuer to use. */
  issuer: string | undefined;
  /** In place of the published resource; false sends none. */
  resource: string | false | undefined;
  signal: AbortSignal;
}

/**
 * Finds the authorization server of an MCP server.
 *
 * Throws `LocalError` `authorization_failed` where there is none that can be used: its metadata is missing or that of
 * somebody else, or it is not the one that was asked for.
 */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const { fetch, server, challenged, signal } = options;
  const published = await discoverResource({ fetch, server, challenged, signal });
  const issuer = chooseIssuer(published?.authorizationServers ?? [], options);
  const found =
    issuer === undefined
      ? await legacyIssuer(fetch, server, signal)
      : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  return { ...found, ...identify(published, options), server, issuer: found.metadata.issuer };
}

interface Held {
  readonly issuer: string;
  readonly resource: string;
  readonly tokenType: string;
}

/**
 * Finds the authorization server that gave a token, to renew it or to give it back: by its issuer alone, whatever the MCP
 * server says by now.
 */
export async function discoverFor(
  { issuer, resource, tokenType }: Held,
  options: Pick<DiscoverOptions, "fetch" | "server" | "resource" | "signal">,
): Promise<Discovered> {
  const { fetch, server, signal } = options;
  const isItsOwn = issuer === server.origin || issuer === `${server.origin}/`;
  const found = isItsOwn
    ? await legacyIssuer(fetch, server, signal)
    : { metadata: await discoverIssuer(fetch, issuer, signal), isAssumed: false };
  if (found.metadata.issuer !== issuer) {
    throw new LocalError(
      "authorization_failed",
      `There is no authorization server ${JSON.stringify(issuer)} any more.`,
    );
  }
  const resourceParameter = options.resource === false ? undefined : (options.resource ?? resource);
  const unknown = { scopesSupported: undefined, dpopAlgorithms: undefined };
  return { ...found, ...unknown, server, issuer, resource, resourceParameter, isDpopRequired: tokenType === "dpop" };
}

function identify(
  published: ResourceMetadata | undefined,
  { server, resource: given }: DiscoverOptions,
): Omit<Discovered, "server" | "issuer" | "metadata" | "isAssumed"> {
  const resource = published?.resource ?? urlOf(server);
  const resourceParameter = given === false ? undefined : (given ?? resource);
  const { scopesSupported, isDpopRequired = false, dpopSigningAlgorithms: dpopAlgorithms } = published ?? {};
  return { resource, resourceParameter, scopesSupported, isDpopRequired, dpopAlgorithms };
}

/** The URL of a server as its identifier: without the slash that the parser adds to a bare origin. */
function urlOf({ origin, pathname, search, href }: URL): string {
  return pathname === "/" && search === "" ? origin : href;
}

function chooseIssuer(named: readonly string[], { issuer, preferred, server }: DiscoverOptions): string | undefined {
  if (issuer === undefined) return preferred.find((one) => named.includes(one)) ?? named[0];
  if (named.length === 0 || named.includes(issuer)) return issuer;
  const theirs = named.map((one) => JSON.stringify(one.slice(0, 500))).join(", ");
  const message = `${nameOf(server)} wants tokens of ${theirs}, and not of ${JSON.stringify(issuer)}, which is the only issuer to use.`;
  throw new LocalError("authorization_failed", message, { data: { issuers: named } });
}
