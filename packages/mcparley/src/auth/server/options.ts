/** The options of verifiers and of the token exchange. Only types, because their checks, which are loaded later, read them as well. */
import type { JSONWebKeySet } from "jose";
import type { Clock } from "../../rpc/clock.ts";
import type { ClientCredential } from "../client-credential.ts";
import type { ScopesOf } from "./verified-token.ts";

/** Options of `jwtVerifier`. */
export interface JwtVerifierOptions {
  /** The accepted issuer, exactly as tokens write it in `iss`. */
  issuer: string;
  /** The accepted audiences: the `aud` of a token must contain one. Most issuers use the URL of the resource. */
  audience: string | readonly string[];
  /** The keys of the issuer, or their URL. Default: the `jwks_uri` in the issuer's metadata. */
  jwks?: string | JSONWebKeySet;
  /** The accepted algorithms. Default: all with a public key. `none` and HMAC cannot be accepted. */
  algorithms?: readonly string[];
  /** The accepted values of `typ`. Default: `at+jwt` and `JWT`. A token without `typ` is also accepted. */
  types?: readonly string[];
  /** The accepted clock difference in seconds, up to 300. Default: 30. */
  clockTolerance?: number;
  /** Reads the scopes of a token. Default: from `scope`, or else `scp`. */
  scopesOf?: ScopesOf;
  /** Fetches metadata and keys, for example through a proxy. */
  fetch?: typeof fetch;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** Options of `introspectionVerifier`. */
export interface IntrospectionVerifierOptions {
  /** The accepted issuer. An `iss` in the response must equal it. */
  issuer: string;
  /** The accepted audiences: the `aud` of the response must contain one. */
  audience: string | readonly string[];
  /** The credentials of this server at the issuer. */
  client: ClientCredential;
  /** The introspection endpoint. Default: the one in the issuer's metadata. */
  endpoint?: string;
  /**
   * Milliseconds for which a response is cached. A revoked token is accepted for this time. Default: 30,000. With 0, each
   * request is checked.
   */
  cacheTtl?: number;
  /** Maximum number of cached responses. Default: 10,000. */
  cacheSize?: number;
  /** The accepted clock difference in seconds, up to 300. Default: 30. */
  clockTolerance?: number;
  /** Reads the scopes of a token. Default: from `scope`. */
  scopesOf?: ScopesOf;
  /** Sends the requests, for example through a proxy. */
  fetch?: typeof fetch;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** How the proofs of tokens that are bound to a key are checked (DPoP, RFC 9449). */
export interface DpopOptions {
  /** Whether tokens that are not bound to a key are rejected. Default: false. */
  required?: boolean;
  /**
   * Whether each proof must contain a nonce of this server, so that proofs cannot be made in advance. `true` uses a random
   * secret for this process. If several processes serve the resource, give all of them the same secret of at least 32
   * bytes. Default: false.
   */
  nonce?: boolean | Uint8Array;
  /** Maximum age of a proof in seconds, at most 300. Default: 60. */
  maxAge?: number;
}

/** Options of `tokenExchange`. */
export interface TokenExchangeOptions {
  /** The authorization server that exchanges tokens. */
  issuer: string;
  /** The credentials of this server at the issuer. */
  client: ClientCredential;
  /** The URL of the upstream service. Either this or `audience` is required. */
  resource?: string;
  /** The name of the upstream service at the authorization server. */
  audience?: string;
  /** The scopes of the upstream token. Default: chosen by the authorization server. */
  scopes?: readonly string[];
  /** The token endpoint. Default: the one in the issuer's metadata. */
  tokenEndpoint?: string;
  /** Maximum number of cached tokens. Default: 1,000. */
  cacheSize?: number;
  /** Sends the requests, for example through a proxy. */
  fetch?: typeof fetch;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** A token for an upstream service, on behalf of the caller. */
export interface UpstreamToken {
  /** The access token. It is a secret. */
  readonly token: string;
  /** The granted scopes. Undefined if the authorization server did not name them. */
  readonly scopes: readonly string[] | undefined;
}
