import { type ConnectOptions, connect } from "mcparley/client";
import { type JsonObject, type ScriptedPeer, discoverResult, scriptedPeer } from "mcparley/testing";
import type { CommandIo } from "../../terminal/io.ts";

/** The error or the result with which a scripted server answers a method. */
export type Scripted = { error: { code: number; message: string } } | { result: JsonObject };

const page = { resultType: "complete", ttlMs: 0, cacheScope: "public" };

/** Answers of a server that has one entry in each list. */
export const oneOfEach: Record<string, Scripted> = {
  "tools/list": { result: { ...page, tools: [{ name: "a_tool", inputSchema: { type: "object" } }] } },
  "prompts/list": { result: { ...page, prompts: [{ name: "a_prompt" }] } },
  "resources/list": { result: { ...page, resources: [{ uri: "note://a_resource", name: "a_resource" }] } },
  "resources/templates/list": {
    result: { ...page, resourceTemplates: [{ uriTemplate: "note://{a_template}", name: "a_template" }] },
  },
};

/** Returns a `connect` that leads to a scripted server with these answers. The server declares every capability. */
export function connectToScript(answers: Record<string, Scripted>, capabilities?: JsonObject): CommandIo["connect"] {
  const peer = scriptedPeer({ "server/discover": () => discoverResult(capabilities) });
  void answerAll(peer, answers);
  return (_target: unknown, options?: ConnectOptions) => connect(peer.transport, options);
}

async function answerAll(peer: ScriptedPeer, answers: Record<string, Scripted>): Promise<void> {
  while (!peer.isClosed) {
    const message = await peer.next();
    if (!("method" in message) || !("id" in message)) continue;
    const answer = answers[message.method];
    if (answer && "result" in answer) peer.answer(message, answer.result);
    else peer.refuse(message, answer?.error ?? { code: -32601, message: "Method not found" });
  }
}
