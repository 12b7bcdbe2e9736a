import type { HttpRequestHead } from "../../http/exchange.ts";
import type { PublicResponse } from "../../http/server/options.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { wellFormedJson } from "../../rpc/well-formed.ts";
import { resourceMetadataUrls } from "../well-known-urls.ts";
import { proofAlgorithms } from "./verified-token.ts";
import { checkUrl, checkIdentifier, invalid } from "./option-checks.ts";

/** The published description of a resource. */
export interface ResourceDescription {
  /**
   * The URL of the MCP endpoint as clients know it. Tokens must be for exactly this URL, and clients that use another URL
   * ignore the published metadata.
   */
  resource: string;
  /** The accepted authorization servers, exactly as they write their issuers. Clients choose one. */
  issuers: readonly string[];
  /** The scopes that a client requests first: the minimum. Further scopes are requested when a feature needs them. */
  scopes?: readonly string[];
  /** The display name of the resource. */
  name?: string;
  /** The URL of documentation for developers. */
  documentation?: string;
  /** The URL of the metadata. Default: the well-known URL of the resource. */
  metadataUrl?: string;
}

/** Returns the metadata of the resource (RFC 9728, 2). Throws `LocalError` `invalid_definition` for invalid options. */
export function describeResource(description: ResourceDescription, dpopRequired: boolean): JsonObject {
  const { resource, issuers, scopes = [], name, documentation } = description;
  if (!Array.isArray(issuers) || issuers.length === 0) {
    throw invalid("issuers is required: name at least one authorization server whose tokens are accepted.");
  }
  for (const issuer of issuers) checkIdentifier("issuers", issuer);
  const malformedScope = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (malformedScope !== undefined) {
    throw invalid(`A scope must not contain spaces, quotes or backslashes; got ${JSON.stringify(malformedScope)}.`);
  }
  if (scopes.includes("offline_access")) {
    throw invalid("scopes must not contain offline_access: the client decides whether to request it.");
  }
  return {
    resource,
    authorization_servers: [...issuers],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    ...(dpopRequired && { dpop_bound_access_tokens_required: true }),
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    ...(name !== undefined && { resource_name: name }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  };
}

/** Returns the URL of the metadata. Throws `LocalError` `invalid_definition` if the option is not a secure URL. */
export function metadataUrlOf({ resource, metadataUrl }: ResourceDescription): string {
  if (metadataUrl !== undefined) return checkUrl("metadataUrl", metadataUrl);
  const [wellKnown] = resourceMetadataUrls(new URL(resource));
  return wellKnown!.href;
}

const headers = {
  "content-type": "application/json",
  "cache-control": "public, max-age=3600",
  // Web pages of any origin may read the metadata, because they need it to sign in.
  "access-control-allow-origin": "*",
};

const preflight: PublicResponse = {
  status: 204,
  headers: {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "*",
    "access-control-max-age": "7200",
  },
};

/** Serves the metadata of a resource (RFC 9728, 3) at the path of its URL and at the root. */
export function publish(
  metadata: JsonObject,
  metadataUrl: string,
): (request: HttpRequestHead) => PublicResponse | undefined {
  const paths = [new URL(metadataUrl).pathname, "/.well-known/oauth-protected-resource"];
  const byMethod = new Map<string, PublicResponse>([
    ["GET", { status: 200, headers, body: wellFormedJson(metadata) }],
    ["HEAD", { status: 200, headers }],
    ["OPTIONS", preflight],
  ]);
  const methodRefusal: PublicResponse = { status: 405, headers: { allow: "GET, HEAD, OPTIONS" } };
  return ({ method, path }) => (paths.includes(path) ? (byMethod.get(method) ?? methodRefusal) : undefined);
}
