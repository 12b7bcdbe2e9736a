import type { Transport } from "../../rpc/transport.ts";

/** Opens transports to one target, as often as they are needed. */
export interface Dialer {
  /**
   * `stream` carries all messages in one channel, as a pipe does, so that a server may stay silent on what it does not
   * know; `http` answers each request, if only with a status.
   */
  readonly kind: "stream" | "http";
  /** Names the target for what is remembered about it, and in errors; it holds no secret. */
  readonly target: string;
  /** The name may mean another server next time, so what is found out about it is not remembered. False if left out. */
  readonly transient?: boolean;
  /** `open` works a single time, so a connection that is lost stays lost. False if left out. */
  readonly once?: boolean;
  /** An extension of the protocol that the way there is by, to be declared like those of the client's options. */
  readonly extension?: string | undefined;
  /** Makes a transport that is not started yet. */
  open(): Transport;
  /**
   * Opens a transport of the kind that servers of the first revisions had at the same address. Undefined where there is
   * no such server, or where the way in which `initialize` was refused on another transport says so already.
   *
   * Rejects where the server is of that kind and yet cannot be used.
   */
  openOlder?(given: { refused?: Transport; signal: AbortSignal | undefined }): Promise<Transport | undefined>;
}

/** A program to start, which speaks the protocol on its standard streams. */
export interface CommandTarget {
  command: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** An MCP endpoint on the web. */
export interface HttpTarget {
  url: string | URL;
  /** Sent with each request. */
  headers?: Readonly<Record<string, string>>;
}
