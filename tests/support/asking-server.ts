import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import type { Context } from "../../packages/mcparley/src/server/core/context.ts";
import { createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { RawPeer } from "./raw-peer.ts";

/** Makes a server with the tool `ask`, which sends input requests. */
export function serverOf(call: (ctx: Context) => unknown, options: object = {}) {
  return createServer({
    name: "asker",
    version: "1",
    tools: { ask: tool({ call: (_, ctx) => call(ctx) as string }) },
    ...options,
  });
}

/** Returns the first text of a result. */
export const textOf = ({ result }: { result: JsonObject }): unknown =>
  (result.content as { text: string }[] | undefined)?.[0]?.text;

/** Calls the tool and answers the input requests of each round, as a client of the revision does. */
export async function callAnswering(peer: RawPeer, isModern: boolean, answers: Record<string, JsonObject>[]) {
  if (!isModern) {
    const response = peer.request("tools/call", { name: "ask" });
    for (const round of answers) {
      for (const [method, answer] of Object.entries(round)) peer.answer(await peer.nextRequest(method), answer);
    }
    return response;
  }
  let response = await peer.request("tools/call", { name: "ask" });
  for (const round of answers) {
    const { inputRequests, requestState } = response.result as {
      inputRequests: Record<string, { method: string }>;
      requestState: string;
    };
    const inputResponses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, { method }]) => [key, round[method]]),
    );
    response = await peer.request("tools/call", { name: "ask", inputResponses, requestState });
  }
  return response;
}

/** Returns the answer to a form. */
export const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });
