import type { Client, JsonObject, JsonRpcErrorBody } from "../library.ts";
import { type RawMessage, isRequest, isResponse } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { gotPrompt, requested } from "./subjects.ts";
import type { World } from "./world.ts";

/** An input request of a server in any revision, and the function that answers it. */
export interface Asked {
  method: string;
  params: JsonObject;
  /** Answers it, and waits for the outcome of the call. */
  answer(result: JsonObject): Promise<RawMessage>;
}

/** Makes a call and waits for the one input request of its handler: a request in a session, a result without one. */
export async function askedBy(world: World, peer: RawPeer, method: string, params: JsonObject): Promise<Asked> {
  if (!world.isModern) {
    const id = peer.start(method, params);
    const request = await peer.next(isRequest);
    const answer = (result: JsonObject): Promise<RawMessage> => {
      peer.answer(request, result);
      return peer.response(id);
    };
    return { method: request.method, params: request.params, answer };
  }
  const { result } = await peer.request(method, params);
  const { inputRequests, requestState } = result as { inputRequests: Record<string, RawMessage>; requestState: string };
  const [[key, question] = ["", undefined]] = Object.entries(inputRequests);
  const answer = (given: JsonObject): Promise<RawMessage> =>
    peer.request(method, { ...params, inputResponses: { [key]: given }, requestState });
  return { method: question!.method, params: question!.params, answer };
}

/** Calls the tool `name` as `askedBy` does. */
export function askedByTool(world: World, peer: RawPeer, name: string): Promise<Asked> {
  return askedBy(world, peer, "tools/call", { name });
}

/** The answer of a client to an input request. Exactly one member is set. */
export interface Answered {
  result: JsonObject | undefined;
  /** The error that the client sent to the server. Modern clients send no errors. */
  error: JsonRpcErrorBody | undefined;
  /** The error of the call, if the revision cannot send one to the server. */
  failure: unknown;
}

const none: Answered = { result: undefined, error: undefined, failure: undefined };

/** Sends an input request in the form of the revision, and waits for the answer. */
export async function ask(
  world: World,
  { client, server }: { client: Client; server: ScriptedServer },
  method: string,
  params: JsonObject = {},
): Promise<Answered> {
  const { request, outcome } = await requested(client, server);
  if (!world.isModern) {
    const id = `question to ${String(request.id)}`;
    server.send({ jsonrpc: "2.0", id, method, params }, request);
    const { result, error } = await server.next((message) => isResponse(message) && message.id === id);
    server.answer(request, gotPrompt);
    await outcome;
    return { ...none, result, error };
  }
  server.answer(request, { resultType: "input_required", inputRequests: { q: { method, params } } });
  const failed = outcome.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  const retried = server.request("prompts/get");
  const first = await Promise.race([retried, failed.then((failure) => ({ failure }))]);
  if ("failure" in first) return { ...none, failure: first.failure };
  server.answer(first, gotPrompt);
  await outcome;
  return { ...none, result: (first.params.inputResponses as Record<string, JsonObject>).q };
}

/** Checks that an input request was refused: with this error, or by the end of its call if the revision cannot send one. */
export function expectRefused({ result, error, failure }: Answered, code: number): void {
  if (result !== undefined) throw new Error(`The question was answered: ${JSON.stringify(result)}`);
  if (error !== undefined && error.code !== code) throw new Error(`The question was refused with ${error.code}.`);
  if (error !== undefined) return;
  // A handler that was called may also fail. Only refusals of the client itself have this code.
  const { code: why } = (failure ?? {}) as { code?: unknown };
  if (why !== "invalid_message") throw new Error(`The question was not refused: ${String(failure)}`);
}
