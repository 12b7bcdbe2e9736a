import type { HttpAuth, HttpConnection } from "../../http/client/settings.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { ClientCredential } from "../client-credential.ts";
import { type CredentialStorage, serverKey } from "./credentials.ts";
import type * as FlowModule from "./flow.ts";
import type { Grant } from "./grant.ts";
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
  /** The scopes to request, separated by spaces. Default: those that the MCP server requires or supports. */
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
   * server requires. Rejects with the same errors as a call.
   */
  signIn(url: string | URL, options?: { scope?: string; signal?: AbortSignal }): Promise<SignedInAccount>;
  /**
   * Deletes the tokens for a server, and revokes them if the authorization server supports it (RFC 7009). If the
   * revocation fails, it rejects, and the tokens are deleted nevertheless.
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
}

/**
 * Authorizes a client by signing the user in when a server asks for it: `connect(url, { auth: oauth() })`.
 *
 * It discovers the authorization server, registers the client, and stores, renews and replaces tokens as the revisions
 * since 2025-03-26 specify. Concurrent calls share one sign-in, and their timeouts pause during it. Calls reject with
 * `LocalError`: `sign_in_required` if no sign-in is possible here, `sign_in_failed` if the user did not complete it, and
 * `authorization_failed` if the authorization server cannot be found or used.
 *
 * Throws `LocalError` `invalid_target` if `clientMetadataUrl` is not usable as a client identifier.
 *
 * @example
 * ```ts
 * import { oauth } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 * import { fileCredentials } from "mcparley/node";
 *
 * const auth = oauth({ clientName: "My assistant", storage: fileCredentials("./credentials") });
 * const client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  const { clientMetadataUrl: text } = options;
  if (text !== undefined) {
    // 2026-07-28, client registration, "Client ID Metadata Documents".
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url?.hash === "" && url.username === "" && url.password === "";
    if (!isPlain || url.protocol !== "https:" || url.pathname === "/") {
      const message = `clientMetadataUrl must be an https URL with a path, such as https://example.com/client.json; got ${JSON.stringify(text.slice(0, 200))}.`;
      throw new LocalError("invalid_target", message);
    }
  }
  return authorize(options, { name: "person", makeGrant: (flow) => flow.authorizationCode(options) });
}

/** A grant whose code is loaded on first use. */
interface LazyGrant {
  /** Separates the tokens of different grants, and of different clients of one grant, in the same storage. */
  readonly name: string;
  /** The identifier of the MCP extension that defines the grant. */
  readonly extension?: string;
  readonly makeGrant: (flow: typeof FlowModule) => Grant;
}

/** Servers for which the absence of tokens is remembered. */
const maxServers = 1_000;

/** Makes the authorization for a grant. Checks of options belong into the caller, so that they throw at once. */
export function authorize(options: AuthorizationOptions, { name, extension, makeGrant }: LazyGrant): OAuth {
  const { storage } = options;
  const withoutTokens = new Set<string>();
  let flow: OAuth | undefined;

  // oauth4webapi, jose and everything that uses them are loaded here and nowhere else. They are larger than the rest of the
  // client, and many programs pass `auth` for servers that never ask for it.
  async function load(): Promise<OAuth> {
    if (flow) return flow;
    const module = await import("./flow.ts");
    return (flow ??= module.openFlow(options, name, makeGrant(module)));
  }

  /** Reads the storage once per server. Tokens that another process stores later are found after a refusal. */
  async function hasTokens({ href }: URL): Promise<boolean> {
    if (storage === undefined || withoutTokens.has(href)) return false;
    if ((await storage.get(serverKey(name, href))) !== undefined) return true;
    if (withoutTokens.size >= maxServers) withoutTokens.clear();
    withoutTokens.add(href);
    return false;
  }

  return {
    extension,
    headers: async (request) => (flow || (await hasTokens(request.server)) ? (await load()).headers(request) : {}),
    responded: (request, response) => flow?.responded?.(request, response) ?? false,
    challenged: async (refusal, signal) => (await load()).challenged(refusal, signal),
    signIn: async (url, signInOptions) => (await load()).signIn(url, signInOptions),
    signOut: async (url) => (await load()).signOut(url),
    whoami: async (url) => (await load()).whoami(url),
  };
}
