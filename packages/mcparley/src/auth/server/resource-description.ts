import type { JsonObject } from "../../rpc/messages.ts";
import { resourceMetadataUrls } from "../client/well-known.ts";
import { proofAlgorithms } from "./dpop-proofs.ts";
import { checkAddress, checkIdentifier, invalid } from "./identifiers.ts";

/** What clients are told of a resource. */
export interface ResourceDescription {
  /**
   * The URL of the MCP endpoint as clients know it. Tokens must be for exactly this, and clients that use another URL refuse
   * what is published.
   */
  resource: string;
  /** The authorization servers whose tokens are accepted, exactly as they name themselves; clients choose one. */
  issuers: readonly string[];
  /**
   * What a client is told to ask for at first: the least that is of use. What more a tool, prompt or resource needs is
   * asked for when it is used.
   */
  scopes?: readonly string[];
  /** The name of the resource, for people. */
  name?: string;
  /** Where people read about it. */
  documentation?: string;
  /** Where the metadata is, where that is not the well-known place of the resource. */
  metadataUrl?: string;
}

/** The metadata of the resource (RFC 9728, 2). Throws `LocalError` `invalid_definition` where it would be no use. */
export function describeResource(description: ResourceDescription, dpopRequired: boolean): JsonObject {
  const { resource, issuers, scopes, name, documentation } = description;
  if (!Array.isArray(issuers) || issuers.length === 0) {
    throw invalid("issuers is required: name at least one authorization server whose tokens are accepted.");
  }
  for (const issuer of issuers) checkIdentifier("issuers", issuer);
  checkScopes(scopes ?? []);
  return {
    resource,
    authorization_servers: [...issuers],
    bearer_methods_supported: ["header"],
    dpop_signing_alg_values_supported: [...proofAlgorithms],
    ...(dpopRequired && { dpop_bound_access_tokens_required: true }),
    ...(scopes && scopes.length > 0 && { scopes_supported: [...scopes] }),
    ...(name !== undefined && { resource_name: name }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  };
}

function checkScopes(scopes: readonly string[]): void {
  const odd = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (odd !== undefined) throw invalid(`A scope has no spaces, quotes or backslashes; got ${JSON.stringify(odd)}.`);
  if (!scopes.includes("offline_access")) return;
  throw invalid("scopes must not hold offline_access: whether to ask for it is the client's to decide.");
}

export function metadataUrlOf({ resource, metadataUrl }: ResourceDescription): string {
  if (metadataUrl !== undefined) return checkAddress("metadataUrl", metadataUrl);
  const [wellKnown] = resourceMetadataUrls(new URL(resource));
  return wellKnown!.href;
}

/** The paths at which the metadata is served: its own, and the root. */
export function pathsOf(metadataUrl: string): string[] {
  const root = "/.well-known/oauth-protected-resource";
  return [...new Set([new URL(metadataUrl).pathname, root])];
}
