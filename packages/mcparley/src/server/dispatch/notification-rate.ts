import { type LoggingLevel, type LoggingMessage, isLoggable } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Call } from "./call.ts";

/**
 * Limits the progress notifications and log messages of one call to `limits.notificationRate` in a second.
 *
 * Over it, the newest progress is sent at the end of the second, and at the latest before the reply. Log messages are left
 * out, and a warning says how many.
 */
export class NotificationRate {
  readonly #call: Call;
  /** Start of the second in which notifications are counted, and their number. */
  #since = -Infinity;
  #count = 0;
  /** The newest progress, unless it is sent. */
  #progress: JsonObject | undefined;
  /** The number of log messages that were left out. */
  #omitted = 0;
  #warns = false;
  #timer: unknown;

  constructor(call: Call) {
    this.#call = call;
  }

  progress(params: JsonObject): void {
    this.#progress = params;
    if (this.#isWithin()) this.#sendProgress();
  }

  /** `minimum` is the lowest level that the client wants. */
  log(message: LoggingMessage, minimum: LoggingLevel): void {
    this.#warns = isLoggable("warning", minimum);
    if (this.#isWithin()) this.#send(Notification.message, message);
    else this.#omitted++;
  }

  /** Sends what waits. */
  flush(): void {
    this.#call.core.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sendProgress();
    if (this.#omitted > 0 && this.#warns) {
      const data = `${this.#omitted} log messages were left out (limits.notificationRate).`;
      this.#send(Notification.message, { level: "warning", data });
    }
    this.#omitted = 0;
  }

  /** Counts a notification. If it is over the limit, sets the timer that sends what waits. */
  #isWithin(): boolean {
    const { clock, limits } = this.#call.core;
    const now = clock.now();
    if (now >= this.#since + 1000) {
      this.#since = now;
      this.#count = 0;
    }
    if (++this.#count <= limits.notificationRate) return true;
    this.#timer ??= clock.setTimeout(() => this.flush(), this.#since + 1000 - now);
    return false;
  }

  #sendProgress(): void {
    if (this.#progress) this.#send(Notification.progress, this.#progress);
    this.#progress = undefined;
  }

  #send(method: string, params: object): void {
    this.#call.send(method, params as JsonObject);
  }
}
