import type { AuthorizationServer } from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { isPrivateHost } from "../../net/private-address.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { CredentialStorage } from "./credentials.ts";
import type { Discovery } from "./discovery/discovery.ts";
import type { DpopKeys } from "./dpop.ts";
import type { Endpoints, OAuthClient, TokenResponse } from "./endpoints.ts";
import { type GuardedFetch, makeGuardedFetch } from "./guarded-fetch.ts";
import type { AuthorizationOptions } from "./options.ts";

/** A method to get tokens from an authorization server if there is no refresh token. */
export interface Grant {
  /** Whether it needs no user, so that new tokens may be requested before the old ones expire. */
  readonly isUnattended?: boolean;
  /** Whether another authorization server may be used if the first one fails. Not for a client that was registered manually. */
  readonly mayChangeIssuer: boolean;
  /** Gets tokens with these scopes. With undefined, the authorization server chooses the scopes. */
  obtain(context: GrantContext, scopes: readonly string[] | undefined): Promise<IssuedTokens>;
  /** Returns the client to which tokens were issued, to refresh or revoke them. Undefined if it is no longer known. */
  client(context: GrantContext, clientId: string): Promise<OAuthClient | undefined>;
  /** Deletes a client that an authorization server no longer knows. Returns whether another will be registered. */
  forget?(context: GrantContext, clientId: string): Promise<boolean>;
  /** Called after the tokens of a server were stored or deleted. Deletes clients without tokens. */
  assignTokens?(assignment: TokenAssignment): Promise<void>;
  /** The issuers for which credentials exist, by preference. */
  preferredIssuers?(): readonly string[];
}

/**
 * The registration to use. "stored" is a stored registration, "checked" is a stored registration that the server still knows, and "new"
 * is another registration. A stored registration that cannot be used is replaced.
 */
type RegistrationUse = "stored" | "checked" | "new";

/** The client of the tokens of a server, which were stored or deleted. */
export interface TokenAssignment extends Pick<GrantContext, "storage" | "clock" | "fetch"> {
  readonly discovery: Pick<Discovery, "server" | "issuer">;
  readonly clientId: string;
  /** Whether a sign-out has deleted the tokens. */
  readonly isSignedOut: boolean;
}

/** The parameters of one use of a grant. */
export interface GrantUse {
  /** Aborted when no request waits for the tokens. */
  readonly signal: AbortSignal;
  /** Default: "stored". */
  readonly registration?: RegistrationUse;
  /** The scopes that a request needs and the present tokens lack, if they are the reason. */
  readonly missingScopes?: readonly string[];
  /** Called before the user is sent to the authorization server. */
  readonly onVisit?: (this: void) => void;
}

/** The context of one use of a grant: the authorization server, and access to it. */
export interface GrantContext extends Endpoints, GrantUse {
  /** The proxy and the certificates. */
  readonly connection: HttpConnection | undefined;
  readonly storage: CredentialStorage;
  /** Throws `LocalError` `forbidden_url` for a URL to which no user may be sent. */
  readonly checkUrl: (this: void, url: URL) => void;
  /** Calls the option `onError`. */
  readonly warn: (this: void, error: Error) => void;
}

/** Returns an endpoint of the metadata. Throws `LocalError` if it is missing, is no URL, or may not be requested. */
export function requireEndpoint(
  { discovery, checkUrl }: GrantContext,
  name: keyof AuthorizationServer & `${string}_endpoint`,
): URL {
  const { issuer } = discovery;
  const endpoint = discovery.metadata[name];
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
export interface IssuedTokens {
  response: TokenResponse;
  /** The client to which they were issued. */
  clientId: string;
}

/** The authorization for one MCP server: the grant, the options and the state. Only the last two members differ between servers. */
export interface AuthorizationCore {
  readonly options: AuthorizationOptions;
  /** The name of the grant, which is part of the keys in the storage. */
  readonly name: string;
  readonly grant: Grant;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  readonly dpopKeyOf: DpopKeys;
  /** Calls the option `onStep`. */
  readonly report: (this: void, step: string) => void;
  readonly server: URL;
  /** The connection settings of the last request to the server. */
  connection: HttpConnection | undefined;
}

/** Returns the connection settings of the authorization requests on behalf of a server. */
export function connectionFor({ options, connection }: AuthorizationCore): HttpConnection | undefined {
  return options.connection ?? connection;
}

/** Returns whether authorization for this server may reach private networks. Default: if the server is on one itself. */
export function mayBePrivate({ options, server }: AuthorizationCore): boolean {
  return options.allowPrivateNetwork ?? isPrivateHost(server.hostname);
}

/** Returns the `fetch` for all authorization requests on behalf of this server. */
export function fetchFor(core: AuthorizationCore): GuardedFetch {
  const { options, clock, report, server } = core;
  const send = makeGuardedFetch({
    allowPrivate: mayBePrivate(core),
    fetch: options.fetch,
    connection: connectionFor(core),
    server,
    clock,
  });
  return reportRequests(send, report);
}

/** Returns a `fetch` that reports each request: its method, URL and grant type without secrets, and the status of its response. */
export function reportRequests(send: GuardedFetch, report: AuthorizationCore["report"]): GuardedFetch {
  return async (url, init = {}) => {
    const { method = "GET", body } = init;
    const { origin, pathname } = new URL(url);
    const grantType = body instanceof URLSearchParams ? body.get("grant_type") : null;
    const request = `${method} ${origin}${pathname}${grantType === null ? "" : `, ${grantType}`}`;
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
