import type { AuthorizationServer, TokenEndpointResponse } from "oauth4webapi";
import { unlessAborted } from "../../client/abort.ts";
import type { HttpAuth, HttpAuthRefusal } from "../../http/client-settings.ts";
import { type Clock, systemClock } from "../../jsonrpc/clock.ts";
import { LocalError } from "../../jsonrpc/errors.ts";
import { discoverIssuer } from "./authorization-server.ts";
import { type Challenge, readChallenge, splitScope } from "./challenge.ts";
import { DPOP_ALGORITHM, type DpopKeys, type DpopProver, dpopKeys } from "./dpop.ts";
import { type GuardedFetch, makeGuardedFetch } from "./guarded-fetch.ts";
import { isPrivateHost } from "./private-address.ts";
import { type ResourceMetadata, discoverResource } from "./resource-metadata.ts";

/** What all ways have in common by which a client gets its tokens without a person. */
export interface MachineOptions {
  /**
   * The authorization server that this client is known at, exactly as it names itself. A server that does not name it
   * among its own gets no token, so that none can have the client's credentials sent to another place.
   */
  issuer: string;
  /** The scopes to ask for, with blanks between them. What the server asks for unless given. */
  scope?: string;
  /** The resource that tokens are for. What the server's metadata says unless given, or else its URL. */
  resource?: string;
  /** Binds tokens to a key (RFC 9449). Where the server says that it wants this, unless given. */
  dpop?: boolean;
  /** Lets a server of the public Internet refer to addresses outside of it. False unless given. */
  allowPrivateNetwork?: boolean;
  /** What sends the requests to authorization servers, such as one that goes through a proxy. */
  fetch?: typeof fetch;
  clock?: Clock;
}

/** What one kind of grant asks for. */
export interface GrantRequest {
  readonly metadata: AuthorizationServer;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly prover: DpopProver | undefined;
  readonly fetch: GuardedFetch;
}

/** Gets a token by one kind of grant. */
export type Grant = (request: GrantRequest) => Promise<TokenEndpointResponse>;

/**
 * Makes the authorization by a grant that asks no person: tokens are got when a server asks for one, kept in memory, and
 * replaced when they run out or are refused. Requests that wait for a token wait for the same one.
 */
export function machineAuth(options: MachineOptions, grant: Grant): HttpAuth {
  const keys = dpopKeys();
  const places = new Map<string, Place>();
  const placeOf = (server: URL): Place => {
    const place = places.get(server.href) ?? new Place(server, options, { grant, keys });
    places.set(server.href, place);
    return place;
  };
  return {
    headers: ({ url, method, server }) => placeOf(server).headers(url, method),
    responded: ({ url, server }, response) => placeOf(server).responded(url, response),
    challenged: (refusal, signal) => placeOf(refusal.request.server).challenged(refusal, signal),
  };
}

interface Token {
  readonly value: string;
  readonly scopes: readonly string[];
  /** When it is to be replaced, on the clock. */
  readonly freshUntil: number;
  readonly prover: DpopProver | undefined;
}

/** What is known of the authorization of a server. */
interface Found {
  readonly metadata: AuthorizationServer;
  readonly resource: ResourceMetadata | undefined;
}

/** Tokens are replaced so many milliseconds before they run out, or at half of their time where that is less. */
const MARGIN_MS = 30_000;

/** One server, and the token for it. */
class Place {
  readonly #server: URL;
  readonly #options: MachineOptions;
  readonly #means: { grant: Grant; keys: DpopKeys };
  #found: Found | undefined;
  #token: Token | undefined;
  /** The token that is being asked for. */
  #coming: Promise<Token> | undefined;

  constructor(server: URL, options: MachineOptions, means: { grant: Grant; keys: DpopKeys }) {
    this.#server = server;
    this.#options = options;
    this.#means = means;
  }

