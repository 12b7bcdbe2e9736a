import { type Linked, link } from "../../rpc/abort.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import { Cancelled, Declined, ErrorCode } from "../../mcp/errors.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { Call, CallWatcher, ClientCore } from "../calls/call.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";
import type { Connection } from "./connection.ts";
import { visitsOf } from "./url-visits.ts";

/** Answers a request of a legacy server. Modern servers send none. */
export async function answerRequest(
  core: ClientCore,
  { method, params = {} }: JsonRpcRequest,
  { signal, connection }: { signal: AbortSignal; connection: Connection },
): Promise<JsonObject> {
  if (method === Method.ping) return {};
  // Only a request that a handler answers may stop the time limits of calls.
  const resume = hasHandler(core.options, method) ? connection.pauseTimeouts() : () => {};
  const watched = new WatchedCalls(core.running, signal);
  if (method === Method.elicit && typeof params.elicitationId === "string") visitsOf(core).asked(params.elicitationId);
  try {
    const answer = await core.inputRequests();
    const asker = {
      ...core.inputSource(watched.only, watched.signal),
      progress: progressOf(params, connection, signal),
    };
    return await answer(method, params, asker);
  } catch (error) {
    if (watched.haveEnded && !signal.aborted) return answerOfEnded(method);
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification defines for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
    watched.unwatch();
  }
}

function hasHandler({ elicit, sample, roots }: ConnectOptions, method: string): boolean {
  if (method === Method.elicit) return elicit !== undefined;
  return method === Method.createMessage ? sample !== undefined : method === Method.listRoots && roots !== undefined;
}

/** Returns the function that reports the progress of an answer, if the server has asked for it. */
function progressOf(
  { _meta: meta }: JsonObject,
  connection: Connection,
  signal: AbortSignal,
): InputRequestSource["progress"] {
  const progressToken = isObject(meta) ? meta.progressToken : undefined;
  let last = -Infinity;
  return (progress, total, message) => {
    if (progressToken === undefined || signal.aborted || !Number.isFinite(progress) || progress <= last) return;
    last = progress;
    const params: JsonObject = { progressToken, progress };
    if (Number.isFinite(total)) params.total = total;
    if (typeof message === "string") params.message = message;
    connection.sendNotification(Notification.progress, params);
  };
}

/** Answers a request whose call was aborted. A server that still waits for the answer must not wait without end. */
function answerOfEnded(method: string): JsonObject {
  if (method === Method.elicit) return { action: "cancel" };
  throw new ProtocolError(ErrorCode.InternalError, "The call that this request belongs to was cancelled.");
}

/**
 * The calls that an input request may belong to: all that were in flight when it arrived, because a legacy request does not
 * name its call. It is aborted when all of them have ended and at least one without an answer. If all were answered, the
 * request belongs to no call.
 */
class WatchedCalls implements CallWatcher {
  /** The call, if only one was in flight. */
  readonly only: string | undefined;
  readonly #left: Set<Call>;
  readonly #linked: Linked;
  #isAborted = false;

  constructor(running: ReadonlySet<Call>, signal: AbortSignal) {
    this.#left = new Set(running);
    this.#linked = link(signal);
    const [call, ...others] = running;
    this.only = others.length === 0 ? call?.what : undefined;
    for (const one of running) (one.inputs ??= new Set()).add(this);
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** Whether the request was aborted because its call has ended. */
  get haveEnded(): boolean {
    return this.#isAborted && this.#left.size === 0;
  }

  callEnded(call: Call, isAnswered: boolean): void {
    this.#left.delete(call);
    if (!isAnswered) this.#isAborted = true;
    if (this.haveEnded)
      this.#linked.abort(new LocalError("aborted", `${call.what} has ended, which needed this input.`));
  }

  unwatch(): void {
    this.#linked.unlink();
    for (const call of this.#left) call.inputs?.delete(this);
  }
}
