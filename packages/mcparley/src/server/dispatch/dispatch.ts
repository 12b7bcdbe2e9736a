import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { ProtocolError, invalidParams } from "../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { checkBudget } from "../../schema/budget.ts";
import { InputRequired } from "../core/input-required.ts";
import type { ServerLimits } from "../core/options.ts";
import type { Answer, Call, Reply } from "../core/call.ts";
import { errorReply, resultReply } from "./reply.ts";

// Most calls are answered without waiting for anything. A promise for each step would cost a quarter of the library's share
// of a call (ADR 19), so `answer` and `run` return a value if there is one, and continue in an async function otherwise.

/**
 * Answers a call: runs it, and makes the reply of its result or error. Returns undefined if the client cancelled the call,
 * because nothing may be sent about it then.
 */
export function answer(call: Call): Awaitable<Reply | undefined> {
  try {
    const result = dispatch(call);
    return isPromise(result) ? answerLater(call, result) : resultReply(call, result);
  } catch (error) {
    return errorReply(call, error);
  }
}

async function answerLater(call: Call, pending: Promise<JsonObject | Prepared>): Promise<Reply | undefined> {
  try {
    return resultReply(call, await pending);
  } catch (error) {
    return errorReply(call, error);
  }
}

/** Runs a call to its result, and reports its start and end to the server's observers. */
export function dispatch(call: Call): Awaitable<JsonObject | Prepared> {
  const { observers } = call.core;
  return observers ? observers.then((ready) => ready.call(call, () => run(call))) : run(call);
}

/** Checks the params, and runs the method inside the middleware. */
function run(call: Call): Awaitable<JsonObject | Prepared> {
  checkParams(call.params, call.core.limits);
  if (call.params.requestState !== undefined && !call.session) {
    // A retried request first restores the recorded values of earlier rounds.
    return finishMethod(
      call,
      call.input.then(() => call.core.answerMethod(call)),
    );
  }
  let result: ReturnType<Answer>;
  try {
    result = call.core.answerMethod(call);
  } catch (error) {
    if (!call.startedInput) throw error;
    return finishMethod(call, Promise.reject(error));
  }
  if (isPromise(result) || result instanceof InputRequired || call.startedInput) return finishMethod(call, result);
  return result;
}

/** Waits until the method has a result, or input requests that end the call instead. */
async function finishMethod(call: Call, pending: ReturnType<Answer>): Promise<JsonObject | Prepared> {
  let result: Awaited<ReturnType<Answer>>;
  try {
    result = await pending;
  } catch (error) {
    // An error for the client, such as a missing capability, has precedence over input requests of the same call.
    if (error instanceof ProtocolError) throw error;
    const inputRequests = await (await call.startedInput)?.pendingResult();
    if (inputRequests) return inputRequests;
    throw error;
  }
  if (result instanceof InputRequired)
    return (await call.input).continueWith(result, () => call.core.answerMethod(call));
  const { startedInput } = call;
  return startedInput ? ((await (await startedInput).pendingResult()) ?? result) : result;
}

/** Throws -32602 if params are too deep or too large. Runs before any recursive function reads them. */
export function checkParams(params: JsonObject, limits: ServerLimits): void {
  for (const name in params) {
    const excess = checkBudget(params[name], limits);
    if (excess) throw invalidParams(`params.${name.slice(0, 80)}: ${excess}`);
  }
}
