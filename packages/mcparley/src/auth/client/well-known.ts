import type { AuthorizationServer } from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import { latestLegacy } from "../../mcp/revisions/revisions.ts";
import { PROTOCOL_VERSION_HEADER } from "../../http/header-names.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { issuerMetadataUrls } from "./well-known-urls.ts";

/**
 * Gets the metadata of an authorization server, which names itself by exactly this issuer: no slash more or less, since
 * what is kept for one issuer must never be sent to another (RFC 8414, 3.3).
 *
 * Throws `LocalError` `authorization_failed` where there is none, or only that of another issuer.
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
 * The authorization server of an MCP server that names none: the root of its own origin, as in 2025-03-26. Where there
 * is no metadata either, its endpoints are at the paths which that revision names.
 */
export async function legacyIssuer(
  fetch: GuardedFetch,
  server: URL,
  signal?: AbortSignal,
): Promise<{ metadata: AuthorizationServer; isAssumed: boolean }> {
  const { origin } = server;
  const headers = { [PROTOCOL_VERSION_HEADER]: latestLegacy.version };
  // Nobody published the issuer here, so that both ways to write an origin are the one it was looked up by.
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

interface Asking {
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal | undefined;
}

/** The first document that names one of the issuers. Throws where there are only those of others. */
async function findMetadata(
  fetch: GuardedFetch,
  issuers: readonly [string, ...string[]],
  asking: Asking,
): Promise<AuthorizationServer | undefined> {
  const [issuer] = issuers;
  let other: unknown;
  for (const url of issuerMetadataUrls(new URL(issuer))) {
    const document = await fetchDocument(fetch, url, asking);
    if (!document) continue;
    if (issuers.includes(document.issuer as string)) return document as unknown as AuthorizationServer;
    // A server may answer for all of its tenants at the root; the forms that follow name the tenant in another way.
    other ??= document.issuer ?? null;
  }
  if (other === undefined) return undefined;
  throw failed(issuer, `has metadata that names another issuer, ${(JSON.stringify(other) ?? "none").slice(0, 500)}`);
}

function failed(issuer: string, why: string): LocalError {
  return new LocalError(
    "authorization_failed",
    `The authorization server ${JSON.stringify(issuer.slice(0, 500))} ${why}.`,
  );
}
