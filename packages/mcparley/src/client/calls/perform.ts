import { abortedError, link } from "../../rpc/abort.ts";
import { isPromise } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { guarded } from "../../rpc/guarded.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { mayRequireInput, completeType, inputRequiredType } from "../../mcp/input-required.ts";
import { Method } from "../../mcp/methods.ts";
import type { CallRecord } from "../../mcp/observe.ts";
import type { Session } from "../connect/session.ts";
import type { Call, CallOptions, CallRequest, ClientCore, Next, Step } from "../core.ts";
import { defaultTotal, end, endOf, makeCall, nameOf, unexpectedType, waitFor } from "./call.ts";
import { isCapable, requireSendable, requireSession } from "./check-request.ts";
import { confirm, observe } from "./observe.ts";
import { explain, repair } from "./repair.ts";
import { sendRequest } from "./send-request.ts";

/** Number of calls in flight above which further calls wait before they are made, if the transport limits requests. */
const manyCalls = 100;

/** The steps that may come before the request, in their order. A call has only the steps that concern it. */
const firstSteps: readonly { step: Step; concerns: (call: Call) => boolean }[] = [
  { step: fromCache, concerns: ({ core, method }) => core.cache?.covers(method) === true },
  {
    step: requireSession,
    concerns: ({ session, method, options }) =>
      !session || options.signal?.aborted === true || !isCapable(session, method),
  },
  {
    step: takeTurn,
    concerns: ({ core, session }) => core.running.size > manyCalls && session?.connection.hasTurns === true,
  },
  { step: observe, concerns: ({ core }) => core.options.observers !== undefined },
  { step: extend, concerns: ({ core }) => core.extensions !== undefined },
  {
    step: confirm,
    concerns: ({ core, method }) => core.options.confirm !== undefined && method === Method.callTool,
  },
];

/** The steps of each call. */
const lastSteps: Next = { step: answerInput, next: { step: repair, next: { step: sendRequest, next: end } } };

/** Returns the steps that concern a call. */
function stepsOf(call: Call): Next {
  let steps = lastSteps;
  for (let index = firstSteps.length - 1; index >= 0; index--) {
    const { step, concerns } = firstSteps[index]!;
    if (concerns(call)) steps = { step, next: steps };
  }
  return steps;
}

/** Makes one call and returns its final result. */
export async function perform(core: ClientCore, request: CallRequest, options: CallOptions = {}): Promise<JsonObject> {
  const call = makeCall(core, request, options);
  const startTime = core.clock.now();
  let callEnd: Pick<CallRecord, "outcome" | "code"> = { outcome: "ok", code: undefined };
  core.running.add(call);
  try {
    requireSendable(call);
    const first = stepsOf(call);
    const result = await first.step(call, first.next);
    const checking = request.checksResult && checkAgainstSchema(call, result);
    if (checking) await checking;
    if (call.method === Method.callTool && result.isError === true)
      callEnd = { outcome: "tool_error", code: undefined };
    return result;
  } catch (error) {
    callEnd = endOf(error);
    throw error;
  } finally {
    core.running.delete(call);
    if (call.options.timeBudget) call.options.timeBudget.left = call.endsAt - core.clock.now();
    const isAnswered = typeof callEnd.code !== "string";
    call.watchers?.forEach((watcher) => watcher(call, isAnswered));
    record(core, call, { at: startTime, ...callEnd });
  }
}

/** Calls `onCall` with the record of a finished call. */
function record(
  core: ClientCore,
  { method, params }: Call,
  callEnd: Pick<CallRecord, "at" | "outcome" | "code">,
): void {
  const { clock, transports, sessions, options } = core;
  const { onCall } = options;
  if (!onCall) return;
  const callRecord: CallRecord = {
    kind: "call",
    ...callEnd,
    durationMs: clock.now() - callEnd.at,
    method,
    name: nameOf(params),
    target: transports.target,
    revision: sessions.current?.revision.version,
  };
  guarded(() => onCall(callRecord), core.report);
}

