import type { AuthorizationServer } from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { isPrivateHost } from "../../net/private-address.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { CredentialStorage } from "./credentials.ts";
import type { Discovered } from "./discovery/discovery.ts";
import type { DpopKeys } from "./dpop.ts";
import type { Endpoints, KnownClient, TokenResponse } from "./endpoints.ts";
import { type GuardedFetch, type GuardedInit, makeGuardedFetch } from "./guarded-fetch.ts";
import type { AuthorizationOptions } from "./options.ts";

/** A method to get tokens from an authorization server if there are none that can be refreshed. */
export interface Grant {
  /** Whether it needs no user, so that new tokens may be requested before the old ones expire. */
  readonly isUnattended?: boolean;
  /** Whether another authorization server may be used if the first one fails. Not for a client that was registered manually. */
  readonly mayChangeIssuer: boolean;
  /** Gets tokens with these scopes. With undefined, the authorization server chooses the scopes. */
  obtain(context: GrantContext, scopes: readonly string[] | undefined): Promise<Obtained>;
  /** Returns the client to which tokens were issued, to refresh or revoke them. Undefined if it is no longer known. */
  client(context: GrantContext, clientId: string): Promise<KnownClient | undefined>;
  /** Deletes a client that an authorization server no longer knows. Returns whether another will be registered. */
  forget?(context: GrantContext, clientId: string): Promise<boolean>;
  /** Called after the tokens of a server were stored or deleted. Deletes clients without tokens. */
  assignTokens?(assignment: TokenAssignment): Promise<void>;
  /** The issuers for which credentials exist, by preference. */
  preferredIssuers?(): readonly string[];
}

/**
 * Which registration to use: a stored one, a stored one that is checked before a user is sent to the server, or a new one. A
 * stored one that cannot be used is replaced.
 */
export type RegistrationUse = "stored" | "checked" | "new";

/** The client of the tokens of a server, or undefined if the server has no tokens. */
export interface TokenAssignment {
  readonly server: URL;
  readonly issuer: string;
  readonly clientId: string | undefined;
  /** The client of the tokens that a sign-out has deleted. */
  readonly signedOutClientId?: string;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  readonly fetch: GuardedFetch;
}

/** The context of one use of a grant: the authorization server, and access to it. */
export interface GrantContext {
  readonly at: Discovered;
  readonly endpoints: Endpoints;
  /** The proxy and the certificates. */
  readonly connection: HttpConnection | undefined;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  /** Throws `LocalError` `forbidden_url` for a URL to which no user may be sent. */
  readonly checkUrl: (this: void, url: URL) => void;
  /** Called before the user is sent to the authorization server. */
  readonly onVisit: (this: void) => void;
  /** Calls the option `onError`. */
  readonly warn: (this: void, error: Error) => void;
  readonly registration: RegistrationUse;
  /** The scopes that a request needs and the present tokens lack, if they are the reason. */
  readonly missingScopes: readonly string[] | undefined;
  /** Aborted when no request waits for the tokens. */
  readonly signal: AbortSignal;
}

/** Returns an endpoint of the metadata. Throws `LocalError` if it is missing, is no URL, or may not be requested. */
export function requireEndpoint(
  { at, checkUrl }: GrantContext,
  name: keyof AuthorizationServer & `${string}_endpoint`,
): URL {
  const { issuer } = at;
  const endpoint = at.metadata[name];
  const server = `The authorization server ${JSON.stringify(issuer)}`;
  const data = { issuer, request: name === "registration_endpoint" ? "registration" : "metadata" };
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) {
    const message =
      endpoint === undefined
        ? `${server} has no ${name} in its metadata.`
        : `${server} cannot be used. The ${name} in its metadata is not a URL: ${JSON.stringify(endpoint).slice(0, 200)}.`;
    throw new LocalError("authorization_failed", message, { data });
  }
  const url = new URL(endpoint);
  try {
    checkUrl(url);
  } catch (error) {
    const { message } = error as LocalError;
    throw new LocalError("forbidden_url", `${server} cannot be used. ${message}`, { data });
  }
  return url;
}

/** The tokens of a grant. */
export interface Obtained {
  response: TokenResponse;
  /** The client to which they were issued. */
  clientId: string;
}

/** The state that the authorizations for different servers share. */
export interface AuthorizationCore {
  readonly options: AuthorizationOptions;
  /** The name of the grant, which is part of the keys in the storage. */
  readonly name: string;
  readonly grant: Grant;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  /** The keys to which tokens are bound, if they are. */
  readonly dpop: DpopKeys;
  /** The connection settings of the last request to each MCP server, by URL. */
  readonly connections: Map<string, HttpConnection | undefined>;
  /** Calls the option `onStep`. */
  readonly report: (this: void, step: string) => void;
}

/** Returns the connection settings of the authorization requests on behalf of a server. */
export function connectionFor({ options, connections }: AuthorizationCore, server: URL): HttpConnection | undefined {
  return options.connection ?? connections.get(server.href);
}

/** Returns whether authorization for this server may reach private networks. Default: if the server is on one itself. */
export function mayBePrivate({ options }: AuthorizationCore, server: URL): boolean {
  return options.allowPrivateNetwork ?? isPrivateHost(server.hostname);
}

/** Returns the `fetch` for all authorization requests on behalf of this server. */
export function fetchFor(core: AuthorizationCore, server: URL): GuardedFetch {
  const { options, clock, report } = core;
  const send = makeGuardedFetch({
    allowPrivate: mayBePrivate(core, server),
    fetch: options.fetch,
    connection: connectionFor(core, server),
    server,
    clock,
  });
  return reportRequests(send, report);
}

/** Returns a `fetch` that reports each request with the status of its response. */
export function reportRequests(send: GuardedFetch, report: AuthorizationCore["report"]): GuardedFetch {
  return async (url, init) => {
    const request = requestInWords(url, init);
    try {
      const response = await send(url, init);
      report(`${request}: ${response.status}`);
      return response;
    } catch (error) {
      report(`${request}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  };
}

/** Returns the method, the URL and the grant type of a request, without its secrets. */
function requestInWords(url: string, { method = "GET", body }: GuardedInit = {}): string {
  const { origin, pathname } = new URL(url);
  const grantType = body instanceof URLSearchParams ? body.get("grant_type") : null;
  return `${method} ${origin}${pathname}${grantType === null ? "" : `, ${grantType}`}`;
}
