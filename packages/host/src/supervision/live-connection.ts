import { toError } from "../values/errors.ts";
import { LocalError, ProtocolError, type Clock } from "mcparley";
import type { Client, ListKind, ServerChange, Subscription } from "mcparley/client";
import { type ListName, listNames, type ReadLists, listsOf, readLists } from "./check-entries.ts";
import { ListRefresh } from "./list-refresh.ts";
import type { ResolvedTarget } from "./supervisor-setting.ts";
import { isDeniedCall, isSignInError } from "./server-auth.ts";
import { deadline } from "../async/timing.ts";

/** Milliseconds for reading the lists, so that a server that sends them page by page without an end does not stay unready. */
const listTime = 30_000;
/** Milliseconds that the first lists wait for the acknowledgment of the subscription to their changes. */
const subscribeTime = 2_000;
/** Milliseconds for the acknowledgment of a subscription. */
const acknowledgeTime = 30_000;
/** Milliseconds between two checks of the clock. */
const heartbeatTime = 15_000;
/** A heartbeat that is later than this, in milliseconds, means that the machine slept. */
const sleepTime = 15_000;
/** Heartbeats between two pings, and between two attempts to read a list that failed. */
const beatsPerPing = 4;
const pingTime = 30_000;
/** Milliseconds for the answer to a ping if there is a reason to doubt the connection. */
const doubtTime = 10_000;

export interface LiveSetting {
  readonly kind: ResolvedTarget["kind"];
  readonly clock: Clock;
  /** Maximum milliseconds for reading the lists, if the user has set a time limit. */
  readonly maxListTime: number;
  /** Called with the lists that were read again. */
  onLists(this: void, read: ReadLists): void;
  report(this: void, error: unknown): void;
}

const listKinds: readonly ListKind[] = ["tools", "prompts", "resources"];

/**
 * One connection of a server, from its handshake until it is lost. It follows the changes of the lists, and notices the loss
 * of the connection, a hung server, and the sleep of the machine.
 *
 * A lost connection is never opened again by itself, because the host decides when a program starts.
 */
export class LiveConnection {
  readonly client: Client;
  readonly openedAt: number;
  /** Resolves with the reason when the connection is lost or cannot be used. Never rejects. */
  readonly endReason: Promise<Error>;
  readonly #setting: LiveSetting;
  readonly #refresh: ListRefresh;
  readonly #closing = new AbortController();
  /** The lists whose last reading failed. */
  readonly #failedKinds = new Set<ListKind>();
  #resolveEnded!: (reason: Error) => void;
  #lossReason: Error | undefined;
  #server: Client["server"];
  #subscription: "none" | "open" | "lost" = "none";
  #verifying: Promise<void> | undefined;
  #timer: unknown;
  #heartbeatAt: number;
  #heartbeats = 0;

