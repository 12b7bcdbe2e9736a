import { type JsonRpcMessage, encode } from "../rpc/messages.ts";
import type { LogEntry } from "../store/store.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { PlacedChange, SharedChanges } from "./shared-changes.ts";
import type { SharedSession } from "./shared-session.ts";

/** Stored per session: the node that owns the session's standalone stream, and the position up to which messages were sent. */
interface StreamOwnership {
  /** Id of the owning node. Undefined if the client has no stream open. */
  node?: string | undefined;
  /** Id of the previous owner, which may still have an older stream open. */
  previous?: string | undefined;
  /** Position of the last change sent, in the server's change log. */
  changes?: string | undefined;
  /** Position of the last message sent from the session's outbox. */
  outbox?: string | undefined;
}

export interface SessionStreamInit {
  session: SharedSession;
  node: ClusterNode;
  changes: SharedChanges;
  /** Milliseconds for which unsent messages are kept. */
  ttl: number;
}

const maxOutbox = 100;
const retryInterval = 1_000;

/**
 * Delivers messages that belong to no request (2025-11-25, Transports, "Multiple Connections"). Exactly one node owns the
 * delivery: the one on which the client last opened its GET stream. The owner sends list and resource changes from the
 * server's change log, and other messages from the session's outbox, starting at the stored positions.
 *
 * Delivery is exactly once if ownership moves in an orderly way, and at least once if the owner crashed.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> idle
 *   idle --> claiming: the client opens a stream here, or the owner has none any more
 *   claiming --> owner: ownership is stored, and everything after its positions was read
 *   owner --> idle: another node claimed ownership
 *   owner --> released: the last stream here is gone
 *   released --> [*]: the positions are stored for the next owner
 * ```
 */
export class SessionStream {
  readonly #init: SessionStreamInit;
  /** Undefined unless this node is the owner. */
  #owned: StreamOwnership | undefined;
  /** The record that this node wrote last. */
  #written: string | undefined;
  /** Messages for the stream or the outbox, in order. */
  #unsent: string[] = [];
  #unfollow: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #willRetry = false;

  constructor(init: SessionStreamInit) {
    this.#init = init;
  }

