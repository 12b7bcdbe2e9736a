import type { HttpServerAuth } from "../../http/server/options.ts";
import { sha256 } from "../../rpc/digest.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Principal } from "../../server/core/context.ts";
import { readPresented } from "./authorization-headers.ts";
import { type BearerOptions, bearer } from "./bearer.ts";
import { invalid } from "./option-checks.ts";

/** An API key and its owner. Either `key` or `sha256` is needed. */
export interface ApiKey {
  /** The key, as clients send it: 16 or more characters. Generate it at random. An undefined or empty one is refused. */
  key?: string | undefined;
  /** The SHA-256 hash of the key in hexadecimal, so that the configuration contains no key. */
  sha256?: string | undefined;
  /** The owner, as `ctx.principal.subject`. Several keys may have the same owner. */
  subject: string;
  /** The scopes of the owner. Default: none. */
  scopes?: readonly string[];
  /** Other data of the owner, for handlers. */
  claims?: JsonObject;
}

/** Options of `apiKeys`. */
export interface ApiKeysOptions extends BearerOptions {
  /** The issuer of the principals. Principals with the same issuer and subject are the same owner. Default: `"api-keys"`. */
  issuer?: string;
}

interface KnownKey {
  readonly hash: Uint8Array;
  readonly principal: Principal;
}

const minKey = 16;

/**
 * Protects an endpoint with API keys: `listen(server, { auth: apiKeys([{ key, subject: "ci" }]) })`.
 *
 * A client sends its key as `Authorization: Bearer <key>`, or in the option `header`. Keys are compared by their hashes, in
 * constant time, and appear in no log or error.
 *
 * Throws `LocalError` `invalid_definition` for a missing, empty, short or repeated key. A key of an unset environment variable is missing.
 *
 * @example
 * ```ts
 * import { apiKeys } from "mcparley/auth";
 * import { listen } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const server = createServer({ name: "notes", version: "1.0.0" });
 * const auth = apiKeys([{ key: process.env.CI_KEY, subject: "ci", scopes: ["notes:read"] }]);
 * await listen(server, { port: 3000, auth });
 * ```
 *
 * @example Users sign in with OAuth, and programs send a key.
 * ```ts
 * import { apiKeys, jwtVerifier, protectedResource } from "mcparley/auth";
 * import { listen } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const resource = "https://example.com/mcp";
 * const issuer = "https://auth.example.com";
 * const auth = [
 *   protectedResource({ resource, issuers: [issuer], verifier: jwtVerifier({ issuer, audience: resource }) }),
 *   apiKeys([{ key: process.env.CI_KEY, subject: "ci" }], { header: "x-api-key" }),
 * ];
 * await listen(createServer({ name: "notes", version: "1.0.0" }), { port: 3000, auth });
 * ```
 */
export function apiKeys(keys: readonly ApiKey[], options: ApiKeysOptions = {}): HttpServerAuth {
  const { issuer = "api-keys", header } = options;
  checkKeys(keys);
  const hashKey = async ({ key, sha256: hex, subject, scopes = [], claims }: ApiKey): Promise<KnownKey> => {
    const bytes = hex?.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
    const hash = key === undefined ? Uint8Array.from(bytes) : await sha256(key);
    return { hash, principal: { issuer, subject, scopes, ...(claims && { claims }) } };
  };
  // Computed with the first request, because some platforms forbid asynchronous work before it.
  let knownKeys: Promise<KnownKey[]> | undefined;
  const ownerOf = async (token: string): Promise<Principal | undefined> => {
    knownKeys ??= Promise.all(keys.map(hashKey));
    return findOwner(await knownKeys, await sha256(token));
  };
  const auth = bearer(ownerOf, header === undefined ? {} : { header });
  return {
    ...auth,
    async match(request) {
      const match = await auth.match?.(request);
      if (match !== "possible") return match;
      // Any other token in `Authorization` is for another entry.
      return (await ownerOf(readPresented(request)?.token ?? "")) && "certain";
    },
  };
}

/** Compares with every key, so that the time does not depend on which one matches. */
function findOwner(knownKeys: readonly KnownKey[], hash: Uint8Array): Principal | undefined {
  let owner: Principal | undefined;
  for (const { hash: knownHash, principal } of knownKeys) {
    let difference = 0;
    for (let index = 0; index < hash.length; index++) difference |= hash[index]! ^ knownHash[index]!;
    if (difference === 0) owner = principal;
  }
  return owner;
}

function checkKeys(keys: readonly ApiKey[]): void {
  const isList: boolean = Array.isArray(keys);
  if (!isList || keys.length === 0) throw invalid("apiKeys requires a list with at least one key.");
  const identities = new Set<string>();
  for (const { key, sha256: hex, subject } of keys) {
    if (typeof subject !== "string" || subject === "") throw invalid("Each API key requires a subject: its owner.");
    const owner = JSON.stringify(subject);
    if (key === "" || hex === "" || (key === undefined && hex === undefined)) {
      throw invalid(
        `The API key of ${owner} is empty. Set key or sha256, and check that its environment variable is set.`,
      );
    }
    if (key !== undefined && hex !== undefined)
      throw invalid(`The API key of ${owner} has both key and sha256. Remove one.`);
    // No message contains the key.
    if (key !== undefined && (typeof key !== "string" || key.length < minKey)) {
      throw invalid(`The API key of ${owner} must have at least ${minKey} characters. Generate it at random.`);
    }
    if (key !== undefined && !/^[\w.~+/-]+=*$/.test(key)) {
      throw invalid(`The API key of ${owner} must contain only letters, digits and "-._~+/", and "=" at its end.`);
    }
    if (hex !== undefined && !/^[\da-f]{64}$/i.test(hex))
      throw invalid(`sha256 of ${owner} must be 64 hexadecimal digits.`);
    const identity = key === undefined ? `sha256 ${hex!.toLowerCase()}` : `key ${key}`;
    if (identities.has(identity)) throw invalid(`The API key of ${owner} is listed twice.`);
    identities.add(identity);
  }
}
