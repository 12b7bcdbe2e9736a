import { LocalError, printableJson, ProtocolError, redact, systemClock, type Clock } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import type { Client, ServerInfo } from "mcparley/client";
import type { ServerLists } from "../catalogue/catalogue.ts";
import { ignoreErrors, toError } from "../values/errors.ts";
import { BackOff, stableTime } from "./back-off.ts";
import { KnownLists, listCache } from "./known-lists.ts";
import type { LiveConnection } from "./live-connection.ts";
import { type Opened, type OpenSetting, openConnection } from "./open-connection.ts";
import type { ReadLists } from "./check-entries.ts";
import type { SupervisedEntry, SupervisorSetting } from "./supervisor-setting.ts";
import { ServerAuth, isSignInError } from "./server-auth.ts";
import { type ServerState, type ServerAction, transitions } from "./server-state.ts";
import { keepingProcess, unlessAborted } from "../async/timing.ts";
import { type WatchedResource, WatchedResources } from "./watched-resources.ts";

/** A state with the values that exist only in it. */
type Situation =
  | { readonly state: "idle" | "disabled" }
  | {
      readonly state: "connecting";
      readonly abort: AbortController;
      readonly pendingConnection: Promise<LiveConnection>;
    }
  | { readonly state: "ready"; readonly connection: LiveConnection }
  | { readonly state: "needs-sign-in"; readonly error: Error }
  | {
      readonly state: "failed";
      readonly error: Error;
      readonly failedAt: number;
      /** The time after which a use is an attempt. `Infinity` if only `reconnect()` is. */
      readonly dueAt: number;
      readonly timer: unknown;
      readonly isPlanned: boolean;
    };

/** Milliseconds that a call waits for an attempt to connect if its server has no time limit: as long as for an answer. */
const defaultWait = 60_000;

/**
 * Starts, watches, restarts and stops one server, and lends its client. It connects with the first use, or at once if the server is
 * `eager`, and recovers from the loss of the connection. `transitions.ts` has its states.
 */
export class Supervisor {
  readonly #watchedResources: WatchedResources;
  readonly #entry: SupervisedEntry;
  readonly #setting: SupervisorSetting;
  readonly #clock: Clock;
  readonly #opening: OpenSetting;
  readonly #lists: KnownLists;
  readonly #backOff = new BackOff();
  /** Settles when the stored lists were read. Never rejects. */
  readonly #loading: Promise<void>;
  #situation: Situation;
  #info: ServerInfo | undefined;
  /** Settles when the last connection is closed, and its program has ended. Never rejects. */
  #closing: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** The instructions of the server when `onLists` was called last. */
  #reportedInstructions: string | undefined;
  /** Whether `onLists` is called with the next lists, also if they have not changed. */
  #isReviewDue = false;
  /** Called with the next change of the situation. */
  readonly #moveListeners = new Set<() => void>();

