import { LocalError } from "../../rpc/errors.ts";
import type { Connection } from "./session.ts";

export interface LineInit {
  /** Opens a connection to the target. */
  open: () => Promise<Connection>;
  /** A connection that is lost cannot be opened again. */
  once: boolean;
  /** Told when a connection that was open is gone, and whether it ended by itself. */
  lost: (reason: LocalError) => void;
}

/**
 * The way to one server, which outlives its connections: whoever needs one gets the current one, and a lost one is
 * opened again once for all who wait.
 */
export class Line {
  /** Settles once the line is closed for good. */
  readonly closed: Promise<void>;
  readonly #init: LineInit;
  #current: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #ended: LocalError | undefined;
  #settleClosed!: () => void;

  constructor(init: LineInit) {
    this.#init = init;
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  get isClosed(): boolean {
    return this.#ended !== undefined;
  }

  /** The connection that is open now, if one is. */
  get current(): Connection | undefined {
    return this.#current?.channel.isOpen ? this.#current : undefined;
  }

  /** The open connection, or a new one where there is none. */
  async get(): Promise<Connection> {
    if (this.#ended) throw this.#ended;
    const { current } = this;
    if (current) return current;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Gives up a connection whose session is lost; what is in flight on it may still end. */
  drop(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined;
    connection.channel.retire();
  }

  async close(): Promise<void> {
    const current = this.#current;
    const opening = this.#opening;
    this.#end(new LocalError("closed", "The client was closed."));
    await current?.channel.close().catch(() => {});
    await opening?.catch(() => {});
    await this.closed;
  }

  async #open(): Promise<Connection> {
    const connection = await this.#init.open().catch((error: unknown) => {
      throw this.#ended ?? error;
    });
    if (this.#ended) {
      await connection.channel.close().catch(() => {});
      throw this.#ended;
    }
    this.#current = connection;
    void connection.channel.lost.then((reason) => {
      if (this.#current !== connection) return;
      this.#current = undefined;
      if (this.#ended) return;
      this.#init.lost(reason);
      if (this.#init.once) this.#end(reason);
    });
    return connection;
  }

  #end(reason: LocalError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#settleClosed();
  }
}
