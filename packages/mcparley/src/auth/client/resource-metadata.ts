import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { DiscoverOptions } from "./discovery.ts";
import { fetchDocument, resourceMetadataUrls } from "./well-known.ts";

/** The metadata that an MCP server published (RFC 9728), with identifiers as they were written. */
export interface ResourceMetadata {
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
  const extent = extentOf(resource, server);
  if (extent === "other") {
    const message = `The metadata at ${nameOf(url)} is for ${quoted(resource)}, which is not ${nameOf(server)}.`;
    throw new LocalError("authorization_failed", `${message} Its authorization servers are not used.`);
  }
  return {
    resource,
    isShorter: extent === "shorter",
    authorizationServers: strings(document.authorization_servers) ?? [],
    scopesSupported: strings(document.scopes_supported),
    dpopAlgorithms: strings(document.dpop_signing_alg_values_supported),
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
  const written = resource.replace(/^https?:\/\/[^/?#]*/i, "");
  if (written !== `${pathname}${search}` && `/${written}` !== `${pathname}${search}`) return "other";
  if (search !== "" && search !== server.search) return "other";
  const [path, serverPath] = [withSlash(pathname), withSlash(server.pathname)];
  if (path === serverPath) return "identical";
  return serverPath.startsWith(path) ? "shorter" : "other";
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** Throws `LocalError` `authorization_failed` unless `acceptResource` accepts the identifier for this server. */
export async function requireAcceptance(
  { resource }: ResourceMetadata,
  { server, acceptResource }: Pick<DiscoverOptions, "server" | "acceptResource">,
): Promise<void> {
  const accepted: unknown = await acceptResource?.({ resource, server: server.href });
  if (accepted === true) return;
  const message =
    `${nameOf(server)} publishes the resource identifier ${quoted(resource)}, which is shorter than its URL. ` +
    "A token for it may also be valid at other servers there, so none is requested. The server should publish its own URL. " +
    "If you trust this server with such a token, accept the identifier with the option `acceptResource`.";
  throw new LocalError("authorization_failed", message, { data: { resource } });
}

function quoted(resource: string): string {
  return JSON.stringify(resource.slice(0, 500));
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
}
