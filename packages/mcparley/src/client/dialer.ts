import type { Transport } from "../jsonrpc/transport.ts";

/** Opens transports to one target, as often as they are needed. */
export interface Dialer {
  /**
   * `stream` carries all messages in one channel, as a pipe does, so that a server may stay silent on what it does not
   * know; `http` answers each request, if only with a status.
   */
  readonly kind: "stream" | "http";
  /** Names the target for what is remembered about it, and in errors; it holds no secret. */
  readonly target: string;
  /** Makes a transport that is not started yet. */
  open(): Transport;
}
