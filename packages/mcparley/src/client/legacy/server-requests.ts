import { link } from "../../rpc/abort.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type JsonRpcRequest, isObject } from "../../rpc/messages.ts";
import { Cancelled, Declined, ErrorCode } from "../../mcp/errors.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { Call, CallWatcher, ClientCore } from "../core.ts";
import type { InputRequestSource, ConnectOptions } from "../options.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import { visitsOf } from "./url-visits.ts";

/** Answers a request of a legacy server. Modern servers send none. */
export async function answerRequest(
  core: ClientCore,
  { method, params = {} }: JsonRpcRequest,
  { signal, connection }: { signal: AbortSignal; connection: ClientConnection },
): Promise<JsonObject> {
  if (method === Method.ping) return {};
  // Only a request that a handler answers may stop the time limits of calls.
  const resume = hasHandler(core.options, method) ? connection.pauseTimeouts() : () => {};
  const calls = watchCalls(core.running, signal);
  const { elicitationId } = params;
  if (method === Method.elicit && typeof elicitationId === "string") visitsOf(core).noteRequest(elicitationId);
  try {
    const { answer } = await core.input();
    const progress = progressOf(params, connection, signal);
    return await answer(method, params, { ...core.inputSource(calls.only, calls.signal), progress });
  } catch (error) {
    if (calls.haveEnded() && !signal.aborted) {
      // A server that still waits for the answer must not wait without end.
      if (method === Method.elicit) return { action: "cancel" };
      throw new ProtocolError(ErrorCode.InternalError, "The call that this request belongs to was cancelled.");
    }
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification defines for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
    calls.unwatch();
  }
}

function hasHandler({ elicit, sample, roots }: ConnectOptions, method: string): boolean {
  if (method === Method.elicit) return elicit !== undefined;
  return method === Method.createMessage ? sample !== undefined : method === Method.listRoots && roots !== undefined;
}

/** Returns the function that reports the progress of an answer, if the server has asked for it. */
function progressOf(
  { _meta: meta }: JsonObject,
  connection: ClientConnection,
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

/** The calls that an input request may belong to. */
interface WatchedCalls {
  /** The call, if only one was in flight. */
  readonly only: string | undefined;
  /** Aborted with the request, and when the request belongs to no call any more. */
  readonly signal: AbortSignal;
  /** Returns whether the request was aborted because its call has ended. */
  haveEnded(): boolean;
  unwatch(): void;
}

/**
 * Watches all calls in flight, because a legacy request does not name its call. The request is aborted when all of them
 * have ended and at least one without an answer. If all were answered, the request belongs to no call.
 */
function watchCalls(running: ReadonlySet<Call>, signal: AbortSignal): WatchedCalls {
  const openCalls = new Set(running);
  const scope = link(signal);
  const [first, ...otherCalls] = running;
  let isAborted = false;
  const haveEnded = (): boolean => isAborted && openCalls.size === 0;
  const watcher: CallWatcher = (call, isAnswered) => {
    openCalls.delete(call);
    if (!isAnswered) isAborted = true;
    if (haveEnded()) scope.abort(new LocalError("aborted", `${call.what}, which needed this input, has ended.`));
  };
  for (const call of running) (call.watchers ??= new Set()).add(watcher);
  return {
    only: otherCalls.length === 0 ? first?.what : undefined,
    signal: scope.signal,
    haveEnded,
    unwatch() {
      scope.unlink();
      for (const call of openCalls) call.watchers?.delete(watcher);
    },
  };
}
