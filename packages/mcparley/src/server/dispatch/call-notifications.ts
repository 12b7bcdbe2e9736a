import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { type LoggingLevel, type LoggingMessage, isLoggable, loggingLevels } from "../../mcp/logging.ts";
import { Notification } from "../../mcp/methods.ts";
import type { Progress, ProgressToken } from "../../mcp/progress.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Call } from "../core/call.ts";
import type { Logger } from "../core/context.ts";
import { otherLog } from "../core/other-libraries.ts";

/** The arguments of `progress`. JavaScript may pass values of other types. */
interface GivenProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
  _meta?: JsonObject | undefined;
}

/** The arguments of a `log` method. */
interface GivenLog {
  level: LoggingLevel;
  data: unknown;
  logger: string | undefined;
  _meta: JsonObject | undefined;
}

const logPrototype = otherLog();

/**
 * The progress notifications and log messages of one call, at most `limits.notificationRate` of them in a second.
 *
 * Over the limit, the newest progress is sent at the end of the second, and at the latest before the reply. Log messages are
 * left out, and a warning contains their number.
 */
export class CallNotifications {
  readonly #call: Call;
  /** The log level that the request names. A session has its own, which can change. */
  readonly #logLevel: LoggingLevel | undefined;
  #logger: Logger | undefined;
  /** The last progress value that the handler reported. */
  #lastProgress = -Infinity;
  /** Receives the progress instead of the client. Set if the handler continues after the response, as in a task. */
  #onProgress: ((progress: Progress) => void) | undefined;
  /** Start of the second in which notifications are counted, and their number. */
  #secondStart = -Infinity;
  #count = 0;
  /** The newest progress that is not sent yet. */
  #unsent: JsonObject | undefined;
  /** The number of log messages that were left out. */
  #omissions = 0;
  #warns = false;
  #timer: unknown;

  constructor(call: Call, logLevel: LoggingLevel | undefined) {
    this.#call = call;
    this.#logLevel = logLevel;
  }

  /** Passes progress to `onProgress` from now on, and not to the client. */
  redirectProgress(onProgress: (progress: Progress) => void): void {
    this.#onProgress = onProgress;
  }

  progress({ progress, total, message, _meta }: GivenProgress): void {
    const { meta, encoder } = this.#call;
    const token = meta.progressToken as ProgressToken | undefined;
    const isWanted = token !== undefined || this.#onProgress !== undefined;
    if (!isWanted || !Number.isFinite(progress) || progress <= this.#lastProgress) return;
    this.#lastProgress = progress;
    const params: Progress & JsonObject = { progressToken: token, progress };
    // JavaScript may pass other types, and the result of a division may not be finite.
    if (typeof total === "number" && Number.isFinite(total)) params.total = total;
    if (typeof message === "string") params.message = message;
    checkMetaKeys(_meta, "_meta of progress");
    if (_meta) params._meta = _meta;
    if (this.#onProgress) return this.#onProgress(params);
    this.#unsent = encoder.progress(params);
    if (this.#isWithin()) this.#sendProgress();
  }

  get logger(): Logger {
    this.#logger ??= Object.assign(
      Object.create(logPrototype) as object,
      Object.fromEntries(
        loggingLevels.map((level) => [
          level,
          (data: unknown, logger?: string, _meta?: JsonObject) => this.#log({ level, data, logger, _meta }),
        ]),
      ),
    ) as unknown as Logger;
    return this.#logger;
  }

  /** Sends the progress and the warning that wait. */
  flush(): void {
    this.#call.core.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sendProgress();
    if (this.#omissions > 0 && this.#warns) {
      const data = `${this.#omissions} log messages were dropped (limits.notificationRate).`;
      this.#call.send(Notification.message, { level: "warning", data });
    }
    this.#omissions = 0;
  }

  #log({ level, data, logger, _meta }: GivenLog): void {
    const { core, session } = this.#call;
    const minimum = session ? session.logLevel : this.#logLevel;
    if (minimum === undefined || !isLoggable(level, minimum) || !core.offering.has("logging")) return;
    if (["undefined", "function", "symbol"].includes(typeof data)) {
      return core.report(new TypeError(`log needs JSON data; got ${typeof data}.`), this.#call);
    }
    checkMetaKeys(_meta, "_meta of log");
    const message: LoggingMessage & JsonObject = { level, data };
    if (typeof logger === "string") message.logger = logger;
    if (_meta) message._meta = _meta;
    this.#warns = isLoggable("warning", minimum);
    if (this.#isWithin()) this.#call.send(Notification.message, message);
    else this.#omissions++;
  }

  /** Counts a notification. If it is over the limit, sets the timer that calls `flush`. */
  #isWithin(): boolean {
    const { clock, limits } = this.#call.core;
    const now = clock.now();
    if (now >= this.#secondStart + 1000) {
      this.#secondStart = now;
      this.#count = 0;
    }
    if (++this.#count <= limits.notificationRate) return true;
    this.#timer ??= clock.setTimeout(() => this.flush(), this.#secondStart + 1000 - now);
    return false;
  }

  #sendProgress(): void {
    if (this.#unsent) this.#call.send(Notification.progress, this.#unsent);
    this.#unsent = undefined;
  }
}
