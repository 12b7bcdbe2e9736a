import type { JsonObject, JsonRpcNotification, JsonRpcResponse } from "../rpc/messages.ts";
import type { Principal } from "../server/dispatch/context.ts";
import type { ServerCore } from "../server/dispatch/core.ts";
import { LogTail, tell } from "../store/log-tail.ts";
import type { LogEntry, Store } from "../store/store.ts";

/** What one node has to tell another, about a session. */
export type Mail = { session: string } & (
  | { about: "heard"; message: JsonRpcResponse | JsonRpcNotification }
  /** There is something in the session's outbox. */
  | { about: "outbox" }
  /** The stream of the session is with another node now, or is with none again. */
  | { about: "moved" }
  | { about: "free" }
  /** Another node carries an answer of the session from now on. */
  | { about: "carried"; stream: string }
  /** The client of a session of HTTP+SSE has posted something to another node, which has read that it is a message. */
  | { about: "posted"; value: unknown; principal: Principal | undefined }
);

/** What concerns every node: a session has ended, or its client gave up a call whose node is not known. */
export type News = { session: string } & ({ about: "ended" } | { about: "cancelled"; params: JsonObject });

/** Takes what other nodes tell. */
export interface Recipient {
  mail(mail: Mail): void;
  news(news: News): void;
}

/** Milliseconds after which a node that says nothing counts as dead. */
export const nodeLease = 9_000;
/** Milliseconds between two looks at what nobody said had come. */
const lookInterval = 5_000;
/** What is told is of no use to anyone after so many milliseconds. */
const told = { ttl: 60_000, maxLength: 10_000 };
/** Characters of mail that goes into a log, where it stays until many others came after it. What is longer lies beside it. */
const maxInLog = 16_384;
/** What nodes are named by: it is the part before the first dot of whatever they name. */
const nodePattern = /^([0-9a-f]{16})\./;

/**
 * One of the endpoints that share a store: it can be told things by the others, which can see that it lives.
 *
 * What is told is in a log before it counts as told, so a message that is lost on the way delays it and no more.
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
      this.#follow(this.#newsLog, ({ value }) => this.#recipient.news(JSON.parse(value) as News)),
    ];
  }

  /** The key of something that the endpoints of this server share. */
  keyOf(what: string, id: string): string {
    return `mcparley:${what}:${this.core.info.name}:${id}`;
  }

  /** Begins to hear of others, and to be known to them; once. Rejects where the store is out of reach. */
  join(): Promise<void> {
    this.#joined ??= this.#join().catch((error: unknown) => {
      this.#joined = undefined;
      throw error;
    });
    return this.#joined;
  }

  /** Lets the others know at once that nothing more is to be expected. */
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

  /** Settles once the other node will hear of it, if it lives. */
  async post(node: string, mail: Mail): Promise<void> {
    const text = JSON.stringify(mail);
    if (text.length <= maxInLog) return void (await tell(this.store, mailOf(node), text, told));
    const beside = `${mailOf(node)}:${crypto.randomUUID()}`;
    await this.store.set(beside, text, told);
    await tell(this.store, mailOf(node), JSON.stringify({ beside }), told);
  }

  async announce(news: News): Promise<void> {
    await tell(this.store, this.#newsLog, JSON.stringify(news), told);
  }

  get #newsLog(): string {
    return `mcparley:news:${this.core.info.name}`;
  }

  async #join(): Promise<void> {
    const [mail, news] = this.#tails as [LogTail, LogTail];
    // What was told before this node was there does not concern it.
    const now = await this.store.append(this.#newsLog, JSON.stringify({ about: "joined" }), told);
    await Promise.all([mail.start(undefined), news.start(now), this.#live()]);
    this.#beat();
  }

  async #takeMail({ value }: LogEntry): Promise<void> {
    const mail = JSON.parse(value) as Mail | { beside: string };
    if (!("beside" in mail)) return this.#recipient.mail(mail);
    const text = await this.store.get(mail.beside);
    if (text === undefined) return;
    this.#recipient.mail(JSON.parse(text) as Mail);
    // It was taken. What is left of it goes with its lifetime.
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

/** The node that gave an id, where one did. */
export function nodeIn(id: unknown): string | undefined {
  return typeof id === "string" ? nodePattern.exec(id)?.[1] : undefined;
}

function mailOf(node: string): string {
  return `mcparley:mail:${node}`;
}

function leaseOf(node: string): string {
  return `mcparley:alive:${node}`;
}
