import { type Linked, link, pause, unlessAborted } from "../../rpc/abort.ts";
import { wakefulClock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { maxRequests, awaitUser } from "../calls/call.ts";
import type { Call, InputAnswers } from "../core.ts";
import type { ConnectOptions } from "../options.ts";
import { inputRequests } from "./input-requests.ts";

/** Makes the functions that answer the requests of a server for input. `report` receives errors that reject nothing. */
export function inputAnswers(options: ConnectOptions, report: (error: Error) => void): InputAnswers {
  return { answer: inputRequests(options, report), answersTo };
}

/** Answers the input requests in a result. Returns the params of the next round: the answers and the unchanged state. */
async function answersTo(call: Call, result: JsonObject, round: number): Promise<JsonObject> {
  const { core, options } = call;
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string") {
    throw invalidInput(call, "its requestState is not a string");
  }
  const state: JsonObject = requestState === undefined ? {} : { requestState };
  const scope = link(options.signal, core.closing);
  try {
    if (inputRequests !== undefined) {
      return { inputResponses: await awaitUser(call, answerAll(call, inputRequests, scope)), ...state };
    }
    if (requestState === undefined) throw invalidInput(call, "it has neither inputRequests nor a requestState");
    // The server only wants the state back, for example because it is busy. The pause grows with each round.
    const delay = Math.min(5000, 50 * 2 ** round);
    if (round > 0) await pause(core.options.clock ?? wakefulClock, delay, scope.signal);
    return state;
  } finally {
    scope.unlink();
  }
}

async function answerAll(call: Call, requests: unknown, scope: Linked): Promise<JsonObject> {
  if (!isObject(requests)) throw invalidInput(call, "its inputRequests are not an object");
  const entries = Object.entries(requests);
  if (entries.length > maxRequests) throw invalidInput(call, `it has more than ${maxRequests} input requests`);
  const answers = entries.map(async ([key, request]) => [key, await answerOne(call, request, scope.signal)] as const);
  try {
    return Object.fromEntries(await unlessAborted(Promise.all(answers), scope.signal, call.what));
  } catch (error) {
    // The answers of the other handlers are no longer needed. A handler that ignores its signal is not waited for.
    scope.abort(error);
    throw error;
  }
}

async function answerOne(call: Call, request: unknown, signal: AbortSignal): Promise<JsonObject> {
  if (!isObject(request) || typeof request.method !== "string")
    throw invalidInput(call, "an input request has no method");
  const { method, params } = request;
  const { answer } = await call.core.input();
  try {
    return await answer(method, isObject(params) ? params : {}, call.core.inputSource(call.what, signal));
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidInput(call, `its input request ${method.slice(0, 100)} is invalid: ${error.message}`, error);
  }
}

function invalidInput(call: Call, why: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", `The input_required result of ${call.what} is invalid: ${why}.`, { cause });
}
