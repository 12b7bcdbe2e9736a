import { type RunningHttpServer, listen } from "mcparley/node";
import { createServer, prompt } from "mcparley/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type OfficialClient, connectFirst, connectSecond } from "./official-clients.ts";

const review = prompt({
  description: "Asks for a review.",
  arguments: {
    code: z.string().describe("The code to review"),
    findings: z.number().int().min(1).default(5),
    language: z.enum(["python", "rust"]).optional(),
  },
  get: ({ code, findings, language }) => `${findings + 1} ${language} ${code}`,
});

let server: RunningHttpServer;
beforeAll(async () => {
  server = await listen(createServer({ name: "reviews", version: "1.0.0", prompts: { review } }), { port: 0 });
});
afterAll(() => server.close());

describe.each([
  ["@modelcontextprotocol/sdk (v1)", () => connectFirst({ url: server.url })],
  ["@modelcontextprotocol/client (v2), legacy revision", () => connectSecond({ url: server.url }, "legacy")],
  ["@modelcontextprotocol/client (v2), modern revision", () => connectSecond({ url: server.url }, "modern")],
] as const)("a prompt whose arguments are schemas, with %s", (_name, connect) => {
  let client: OfficialClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test("is listed, completed and got", async () => {
    expect(await client.listPrompts()).toMatchObject([
      {
        name: "review",
        description: "Asks for a review.",
        arguments: [
          { name: "code", description: "The code to review", required: true },
          { name: "findings" },
          { name: "language" },
        ],
      },
    ]);
    expect(await client.complete("review", "language", "py")).toEqual(["python"]);
    const { messages } = await client.getPrompt("review", { code: "x", findings: "2", language: "rust" });
    expect(messages).toMatchObject([{ role: "user", content: { type: "text", text: "3 rust x" } }]);
  });

  test("is refused with the name of an argument that is missing or invalid", async () => {
    await expect(client.getPrompt("review", {})).rejects.toThrow(/code/);
    await expect(client.getPrompt("review", { code: "x", findings: "many" })).rejects.toThrow(/findings/);
    await expect(client.getPrompt("review", { code: "x", language: "go" })).rejects.toThrow(/language/);
  });
});
