import { type JsonRpcMessage, encode } from "../rpc/messages.ts";
import type { LogEntry } from "../store/store.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { LoggedChange, SharedChanges } from "./shared-changes.ts";
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

interface SessionStreamInit {
  session: SharedSession;
  node: ClusterNode;
  changes: SharedChanges;
  /** Milliseconds for which unsent messages are stored. */
  ttl: number;
}

/** Maximum number of unsent messages of a session, in the outbox and in this process. More displace the oldest. */
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
 *   idle --> claiming: the client opens a stream here (streamOpened), or the owner has no stream any more (ownerReleased)
 *   claiming --> claiming: another node wrote the record first, or the store is unavailable (retry after 1 s)
 *   claiming --> owner: this node is stored as the owner, and all messages after the stored positions were read
 *   owner --> idle: another node claimed ownership (ownerChanged, or a write that failed)
 *   owner --> released: the last stream here closed (streamClosed)
 *   released --> idle: the positions are stored without an owner, and the previous owner is notified
 * ```
 */
export class SessionStream {
  readonly #init: SessionStreamInit;
  readonly #key: string;
  readonly #outbox: string;
  /** Undefined unless this node is the owner. */
  #ownership: StreamOwnership | undefined;
  /** The record that this node wrote last. */
  #writtenText: string | undefined;
  /** Messages for the stream or the outbox, in order. */
  #unsent: string[] = [];
  #unfollow: (() => void) | undefined;
  #lastAction: Promise<unknown> = Promise.resolve();
  #willRetry = false;

  constructor(init: SessionStreamInit) {
    this.#init = init;
    this.#key = streamKey(init.session.id);
    this.#outbox = outboxOf(init.session.id);
  }

  /** Called when the client opened a stream here. */
  streamOpened(): void {
    void this.#enqueue(async () => {
      await this.#releaseIfLost();
      await this.#acquire();
    });
  }

  /** Called when the last stream here has closed. */
  streamClosed(): void {
    void this.#enqueue(() => this.#release());
  }

  /** Called when another node has claimed ownership. */
  ownerChanged(): void {
    void this.#enqueue(() => this.#releaseIfLost());
  }

  /** Called when the owner no longer has a stream. */
  ownerReleased(): void {
    void this.#enqueue(() => this.#acquire());
  }

  /** Called when another node has appended a message to the outbox. */
  outboxChanged(): void {
    void this.#enqueue(() => this.#sendOutbox());
  }

  /** Sends a message on the client's stream, on whichever node, or on the next stream if none is open. */
  send(message: JsonRpcMessage): void {
    this.#unsent.push(encode(message));
    if (this.#unsent.length > maxOutbox) this.#unsent.shift();
    void this.#enqueue(() => this.#sendUnsent());
  }

  /**
   * Stores the positions. Before that, sends the messages of the outbox whose notification was lost, because the process that
   * appended them died.
   */
  save(): void {
    void this.#enqueue(async () => {
      await this.#sendOutbox();
      if (this.#ownership && !(await this.#write(this.#writtenText, this.#ownership))) this.#forgetOwnership();
    });
  }

  /** Resolves when all actions so far are done. */
  async waitForWrites(): Promise<void> {
    await this.#lastAction;
  }

  /** Claims ownership, sends everything after the stored positions, and then follows the changes. */
  async #acquire(): Promise<void> {
    const { session, node, changes } = this.#init;
    if (!session.stream || this.#ownership) return;
    const ownership = await this.#claim();
    // The change log is followed before the past is read, so that no change is missed in between.
    const newChanges: LoggedChange[] = [];
    let onChange = (change: LoggedChange): void => void newChanges.push(change);
    this.#unfollow = changes.follow((change) => onChange(change));
    const [past, entries] = await Promise.all([
      changes.readSince(ownership.changes),
      this.#readOutbox(ownership),
      ownership.previous !== undefined && node.send(ownership.previous, { about: "moved", session: session.id }),
    ]).catch((error: unknown) => {
      this.#forgetOwnership();
      throw error;
    });
    this.#ownership = ownership;
    this.#sendEntries(entries);
    for (const change of [...past, ...newChanges]) this.#sendChange(change);
    onChange = (change) => this.#sendChange(change);
  }

  /** Stores this node as the owner. Returns the record, with the positions of the previous owner. */
  async #claim(): Promise<StreamOwnership> {
    const { node, session } = this.#init;
    for (;;) {
      const text = await node.store.get(this.#key);
      const record = text === undefined ? { changes: session.openedAt } : parseOwnership(text);
      const ownership: StreamOwnership = { ...record, node: node.id };
      if (record.node !== node.id) ownership.previous = record.node;
      if (await this.#write(text, ownership)) return ownership;
    }
  }

  #sendChange({ change, position, json }: LoggedChange): void {
    const { session } = this.#init;
    const ownership = this.#ownership;
    // Without a stream, the position stays, and the next stream starts with this change.
    if (!ownership || !session.stream || (ownership.changes !== undefined && position <= ownership.changes)) return;
    ownership.changes = position;
    if (session.session.wants(change)) session.stream.sendEncoded(json);
  }

  async #sendUnsent(): Promise<void> {
    const { session, node, ttl } = this.#init;
    for (let [json] = this.#unsent; json !== undefined; [json] = this.#unsent) {
      if (this.#ownership && session.stream) session.stream.sendEncoded(json);
      else {
        const owner = await appendToOutbox(node, session.id, { json, ttl });
        if (owner === node.id) await this.#sendOutbox();
      }
      this.#unsent.shift();
    }
  }

  async #sendOutbox(): Promise<void> {
    if (this.#ownership) this.#sendEntries(await this.#readOutbox(this.#ownership));
  }

  #readOutbox({ outbox: position }: StreamOwnership): Promise<LogEntry[]> {
    return this.#init.node.store.readFrom(this.#outbox, position, maxOutbox);
  }

  #sendEntries(entries: readonly LogEntry[]): void {
    for (const { position, value } of entries) {
      // Without a stream, the message stays in the outbox for the next one.
      if (!this.#ownership || !this.#init.session.stream) return;
      this.#init.session.stream.sendEncoded(value);
      this.#ownership.outbox = position;
    }
  }

  /** Releases ownership, because the last stream here closed. */
  async #release(): Promise<void> {
    const { session, node } = this.#init;
    const ownership = this.#ownership;
    if (!ownership || session.stream) return;
    this.#forgetOwnership();
    const { previous, changes, outbox } = ownership;
    const isReleased = await this.#write(this.#writtenText, { changes, outbox });
    if (isReleased && previous !== undefined) await node.send(previous, { about: "free", session: session.id });
  }

  /** Another node may have taken ownership, even and back again; compare the stored record with the one this node wrote. */
  async #releaseIfLost(): Promise<void> {
    if (this.#ownership && (await this.#init.node.store.get(this.#key)) !== this.#writtenText) this.#forgetOwnership();
  }

  #forgetOwnership(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#ownership = undefined;
  }

  /** Stores a record in place of another one. Returns false if another node has changed the record. */
  async #write(oldText: string | undefined, ownership: StreamOwnership): Promise<boolean> {
    const { node, ttl } = this.#init;
    const text = JSON.stringify(ownership);
    const isWritten = await node.store.compareAndSet(this.#key, oldText, text, { ttl });
    if (isWritten) this.#writtenText = text;
    return isWritten;
  }

  /** Runs actions one after another. If the store fails, retries everything after one second. */
  #enqueue(action: () => Promise<void> | void): Promise<unknown> {
    this.#lastAction = this.#lastAction.then(action).catch((error: unknown) => {
      const { core, report } = this.#init.node;
      report(error);
      if (this.#willRetry) return;
      this.#willRetry = true;
      core.clock.setTimeout(() => {
        this.#willRetry = false;
        this.streamOpened();
        this.outboxChanged();
        void this.#enqueue(() => this.#sendUnsent());
      }, retryInterval);
    });
    return this.#lastAction;
  }
}

/**
 * Appends a message to the outbox of a session, and notifies the owner of its stream unless that is this node. Returns the
 * owner. `ttl` is in milliseconds.
 */
export async function appendToOutbox(
  node: ClusterNode,
  session: string,
  { json, ttl }: { json: string; ttl: number },
): Promise<string | undefined> {
  await node.store.append(outboxOf(session), json, { ttl, maxLength: maxOutbox });
  // The owner is read after the message was written. A later owner reads the outbox, and finds the message there.
  const text = await node.store.get(streamKey(session));
  const owner = text === undefined ? undefined : parseOwnership(text).node;
  if (owner !== undefined && owner !== node.id) await node.send(owner, { about: "outbox", session });
  return owner;
}

function streamKey(session: string): string {
  return `session-stream:${session}`;
}

function outboxOf(session: string): string {
  return `outbox:${session}`;
}

/** Parses a record. Only nodes of the server write it, so it is not checked. */
function parseOwnership(text: string): StreamOwnership {
  return JSON.parse(text);
}
