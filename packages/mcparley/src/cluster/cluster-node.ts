import type { JsonObject, JsonRpcNotification, JsonRpcResponse } from "../rpc/messages.ts";
import type { Principal } from "../server/dispatch/context.ts";
import type { ServerCore } from "../server/core.ts";
import { LogTail, tell } from "../store/log-tail.ts";
import type { LogEntry, Store } from "../store/store.ts";

/** A message from one node to another, about a session. */
export type Mail = { session: string } &
  /** The client's answer to an input request of the receiving node, or its progress. */
  (
    | { about: "heard"; message: JsonRpcResponse | JsonRpcNotification }
    /** The session's outbox has a message. */
    | { about: "outbox" }
    /** Another node owns the session's standalone stream now. */
    | { about: "moved" }
    /** No node owns the session's standalone stream any more. */
    | { about: "free" }
    /** The client resumed the stream of a reply on another node. */
    | { about: "carried"; stream: string }
    /** The client of an HTTP+SSE session posted a message to another node, which has validated it. */
    | { about: "posted"; value: unknown; principal: Principal | undefined }
  );

/** A message to all nodes: a session has ended, or its client cancelled a call whose node is not known. */
export type News = { session: string } & ({ about: "ended" } | { about: "cancelled"; params: JsonObject });

/** Receives the messages of other nodes. */
export interface Recipient {
  mail(mail: Mail): void;
  news(news: News): void;
}

/** Milliseconds after which a node that does not renew its lease counts as dead. */
export const nodeLease = 9_000;
/** Milliseconds between two reads of the logs without a notification. */
const lookInterval = 5_000;
/** How long, and how many, messages are kept. */
const told = { ttl: 60_000, maxLength: 10_000 };
/** Maximum length of mail in a log, in characters. Longer mail has a key of its own, which is deleted after it was read. */
const maxInLog = 16_384;
/** Ids that a node makes start with its own id and a dot. */
const nodePattern = /^([0-9a-f]{16})\./;
const newsLog = "news";

/**
 * One endpoint of a server in several processes. The others can send it messages, and can see that it is alive.
 *
 * Messages are entries of logs: one inbox for each node, and one log of news for all. A notification that is lost only
 * delays a message until the next read.
 */
export class ClusterNode {
  readonly id: string = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  readonly store: Store;
  readonly core: ServerCore;
  readonly #recipient: Recipient;
  readonly #tails: LogTail[];
  #joined: Promise<void> | undefined;
  #timer: unknown;
  #failing = false;
  #left = false;

  constructor(core: ServerCore, store: Store, recipient: Recipient) {
    this.core = core;
    this.store = store;
    this.#recipient = recipient;
    this.#tails = [
      this.#follow(mailOf(this.id), (entry) => this.#takeMail(entry)),
      this.#follow(newsLog, ({ value }) => this.#recipient.news(JSON.parse(value) as News)),
    ];
  }

  /** Starts to receive messages and to renew the lease, once. Rejects if the store is unavailable. */
  join(): Promise<void> {
    this.#joined ??= this.#join().catch((error: unknown) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  /** Deletes the lease, so that the other nodes see at once that this one has ended. */
  async leave(): Promise<void> {
    this.#left = true;
    if (this.#timer !== undefined) this.core.clock.clearTimeout(this.#timer);
    if (!this.#joined) return;
    await Promise.all(this.#tails.map((tail) => tail.stop()));
    await this.store.delete(leaseOf(this.id)).catch((error: unknown) => this.core.report(error, undefined));
  }

  async isAlive(node: string): Promise<boolean> {
    return node === this.id || (await this.store.get(leaseOf(node))) !== undefined;
  }

  /** Resolves when the message is in the other node's inbox. */
  async post(node: string, mail: Mail): Promise<void> {
    const text = JSON.stringify(mail);
    if (text.length <= maxInLog) return void (await tell(this.store, mailOf(node), { value: text, ...told }));
    const beside = `${mailOf(node)}:${crypto.randomUUID()}`;
    await this.store.set(beside, text, told);
    await tell(this.store, mailOf(node), { value: JSON.stringify({ beside }), ...told });
  }

  /** Resolves when the message is in the log that all nodes read. */
  async announce(news: News): Promise<void> {
    await tell(this.store, newsLog, { value: JSON.stringify(news), ...told });
  }

  async #join(): Promise<void> {
    const [mail, news] = this.#tails as [LogTail, LogTail];
    // News from before this node existed do not concern it.
    const now = await this.store.append(newsLog, JSON.stringify({ about: "joined" }), told);
    await Promise.all([mail.start(undefined), news.start(now), this.#live()]);
    this.#beat();
  }

  async #takeMail({ value }: LogEntry): Promise<void> {
    const mail = JSON.parse(value) as Mail | { beside: string };
    if (!("beside" in mail)) return this.#recipient.mail(mail);
    const text = await this.store.get(mail.beside);
    if (text === undefined) return;
    this.#recipient.mail(JSON.parse(text) as Mail);
    // If this fails, the value expires.
    await this.store.delete(mail.beside).catch((error: unknown) => this.core.report(error, undefined));
  }

  async #live(): Promise<void> {
    await this.store.set(leaseOf(this.id), "", { ttl: nodeLease });
  }

  #beat(): void {
    if (this.#left) return;
    this.#timer = this.core.clock.setTimeout(() => {
      this.#beat();
      this.#live().then(
        () => (this.#failing = false),
        (error: unknown) => {
          if (!this.#failing) this.core.report(error, undefined);
          this.#failing = true;
        },
      );
    }, nodeLease / 3);
  }

  #follow(log: string, take: (entry: LogEntry) => void | Promise<void>): LogTail {
    const { store, core } = this;
    const report = (error: unknown): void => core.report(error, undefined);
    return new LogTail({ store, log, clock: core.clock, interval: lookInterval, take, report });
  }
}

/** Returns the id of the node that made an id. Undefined for other ids. */
export function nodeIn(id: unknown): string | undefined {
  return typeof id === "string" ? nodePattern.exec(id)?.[1] : undefined;
}

function mailOf(node: string): string {
  return `mail:${node}`;
}

function leaseOf(node: string): string {
  return `alive:${node}`;
}
