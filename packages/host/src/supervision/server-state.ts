/**
 * The state of a server.
 *
 * - `idle`: no connection is open; the next use opens one
 * - `connecting`: a connection is being opened, or the lists are being read
 * - `ready`: the connection is open, and the lists are those of the server
 * - `needs-sign-in`: the server requires a sign-in; `signIn()` starts it
 * - `failed`: the last attempt failed; the next one follows after a delay, or with `reconnect()`
 * - `disabled`: the server is not used until `enable()`
 */
export type ServerState = "idle" | "connecting" | "ready" | "needs-sign-in" | "failed" | "disabled";

/** A server has changed its state. */
export interface ServerEvent {
  readonly type: "server";
  /** The name of the server in the host. */
  readonly server: string;
  /** The new state. */
  readonly state: ServerState;
  /** The reason of `failed` and `needs-sign-in`. */
  readonly error?: Error;
  /** The time of the next attempt, in milliseconds since 1970, if one is planned. */
  readonly retryAt?: number;
}
