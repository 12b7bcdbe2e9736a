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

/**
 * The cause of a transition of a server.
 *
 * - `attempt`: a connection is opened, for a use, by `reconnect()`, `signIn()` or an automatic attempt
 * - `succeed`: the connection is open, and the lists were read
 * - `fail`: the connection could not be opened, or ended soon after it was opened
 * - `refuse`: the server requires a sign-in
 * - `lose`: the connection ended after a stable time
 * - `disable`, `enable`: the calls with these names
 * - `close`: the host was closed
 */
export type ServerAction = "attempt" | "succeed" | "fail" | "refuse" | "lose" | "disable" | "enable" | "close";

/**
 * The transitions of a server. An action that a state does not list has no effect in it.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> idle
 *   idle --> connecting: attempt
 *   connecting --> ready: succeed
 *   connecting --> failed: fail
 *   connecting --> needs_sign_in: refuse
 *   connecting --> connecting: attempt (replaces the attempt)
 *   ready --> idle: lose
 *   ready --> failed: fail (flapping)
 *   ready --> needs_sign_in: refuse
 *   ready --> connecting: attempt (replaces the connection)
 *   failed --> connecting: attempt
 *   needs_sign_in --> connecting: attempt
 *   idle --> disabled: disable
 *   connecting --> disabled: disable
 *   ready --> disabled: disable
 *   failed --> disabled: disable
 *   needs_sign_in --> disabled: disable
 *   disabled --> idle: enable
 *   connecting --> idle: close
 *   ready --> idle: close
 *   failed --> idle: close
 *   needs_sign_in --> idle: close
 * ```
 */
export const transitions: Readonly<Record<ServerState, Readonly<Partial<Record<ServerAction, ServerState>>>>> = {
  idle: { attempt: "connecting", disable: "disabled" },
  connecting: {
    attempt: "connecting",
    succeed: "ready",
    fail: "failed",
    refuse: "needs-sign-in",
    disable: "disabled",
    close: "idle",
  },
  ready: {
    attempt: "connecting",
    lose: "idle",
    fail: "failed",
    refuse: "needs-sign-in",
    disable: "disabled",
    close: "idle",
  },
  failed: { attempt: "connecting", disable: "disabled", close: "idle" },
  "needs-sign-in": { attempt: "connecting", disable: "disabled", close: "idle" },
  disabled: { enable: "idle" },
};
