import { link, unlessAborted } from "../../rpc/abort.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { DEFAULT_IDLE_TIMEOUT, type WaitOptions } from "../../rpc/pending-requests.ts";
import { McpError, ToolError } from "../../mcp/errors.ts";
import type { CallEnd } from "../../mcp/observe.ts";
import type { Session } from "../connect/session.ts";
import type { Call, CallOptions, CallRequest, ClientCore, Next } from "../core.ts";
import { checkTimeouts } from "../options.ts";

/** The end of a chain. No step calls it, since the step before it sends the request. */
export const end: Next = {
  step: ({ what }) => Promise.reject(new Error(`No step sent ${what}.`)),
  get next() {
    return end;
  },
};

/** Maximum number of input requests, or of URLs to visit, in one message of the server. */
export const maxRequests = 100;

/** The total timeout of a call in milliseconds, unless the user sets one. */
export const defaultTotal: number = 30 * 60_000;

export function makeCall(core: ClientCore, { method, params }: CallRequest, options: CallOptions): Call {
  checkTimeouts(options.timeout);
  const name = nameOf(params);
  const totalTimeout = totalOf(core, options);
  return {
    core,
    method,
    params,
    paramsOfCaller: undefined,
    options,
    what: name === undefined ? method : `${method} ${JSON.stringify(name.slice(0, 200))}`,
    session: core.sessions.current,
    totalTimeout,
    endsAt: core.clock.now() + (options.timeBudget?.left ?? totalTimeout),
    isSent: false,
    answers: undefined,
    pending: undefined,
    listGeneration: -1,
    progress: undefined,
    endProgress: undefined,
    watchers: undefined,
  };
}

/** Returns the total timeout of a call in milliseconds. */
export function totalOf(core: ClientCore, { timeout }: CallOptions): number {
  return timeout?.total ?? core.options.timeout?.total ?? defaultTotal;
}

/** The timeouts of the next request of a call, or of the next wait. */
export function limitsOf({ core, options: { timeout }, totalTimeout, endsAt }: Call): {
  idleTimeout: number;
  totalTimeout: number;
  totalLeft: number;
} {
  return {
    idleTimeout: timeout?.idle ?? core.options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT,
    totalTimeout,
    totalLeft: Math.max(0, endsAt - core.clock.now()),
  };
}

/** Waits for something that a call needs, within its timeouts. Rejects if the caller aborts the call or closes the client. */
export function waitFor<T>(call: Call, promise: Promise<T>): Promise<T> {
  const { core, what, options } = call;
  const onPaused = (ms: number): void => void (call.endsAt += ms);
  return waitWithin(core, promise, { what, ...limitsOf(call), signal: options.signal, onPaused });
}

/** Waits for a promise within time limits, which pause while a user is asked. Rejects if the client is closed. */
export async function waitWithin<T>(
  { waits, closing }: Pick<ClientCore, "waits" | "closing">,
  promise: Promise<T>,
  options: WaitOptions,
): Promise<T> {
  const id = waits.nextId();
  promise.then(
    () => waits.settle({ jsonrpc: "2.0", id, result: {} }),
    (error: Error) => waits.fail(id, error),
  );
  if (closing.aborted) throw closing.reason;
  await waits.wait(id, options);
  return promise;
}

/** Runs work of a call with a signal. Rejects, and aborts the signal, when the caller aborts the call or closes the client. */
export async function runAbortable<T>(
  { core, options, what }: Call,
  run: (signal: AbortSignal) => Awaitable<T>,
): Promise<T> {
  const { signal, unlink } = link(options.signal, core.closing);
  try {
    return await unlessAborted(Promise.resolve(run(signal)), signal, what);
  } finally {
    unlink();
  }
}

/** Waits for an answer of the user. The time that it takes does not count towards the total timeout of the call. */
export async function awaitUser<T>(call: Call, answer: Promise<T>): Promise<T> {
  const { clock } = call.core;
  const startTime = clock.now();
  try {
    return await answer;
  } finally {
    call.endsAt += clock.now() - startTime;
  }
}

/** Returns the open session, or opens one within the timeouts of the call. */
export function sessionFor(call: Call): Awaitable<Session> {
  const { core, options } = call;
  const { current } = core.sessions;
  return current && !options.signal?.aborted ? current : waitFor(call, core.sessions.ensure());
}

export function unexpectedType({ what }: Call, resultType: unknown): LocalError {
  const type = JSON.stringify(resultType)?.slice(0, 100);
  return new LocalError("invalid_message", `The result of ${what} has the unexpected resultType ${type}.`);
}

/** Returns how a call ended that failed with `error`. */
export function endOf(error: unknown): Pick<CallEnd, "outcome" | "code"> {
  const code = error instanceof McpError ? error.code : undefined;
  if (error instanceof ToolError) return { outcome: "tool_error", code };
  if (code === "timeout") return { outcome: "timeout", code };
  const isCancelled = code === "aborted" || code === "declined" || code === "cancelled";
  return { outcome: isCancelled ? "cancelled" : "error", code };
}

/** Returns the tool, prompt or URI that a request names. */
export function nameOf({ name, uri }: JsonObject): string | undefined {
  const subject = name ?? uri;
  return typeof subject === "string" ? subject : undefined;
}
