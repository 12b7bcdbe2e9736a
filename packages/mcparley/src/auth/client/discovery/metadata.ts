import type { AuthorizationServer } from "oauth4webapi";
import { nameOf } from "../../../http/client/settings.ts";
import { PROTOCOL_VERSION_HEADER } from "../../../http/header-names.ts";
import { latestLegacy } from "../../../mcp/revisions/index.ts";
import { LocalError, isTransient } from "../../../rpc/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { readDocument, readTexts } from "../../issuer-document.ts";
import { pathOf, resourceMetadataUrls } from "../../well-known-urls.ts";
import type { GuardedFetch } from "../guarded-fetch.ts";

/** The metadata that an MCP server published (RFC 9728), with identifiers as they were written. */
interface ResourceMetadata {
  readonly resource: string;
  /** Whether the resource is a part of the server's URL, such as its origin, so that it also covers other servers. */
  readonly isShorter: boolean;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly dpopAlgorithms: readonly string[] | undefined;
  readonly isDpopRequired: boolean;
}

/**
 * Fetches the metadata of an MCP server from the URL in its challenge, or from the path or the root of its origin
 * (2026-07-28, authorization server discovery). `challenged` is the URL in the challenge. Returns undefined if there is no
 * metadata, as in the first revisions.
 *
 * Throws `LocalError` `authorization_failed` for metadata of another resource. Otherwise one server could request the
 * tokens of another.
 */
export async function discoverResource(
  fetch: GuardedFetch,
  server: URL,
  { challengeUrl, signal }: { challengeUrl: string | undefined; signal?: AbortSignal },
): Promise<ResourceMetadata | undefined> {
  const inChallenge = challengeUrl !== undefined && URL.canParse(challengeUrl) ? [new URL(challengeUrl)] : [];
  let failure: unknown;
  for (const url of [...inChallenge, ...resourceMetadataUrls(server)]) {
    const document = await fetchDocument(fetch, url, { signal }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      // The challenge may contain a wrong URL, such as that of a proxy. The well-known URLs are still tried.
      failure ??= error;
      return undefined;
    });
    if (typeof document?.resource === "string") return readMetadata(document, document.resource, { server, url });
    if (document?.authorization_servers !== undefined) failure ??= withoutResource(url, document.resource);
  }
  if (failure instanceof Error) throw failure;
  return undefined;
}

/** Returns the error for metadata without an identifier, which must not be used (RFC 9728, 3.3). */
function withoutResource(url: URL, resource: unknown): LocalError {
  const value = resource === undefined ? "no resource" : `the resource ${JSON.stringify(resource).slice(0, 200)}`;
  const message = `The metadata at ${nameOf(url)} has ${value}. It must be the URL of the MCP server, as a text.`;
  return new LocalError("authorization_failed", `${message} Its authorization servers are not used.`);
}

function readMetadata(
  document: JsonObject,
  resource: string,
  { server, url }: { server: URL; url: URL },
): ResourceMetadata {
  const extent = extentOf(resource, server);
  if (extent === "other") {
    const message = `The metadata at ${nameOf(url)} describes ${JSON.stringify(resource.slice(0, 500))}, not ${nameOf(server)}.`;
    throw new LocalError("authorization_failed", `${message} Its authorization servers are not used.`);
  }
  return {
    resource,
    isShorter: extent === "shorter",
    authorizationServers: readTexts(document.authorization_servers) ?? [],
    scopesSupported: readTexts(document.scopes_supported),
    dpopAlgorithms: readTexts(document.dpop_signing_alg_values_supported),
    isDpopRequired: document.dpop_bound_access_tokens_required === true,
  };
}

/**
 * Compares a resource identifier with the URL of a server: it is identical (RFC 9728, 3.3), or a shorter URL of the same
 * origin that contains the server, or that of another server. Case of the host, a default port and a final slash make no
 * difference (2026-07-28, "Canonical Server URI"), nor does a query that the identifier lacks (RFC 8707, 2).
 */