  async headers(url: URL, method: string): Promise<Record<string, string>> {
    if (this.#token && this.#now() >= this.#token.freshUntil) await this.#renew(this.#token.scopes);
    const token = this.#token;
    if (!token) return {};
    return token.prover ? token.prover.headers(token.value, url, method) : { authorization: `Bearer ${token.value}` };
  }

  responded(url: URL, response: { status: number; headers: Headers }): boolean {
    return this.#token?.prover?.responded(url, response) ?? false;
  }

  async challenged(refusal: HttpAuthRefusal, signal: AbortSignal): Promise<boolean> {
    const { status, headers, shown, repeated } = refusal;
    const token = this.#token;
    // Another connection with the same authorization has got a new one since.
    if (token && shown.authorization?.split(" ")[1] !== token.value) return true;
    const challenge = await readChallenge(headers);
    // One that has just been got is not good either.
    if (status === 401 && repeated > 0) return false;
    const scopes = status === 401 ? token?.scopes : this.#moreScopes(challenge);
    if (status !== 401 && !scopes) return false;
    if (status === 401) this.#token = undefined;
    await unlessAborted(this.#renew(scopes, challenge), signal, "Getting a token");
    return true;
  }

  /** The scopes of the token and those that a request lacked. Undefined where that are no more than there are. */
  #moreScopes({ error, scopes = [] }: Challenge): readonly string[] | undefined {
    const present = this.#token?.scopes ?? [];
    const all = [...new Set([...present, ...scopes])];
    return error === "insufficient_scope" && all.length > present.length ? all : undefined;
  }

  #renew(scopes: readonly string[] | undefined, challenge?: Challenge): Promise<Token> {
    this.#coming ??= this.#getToken(scopes, challenge)
      .then((token) => (this.#token = token))
      .finally(() => {
        this.#coming = undefined;
      });
    return this.#coming;
  }

  async #getToken(present: readonly string[] | undefined, challenge?: Challenge): Promise<Token> {
    const found = (this.#found ??= await this.#discover(challenge?.resourceMetadata));
    const { metadata, resource } = found;
    const { scope: given, dpop = resource?.isDpopRequired ?? false } = this.#options;
    const wanted =
      given === undefined ? (present ?? challenge?.scopes ?? resource?.scopesSupported) : splitScope(given);
    const prover = dpop ? await this.#proverFor(found) : undefined;
    const response = await this.#means.grant({
      metadata,
      resource: this.#options.resource ?? resource?.resource ?? this.#server.href,
      scope: wanted && wanted.length > 0 ? wanted.join(" ") : undefined,
      prover,
      fetch: this.#fetchOf(metadata.issuer),
    });
    return this.#read(response, wanted ?? [], prover);
  }

  async #discover(challenged: string | undefined): Promise<Found> {
    const { issuer } = this.#options;
    const resource = await discoverResource({
      fetch: this.#fetchOf(this.#server.href),
      server: this.#server,
      challenged,
    });
    const named = resource?.authorizationServers;
    if (named && !named.includes(issuer)) {
      const message = `${this.#server.origin} takes tokens of ${named.map((name) => JSON.stringify(name)).join(", ") || "nobody"}, and the credentials are for ${JSON.stringify(issuer)}; they are sent nowhere else.`;
      throw new LocalError("authorization_failed", message, { data: { issuer, named } });
    }
    return { resource, metadata: await discoverIssuer(this.#fetchOf(issuer), issuer) };
  }

  /** What was given by the user is trusted where it is; what a public server refers to must be public. */
  #fetchOf(trusted: string): GuardedFetch {
    const { allowPrivateNetwork = false, fetch, clock } = this.#options;
    const allowPrivate = allowPrivateNetwork || isPrivateHost(new URL(trusted).hostname);
    return makeGuardedFetch({ allowPrivate, fetch, clock });
  }

  #proverFor({ metadata, resource }: Found): Promise<DpopProver> {
    const refusing = [
      [metadata.issuer, metadata.dpop_signing_alg_values_supported] as const,
      [this.#server.origin, resource?.dpopSigningAlgorithms] as const,
    ].find(([, algorithms]) => algorithms && !algorithms.includes(DPOP_ALGORITHM));
    if (!refusing) return this.#means.keys.of(metadata.issuer);
    const message = `${refusing[0]} takes no DPoP proofs by ${DPOP_ALGORITHM}, only by ${refusing[1]?.join(", ")}.`;
    throw new LocalError("authorization_failed", message);
  }

  #read(response: TokenEndpointResponse, asked: readonly string[], prover: DpopProver | undefined): Token {
    const { access_token: value, token_type: type, expires_in: seconds, scope } = response;
    const { issuer } = this.#options;
    if (type !== (prover ? "dpop" : "bearer")) {
      const wanted = prover ? "one bound to a key" : "one that can be shown without a key";
      const message = `The authorization server ${issuer} gave a token of type ${type} where ${wanted} was asked for.`;
      throw new LocalError("authorization_failed", message, { data: { issuer } });
    }
    const lifetime = seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1_000;
    const freshUntil = this.#now() + lifetime - Math.min(MARGIN_MS, lifetime / 2);
    return { value, scopes: scope === undefined ? asked : splitScope(scope), freshUntil, prover };
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now();
  }
}
