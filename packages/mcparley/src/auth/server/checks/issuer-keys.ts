import { type CryptoKey, type JSONWebKeySet, type JWTHeaderParameters, createLocalJWKSet } from "jose";
import type { Clock } from "../../../rpc/clock.ts";
import { isObject } from "../../../rpc/messages.ts";
import type { GuardedFetch } from "../../client/guarded-fetch.ts";
import { issuerMetadata } from "./issuer.ts";
import { withCooldown } from "../request-cache.ts";

/** Milliseconds for which keys are used. */
const lifetime = 600_000;
/** Milliseconds between two requests for the keys of an issuer, because anyone can send a token with an unknown key. */
const pause = 30_000;
/** Milliseconds without a request after a failure. */
const pauseAfterFailure = 5_000;

/** Minimum size of an RSA key in bits (RFC 7518, 3.3). */
const minRsaBits = 2048;

/** The keys of an issuer, as one response contained them. */
export interface KeySet {
  /** Returns the public keys that a token with this header can be signed with. Keys that cannot be used are ignored. */
  find(this: void, header: JWTHeaderParameters): Promise<CryptoKey[]>;
  /** Whether a key has this id. False if the id is missing. */
  has(kid: unknown): boolean;
  /** Milliseconds since 1970. Infinity for keys that are never loaded again. */
  readonly loadedAt: number;
}

/** The keys of an issuer. */
export interface IssuerKeys {
  /** Returns the keys. Rejects if they cannot be loaded. */
  current(): Promise<KeySet>;
  /**
   * Returns newer keys than these, for a token whose key is not among them. Returns the milliseconds until newer keys can be
   * loaded, if these are too new. Rejects if they cannot be loaded.
   */
  newerThan(keys: KeySet): Promise<KeySet | number>;
}

interface KeysOptions {
  issuer: string;
  /** The keys, or their URL. Default: the `jwks_uri` in the issuer's metadata. */
  jwks: string | JSONWebKeySet | undefined;
  fetch: GuardedFetch;
  clock: Clock;
}

/**
 * Makes the source of an issuer's keys.
 *
 * Keys are loaded on first use and every 10 minutes. For a token whose key is unknown, as after a rotation, they are loaded at
 * most every 30 seconds.
 */
export function issuerKeys({ issuer, jwks, fetch, clock }: KeysOptions): IssuerKeys {
  if (typeof jwks === "object") {
    const keys = readKeySet(jwks, Infinity);
    return { current: async () => keys, newerThan: async () => Infinity };
  }
  const metadata = issuerMetadata(issuer, fetch, clock);
  let loadedKeys: KeySet | undefined;
  const load = withCooldown(
    async () => {
      const uri = jwks ?? (await metadata()).jwks_uri;
      if (typeof uri !== "string" || uri === "") throw new Error("It has no jwks_uri in its metadata.");
      const response = await fetch(uri, { headers: { accept: "application/json, application/jwk-set+json" } });
      if (response.status !== 200) throw new Error(`${uri} responded with status ${response.status} instead of keys.`);
      return (loadedKeys = readKeySet(await response.json(), clock.now()));
    },
    { pause: pauseAfterFailure, clock },
  );
  return {
    current: async () => (loadedKeys && clock.now() < loadedKeys.loadedAt + lifetime ? loadedKeys : load()),
    async newerThan(keys) {
      // Another request may have loaded them.
      if (loadedKeys && loadedKeys !== keys) return loadedKeys;
      const wait = keys.loadedAt + pause - clock.now();
      return wait > 0 ? wait : load();
    },
  };
}

/**
 * Reads a JSON Web Key Set. Entries that are no objects and members that are null or empty are ignored (RFC 7517, 5). A token
 * that names a key which is not listed can be signed with a key without an id.
 */
function readKeySet(document: unknown, loadedAt: number): KeySet {
  if (!isObject(document) || !Array.isArray(document.keys)) throw new Error("The response contains no list of keys.");
  const keys = document.keys
    .filter(isObject)
    .map((key) => Object.fromEntries(Object.entries(key).filter(([name, value]) => hasMeaning(name, value))));
  // A set for each key, so that a key that cannot be imported does not affect the others.
  const sets = keys.map((key) => ({ kid: key.kid, findKey: createLocalJWKSet({ keys: [key] }) }));
  const has = (kid: unknown): boolean => Boolean(kid) && keys.some((key) => key.kid === kid);
  return {
    loadedAt,
    has,
    async find({ kid, ...header }) {
      const listedKid = has(kid) ? kid : undefined;
      const matching = kid ? sets.filter((set) => set.kid === listedKid) : sets;
      const publicKeys = await Promise.all(matching.map(({ findKey }) => findKey(header).catch(() => undefined)));
      return publicKeys.filter((key) => key !== undefined).filter(isStrong);
    },
  };
}

function isStrong({ algorithm }: CryptoKey): boolean {
  return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= minRsaBits;
}

/** `ext` has no meaning for a public key, and jose ignores keys in which it is no boolean. */
function hasMeaning(name: string, value: unknown): boolean {
  const isEmpty = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return !isEmpty && name !== "ext";
}