  constructor(client: Client, setting: LiveSetting) {
    this.client = client;
    this.#setting = setting;
    this.#server = client.server;
    this.openedAt = setting.clock.now();
    this.#heartbeatAt = this.openedAt;
    this.#refresh = new ListRefresh(setting.clock, (kind) => this.#readAgain(kind));
    this.endReason = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Whether the machine slept since the last heartbeat, so that the connection may be lost without a sign of it. */
  get hasSlept(): boolean {
    return this.#setting.clock.now() - this.#heartbeatAt > heartbeatTime + sleepTime;
  }

  /** Subscribes to changes, and reads all lists. Rejects if none of the declared lists can be read, or the connection is lost. */
  async start(signal: AbortSignal): Promise<ReadLists> {
    const loss = this.endReason.then((reason) => Promise.reject(reason));
    const read = await Promise.race([this.#subscribe().then(() => this.#read(listNames, signal)), loss]);
    const declaredKinds = listKinds.filter((kind) => this.client.server.capabilities[kind]);
    const [failure] = read.failures.values();
    const allFailed = declaredKinds.every((kind) => listsOf[kind].every((name) => read.failures.has(name)));
    if (failure && allFailed) throw failure;
    this.#schedule();
    return read;
  }

  /** Handles an error that `onError` of the client received. A lost stream is noticed here. */
  handleClientError(error: Error): void {
    const isLoss = error instanceof LocalError && /^(closed|exited|unreachable)$/.test(error.code);
    // A client over HTTP opens a lost session again without the help of the host, and without a new program.
    if (isLoss && this.#setting.kind !== "http" && this.client.state !== "open") this.#end(error);
  }

  /** Returns the reason of a call's failure. A call that was in flight when the connection was lost fails with the reason of the loss. */
  reasonOf(error: unknown): unknown {
    const isClosed = error instanceof LocalError && error.code === "closed" && error.data === undefined;
    return (isClosed && this.#lossReason) || error;
  }

  /** Handles the error of a call. It can be the first sign that the connection cannot be used. */
  handleCallError(error: unknown): void {
    if (!(error instanceof LocalError)) return;
    if (isDeniedCall(error)) return;
    if (isSignInError(error)) return this.#end(error);
    // The client is not open while the server has lost its session and opens no new one, whatever it answers.
    const isLost = this.client.state !== "open";
    const isDoubtful = isLost || /^(timeout|closed|exited|unreachable|session_lost)$/.test(error.code);
    // A server that works on another call may be unable to answer a ping.
    if (isDoubtful && this.client.inFlight === 0) void this.verify(doubtTime);
  }

  /** Checks that the server answers. If it does not, the connection ends. Never rejects. */
  verify(ms: number = doubtTime): Promise<void> {
    this.#verifying ??= this.#ping(ms).finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  /** Checks the connection after the machine slept, and reads the lists again. */
  async wake(): Promise<void> {
    this.#heartbeatAt = this.#setting.clock.now();
    await this.verify();
    this.readListsAgain();
  }

  /** Reads all lists again, at the pace of changes. */
  readListsAgain(): void {
    this.#server = this.client.server;
    for (const kind of listKinds) if (this.#server.capabilities[kind]) this.#refresh.scheduleRead(kind);
  }

  /** Whether a list is being read again, or has changed. */
  get hasChanges(): boolean {
    return this.#refresh.isBehind;
  }

  /** Resolves when all changes of lists so far were read. Never rejects. */
  readChanges(): Promise<void> {
    return this.#refresh.readChanges();
  }

  /** Closes the connection and stops all timers. Resolves when the program of the server has ended. */
  async close(): Promise<void> {
    this.#stop();
    await this.client.close();
  }

  #stop(): void {
    this.#closing.abort(new LocalError("closed", "The connection was closed."));
    this.#refresh.close();
    this.#setting.clock.clearTimeout(this.#timer);
  }

  #end(reason: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#lossReason = reason;
    this.#stop();
    this.#resolveEnded(reason);
  }

  async #ping(ms: number): Promise<void> {
    try {
      await this.client.ping({ timeout: { idle: ms, total: ms }, signal: this.#closing.signal });
    } catch (error) {
      // An answer with an error shows as well that the server is there.
      if (!(error instanceof ProtocolError)) this.#end(toError(error));
    }
  }

  #schedule(): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = this.#setting.clock.setTimeout(() => {
      void this.#checkHeartbeat();
      this.#schedule();
    }, heartbeatTime);
  }

  async #checkHeartbeat(): Promise<void> {
    if (this.hasSlept) return this.wake();
    this.#heartbeatAt = this.#setting.clock.now();
    if (this.#server !== this.client.server) this.readListsAgain(); // The client has opened a new session.
    if (++this.#heartbeats % beatsPerPing !== 0) return;
    for (const kind of this.#failedKinds) this.#refresh.scheduleRead(kind);
    if (this.#subscription === "lost") {
      await this.#subscribe();
      // Changes were not reported while no subscription was open.
      this.readListsAgain();
    }
    // Requests of a modern revision over HTTP share no connection that could break.
    const { kind } = this.#setting;
    const canBreak = kind === "command" || (kind === "http" && this.client.server.revisionKind === "legacy");
    if (canBreak && this.client.inFlight === 0) await this.verify(pingTime);
  }

  async #readAgain(kind: ListKind): Promise<void> {
    const read = await this.#read(listsOf[kind], this.#closing.signal);
    if (!this.#closing.signal.aborted) this.#setting.onLists(read);
  }

  async #read(names: readonly ListName[], signal: AbortSignal): Promise<ReadLists> {
    const { report, maxListTime } = this.#setting;
    const timeout = { total: Math.min(listTime, maxListTime) };
    const read = await readLists(this.client, names, { signal, timeout, report });
    for (const kind of listKinds) this.#recordFailures(kind, read);
    return read;
  }

  /** Remembers whether a list failed, and reports its error. */
  #recordFailures(kind: ListKind, { lists, failures }: ReadLists): void {
    const names = listsOf[kind].filter((name) => lists.has(name) || failures.has(name));
    if (names.length === 0) return;
    if (names.some((name) => failures.has(name))) this.#failedKinds.add(kind);
    else this.#failedKinds.delete(kind);
    if (this.#closing.signal.aborted) return;
    for (const name of names) if (failures.has(name)) this.#setting.report(failures.get(name));
  }

  /** Subscribes to the changes that the server declares. Waits for the acknowledgment for a short time. Never rejects. */
  async #subscribe(): Promise<void> {
    const { capabilities } = this.client.server;
    const kinds = listKinds.filter((kind) => capabilities[kind]?.listChanged === true);
    if (kinds.length === 0) return;
    const filter = Object.fromEntries(kinds.map((kind) => [kind, true]));
    const timeout = { total: acknowledgeTime };
    const opening = this.client
      .listen(filter, (change) => this.#handleChange(change), { timeout, signal: this.#closing.signal })
      .then(
        (subscription) => this.#followSubscription(subscription),
        (error: unknown) => {
          if (!this.#closing.signal.aborted) this.#setting.report(error);
        },
      );
    const wait = deadline(this.#setting.clock, this.#closing.signal, { ms: subscribeTime, message: "" });
    const late = new Promise<"late">((resolve) => {
      wait.signal.addEventListener("abort", () => resolve("late"), { once: true });
    });
    const outcome = await Promise.race([opening, late]);
    wait.clear();
    // A change between the lists and the acknowledgment was not reported.
    if (outcome === "late") void opening.then(() => this.readListsAgain());
  }

  #followSubscription(subscription: Subscription): void {
    this.#subscription = "open";
    void subscription.closed.then((reason) => {
      if (!reason || this.#closing.signal.aborted) return;
      // A server that refuses the subscription is not asked again.
      this.#subscription = reason.cause instanceof ProtocolError ? "none" : "lost";
      if (isSignInError(reason.cause)) this.#end(reason.cause as Error);
      else void this.verify();
    });
  }

  #handleChange(change: ServerChange): void {
    if (change.kind !== "updated") this.#refresh.scheduleRead(change.kind);
  }
}
