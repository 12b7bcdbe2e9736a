import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { makeId } from "../../../server/core/local-id.ts";
import type { ServerCore } from "../../../server/core/server-core.ts";
import type { Sender } from "../endpoint-context.ts";
import { HttpSession } from "./http-session.ts";
import type { SessionOptions } from "../options.ts";
import { SessionShares, displacedError, neverUsedError, tableIsFull } from "./session-shares.ts";

/** Milliseconds after which an idle session expires, unless `sessions.idle` is set. */
export const defaultIdleTimeout = 1_800_000;

/** Number of sweeps for idle sessions per idle timeout. */
const sweepsPerLimit = 30;

/**
 * The legacy sessions of an endpoint.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> unused: initialize has succeeded (add)
 *   unused --> idle: the first request (find)
 *   idle --> busy: a call is in flight, or a stream is open
 *   busy --> idle: no call and no stream is left
 *   unused --> ended: no request for sessions.handshake
 *   idle --> ended: no request for sessions.idle
 *   unused --> ended: displaced by a session, DELETE (delete), or the endpoint closes (clear)
 *   idle --> ended: displaced by a session, DELETE (delete), or the endpoint closes (clear)
 *   busy --> ended: displaced by a session, DELETE (delete), or the endpoint closes (clear)
 *   ended --> [*]
 * ```
 */
export interface SessionTable {
  /** Number of sessions in this process. */
  readonly size: number;
  /** Seconds until there may be room again. */
  readonly retryAfter: number;
  /** Creates a session, which `find` does not return until `add`. Undefined if there is no room for the caller. */
  prepare(caller: string): HttpSession | undefined;
  /** Adds a session whose `initialize` succeeded, before the reply is sent. Throws a refusal of 503 if there is no room. */
  add(session: HttpSession): Promise<void> | void;
  /** Returns the session of a caller, and restarts its idle timeout. Undefined for the session of another caller. */
  find(id: string, sender: Sender): Promise<HttpSession | undefined> | HttpSession | undefined;
  /** Ends a session, its calls and its streams. */
  delete(session: HttpSession, cause: Error): Promise<void> | void;
  /** Called when the endpoint closes. Ends the calls and streams of this process. */
  clear(cause: Error): Promise<void> | void;
}

/** The legacy sessions of one endpoint, in memory. One timer sweeps all of them. */
export class Sessions implements SessionTable {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #core: ServerCore;
  readonly #clock: Clock;
  readonly #idle: number;
  readonly #shares: SessionShares<HttpSession>;
  #timer: unknown;

  constructor(core: ServerCore, options: SessionOptions) {
    const { clock } = core;
    this.#core = core;
    this.#clock = clock;
    this.#idle = options.idle ?? defaultIdleTimeout;
    this.#shares = new SessionShares({ clock, options, onUnused: (session) => this.delete(session, neverUsedError) });
  }

  get size(): number {
    return this.#sessions.size;
  }

  get retryAfter(): number {
    return Math.ceil(this.#idle / sweepsPerLimit / 1000);
  }

  prepare(caller: string): HttpSession | undefined {
    if (!this.#shares.hasRoomFor(caller)) return undefined;
    return new HttpSession(makeId(this.#core), this.#clock.now(), caller);
  }

  add(session: HttpSession): void {
    if (!this.#shares.makeRoomFor(session, (victim) => this.delete(victim, displacedError))) {
      session.end(displacedError);
      throw tableIsFull(this.retryAfter);
    }
    this.#sessions.set(session.id, session);
    this.#shares.open(session);
    this.#timer ??= this.#clock.setTimeout(() => this.#sweep(), this.#idle / sweepsPerLimit);
  }

  find(id: string, { principal }: Sender): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session?.belongsTo(principal)) return undefined;
    session.lastUsed = this.#clock.now();
    this.#shares.noteUse(session);
    this.#shares.makeRoomForGrowth(session, (victim) => this.delete(victim, displacedError));
    return this.#sessions.get(id);
  }

  delete(session: HttpSession, cause: Error): void {
    this.#sessions.delete(session.id);
    this.#shares.delete(session);
    session.end(cause);
  }

  clear(cause: Error): void {
    for (const session of this.#sessions.values()) this.delete(session, cause);
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shares.stop();
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const session of this.#sessions.values()) {
      if (session.isBusy) session.lastUsed = now;
      else if (now - session.lastUsed >= this.#idle) {
        this.delete(session, new LocalError("closed", "The session was idle for too long."));
      }
    }
    const hasSessions = this.#sessions.size > 0;
    this.#timer = hasSessions ? this.#clock.setTimeout(() => this.#sweep(), this.#idle / sweepsPerLimit) : undefined;
  }
}