/** Answers a call with a fresh cached result, or caches its result. */
async function fromCache(call: Call, next: Next): Promise<JsonObject> {
  const { core, method, params, options } = call;
  const { cache, sessions } = core;
  const key = cache?.keyOf(method, params);
  if (!cache || key === undefined) return next.step(call, next.next);
  if (!options.fresh && !options.signal?.aborted && !sessions.isClosed) {
    const entry = cache.get(key);
    // If the cache has no entry, nothing is awaited. So calls are sent in the order in which they were made.
    const cachedResult = isPromise(entry) ? await waitFor(call, entry) : entry;
    if (cachedResult) return cachedResult;
  }
  const pending = (call.pending = cache.begin(call, key));
  try {
    const result = await next.step(call, next.next);
    if (call.pending) cache.put(pending, result);
    return result;
  } finally {
    cache.end(pending);
  }
}

/** Waits until the connection has room for a call. Its timeouts begin after it. */
async function takeTurn(call: Call, next: Next): Promise<JsonObject> {
  const { core, session, options, what } = call;
  const { signal, unlink } = options.signal ? link(options.signal, core.closing) : { signal: core.closing };
  const startTime = core.clock.now();
  try {
    await session?.connection.turn(signal);
  } catch (error) {
    throw signal.aborted ? abortedError(what, signal) : explain(call, error);
  } finally {
    unlink?.();
  }
  call.endsAt += core.clock.now() - startTime;
  return next.step(call, next.next);
}

function extend(call: Call, next: Next): Promise<JsonObject> {
  return call.core.extensions?.extend(call, next) ?? next.step(call, next.next);
}

/** Checks the result of a tool that was listed with an output schema. The result of a failed tool is not checked. */
function checkAgainstSchema(call: Call, result: JsonObject): Promise<void> | undefined {
  const knownTool = call.core.tools.get(call.params.name);
  if (!knownTool?.tool.outputSchema || result.isError) return undefined;
  // The evaluator of JSON Schemas is too large for the start, and many tools have no output schema.
  return import("./check-result.ts").then(({ checkResult }) => checkResult(call, knownTool, result));
}

/** Maximum number of rounds in which a server may ask for more input to one call. */
const maxRounds = 32;

/** Answers the input requests in a result, and sends the call again with the answers (2026-07-28, basic/patterns/mrtr). */
async function answerInput(call: Call, next: Next): Promise<JsonObject> {
  for (let round = 0; round < maxRounds; round++) {
    const result = await next.step(call, next.next);
    if (!wantsInput(call, result)) return result;
    const { answersTo } = await call.core.input();
    call.answers = await answersTo(call, result, round);
  }
  throw new LocalError("invalid_message", `The server requested input for ${call.what} more than ${maxRounds} times.`);
}

/** Whether a result asks for input. Throws if its type is unknown, or not allowed for the method. */
function wantsInput(call: Call, { resultType = completeType }: JsonObject): boolean {
  const { core, method, session } = call;
  if (!session?.revision.typedResults || resultType === completeType) return false;
  // The step `extend` checks the types of extensions. If they are only declared, the caller handles their results.
  if (resultType !== inputRequiredType && core.options.extensions) return false;
  const isAllowed = mayRequireInput.has(method) || !session.revision.clientRequests.has(method);
  if (resultType === inputRequiredType && isAllowed) return true;
  throw unexpectedType(call, resultType);
}

/**
 * Sends a request on behalf of a call of the user. It has no other steps than a repair. With a session, it is not repaired.
 */
export async function sendWithin(call: Call, session: Session | undefined): Promise<JsonObject> {
  // The timeout of the client's options is for the whole call of the user.
  const totalTimeout = call.options.timeout?.total ?? defaultTotal;
  const limits = { totalTimeout, endsAt: call.core.clock.now() + totalTimeout };
  if (session) return sendRequest({ ...call, ...limits, session });
  return repair({ ...call, ...limits }, { step: sendRequest, next: end });
}
