import { type Linked, link, unlessAborted, settlesWithin, linkWithin } from "../../rpc/abort.ts";
import { wakefulClock } from "../../rpc/clock.ts";
import { isPromise } from "../../rpc/awaitable.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { completeType } from "../../mcp/input-required.ts";
import type { Tool } from "../../mcp/tools.ts";
import { isExtensionList } from "../client-capabilities.ts";
import type { ClientExtension, FollowedCall } from "../extension.ts";
import { limitsOf, makeCall, sessionFor, unexpectedType } from "./call.ts";
import type { Call, ClientCore, ExtensionSteps, Next, StoredResult, PendingWork } from "../core.ts";
import { notifyProgress } from "./send-request.ts";
import { findTool } from "./find-tool.ts";

/** Lets the extensions add params to a call and follow its result, if the result is of one of their types. */
async function extend(call: Call, next: Next): Promise<JsonObject> {
  await prepare(call);
  let result: JsonObject;
  let final: JsonObject | undefined;
  try {
    result = await next.step(call, next.next);
    final = await follow(call, result);
  } finally {
    // A task that is not followed may report progress until it ends.
    if (call.options.follow !== false) call.endProgress?.();
  }
  if (final) {
    call.pending = undefined;
    return final;
  }
  const { resultType = completeType } = result;
  if (call.session?.revision.typedResults && resultType !== completeType) throw unexpectedType(call, resultType);
  return result;
}

async function prepare(call: Call): Promise<void> {
  const { core, method, params } = call;
  const { revision, server } = await sessionFor(call);
  const { capabilities } = server;
  const tool = async (): Promise<Tool | undefined> => {
    await findTool(call);
    return core.tools.get(call.params.name)?.tool;
  };
  for (const extension of extensionsOf(core)) {
    const preparing = extension.prepare?.({ method, params: call.params, revision, capabilities, tool });
    const additions = isPromise(preparing) ? await preparedBy(call, preparing) : preparing;
    if (!additions) continue;
    call.params = { ...call.params, ...additions };
    call.paramsOfCaller = params;
  }
}

/** Returns the final result that a result of an extension leads to. Undefined if no extension knows the result. */
async function follow(call: Call, result: JsonObject): Promise<JsonObject | undefined> {
  let scope: Linked | undefined;
  // Almost no result is followed. To make a signal takes more time than all other work of this step.
  const signalOf = (): AbortSignal => (scope ??= link(call.options.signal, call.core.closing)).signal;
  try {
    const request = await followedRequest(call, signalOf);
    for (const extension of extensionsOf(call.core)) {
      const follow = extension.follow?.(result, request);
      if (!follow) continue;
      if (call.options.follow === false) return result;
      const following = follow();
      if (call.options.signal) trackUntilEnd(call.core, following, call.options.signal);
      return await unlessAborted(following, signalOf(), call.what);
    }
    return undefined;
  } finally {
    scope?.unlink();
  }
}

/** Waits for the `prepare` of an extension. Its own waits have the idle limit, and this one has only the total. */
async function preparedBy<T>(call: Call, preparing: Promise<T>): Promise<T> {
  const { core, options, what } = call;
  const { totalLeft, totalTimeout } = limitsOf(call);
  const limit = { clock: core.clock, ms: totalLeft, message: `${what} was not sent within ${totalTimeout} ms.` };
  const { signal, unlink } = linkWithin(limit, options.signal, core.closing);
  try {
    return await unlessAborted(preparing, signal, what);
  } finally {
    unlink();
  }
}

/** Maximum milliseconds that `close` waits for the work of extensions. */
const finishMs = 2_000;

function trackUntilEnd({ pendingWork }: ClientCore, work: Promise<unknown>, signal: AbortSignal | undefined): void {
  const end = work.catch(() => {});
  const entry: PendingWork = { signal, end };
  pendingWork.add(entry);
  void end.finally(() => pendingWork.delete(entry));
}

/**
 * Waits until extensions have ended the calls that their callers aborted, for example with the cancellation of a task. A
 * call that is ended by `close` itself is not waited for: a later process can follow its task.
 */
async function finish({ pendingWork, clock, transports }: ClientCore): Promise<void> {
  const endsAt = clock.now() + finishMs;
  for (;;) {
    // Over HTTP, closing aborts the requests that have no response yet. On a stream they are written already.
    const abortedWork = [...pendingWork].filter(({ signal }) => signal?.aborted ?? transports.kind === "http");
    const timeLeft = endsAt - clock.now();
    if (abortedWork.length === 0 || timeLeft <= 0) return;
    await settlesWithin(Promise.all(abortedWork.map(({ end }) => end)), timeLeft, clock);
  }
}

/** Follows a result that the caller has stored. Undefined if no extension can handle it. */
async function followStored(
  core: ClientCore,
  method: string,
  { result, options }: StoredResult,
): Promise<JsonObject | undefined> {
  const call: Call = makeCall(core, { method, params: {} }, options);
  core.running.add(call);
  try {
    return await follow(call, result);
  } finally {
    core.running.delete(call);
  }
}

async function followedRequest(call: Call, signalOf: () => AbortSignal): Promise<FollowedCall> {
  const { core, method, what, options } = call;
  const { idle, total } = { ...core.options.timeout, ...options.timeout };
  const { revision } = (call.session ??= await sessionFor(call));
  const timeLeft = (): number => Math.max(0, call.endsAt - core.clock.now());
  return {
    method,
    what,
    revision,
    get signal() {
      return signalOf();
    },
    // The server has answered, so the default timeout for the answer does not apply. A timeout of the user does.
    left: total === undefined ? Infinity : timeLeft(),
    clock: core.options.clock ?? wakefulClock,
    send(otherMethod, params, { signal: callSignal } = {}) {
      const request = { method: otherMethod, params };
      const timeout = {
        ...(idle !== undefined && { idle }),
        ...(total !== undefined && callSignal && { total: timeLeft() }),
      };
      const requestOptions = {
        ...(callSignal && { signal: callSignal }),
        ...(options.meta && { meta: options.meta }),
        timeout,
      };
      if (callSignal) return core.sendWithin(request, requestOptions);
      // A request without the signal may be sent after the end of the call, for example to cancel its task. On a stream it is
      // written at once, and when the client is being closed, no other session can be opened for it.
      const isDirect = core.closing.aborted || core.transports.kind === "stream";
      const session = isDirect && call.session?.connection.isOpen ? call.session : undefined;
      const sending = core.sendWithin(request, requestOptions, session);
      trackUntilEnd(core, sending, undefined);
      return sending;
    },
    async answer(inputRequests) {
      const { answersTo } = await core.input();
      const { inputResponses } = await answersTo(call, { inputRequests }, 0);
      return isObject(inputResponses) ? inputResponses : {};
    },
    get progress() {
      return call.progress;
    },
    notifyProgress: (progress) => notifyProgress(call, progress),
    report: (error) => core.report(error),
  };
}

function extensionsOf({ options: { extensions } }: ClientCore): readonly ClientExtension[] {
  return isExtensionList(extensions) ? extensions : [];
}

export const extensionSteps: ExtensionSteps = { extend, followStored, finish };