function extentOf(resource: string, server: URL): "identical" | "shorter" | "other" {
  if (!URL.canParse(resource)) return "other";
  const { origin, pathname, search, username, password } = new URL(resource);
  if (origin !== server.origin || username !== "" || password !== "") return "other";
  // The authorization server reads the text. Dot segments or a fragment could name another server there than here.
  const pathText = resource.replace(/^https?:\/\/[^/?#]*/i, "");
  if (pathText !== `${pathname}${search}` && `/${pathText}` !== `${pathname}${search}`) return "other";
  if (search !== "" && search !== server.search) return "other";
  const [path, serverPath] = [withSlash(pathname), withSlash(server.pathname)];
  if (path === serverPath) return "identical";
  return serverPath.startsWith(path) ? "shorter" : "other";
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/**
 * Fetches the metadata of the authorization server with exactly this issuer. Issuers are compared as strings, because
 * credentials for one issuer must never be sent to another (RFC 8414, 3.3).
 *
 * Throws `LocalError` `authorization_failed` if there is no metadata, or only that of another issuer.
 */
export async function discoverIssuer(
  fetch: GuardedFetch,
  issuer: string,
  signal?: AbortSignal,
): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer)) throw issuerError(issuer, "cannot be used: its issuer must be a URL");
  const metadata = await findMetadata(fetch, [issuer], { signal });
  if (!metadata) throw issuerError(issuer, "publishes no metadata at its well-known URLs");
  return metadata;
}

/**
 * Finds the authorization server of an MCP server that names none: the root of its origin, as in 2025-03-26. Without
 * metadata, `isAssumed` is true, and the endpoints are those that the revision defines.
 */
export async function legacyIssuer(
  fetch: GuardedFetch,
  server: URL,
  signal?: AbortSignal,
): Promise<{ metadata: AuthorizationServer; isAssumed: boolean }> {
  const { origin } = server;
  const headers = { [PROTOCOL_VERSION_HEADER]: latestLegacy.version };
  // No document named this issuer, so both spellings of the origin are accepted.
  const document = await findMetadata(fetch, [origin, `${origin}/`], { headers, signal });
  if (document) return { metadata: document, isAssumed: false };
  const metadata: AuthorizationServer = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
  return { metadata, isAssumed: true };
}

/** Returns the first document that names one of the issuers. Throws if only other issuers are named. */
async function findMetadata(
  fetch: GuardedFetch,
  issuers: readonly [string, ...string[]],
  options: RequestOptions,
): Promise<AuthorizationServer | undefined> {
  const [issuer] = issuers;
  let otherIssuer: unknown;
  for (const url of issuerMetadataUrls(new URL(issuer))) {
    const document = await fetchDocument(fetch, url, options);
    if (!document) continue;
    if (typeof document.issuer === "string" && issuers.includes(document.issuer)) {
      // oauth4webapi checks the other members that it uses.
      return document as unknown as AuthorizationServer;
    }
    // A server may return the metadata of another tenant here. The remaining URLs name the tenant differently.
    otherIssuer ??= document.issuer ?? null;
  }
  if (otherIssuer === undefined) return undefined;
  const issuerText = (JSON.stringify(otherIssuer) ?? "none").slice(0, 500);
  throw issuerError(issuer, `publishes metadata of another issuer: ${issuerText}`);
}

function issuerError(issuer: string, why: string): LocalError {
  const message = `The authorization server ${JSON.stringify(issuer.slice(0, 500))} ${why}.`;
  return new LocalError("authorization_failed", message);
}

/** Returns the possible URLs of an authorization server's metadata, in the order of the specification. */
function issuerMetadataUrls(issuer: URL): URL[] {
  const path = pathOf(issuer);
  const insertedPaths = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  const paths = path === "" ? insertedPaths : [...insertedPaths, `${path}/.well-known/openid-configuration`];
  return paths.map((pathname) => new URL(pathname, issuer.origin));
}

interface RequestOptions {
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal | undefined;
}

/**
 * Fetches a document. Returns undefined for a refusal, and for a body that is no document. Throws `LocalError`
 * `unreachable` for a status after which the request may succeed later.
 */
async function fetchDocument(
  fetch: GuardedFetch,
  url: URL,
  { headers, signal }: RequestOptions,
): Promise<JsonObject | undefined> {
  const init = { headers: { accept: "application/json", ...headers }, ...(signal && { signal }) };
  const response = await fetch(url.href, init);
  const { ok, status } = response;
  // Some servers answer every path with their web page, which is no document.
  if (ok) return readDocument(response);
  if (!isTransient(status)) return undefined;
  const message = `${nameOf(url)} responded with status ${status}. Try again later.`;
  throw new LocalError("unreachable", message, { data: { host: url.host, status } });
}
