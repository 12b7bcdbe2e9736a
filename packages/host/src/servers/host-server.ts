import type { ServerInfo } from "mcparley/client";
import type { ServerLists } from "../catalogue/server-lists.ts";
import type { ServerState } from "../supervision/server-state.ts";

/** A server of a host. */
export interface HostServer {
  /** The name of the server in the host. */
  readonly name: string;
  /** The state of the connection. */
  readonly state: ServerState;
  /** The reason of the state `failed` or `needs-sign-in`. */
  readonly error: Error | undefined;
  /** The time of the next attempt in milliseconds since 1970, if one is planned. */
  readonly retryAt: number | undefined;
  /** The description, capabilities and revision of the server. Undefined before the first connection. */
  readonly info: ServerInfo | undefined;
  /** The lists of the server, which may come from the cache. Undefined if they were never read. */
  readonly lists: ServerLists | undefined;
  /** Connects if no connection is open, and reads the lists. Resolves when the server is `ready`. */
  connect(this: void): Promise<void>;
  /** Closes the connection, and opens a new one without a delay. Denied trust and definitions are asked for again. */
  reconnect(this: void): Promise<void>;
  /**
   * Signs the user in, and connects. `scope` names scopes, separated by spaces, to request in addition to those that the server
   * requires and the user has granted: a server can hide the tools for which they are missing. Rejects if the host has no `signIn`.
   */
  signIn(this: void, options?: { scope?: string }): Promise<void>;
  /** Permits the use of the server again. */
  enable(this: void): void;
  /** Closes the connection, and removes the server's entries from the catalogue. */
  disable(this: void): Promise<void>;
}
