import { type Linked, link, pause, unlessAborted } from "../../rpc/abort.ts";
import { wakefulClock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import { visitsOf } from "../connect/url-visits.ts";
import { type Call, untimed } from "./call.ts";

/** Maximum number of input requests, or of URLs to visit, in one message of the server. */
const maxRequests = 100;

/** Answers the input requests in a result. Returns the params of the next round: the answers and the unchanged state. */
export async function answersTo(call: Call, result: JsonObject, round: number): Promise<JsonObject> {
  const { core, options } = call;
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string") {
    throw invalidInput(call, "its requestState is no string");
  }
  const state: JsonObject = requestState === undefined ? {} : { requestState };
  const linked = link(options.signal, core.closing);
  try {
    if (inputRequests !== undefined) {
      return { inputResponses: await untimed(call, answerAll(call, inputRequests, linked)), ...state };
    }
    if (requestState === undefined) throw invalidInput(call, "it has neither inputRequests nor a requestState");
    // The server only wants the state back, for example because it is busy. The pause grows with each round.
    const delay = Math.min(5000, 50 * 2 ** round);
    if (round > 0) await pause(core.options.clock ?? wakefulClock, delay, linked.signal);
    return state;
  } finally {
    linked.unlink();
  }
}

async function answerAll(call: Call, requests: unknown, linked: Linked): Promise<JsonObject> {
  if (!isObject(requests)) throw invalidInput(call, "its inputRequests are no object");
  const entries = Object.entries(requests);
  if (entries.length > maxRequests) throw invalidInput(call, `it has more than ${maxRequests} input requests`);
  const answers = entries.map(async ([key, request]) => [key, await answerOne(call, request, linked.signal)] as const);
  try {
    return Object.fromEntries(await unlessAborted(Promise.all(answers), linked.signal, call.what));
  } catch (error) {
    // The answers of the other handlers are no longer needed. A handler that ignores its signal is not waited for.
    linked.abort(error);
    throw error;
  }
}

async function answerOne(call: Call, request: unknown, signal: AbortSignal): Promise<JsonObject> {
  if (!isObject(request) || typeof request.method !== "string")
    throw invalidInput(call, "an input request has no method");
  const { method, params } = request;
  const answer = await call.core.inputRequests();
  try {
    return await answer(method, isObject(params) ? params : {}, call.core.inputSource(call.what, signal));
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalidInput(call, `its input request ${method.slice(0, 100)} is refused: ${error.message}`, error);
  }
}

function invalidInput(call: Call, why: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", `The server asks for input to ${call.what}, but ${why}.`, { cause });
}

/**
 * Sends the user to the URLs that a call needs, one after another, and waits until the server announces that all visits are
 * complete, for as long as the call has time (2025-11-25, client/elicitation).
 */
export async function visitUrls(call: Call, refused: ProtocolError): Promise<void> {
  const { core, what } = call;
  const wanted = readVisits(refused);
  const answer = await core.inputRequests();
  const linked = link(call.options.signal, core.closing);
  // Expected before the user is asked, since a visit may be complete before the last answer.
  const announced = visitsOf(core);
  const visits = Promise.all(wanted.map(({ elicitationId }) => announced.expect(elicitationId)));
  try {
    for (const params of wanted) {
      const asked = answer(Method.elicit, { ...params }, core.inputSource(what, linked.signal));
      const { action } = await untimed(call, asked);
      if (action === "decline") throw new Declined();
      if (action === "cancel") throw new Cancelled();
    }
    const left = Math.max(0, call.endsAt - core.clock.now());
    const isDone = await Promise.race([
      visits.then(() => true),
      pause(core.clock, left, linked.signal).then(() => false),
    ]);
    if (!isDone) throw new LocalError("timeout", `${what}: the server did not announce that the visit is complete.`);
  } finally {
    linked.abort(undefined);
    linked.unlink();
    for (const { elicitationId } of wanted) announced.cancel(elicitationId);
  }
}

type Visit = JsonObject & { elicitationId: string };

function readVisits(refused: ProtocolError): readonly Visit[] {
  const wanted: unknown = isObject(refused.data) ? refused.data.elicitations : undefined;
  if (Array.isArray(wanted) && wanted.length > 0 && wanted.length <= maxRequests && wanted.every(isVisit))
    return wanted;
  throw refused;
}

function isVisit(visit: unknown): visit is Visit {
  return isObject(visit) && visit.mode === "url" && typeof visit.elicitationId === "string";
}
