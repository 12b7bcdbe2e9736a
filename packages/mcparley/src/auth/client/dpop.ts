import { SignJWT, exportJWK } from "jose";
import { type CryptoKeyPair, DPoP, type DPoPHandle, generateKeyPair, isDPoPNonceError } from "oauth4webapi";
import { digest } from "../../rpc/digest.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Discovery } from "./discovery/discovery.ts";
import type { CredentialStorage } from "./credentials.ts";
import type { ReplyHeaders } from "../../http/client/reply.ts";

/** The algorithm of every proof. All implementations of DPoP support it. */
const DPOP_ALGORITHM = "ES256";

/**
 * Proves possession of the key to which tokens are bound (RFC 9449): each request contains a new signature over its method,
 * its URL and the token.
 */
export class DpopProver {
  /** The handle for requests to token endpoints. It stores their nonces. */
  readonly handle: DPoPHandle;
  readonly #keys: CryptoKeyPair;
  /** The nonces for the next proofs to MCP servers, by origin. */
  readonly #nonces = new Map<string, string>();

  constructor(keys: CryptoKeyPair) {
    this.#keys = keys;
    this.handle = DPoP({}, keys);
  }

  /** Returns the headers with the token and its proof, for one request. */
  async headers(token: string, url: URL, method: string): Promise<Record<string, string>> {
    const claims = {
      jti: crypto.randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      ath: await digest(token),
      nonce: this.#nonces.get(url.origin),
    };
    const jwk = await exportJWK(this.#keys.publicKey);
    const proof = new SignJWT(claims).setProtectedHeader({ alg: DPOP_ALGORITHM, typ: "dpop+jwt", jwk }).setIssuedAt();
    return { authorization: `DPoP ${token}`, dpop: await proof.sign(this.#keys.privateKey) };
  }

  /** Stores the nonce in a response. Returns whether the request was refused because it lacked it (RFC 9449, 9). */
  readNonce(url: URL, { status, headers }: { status: number; headers: ReplyHeaders }): boolean {
    const nonce = headers.get("dpop-nonce");
    if (nonce === null) return false;
    this.#nonces.set(url.origin, nonce);
    return status === 401 && /\berror="?use_dpop_nonce\b/i.test(headers.get("www-authenticate") ?? "");
  }
}

/** Throws `LocalError` `authorization_failed` if one of the two servers does not accept proofs by `DPOP_ALGORITHM`. */
export function checkDpopAlgorithms({ server, issuer, metadata, dpopAlgorithms }: Discovery): void {
  const acceptedAlgorithms: [name: string, algorithms: unknown][] = [
    [issuer, metadata.dpop_signing_alg_values_supported],
    [server.origin, dpopAlgorithms],
  ];
  for (const [name, algorithms] of acceptedAlgorithms) {
    if (!Array.isArray(algorithms) || algorithms.includes(DPOP_ALGORITHM)) continue;
    const algorithmList = JSON.stringify(algorithms).slice(0, 200);
    const message = `${JSON.stringify(name)} accepts DPoP proofs with ${algorithmList}, but not with ${DPOP_ALGORITHM}.`;
    throw new LocalError("authorization_failed", message);
  }
}

/** Sends a token request, and repeats it once if the server requires its nonce in the proof (RFC 9449, 8). */
export async function withNonce<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!isDPoPNonceError(error)) throw error;
    return send();
  }
}

/** Returns the key to which the tokens of an issuer are bound. Each issuer has its own, so that servers cannot link a client. */
export type DpopKeys = (issuer: string) => Promise<DpopProver>;

/**
 * Creates keys that cannot be exported from this process. With a storage, the keys are stored there, so that another
 * process can use the tokens in the storage.
 */
export function dpopKeys(storage?: CredentialStorage): DpopKeys {
  const provers = new Map<string, Promise<DpopProver>>();
  return (issuer) => {
    const cachedProver = provers.get(issuer);
    if (cachedProver) return cachedProver;
    const keys = storage ? storedKeys(storage, `dpop-key:${issuer}`) : newKeys(false);
    const prover = keys.then((pair) => new DpopProver(pair));
    provers.set(issuer, prover);
    prover.catch(() => provers.delete(issuer));
    return prover;
  };
}

function newKeys(extractable: boolean): Promise<CryptoKeyPair> {
  return generateKeyPair(DPOP_ALGORITHM, { extractable });
}

async function storedKeys(storage: CredentialStorage, name: string): Promise<CryptoKeyPair> {
  const storedKey = await storage.get(name);
  if (storedKey !== undefined) return importKeys(storedKey);
  const { privateKey } = await newKeys(true);
  const keyText = JSON.stringify(await crypto.subtle.exportKey("jwk", privateKey));
  await storage.compareAndSet(name, undefined, keyText);
  // If another process was first, its tokens are bound to its key.
  return importKeys((await storage.get(name)) ?? keyText);
}

async function importKeys(keyText: string): Promise<CryptoKeyPair> {
  const jwk: JsonWebKey = JSON.parse(keyText);
  // The usages and the extractability of the exported key do not apply to the imported ones.
  const { key_ops: _, ext: __, ...privateJwk } = jwk;
  const { d: ___, ...publicJwk } = privateJwk;
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", privateJwk, algorithm, false, ["sign"]),
    crypto.subtle.importKey("jwk", publicJwk, algorithm, true, ["verify"]),
  ]);
  return { privateKey, publicKey };
}