  constructor(entry: SupervisedEntry, setting: SupervisorSetting) {
    const { connectOptions = {}, clock = systemClock, changeList = (list) => list } = setting;
    const report = (error: unknown): void => this.#report(error);
    this.#entry = entry;
    this.#setting = setting;
    this.#clock = clock;
    this.#opening = {
      entry,
      clock,
      connectOptions,
      auth: new ServerAuth(entry, { ...setting.auth, clock, onNewScopes: () => this.#readListsAgain() }),
      admit: async (signal) => setting.admit?.(signal),
      prepareTarget: (target) => setting.prepareTarget?.(target) ?? target,
      onLists: (read) => this.#handleLists(read),
      report,
    };
    this.#watchedResources = new WatchedResources({
      clock,
      onUpdated: (uri) => ignoreErrors(() => setting.onUpdated?.(uri)),
      report,
    });
    this.#lists = new KnownLists(listCache({ entry, connectOptions }, setting.storage, report), { clock, changeList });
    this.#situation = { state: entry.settings.disabled ? "disabled" : "idle" };
    this.#loading = this.#load();
    // Not at once: the caller does not have this server yet, and receives its events.
    if (entry.settings.eager && !entry.settings.disabled) queueMicrotask(() => void this.connect().catch(() => {}));
  }

  get state(): ServerState {
    return this.#situation.state;
  }

  get error(): Error | undefined {
    return "error" in this.#situation ? this.#situation.error : undefined;
  }

  get retryAt(): number | undefined {
    return this.#situation.state === "failed" && this.#situation.isPlanned ? this.#situation.dueAt : undefined;
  }

  get info(): ServerInfo | undefined {
    const info = this.#situation.state === "ready" ? this.#situation.connection.client.server : this.#info;
    return info && (this.#setting.changeInfo?.(info) ?? info);
  }

  get lists(): ServerLists | undefined {
    return this.state === "disabled" ? undefined : this.#lists.current;
  }

  /** Resolves when the stored lists were read and no attempt to connect is running. Never rejects. */
  async waitForAttempt(): Promise<void> {
    await this.#loading;
    while (this.#situation.state === "connecting") await this.#situation.pendingConnection.catch(() => {});
  }

  /** Whether a list is being read again, or has changed. */
  get hasChanges(): boolean {
    return this.#situation.state === "ready" && this.#situation.connection.hasChanges;
  }

  /** Resolves when all changes of lists so far were read. Never rejects. */
  async readChanges(): Promise<void> {
    if (this.#situation.state === "ready") await this.#situation.connection.readChanges();
  }

  /**
   * Runs `work` with an open connection. Connects if none is open. After a failure it waits for the next attempt, if that is within the
   * time limit of the server.
   *
   * Rejects with `LocalError` whose `data.safeToRepeat` is true if there is no connection and none can be opened in this time. The
   * message names the reason and the cure, `data.server` is the name of the server, `data.exitCode` the code with which its program
   * ended, and `cause` the reason. An abort of the signal ends the wait for the connection, but not the attempt, which other callers may
   * wait for.
   */
  async use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { idle = defaultWait, total = Infinity } = this.#entry.settings.timeout ?? {};
    const connection = await this.#openedConnection(signal, Math.min(idle, total));
    try {
      const result = await work(connection.client);
      this.#backOff.reset();
      return result;
    } catch (error) {
      // An error of the server is an answer as well.
      if (error instanceof ProtocolError) this.#backOff.reset();
      connection.handleCallError(error);
      throw this.#named(connection.reasonOf(error));
    }
  }

  async connect(): Promise<void> {
    await this.#openedConnection(undefined);
  }

  /** Closes the connection, and opens a new one without a delay. */
  async reconnect(): Promise<void> {
    await this.#reconnect(false);
  }

  /** Signs the user in, and connects. `scope` names scopes, separated by spaces, to request in addition to those that are required. */
  async signIn({ scope }: { scope?: string } = {}): Promise<void> {
    await this.#reconnect(true, scope);
  }

  async #reconnect(signsIn: boolean, scope?: string): Promise<void> {
    if (this.#isClosed || this.state === "disabled") throw this.#unavailable();
    if (signsIn) this.#opening.auth.prepareSignIn(scope);
    ignoreErrors(() => this.#setting.onReconnect?.());
    this.#isReviewDue = true;
    this.#backOff.reset();
    this.#backOff.permitAutomatic();
    this.#attempt(signsIn);
    try {
      await this.#openedConnection(undefined);
    } catch (error) {
      // The cure "Call signIn()" does not help the caller of signIn().
      throw signsIn && this.#situation.state === "needs-sign-in" ? this.#situation.error : error;
    }
  }

  /**
   * Calls the listener with the URI of each update of a resource or of its parts, while a connection is open, and once after
   * each reconnect and each loss of the subscription. Opens no connection.
   */
  watch(uri: string, listener: (uri: string) => void): WatchedResource {
    return this.#watchedResources.watch(uri, listener);
  }

  enable(): void {
    if (!this.#move("enable", { state: "idle" })) return;
    const { lists } = this;
    if (lists) this.#reportLists(lists);
  }

  async disable(): Promise<void> {
    if (this.#move("disable", { state: "disabled" })) this.#reportLists(undefined);
    await this.#closing;
  }

  /** Closes the connection and stops everything. Nothing runs and no timer is set afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#move("close", { state: "idle" });
    await this.#loading;
    await this.#closing;
    await this.#lists.lastWrite;
  }

  #readListsAgain(): void {
    if (this.#situation.state === "ready") this.#situation.connection.readListsAgain();
  }

  /** Returns an open connection, or rejects with the reason why there is none. `maxWait` is the maximum delay of an attempt in milliseconds. */
  async #openedConnection(signal: AbortSignal | undefined, maxWait = 0): Promise<LiveConnection> {
    const latestAttempt = this.#clock.now() + maxWait;
    for (;;) {
      signal?.throwIfAborted();
      if (this.#isClosed) throw this.#unavailable();
      const situation = this.#situation;
      this.#backOff.permitAutomatic();
      if (situation.state === "ready") {
        const { connection } = situation;
        if (!connection.hasSlept) return connection;
        await unlessAborted(connection.wake(), signal);
      } else if (situation.state === "idle" || (situation.state === "failed" && this.#isDue(situation))) {
        this.#attempt(false);
      } else if (situation.state === "connecting") {
        const connection = await this.#waitForConnection(situation, signal);
        if (connection) return connection;
      } else if (situation.state === "failed" && situation.dueAt <= latestAttempt) {
        await this.#waitUntil(situation.dueAt, signal);
      } else {
        throw this.#unavailable();
      }
    }
  }

  /** Waits for an attempt. Returns undefined if another attempt or state has replaced it. */
  async #waitForConnection(
    { pendingConnection, abort }: Extract<Situation, { state: "connecting" }>,
    signal: AbortSignal | undefined,
  ): Promise<LiveConnection | undefined> {
    try {
      return await unlessAborted(pendingConnection, signal);
    } catch (error) {
      if (signal?.aborted || !abort.signal.aborted) throw error;
      return undefined;
    }
  }

  /** Waits until a time, or until the next change of the situation. */
  async #waitUntil(time: number, signal: AbortSignal | undefined): Promise<void> {
    const clock = keepingProcess(this.#clock);
    let stopWait!: () => void;
    const wait = new Promise<void>((resolve) => (stopWait = resolve));
    this.#moveListeners.add(stopWait);
    const timer = clock.setTimeout(stopWait, time - clock.now());
    try {
      await unlessAborted(wait, signal);
    } finally {
      clock.clearTimeout(timer);
      this.#moveListeners.delete(stopWait);
    }
  }

  #isDue({ dueAt, failedAt }: Extract<Situation, { state: "failed" }>): boolean {
    const now = this.#clock.now();
    // A clock that was set back must not delay the attempt.
    return now >= dueAt || (now < failedAt && Number.isFinite(dueAt));
  }

  /** Starts an attempt to connect, which replaces a running attempt and an open connection. */
  #attempt(signsIn: boolean): void {
    const abort = new AbortController();
    const pendingConnection = this.#open(abort.signal, signsIn);
    // The callers that wait receive the error. There may be none.
    pendingConnection.catch(() => {});
    this.#move("attempt", { state: "connecting", abort, pendingConnection });
  }

  async #open(signal: AbortSignal, signsIn: boolean): Promise<LiveConnection> {
    // The stored lists must not replace newer ones.
    await this.#loading;
    signal.throwIfAborted();
    // Two processes of one program could disturb each other.
    await this.#closing;
    try {
      const newConnection = await openConnection(this.#opening, { signal, signsIn });
      return await this.#finishAttempt(newConnection, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#handleFailure(error);
    }
  }

  async #finishAttempt({ connection, read }: Opened, signal: AbortSignal): Promise<LiveConnection> {
    if (!signal.aborted) {
      this.#info = connection.client.server;
      this.#handleLists(read);
    }
    // The attempt can end after the last check of the connection, and a listener of the lists can end it.
    if (signal.aborted) {
      await connection.close();
      throw signal.reason;
    }
    this.#move("succeed", { state: "ready", connection });
    this.#watchedResources.setClient(connection.client);
    void connection.endReason.then((reason) => this.#handleEnd(connection, reason));
    return connection;
  }

  /** Handles the failure of an attempt, or a connection that ended soon. Returns the error for the callers that wait. */
  #handleFailure(cause: unknown): Error {
    const error = toError(this.#named(cause));
    if (isSignInError(error)) {
      this.#move("refuse", { state: "needs-sign-in", error });
      return this.#unavailable();
    }
    const isDenied = error instanceof LocalError && error.code === "declined";
    const delay = isDenied ? Infinity : this.#backOff.countFailure(error);
    const isPlanned = !isDenied && this.#backOff.hasAutomatic;
    const timer = isPlanned ? this.#clock.setTimeout(() => this.#retry(), delay) : undefined;
    const failedAt = this.#clock.now();
    this.#move("fail", { state: "failed", error, failedAt, dueAt: failedAt + delay, timer, isPlanned });
    return this.#unavailable();
  }

  /** Makes an automatic attempt. */
  #retry(): void {
    this.#backOff.takeAutomatic();
    this.#attempt(false);
  }

  /** Handles the end of the open connection. */
  #handleEnd(connection: LiveConnection, reason: Error): void {
    if (this.#situation.state !== "ready" || this.#situation.connection !== connection) return;
    const isStable = this.#clock.now() - connection.openedAt >= stableTime;
    if (isSignInError(reason) || !isStable) return void this.#handleFailure(reason);
    this.#backOff.reset();
    this.#move("lose", { state: "idle" });
    if (this.#backOff.hasAutomatic) this.#retry();
  }

  #handleLists({ lists }: ReadLists): void {
    const hasChanged = this.#lists.update(lists);
    const hasOtherInstructions = this.info?.instructions !== this.#reportedInstructions;
    if (hasChanged || hasOtherInstructions || this.#isReviewDue) this.#reportLists(this.lists);
  }

  #reportLists(lists: ServerLists | undefined): void {
    this.#isReviewDue = false;
    this.#reportedInstructions = this.info?.instructions;
    ignoreErrors(() => this.#setting.onLists?.(lists));
  }

  async #load(): Promise<void> {
    await this.#lists.load();
    const { lists } = this;
    if (lists && !this.#isClosed) this.#reportLists(lists);
  }

  /** Changes the state, and releases the timer, the attempt or the connection of the previous one. Returns false if the action has no effect in it. */
  #move(action: ServerAction, next: Situation): boolean {
    const previous = this.#situation;
    if (transitions[previous.state][action] !== next.state) return false;
    this.#situation = next;
    for (const listener of this.#moveListeners) listener();
    const isOutcome = action === "succeed" || action === "fail" || action === "refuse";
    if (previous.state === "connecting" && !isOutcome) this.#abandon(previous);
    if (previous.state === "failed") this.#clock.clearTimeout(previous.timer);
    if (previous.state === "ready") this.#release(previous.connection);
    if (previous.state !== next.state) this.#emit(next);
    return true;
  }

  #abandon({ abort, pendingConnection }: Extract<Situation, { state: "connecting" }>): void {
    abort.abort(new LocalError("aborted", "The attempt to connect was replaced, or is not needed any more."));
    // It rejects when its connection is closed.
    this.#closing = Promise.allSettled([this.#closing, pendingConnection]).then(() => {});
  }

  #release(connection: LiveConnection): void {
    this.#watchedResources.removeClient();
    this.#lists.markCached();
    this.#info = connection.client.server;
    const closing = connection.close().catch((error: unknown) => this.#report(error));
    this.#closing = Promise.allSettled([this.#closing, closing]).then(() => {});
  }

  #emit({ state }: Situation): void {
    const { error, retryAt } = this;
    const event = { type: "server", server: this.#entry.name, state } as const;
    ignoreErrors(() =>
      this.#setting.onEvent?.({ ...event, ...(error && { error }), ...(retryAt !== undefined && { retryAt }) }),
    );
  }

  #report(error: unknown): void {
    ignoreErrors(() => this.#setting.onError?.(toError(error)));
  }

  /** Returns the error with the name of the server in place of its program, which can be the same for all servers. */
  #named(error: unknown): unknown {
    const { name, server } = this.#entry;
    if (server.kind !== "command" || !(error instanceof LocalError)) return error;
    const program = `The server ${JSON.stringify(redact(server.target.command))} `;
    const { code, data, message, cause } = error;
    if (!message.includes(program)) return error;
    const text = message.replaceAll(program, () => `The server ${printableJson(name)} `);
    return new LocalError(code, text, { data, cause });
  }

  /** Returns the error of a use that finds no connection: the reason and the cure. Nothing was sent, so it is safe to repeat. */
  #unavailable(): LocalError {
    const situation = this.#situation;
    const subject = `Server ${printableJson(this.#entry.name)}`;
    const safe = { safeToRepeat: true, retryAt: this.retryAt };
    if (this.#isClosed) {
      return new LocalError("closed", `${subject} is closed, because its host was closed.`, { data: safe });
    }
    const data = { ...safe, server: this.#entry.name };
    if (situation.state === "needs-sign-in") {
      const { error } = situation;
      // The message of a server that accepts only a token or a key has its cure.
      const hasSignIn = !(error instanceof LocalError && isObject(error.data) && error.data.hasSignIn === false);
      const message = hasSignIn
        ? `${subject} requires a sign-in. Call signIn() of the server. ${error.message}`
        : error.message;
      return new LocalError("sign_in_required", message, {
        data: hasSignIn ? data : { ...data, hasSignIn },
        cause: error,
      });
    }
    if (situation.state === "failed") {
      const { error } = situation;
      const code = error instanceof LocalError ? error.code : "unreachable";
      const message = `${subject} cannot be used. ${error.message} ${this.#cureOf(situation.dueAt)}`;
      const exitCode = error instanceof LocalError && isObject(error.data) ? error.data.exitCode : undefined;
      return new LocalError(code, message, {
        data: { ...data, ...(exitCode !== undefined && { exitCode }) },
        cause: error,
      });
    }
    return new LocalError("closed", `${subject} is disabled. Call enable() of the server to use it.`, { data });
  }

  #cureOf(dueAt: number): string {
    if (!Number.isFinite(dueAt)) return "Call reconnect() to ask again.";
    return `The next attempt is possible at ${new Date(dueAt).toISOString()}, or at once with reconnect().`;
  }
}
