import type { Clock } from "../../rpc/clock.ts";
import type { CredentialStorage } from "./credential-storage.ts";

/** What all ways to authorize a client have in common. */
export interface AuthorizationOptions {
  /** Where tokens and registrations are kept. In memory unless given, so that they end with the process. */
  storage?: CredentialStorage;
  /** The only authorization server to use, exactly as it writes its issuer. Whichever the MCP server names unless given. */
  issuer?: string;
  /** The scopes to ask for, separated by spaces, in place of those that the MCP server asks for or supports. */
  scope?: string;
  /** Sent as `resource` (RFC 8707) in place of the identifier that the MCP server published; false sends none. */
  resource?: string | false;
  /** Binds tokens to a key of this client (RFC 9449). Where the MCP server says that it wants this, unless given. */
  dpop?: boolean;
  /**
   * Lets requests of authorization reach private networks. Unless given, they may where the MCP server itself is at a
   * private address or has a local name.
   */
  allowPrivateNetwork?: boolean;
  /** What sends the requests of authorization, such as one that goes through a proxy; see `makeGuardedFetch` for the rules. */
  fetch?: typeof fetch;
  /** Told of what went wrong without a request to fail: a token that could not be renewed in time. */
  onError?: (error: Error) => void;
  clock?: Clock;
}
