import type { AuthorizationServer } from "oauth4webapi";
import { PROTOCOL_VERSION_HEADER } from "../../http/header-names.ts";
import { latestLegacy } from "../../mcp/revisions/index.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

/** Returns the possible URLs of a resource's metadata: at its path, and at the root (2026-07-28, discovery). */
export function resourceMetadataUrls(resource: URL): URL[] {
  const root = new URL("/.well-known/oauth-protected-resource", resource.origin);
  const path = pathOf(resource);
  if (path === "" && resource.search === "") return [root];
  return [new URL(`${root.pathname}${path}${resource.search}`, resource.origin), root];
}

/** Returns the possible URLs of an authorization server's metadata, in the order of the specification. */
function issuerMetadataUrls(issuer: URL): URL[] {
  const path = pathOf(issuer);
  const inserted = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  const paths = path === "" ? inserted : [...inserted, `${path}/.well-known/openid-configuration`];
  return paths.map((pathname) => new URL(pathname, issuer.origin));
}

/** The path without its last slash: an identifier has the same documents with and without it (RFC 8414, 3.1). */
function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/$/, "");
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
  if (!URL.canParse(issuer)) throw failed(issuer, "is no URL");
  const metadata = await findMetadata(fetch, [issuer], { signal });
  if (!metadata) throw failed(issuer, "has no metadata at any of its well-known URLs");
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
  const found = await findMetadata(fetch, [origin, `${origin}/`], { headers, signal });
  if (found) return { metadata: found, isAssumed: false };
  const metadata: AuthorizationServer = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
  return { metadata, isAssumed: true };
}

interface RequestOptions {
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal | undefined;
}

/** Returns the first document that names one of the issuers. Throws if only other issuers are named. */
async function findMetadata(
  fetch: GuardedFetch,
  issuers: readonly [string, ...string[]],
  options: RequestOptions,
): Promise<AuthorizationServer | undefined> {
  const [issuer] = issuers;
  let other: unknown;
  for (const url of issuerMetadataUrls(new URL(issuer))) {
    const document = await fetchDocument(fetch, url, options);
    if (!document) continue;
    if (issuers.includes(document.issuer as string)) return document as unknown as AuthorizationServer;
    // A server may return the metadata of another tenant here. The remaining URLs name the tenant differently.
    other ??= document.issuer ?? null;
  }
  if (other === undefined) return undefined;
  throw failed(issuer, `has metadata that names another issuer, ${(JSON.stringify(other) ?? "none").slice(0, 500)}`);
}

function failed(issuer: string, why: string): LocalError {
  const message = `The authorization server ${JSON.stringify(issuer.slice(0, 500))} ${why}.`;
  return new LocalError("authorization_failed", message);
}

/**
 * Fetches a JSON document. Returns undefined for a status below 500 other than 200, and for a body that is no JSON object.
 * Throws `LocalError` `unreachable` for a status of 500 or above.
 */
export async function fetchDocument(
  fetch: GuardedFetch,
  url: URL,
  { headers, signal }: RequestOptions,
): Promise<JsonObject | undefined> {
  const init = { headers: { accept: "application/json", ...headers }, ...(signal && { signal }) };
  const response = await fetch(url.href, init);
  if (response.status !== 200) {
    if (response.status < 500) return undefined;
    const message = `${url.origin}${url.pathname} answered with ${response.status}; try again later.`;
    throw new LocalError("unreachable", message, { data: { host: url.host, status: response.status } });
  }
  try {
    const value: unknown = await response.json();
    return isObject(value) ? value : undefined;
  } catch {
    // Some servers answer every path with their web page.
    return undefined;
  }
}