  /** Called when the client opened a stream here. */
  attached(): void {
    void this.#inOrder(async () => {
      await this.#releaseIfLost();
      await this.#take();
    });
  }

  /** Called when the last stream here is gone. */
  detached(): void {
    void this.#inOrder(() => this.#release());
  }

  /** Called when another node has claimed ownership. */
  moved(): void {
    void this.#inOrder(() => this.#releaseIfLost());
  }

  /** Called when the owner has no stream any more. */
  freed(): void {
    void this.#inOrder(() => this.#take());
  }

  /** Called when the outbox has a message. */
  arrived(): void {
    void this.#inOrder(() => this.#drain());
  }

  send(message: JsonRpcMessage): void {
    this.#unsent.push(encode(message));
    if (this.#unsent.length > maxOutbox) this.#unsent.shift();
    void this.#inOrder(() => this.#sendAll());
  }

  /** Resolves when all actions so far are done. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Stores the positions. */
  save(): void {
    void this.#inOrder(() => this.#save());
  }

  async #take(): Promise<void> {
    const { session, node, changes } = this.#init;
    if (!session.stream || this.#owned) return;
    const owned = await this.#claim();
    // Changes are followed before the past is read, so that none is missed in between.
    const meanwhile: PlacedChange[] = [];
    let tell = (placed: PlacedChange): void => void meanwhile.push(placed);
    this.#unfollow = changes.follow((placed) => tell(placed));
    const [past, entries] = await Promise.all([
      changes.since(owned.changes),
      this.#readOutbox(owned),
      owned.previous !== undefined && node.post(owned.previous, { about: "moved", session: session.id }),
    ]).catch((error: unknown) => {
      this.#lose();
      throw error;
    });
    this.#owned = owned;
    this.#sendOn(entries);
    for (const placed of [...past, ...meanwhile]) this.#tell(placed);
    tell = (placed) => this.#tell(placed);
  }

  /** Stores this node as the owner. Returns the record, with the positions of the previous owner. */
  async #claim(): Promise<StreamOwnership> {
    const { node, session } = this.#init;
    for (;;) {
      const text = await node.store.get(this.#key);
      const found = text === undefined ? { changes: session.openedAt } : (JSON.parse(text) as StreamOwnership);
      const owned: StreamOwnership = { ...found, node: node.id };
      if (found.node !== node.id) owned.previous = found.node;
      if (await this.#write(text, owned)) return owned;
    }
  }

  #tell({ change, position, json }: PlacedChange): void {
    const { session } = this.#init;
    const owned = this.#owned;
    // Without a stream, the next one starts at this change.
    if (!owned || !session.stream || (owned.changes !== undefined && position <= owned.changes)) return;
    owned.changes = position;
    if (session.session.wants(change)) session.stream.sendEncoded(json);
  }

  async #sendAll(): Promise<void> {
    const { session } = this.#init;
    for (let [json] = this.#unsent; json !== undefined; [json] = this.#unsent) {
      if (this.#owned && session.stream) session.stream.sendEncoded(json);
      else await this.#putOut(json);
      this.#unsent.shift();
    }
  }

  async #putOut(json: string): Promise<void> {
    const { session, node, ttl } = this.#init;
    await node.store.append(this.#outbox, json, { ttl, maxLength: maxOutbox });
    // The owner is read after the message was written. A later owner reads the outbox, and finds the message there.
    const text = await node.store.get(this.#key);
    const owner = text === undefined ? undefined : (JSON.parse(text) as StreamOwnership).node;
    if (owner === node.id) await this.#drain();
    else if (owner !== undefined) await node.post(owner, { about: "outbox", session: session.id });
  }

  async #drain(): Promise<void> {
    if (this.#owned) this.#sendOn(await this.#readOutbox(this.#owned));
  }

  #readOutbox({ outbox }: StreamOwnership): Promise<LogEntry[]> {
    return this.#init.node.store.readFrom(this.#outbox, outbox, maxOutbox);
  }

  #sendOn(entries: readonly LogEntry[]): void {
    for (const { position, value } of entries) {
      // Without a stream, the message stays in the outbox for the next one.
      if (!this.#owned || !this.#init.session.stream) return;
      this.#init.session.stream.sendEncoded(value);
      this.#owned.outbox = position;
    }
  }

  /** Gives up ownership, because the last stream here is gone. */
  async #release(): Promise<void> {
    const { session, node } = this.#init;
    const owned = this.#owned;
    if (!owned || session.stream) return;
    const { previous, changes, outbox } = owned;
    this.#lose();
    const isMine = await this.#write(this.#written, { changes, outbox });
    if (isMine && previous !== undefined) await node.post(previous, { about: "free", session: session.id });
  }

  async #save(): Promise<void> {
    if (this.#owned && !(await this.#write(this.#written, this.#owned))) this.#lose();
  }

  /** Another node may have taken ownership, even and back again; compare the stored record with the one this node wrote. */
  async #releaseIfLost(): Promise<void> {
    if (this.#owned && (await this.#init.node.store.get(this.#key)) !== this.#written) this.#lose();
  }

  #lose(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#owned = undefined;
  }

  async #write(before: string | undefined, owned: StreamOwnership): Promise<boolean> {
    const { node, ttl } = this.#init;
    const text = JSON.stringify(owned);
    const isMine = await node.store.compareAndSet(this.#key, before, text, { ttl });
    if (isMine) this.#written = text;
    return isMine;
  }

  get #key(): string {
    return `session-stream:${this.#init.session.id}`;
  }

  get #outbox(): string {
    return `outbox:${this.#init.session.id}`;
  }

  /** Runs actions one after another. If the store fails, retries everything after one second. */
  #inOrder(act: () => Promise<void> | void): Promise<unknown> {
    this.#last = this.#last.then(act).catch((error: unknown) => {
      const { core } = this.#init.node;
      core.report(error, undefined);
      if (this.#willRetry) return;
      this.#willRetry = true;
      core.clock.setTimeout(() => {
        this.#willRetry = false;
        this.attached();
        void this.#inOrder(() => this.#drain());
        void this.#inOrder(() => this.#sendAll());
      }, retryInterval);
    });
    return this.#last;
  }
}
