import { type JsonRpcMessage, encode } from "../rpc/messages.ts";
import type { LogEntry } from "../store/store.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { PlacedChange, SharedChanges } from "./shared-changes.ts";
import type { SharedSession } from "./shared-session.ts";

/** Who sends what belongs to no request of a session, and how far it has come. */
interface Holding {
  /** The node that holds the newest stream of the client; undefined where it has none open. */
  node?: string | undefined;
  /** Whom it took that from, who may have an older one open still. */
  previous?: string | undefined;
  /** The last change that the client was told of. */
  changes?: string | undefined;
  /** The last entry of the outbox that it was sent. */
  outbox?: string | undefined;
}

export interface SessionStreamInit {
  session: SharedSession;
  node: ClusterNode;
  changes: SharedChanges;
  /** Milliseconds for which what could not be sent is kept. */
  ttl: number;
}

const maxOutbox = 100;
const retryInterval = 1_000;

/**
 * What belongs to no request of a session, on the stream that its client has open: on one node at a time, the one where the
 * newest was opened (2025-11-25, transports, "Multiple Connections").
 *
 * The changes of the server are in one log for all, and what else there is in an outbox of the session. Whoever holds the
 * stream sends both from where the one before has stopped, so that nothing is left out or said twice when the client comes
 * back to another node. Where a node died the client may be told again of what it was told shortly before.
 */
export class SessionStream {
  readonly #init: SessionStreamInit;
  #holding: Holding | undefined;
  /** The text of what was written last. */
  #written: string | undefined;
  /** What is to go to the outbox, or on the stream. */
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
      await this.#letGoIfMoved();
      await this.#take();
    });
  }

  /** Called when the last of its streams here is gone. */
  detached(): void {
    void this.#inOrder(() => this.#release());
  }

  /** Called when another node has taken the stream. */
  moved(): void {
    void this.#inOrder(() => this.#letGoIfMoved());
  }

  /** Called when the node that held the stream has none any more. */
  freed(): void {
    void this.#inOrder(() => this.#take());
  }

  /** Called when there is something in the outbox. */
  arrived(): void {
    void this.#inOrder(() => this.#drain());
  }

  send(message: JsonRpcMessage): void {
    this.#unsent.push(encode(message));
    if (this.#unsent.length > maxOutbox) this.#unsent.shift();
    void this.#inOrder(() => this.#sendAll());
  }

  /** Settles when all that was asked of it until now is done. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Writes down how far the stream has come. */
  save(): void {
    void this.#inOrder(() => this.#save());
  }

  async #take(): Promise<void> {
    const { session, node, changes } = this.#init;
    if (!session.stream || this.#holding) return;
    const held = await this.#claim();
    // Followed from before the past is read, and in the same turn as it is known how far that goes.
    const meanwhile: PlacedChange[] = [];
    let tell = (placed: PlacedChange): void => void meanwhile.push(placed);
    this.#unfollow = changes.follow((placed) => tell(placed));
    const [past, entries] = await Promise.all([
      changes.since(held.changes),
      this.#readOutbox(held),
      held.previous !== undefined && node.post(held.previous, { about: "moved", session: session.id }),
    ]).catch((error: unknown) => {
      this.#letGo();
      throw error;
    });
    this.#holding = held;
    this.#sendOn(entries);
    for (const placed of [...past, ...meanwhile]) this.#tell(placed);
    tell = (placed) => this.#tell(placed);
  }

  /** Becomes the one who holds the stream, and knows how far it has come. */
  async #claim(): Promise<Holding> {
    const { node, session } = this.#init;
    for (;;) {
      const text = await node.store.get(this.#key);
      const found = text === undefined ? { changes: session.openedAt } : (JSON.parse(text) as Holding);
      const holding: Holding = { ...found, node: node.id };
      if (found.node !== node.id) holding.previous = found.node;
      if (await this.#write(text, holding)) return holding;
    }
  }

  #tell({ change, position, json }: PlacedChange): void {
    const { session } = this.#init;
    const holding = this.#holding;
    // Without a stream it is for the next one to catch up with.
    if (!holding || !session.stream || (holding.changes !== undefined && position <= holding.changes)) return;
    holding.changes = position;
    if (session.session.wants(change)) session.stream.sendEncoded(json);
  }

  async #sendAll(): Promise<void> {
    const { session } = this.#init;
    for (let [json] = this.#unsent; json !== undefined; [json] = this.#unsent) {
      if (this.#holding && session.stream) session.stream.sendEncoded(json);
      else await this.#putOut(json);
      this.#unsent.shift();
    }
  }

  async #putOut(json: string): Promise<void> {
    const { session, node, ttl } = this.#init;
    await node.store.append(this.#outbox, json, { ttl, maxLength: maxOutbox });
    // Read after it was written: whoever takes the stream now reads the outbox after that, and finds it there.
    const text = await node.store.get(this.#key);
    const holder = text === undefined ? undefined : (JSON.parse(text) as Holding).node;
    if (holder === node.id) await this.#drain();
    else if (holder !== undefined) await node.post(holder, { about: "outbox", session: session.id });
  }

  async #drain(): Promise<void> {
    if (this.#holding) this.#sendOn(await this.#readOutbox(this.#holding));
  }

  #readOutbox({ outbox }: Holding): Promise<LogEntry[]> {
    return this.#init.node.store.readFrom(this.#outbox, outbox, maxOutbox);
  }

  #sendOn(entries: readonly LogEntry[]): void {
    for (const { position, value } of entries) {
      // Without a stream it stays in the outbox for the next one.
      if (!this.#holding || !this.#init.session.stream) return;
      this.#init.session.stream.sendEncoded(value);
      this.#holding.outbox = position;
    }
  }

  /** Leaves the stream to whoever the client comes back to. */
  async #release(): Promise<void> {
    const { session, node } = this.#init;
    const holding = this.#holding;
    if (!holding || session.stream) return;
    const { previous, changes, outbox } = holding;
    this.#letGo();
    const isMine = await this.#write(this.#written, { changes, outbox });
    if (isMine && previous !== undefined) await node.post(previous, { about: "free", session: session.id });
  }

  async #save(): Promise<void> {
    if (this.#holding && !(await this.#write(this.#written, this.#holding))) this.#letGo();
  }

  /** The stream may have come back to this node since another took it, or have gone there unnoticed. */
  async #letGoIfMoved(): Promise<void> {
    if (this.#holding && (await this.#init.node.store.get(this.#key)) !== this.#written) this.#letGo();
  }

  #letGo(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#holding = undefined;
  }

  async #write(before: string | undefined, holding: Holding): Promise<boolean> {
    const { node, ttl } = this.#init;
    const text = JSON.stringify(holding);
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

  /** Where the store is out of reach, it is taken up again once it is there. */
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
