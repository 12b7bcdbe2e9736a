import { expect } from "vitest";
import { type Client, type JsonObject, tool } from "../library.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";

/** A tool that returns its arguments. */
export const echo = tool({ input: { type: "object" }, call: (input) => JSON.stringify(input) });

/** A tool whose handler fails. */
export const failing = tool({
  call: () => {
    throw new Error("the secret reason");
  },
});

/** A tool that asks the user, on every revision that can. */
export const asking = tool({
  call: async (_, { elicit }) => {
    const { name } = await elicit({
      message: "Who are you?",
      schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return `Hello, ${name}`;
  },
});

/** A tool that asks for the roots, which every revision can. */
export const rooted = tool({ call: async (_, { roots }) => (await roots()).map(({ uri }) => uri).join(" ") });

/** The text of a tool's result. */
export function textOf({ result, error }: RawMessage): string {
  expect(error).toBeUndefined();
  const [block] = result.content as { text: string }[];
  return block?.text ?? "";
}

/** A result that a client takes for that of `prompts/get`. */
export const gotPrompt: JsonObject = { messages: [{ role: "user", content: { type: "text", text: "hi" } }] };

/** A request that a client has sent, of a method that carries nothing else with it. */
export async function requested(
  client: Client,
  server: ScriptedServer,
  options: Parameters<Client["getPrompt"]>[2] = {},
): Promise<{ request: RawMessage; outcome: Promise<unknown> }> {
  const outcome = client.getPrompt("p", {}, options);
  outcome.catch(() => {});
  return { request: await server.request("prompts/get"), outcome };
}
