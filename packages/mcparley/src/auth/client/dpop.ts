import type { CryptoKeyPair, DPoPHandle } from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import type { Discovered } from "./discovery.ts";
import type { CredentialStorage } from "./credential-storage.ts";

/** The algorithm of every proof: the one that all who know DPoP have. */
export const DPOP_ALGORITHM = "ES256";

/**
 * Proves to servers that the tokens are shown by whom they were given to (RFC 9449): each request carries a new signature
 * over its method, its URL and the token.
 */
export class DpopProver {
  /** For the requests to token endpoints; it keeps their nonces. */
  readonly handle: DPoPHandle;
  readonly #keys: CryptoKeyPair;
  /** What MCP servers want to see in the next proof, by their origins. */
  readonly #nonces = new Map<string, string>();

  private constructor(keys: CryptoKeyPair, handle: DPoPHandle) {
    this.#keys = keys;
    this.handle = handle;
  }

  static async of(keys: CryptoKeyPair): Promise<DpopProver> {
    const { DPoP } = await import("oauth4webapi");
    return new DpopProver(keys, DPoP({}, keys));
  }

  /** The headers that show the token in one request, and in no other. */
  async headers(token: string, url: URL, method: string): Promise<Record<string, string>> {
    const { SignJWT, base64url, exportJWK } = await import("jose");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
    const claims = {
      jti: crypto.randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      ath: base64url.encode(new Uint8Array(digest)),
      nonce: this.#nonces.get(url.origin),
    };
    const jwk = await exportJWK(this.#keys.publicKey);
    const proof = new SignJWT(claims).setProtectedHeader({ alg: DPOP_ALGORITHM, typ: "dpop+jwt", jwk }).setIssuedAt();
    return { authorization: `DPoP ${token}`, dpop: await proof.sign(this.#keys.privateKey) };
  }

  /** Takes the nonce that a response brings; true where the request was refused for want of it (RFC 9449, 9). */
  responded(url: URL, { status, headers }: { status: number; headers: Headers }): boolean {
    const nonce = headers.get("dpop-nonce");
    if (nonce === null) return false;
    this.#nonces.set(url.origin, nonce);
    return status === 401 && /\berror="?use_dpop_nonce\b/i.test(headers.get("www-authenticate") ?? "");
  }
}

/** Throws `LocalError` `authorization_failed` where proofs by `DPOP_ALGORITHM` are not taken by both servers. */
export function checkDpopAlgorithms({ server, issuer, metadata, dpopAlgorithms }: Discovered): void {
  const taken = [
    [issuer, metadata.dpop_signing_alg_values_supported] as const,
    [server.origin, dpopAlgorithms] as const,
  ];
  for (const [who, algorithms] of taken) {
    if (!Array.isArray(algorithms) || algorithms.includes(DPOP_ALGORITHM)) continue;
    const theirs = JSON.stringify(algorithms).slice(0, 200);
    const message = `${JSON.stringify(who)} takes no DPoP proofs by ${DPOP_ALGORITHM}, only by ${theirs}.`;
    throw new LocalError("authorization_failed", message);
  }
}

/** Does what asks a token endpoint, once more where it wants its nonce in the proof (RFC 9449, 8). */
export async function withNonce<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { isDPoPNonceError } = await import("oauth4webapi");
    if (!isDPoPNonceError(error)) throw error;
    return ask();
  }
}

/** The keys that tokens are bound to, one for each authorization server, so that none learns of another. */
export interface DpopKeys {
  of(issuer: string): Promise<DpopProver>;
}

/**
 * Keeps the keys in this process alone, where nothing can read them out; or in a storage, so that tokens that are kept
 * there can still be shown by another process.
 */
export function dpopKeys(storage?: CredentialStorage): DpopKeys {
  const provers = new Map<string, Promise<DpopProver>>();
  const make = async (issuer: string): Promise<DpopProver> =>
    DpopProver.of(storage ? await storedKeys(storage, `dpop-key:${issuer}`) : await newKeys(false));
  return {
    of(issuer) {
      const prover = provers.get(issuer) ?? make(issuer);
      provers.set(issuer, prover);
      prover.catch(() => provers.delete(issuer));
      return prover;
    },
  };
}

async function newKeys(extractable: boolean): Promise<CryptoKeyPair> {
  const { generateKeyPair } = await import("oauth4webapi");
  return generateKeyPair(DPOP_ALGORITHM, { extractable });
}

async function storedKeys(storage: CredentialStorage, name: string): Promise<CryptoKeyPair> {
  const stored = await storage.get(name);
  if (stored !== undefined) return importKeys(stored);
  const { privateKey } = await newKeys(true);
  const written = JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
  await storage.compareAndSet(name, undefined, written);
  // Another process may have been first, and its tokens are bound to its key.
  return importKeys((await storage.get(name)) ?? written);
}

async function importKeys(written: string): Promise<CryptoKeyPair> {
  const { d, ...shared } = JSON.parse(written) as JsonWebKey;
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { kty, crv, x, y } = shared;
  const open = { kty, crv, x, y } as JsonWebKey;
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", { ...open, d } as JsonWebKey, algorithm, false, ["sign"]),
    crypto.subtle.importKey("jwk", open, algorithm, true, ["verify"]),
  ]);
  return { privateKey, publicKey };
}
