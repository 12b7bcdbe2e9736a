import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { type Linked, link, pause, unlessAborted } from "../../rpc/abort.ts";
import type { Call, ClientCore } from "./call.ts";
import { wakefulClock } from "../connect/wakeful-clock.ts";

const maxQuestions = 100;

/** Gathers what a result asks for, and gives what the retry carries: the answers and the state, as they are. */
export async function answersTo(core: ClientCore, call: Call, result: JsonObject, round: number): Promise<JsonObject> {
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string")
    throw invalid(call, "its requestState is no string");
  const state: JsonObject = requestState === undefined ? {} : { requestState };
  const linked = link(call.options.signal, core.closing);
  try {
    if (inputRequests !== undefined) {
      return { inputResponses: await answerAll(core, call, inputRequests, linked), ...state };
    }
    if (requestState === undefined) throw invalid(call, "it has neither inputRequests nor a requestState");
    // The server only wants the state back, as when it is busy: not at once each time.
    if (round > 0) await pause(wakefulClock(core.options.clock), Math.min(5000, 50 * 2 ** round), linked.signal);
    return state;
  } finally {
    linked.unlink();
  }
}

async function answerAll(core: ClientCore, call: Call, requests: unknown, linked: Linked): Promise<JsonObject> {
  if (!isObject(requests)) throw invalid(call, "its inputRequests are no object");
  const entries = Object.entries(requests);
  if (entries.length > maxQuestions) throw invalid(call, `it asks more than ${maxQuestions} questions`);
  const answers = entries.map(
    async ([key, request]) => [key, await answer(core, call, request, linked.signal)] as const,
  );
  try {
    return Object.fromEntries(await unlessAborted(Promise.all(answers), linked.signal, call.what));
  } catch (error) {
    // Whoever is still being asked need not answer any more.
    linked.abort(error);
    await Promise.allSettled(answers);
    throw error;
  }
}

async function answer(core: ClientCore, call: Call, request: unknown, signal: AbortSignal): Promise<JsonObject> {
  if (!isObject(request) || typeof request.method !== "string") throw invalid(call, "a question has no method");
  const { method, params } = request;
  try {
    return await (await core.questions()).answer(method, isObject(params) ? params : {}, core.asker(call.what, signal));
  } catch (error) {
    if (error instanceof ProtocolError)
      throw invalid(call, `its question ${method.slice(0, 100)} is refused: ${error.message}`, error);
    throw error;
  }
}

function invalid(call: Call, why: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", `The server asks for input to ${call.what}, but ${why}.`, { cause });
}
