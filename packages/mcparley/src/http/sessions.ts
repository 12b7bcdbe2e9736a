import type { Clock } from "../jsonrpc/clock.ts";
import { LocalError } from "../jsonrpc/errors.ts";
import type { Principal } from "../server/context.ts";
import { HttpSession } from "./http-session.ts";
import type { SessionOptions } from "./options.ts";

/** How often, within an idle limit, it is looked for sessions that are over it. */
const sweepsPerLimit = 30;

/** The legacy sessions of one endpoint, by id. One timer looks for idle ones among them all. */
export class Sessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #clock: Clock;
  readonly #idle: number;
  readonly #max: number;
  #timer: unknown;

  constructor(clock: Clock, { idle = 1_800_000, max = 10_000 }: SessionOptions) {
    this.#clock = clock;
    this.#idle = idle;
    this.#max = max;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Seconds until there may be room again. */
  get retryAfter(): number {
    return Math.ceil(this.#idle / sweepsPerLimit / 1000);
  }

  /** Makes a session that is not found yet, with an id that cannot be guessed. Undefined where there is no room. */
  prepare(): HttpSession | undefined {
    if (this.#sessions.size >= this.#max) this.#forgetIdle();
    if (this.#sessions.size >= this.#max) return undefined;
    return new HttpSession(crypto.randomUUID(), this.#clock.now());
  }

  /** Lets a session be found, once its client has been answered a good `initialize`. */
  add(session: HttpSession): void {
    this.#sessions.set(session.id, session);
    this.#timer ??= this.#clock.setTimeout(() => this.#sweep(), this.#idle / sweepsPerLimit);
  }

  /** Finds the session of a caller and notes that it is in use. Another caller's does not exist for this one. */
  find(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session?.belongsTo(principal)) return undefined;
    session.lastUsed = this.#clock.now();
    return session;
  }

  delete(session: HttpSession, cause: Error): void {
    this.#sessions.delete(session.id);
    session.end(cause);
  }

  clear(cause: Error): void {
    for (const session of this.#sessions.values()) this.delete(session, cause);
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sweep(): void {
    this.#forgetIdle();
    const again = this.#sessions.size > 0;
    this.#timer = again ? this.#clock.setTimeout(() => this.#sweep(), this.#idle / sweepsPerLimit) : undefined;
  }

  #forgetIdle(): void {
    const now = this.#clock.now();
    for (const session of this.#sessions.values()) {
      if (session.isBusy) session.lastUsed = now;
      else if (now - session.lastUsed >= this.#idle) {
        this.delete(session, new LocalError("closed", "The session was idle for too long."));
      }
    }
  }
}
