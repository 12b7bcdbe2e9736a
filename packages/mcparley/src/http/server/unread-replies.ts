import { LocalError } from "../../rpc/errors.ts";
import type { ServerCore } from "../../server/core/server-core.ts";
import type { ReplyReaders, UnreadBody } from "../exchange.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";

/** Milliseconds between two looks at an unread body, at most. */
const maxInterval = 1_000;
/** Milliseconds without reading after which a body counts against the share of its caller. */
const steadyTime = 5_000;

/** A body that its client has not read completely. */
interface Unread extends OpenExchange {
  readonly caller: string;
  /** Time at which the client has read last, in milliseconds since the epoch. */
  readAt: number;
  /** Bytes that are counted for the body. */
  bytes: number;
}

/**
 * The replies and streams of one endpoint that clients have not read. Closes the connection of a client that does not read.
 *
 * A caller may leave half of `limits.unread` unread, except in connections that it read in the last 5 seconds. All callers
 * together may leave `limits.unread` unread. Above it, the caller with the most unread bytes loses the connection that it has
 * not read for the longest time. The bytes of one body count up to a quarter, so that a large result can be read at any speed.
 */
export class UnreadReplies implements ReplyReaders {
  readonly #core: ServerCore;
  readonly #readTimeout: number;
  readonly #open: OpenExchanges;
  readonly #entries = new Map<UnreadBody, Unread>();
  #total = 0;
  #sweptAt = 0;

  /** `readTimeout` is in milliseconds. */
  constructor(core: ServerCore, readTimeout: number = 60_000, Open: typeof OpenExchanges) {
    this.#core = core;
    this.#readTimeout = readTimeout;
    this.#open = new Open(core.clock, Math.min(maxInterval, readTimeout));
  }

  note(body: UnreadBody, caller: string): void {
    const { clock, limits } = this.#core;
    let entry = this.#entries.get(body);
    if (!entry) {
      entry = { due: 0, caller, readAt: clock.now(), bytes: 0, onInterval: () => this.#sweep() };
      this.#entries.set(body, entry);
      this.#open.add(entry);
    }
    this.#count(entry, body.unread);
    if (body.backlog > limits.unread / 4) this.#close(body, `${body.backlog} bytes wait for it (limits.unread)`);
    if (this.#total > limits.unread) this.#sweep(true);
  }

  remove(body: UnreadBody): void {
    const entry = this.#entries.get(body);
    if (!entry) return;
    this.#entries.delete(body);
    this.#open.remove(entry);
    this.#count(entry, 0);
  }

  stop(): void {
    this.#open.stop();
  }

  /** Updates the facts about all bodies, and closes connections. Called for each body at intervals. */
  #sweep(isOver = false): void {
    const now = this.#core.clock.now();
    if (now === this.#sweptAt && !isOver) return;
    this.#sweptAt = now;
    const { unread } = this.#core.limits;
    const sums = new Map<string, number>();
    for (const [body, entry] of this.#entries) {
      this.#count(entry, body.unread);
      if (body.unread === 0) this.remove(body);
      else if (body.hasRead()) entry.readAt = now;
      sums.set(entry.caller, (sums.get(entry.caller) ?? 0) + entry.bytes);
    }
    const longestUnread = [...this.#entries].toSorted(([, a], [, b]) => a.readAt - b.readAt);
    const close = (index: number, why: string): void => {
      const [[body, { caller, bytes }]] = longestUnread.splice(index, 1) as [[UnreadBody, Unread]];
      sums.set(caller, sums.get(caller)! - bytes);
      this.#close(body, why);
    };
    for (let index = 0; index < longestUnread.length;) {
      const { readAt, caller } = longestUnread[index]![1];
      if (now - readAt >= this.#readTimeout)
        close(index, `it has read nothing for ${this.#readTimeout} ms (readTimeout)`);
      else if (now - readAt >= steadyTime && sums.get(caller)! > unread / 2)
        close(index, `its caller has ${sums.get(caller)} unread bytes (limits.unread)`);
      else index++;
    }
    while (this.#total > unread) {
      const most = Math.max(...sums.values());
      const index = longestUnread.findIndex(([, { caller }]) => sums.get(caller) === most);
      close(index, "all replies have too many bytes (limits.unread)");
    }
  }

  #count(entry: Unread, bytes: number): void {
    this.#total -= entry.bytes;
    entry.bytes = Math.min(bytes, this.#core.limits.unread / 4);
    this.#total += entry.bytes;
  }

  #close(body: UnreadBody, why: string): void {
    this.remove(body);
    body.destroy();
    const message = `A connection was closed, because its client does not read the reply: ${why}.`;
    this.#core.report(new LocalError("closed", message), undefined);
  }
}
