import {
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
} from "jose";
import type { Clock } from "../../rpc/clock.ts";
import type { GuardedFetch } from "../client/guarded-fetch.ts";
import { Cooldown } from "./cooldown.ts";
import { IssuerMetadata, noAnswer } from "./issuer-metadata.ts";

/** Finds the key that a token is signed with, by its header. */
export type KeyFinder = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

interface KeysOptions {
  issuer: string;
  /** The keys themselves, or where they are; found by the issuer's metadata unless given. */
  jwks: string | JSONWebKeySet | undefined;
  fetch: GuardedFetch;
  clock: Clock;
}

/**
 * Makes the finder of an issuer's keys.
 *
 * Keys are fetched when they are needed first and every 10 minutes; and for a key that is not known, as after a
 * rotation, at most every 30 seconds, so that nobody makes this server ask by showing forged tokens.
 */
export function makeKeyFinder({ issuer, jwks, fetch, clock }: KeysOptions): KeyFinder {
  if (typeof jwks === "object") return createLocalJWKSet(jwks);
  const metadata = new IssuerMetadata(issuer, fetch, clock);
  let current: { uri: string; find: KeyFinder } | undefined;
  return async (header, token) => {
    const uri = jwks ?? (await metadata.get()).jwks_uri;
    if (uri === undefined) throw noAnswer(issuer, "names no jwks_uri in its metadata");
    if (current?.uri !== uri) current = { uri, find: remoteKeys(uri, fetch, clock) };
    return current.find(header, token);
  };
}

function remoteKeys(uri: string, fetch: GuardedFetch, clock: Clock): KeyFinder {
  const cooldown = new Cooldown<string>({ clock, pause: 5_000 });
  const load = async (): Promise<string> => {
    const response = await fetch(uri, { headers: { accept: "application/json, application/jwk-set+json" } });
    if (response.status !== 200) throw new Error(`${uri} answers with ${response.status} instead of keys.`);
    return response.text();
  };
  return createRemoteJWKSet(new URL(uri), {
    [customFetch]: async () => new Response(await cooldown.run(load)),
  });
}
