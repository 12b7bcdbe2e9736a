/** The options and results of the authorization of a client. Only types, because all files of the client read them. */
import type { HttpAuth, HttpConnection } from "../../http/client/settings.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { ClientCredential } from "../client-credential.ts";
import type { CredentialStorage } from "./credentials.ts";
import type { SignIn } from "./sign-in.ts";

/** A resource identifier that is shorter than the URL of the server that published it. */
export interface ResourceOffer {
  /** The URL of the MCP server. */
  readonly server: string;
  /** The published identifier, such as the origin of the server. */
  readonly resource: string;
}

/** Options that all grants share: `oauth`, `clientCredentials`, `workloadIdentity` and `enterpriseManaged`. */
export interface AuthorizationOptions {
  /** Stores tokens and registrations. Default: in memory, so that they end with the process. */
  storage?: CredentialStorage;
  /** The only authorization server to use, exactly as it writes its issuer. Default: any that the MCP server names. */
  issuer?: string;
  /**
   * The scopes to request, separated by spaces. They are sent as they are. More are requested only if the MCP server requires
   * them for a call. Default: those that the MCP server requires or supports.
   */
  scope?: string;
  /** The `resource` parameter (RFC 8707). `false` sends none. Default: the identifier that the MCP server published. */
  resource?: string | false;
  /**
   * Decides whether to request tokens for an identifier that is shorter than the URL of the server, such as its origin.
   * A token for it may also be valid at other servers of that origin, and this server could use it there. Only `true`
   * accepts. The decision is stored with the tokens. Default: such a server fails with `authorization_failed`.
   */
  acceptResource?: (offer: ResourceOffer) => boolean | Promise<boolean>;
  /** Whether to bind tokens to a key of this client (RFC 9449). Default: if the stored tokens are bound, or the MCP server requires it. */
  dpop?: boolean;
  /**
   * Whether authorization requests may reach private networks. Default: only if the MCP server itself is at a private
   * address or has a local name.
   */
  allowPrivateNetwork?: boolean;
  /** Sends the authorization requests, for example through a proxy. Redirects and limits are handled outside of it. */
  fetch?: typeof fetch;
  /**
   * The proxy and the certificates of the authorization requests, without `fetch`. Node only. A client certificate is sent only
   * to the origin of the MCP server. Default: the `connection` of the target that needs authorization.
   */
  connection?: HttpConnection;
  /** Called with errors that fail no request, such as a failed renewal of a token. Default: such errors are ignored. */
  onError?: (error: Error) => void;
  /**
   * Called with a line of text for each step: requests with their status, the client, the authorization URL, and refusals with
   * the reason of the authorization server. A line contains no secret. Default: steps are not reported.
   */
  onStep?: (step: string) => void;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** The tokens that a client holds for an MCP server, without any secret. */
export interface SignedInAccount {
  /** The URL of the MCP server. */
  readonly server: string;
  /** The identifier of the MCP server for which the tokens were issued. */
  readonly resource: string;
  /** The issuer identifier of the authorization server. */
  readonly issuer: string;
  /** The client ID at the authorization server. */
  readonly clientId: string;
  /** The user, if the authorization server names one. Not verified: for display only. */
  readonly subject: string | undefined;
  /** The granted scopes. Undefined if the authorization server did not name them. */
  readonly scopes: readonly string[] | undefined;
  /** Milliseconds since 1970. Undefined if the authorization server does not state it. */
  readonly expiresAt: number | undefined;
  /** Whether the tokens can be renewed without the user. */
  readonly isRenewable: boolean;
  /** Whether the tokens are bound to a key of this client (RFC 9449). */
  readonly isBound: boolean;
}

/** The authorization of a client, for any number of servers. `connect` accepts it as `auth`. */
export interface OAuth extends HttpAuth {
  /**
   * Gets new tokens for a server, before the server asks for them. `scope` is requested in addition to the scopes that the
   * server requires. `newClient` registers another client, even if a registration is stored. Present tokens stay valid until
   * the new ones are stored. Rejects with the same errors as a call.
   */
  signIn(
    url: string | URL,
    options?: { scope?: string; newClient?: boolean; signal?: AbortSignal },
  ): Promise<SignedInAccount>;
  /**
   * Deletes the tokens for a server, and revokes them if the authorization server supports it (RFC 7009). A registration whose
   * last tokens these were is deleted too, also at the authorization server if it supports that (RFC 7592). If the revocation
   * fails, it rejects, and the tokens are deleted nevertheless.
   */
  signOut(url: string | URL): Promise<"revoked" | "forgotten" | "not_signed_in">;
  /** Returns the account for a server, without sending any request. */
  whoami(url: string | URL): Promise<SignedInAccount | undefined>;
}

/** A client that was registered manually with an authorization server. A public client has neither secret nor key. */
export interface RegisteredClient extends ClientCredential {
  /**
   * The authorization server that knows the client. Default: the first one that an MCP server names. Any other is refused
   * from then on.
   */
  issuer?: string;
}

/** Options for the identity of a client at authorization servers. */
export interface RegistrationOptions {
  /** The name of the client on the consent page. Default: "mcparley". */
  clientName?: string;
  /** The URL of a page about the client, for the consent page. Default: none. */
  clientUri?: string;
  /** The https URL of a Client ID Metadata Document, which identifies the client to all servers that support them. */
  clientMetadataUrl?: string;
  /** The redirect URI of a client that is already registered with it. Default: chosen by `signIn`. */
  redirectUri?: string;
  /** Clients that were registered manually, one for each authorization server. */
  client?: RegisteredClient | readonly RegisteredClient[];
}

/** Options of `oauth`. */
export interface OAuthOptions extends AuthorizationOptions, RegistrationOptions {
  /**
   * How the user signs in. Default on Node: the browser of this machine (`loopbackSignIn` of `mcparley/node`). Required on
   * other runtimes.
   */
  signIn?: SignIn;
  /**
   * Whether to request `offline_access` if the authorization server supports it and `scope` is not set. If the server refuses
   * it, the sign-in is repeated once without it, and the client requests it again only after a sign-out. Default: true.
   */
  offlineAccess?: boolean;
}

/** The common options of all grants that need no user. */
export interface MachineOptions extends AuthorizationOptions {
  /**
   * The authorization server with which the client is registered, exactly as it writes its issuer. An MCP server that
   * requires tokens of another issuer gets none. Otherwise any MCP server could request the client's credentials.
   */
  issuer: string;
}

/** Options of `clientCredentials`. */
export interface ClientCredentialsOptions extends MachineOptions {
  /** The credentials of the client that is registered at the issuer. */
  client: ClientCredential;
}

/** Options of `workloadIdentity`. */
export interface WorkloadIdentityOptions extends MachineOptions {
  /**
   * Returns the JWT by which the platform identifies the workload. Its `aud` must be the issuer. Called for each token,
   * because platforms rotate them. `tokenFile` of `mcparley/node` reads one from a file.
   */
  assertion: (request: { issuer: string; resource: string }) => string | Promise<string>;
  /** The credentials of the client that is registered at the issuer. Most clients have neither secret nor key. */
  client: ClientCredential;
}

/** The identity provider of an organization. */
export interface IdentityProvider {
  /** The issuer identifier, an https URL. Its metadata is read from there. */
  issuer: string;
  /** The URL of the token endpoint. Default: the one in the provider's metadata. */
  tokenEndpoint?: string;
  /** The credentials of the client that is registered at the identity provider. */
  client: ClientCredential;
}

/** The proof that a user has signed in to the client with the identity provider. */
export interface IdentityAssertion {
  /** The encoded token. It is a secret. */
  token: string;
  /** `id_token` of OpenID Connect, or `saml2`. */
  type: "id_token" | "saml2";
}

/** Options of `enterpriseManaged`. The organization's identity provider decides which users may use which server. */
export interface EnterpriseManagedOptions extends MachineOptions {
  /** The credentials of the client that is registered at the issuer. */
  client: ClientCredential;
  /** The identity provider of the organization, which issues the assertion. */
  identityProvider: IdentityProvider;
  /**
   * Returns the identity assertion of the user. A string is an ID token. Called for each token.
   *
   * It must always be the same user, because stored tokens are used without comparing users. Create one `enterpriseManaged`
   * per user, each with its own `storage` if you set one.
   */
  identity: () => string | IdentityAssertion | Promise<string | IdentityAssertion>;
}
