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

/** A tool that elicits a name. */
export const asking = tool({
  call: async (_, { elicit }) => {
    const { name } = await elicit({
      message: "Who are you?",
      schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return `Hello, ${name}`;
  },
});

/** A tool that requests the roots. */
export const rooted = tool({ call: async (_, { roots }) => (await roots()).map(({ uri }) => uri).join(" ") });

/** The text of a tool's result. */
export function textOf({ result, error }: RawMessage): string {
  expect(error).toBeUndefined();
  const [block] = result.content as { text: string }[];
  return block?.text ?? "";
}

/** A valid result of `prompts/get`. */
export const gotPrompt: JsonObject = { messages: [{ role: "user", content: { type: "text", text: "hi" } }] };

/** Sends a request whose method has no further side effects, and returns it. */
export async function requested(
  client: Client,
  server: ScriptedServer,
  options: Parameters<Client["getPrompt"]>[2] = {},
): Promise<{ request: RawMessage; outcome: Promise<unknown> }> {
  const outcome = client.getPrompt("p", {}, options);
  outcome.catch(() => {});
  return { request: await server.request("prompts/get"), outcome };
}
