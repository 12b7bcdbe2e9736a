import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { resourceMetadataUrls } from "./well-known-urls.ts";

/** What an MCP server says of its authorization (RFC 9728). The identifiers are the strings that it published. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly dpopSigningAlgorithms: readonly string[] | undefined;
  readonly isDpopRequired: boolean;
}

interface Discovery {
  fetch: GuardedFetch;
  /** The MCP endpoint. */
  server: URL;
  /** What the challenge names as `resource_metadata`. */
  challenged: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Gets the metadata of an MCP server, from where its challenge says, or from the path or the root of its origin
 * (2026-07-28, authorization server discovery). Undefined where there is none, as in the first revisions.
 *
 * Throws `LocalError` `authorization_failed` for metadata of another resource, which could make tokens of one server be
 * sent to another.
 */
export async function discoverResource(discovery: Discovery): Promise<ResourceMetadata | undefined> {
  const { server, challenged, signal } = discovery;
  const named = challenged !== undefined && URL.canParse(challenged) ? [new URL(challenged)] : [];
  let failure: unknown;
  for (const url of [...named, ...resourceMetadataUrls(server)]) {
    const document = await fetchDocument(discovery.fetch, url, { signal }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      // A proxy may have put an address of its own into the challenge; the well-known ones are still good.
      failure ??= error;
      return undefined;
    });
    if (typeof document?.resource === "string") return read(document, document.resource, server, url);
  }
  if (failure instanceof Error) throw failure;
  return undefined;
}

function read(document: JsonObject, resource: string, server: URL, url: URL): ResourceMetadata {
  if (!covers(resource, server)) {
    const message = `The metadata at ${nameOf(url)} is for ${JSON.stringify(resource.slice(0, 500))}, which is not ${nameOf(server)}.`;
    throw new LocalError("authorization_failed", `${message} Its authorization servers are not used.`);
  }
  return {
    resource,
    authorizationServers: strings(document.authorization_servers) ?? [],
    scopesSupported: strings(document.scopes_supported),
    dpopSigningAlgorithms: strings(document.dpop_signing_alg_values_supported),
    isDpopRequired: document.dpop_bound_access_tokens_required === true,
  };
}

/** Whether the identifier is that of the server, or of a part of its origin that the server is in. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource) || resource.includes("#")) return false;
  const { origin, pathname, search } = new URL(resource);
  if (origin !== server.origin || (search !== "" && search !== server.search)) return false;
  return `${server.pathname}/`.startsWith(pathname.endsWith("/") ? pathname : `${pathname}/`);
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
}
