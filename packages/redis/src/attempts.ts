import { type Clock, LocalError } from "mcparley";

/** Milliseconds before the second attempt. The pause doubles for each further attempt, up to `longestPause`. */
const firstPause = 20;
const longestPause = 250;

export interface Attempt {
  /** Milliseconds left for this attempt. */
  timeLeft: number;
  /** Whether an earlier attempt may have taken effect although its reply was lost. */
  isRetry: boolean;
}

/** Retries operations after transient failures, until the time limit of the operation. */
export class Attempts {
  readonly #limit: number;
  readonly #clock: Clock;
  #isClosed = false;

  /** `limit` is the time limit of an operation in milliseconds. */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Rejects with `store_unavailable` after the time limit or if the server refuses, and with `closed` after `close`. */
  async run<T>(operation: string, attempt: (attempt: Attempt) => Promise<T>): Promise<T> {
    const clock = this.#clock;
    const end = clock.now() + this.#limit;
    let failure: unknown;
    for (let pause = firstPause, isRetry = false; ; pause = Math.min(longestPause, 2 * pause), isRetry = true) {
      if (this.#isClosed) throw new LocalError("closed", "The store was closed.");
      const timeLeft = end - clock.now();
      if (timeLeft <= 0) throw unavailable(operation, failure, this.#limit);
      try {
        return await withTimeout(attempt({ timeLeft, isRetry }), timeLeft, clock);
      } catch (error) {
        // The error of another operation that the attempt contains.
        if (error instanceof LocalError) throw error;
        if (isRefusal(error)) throw refusalError(operation, error);
        // On a timeout (undefined), keep the previous failure: it is a more useful cause.
        failure = error ?? failure;
      }
      await new Promise<void>((resolve) => clock.setTimeout(resolve, Math.min(pause, end - clock.now())));
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Rejects with undefined after `ms` milliseconds. */
function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(undefined), ms);
    work.then(resolve, reject).finally(() => clock.clearTimeout(timer));
  });
}

/** Transient replies: the server is starting, failing over or busy, and a retry may succeed. */
const transientReply = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|BUSY) /;
/** Error replies of Redis start with an error code in capitals. Connection errors do not. */
const errorReply = /^[A-Z]{2,} /;

/** Returns whether an error is a reply of the server that a retry would not change. */
function isRefusal(error: unknown): boolean {
  const text = textOf(error);
  return errorReply.test(text) && !transientReply.test(text);
}

/** Returns the text of an error reply or a connection error. */
export function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0]);
  return error instanceof Error ? error.message : "";
}

/** Returns the text of an error without keys and values, which clients attach to their errors. */
function withoutValues(error: unknown): string {
  return textOf(error).replaceAll(/(["'`]).*?\1/gs, "$1…$1");
}

function unavailable(operation: string, cause: unknown, limit: number): LocalError {
  const why = withoutValues(cause) || "no reply arrived";
  return new LocalError("store_unavailable", `Redis was unavailable for ${limit} ms (${operation}): ${why}.`);
}

const cures: Record<string, string> = {
  OOM: "Raise maxmemory of Redis, or store values with shorter lifetimes.",
  NOAUTH: "Connect the client with a user and password.",
  WRONGPASS: "Connect the client with another user or password.",
  NOPERM:
    "Allow the Redis user GET, SET, DEL, EVAL, EVALSHA, XADD, XRANGE, XREVRANGE, PEXPIRE, PUBLISH, SUBSCRIBE and UNSUBSCRIBE " +
    "on the prefix, and PING.",
  MISCONF: "Redis cannot write to its disk.",
  WRONGTYPE: "Another program uses the same keys: set another prefix in redisStore.",
};

function refusalError(operation: string, cause: unknown): LocalError {
  const reason = withoutValues(cause);
  const [code = ""] = reason.split(" ");
  const isAuthentication = code === "NOAUTH" || code === "WRONGPASS";
  const fact = isAuthentication ? `Redis authentication failed (${operation})` : `Redis refused ${operation}`;
  const end = reason.endsWith(".") ? "" : ".";
  const cure = cures[code] === undefined ? "" : ` ${cures[code]}`;
  return new LocalError("store_unavailable", `${fact}: ${reason}${end}${cure}`);
}
