import { describe, expect, test } from "vitest";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { Client } from "../client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";

const text = (value: string): JsonObject => ({ type: "text", text: value });
const image = { type: "image", data: "aa", mimeType: "image/png" };

async function clientOf(result: JsonObject, outputSchema?: unknown): Promise<Client> {
  const listed = { name: "a", inputSchema: { type: "object" }, ...(outputSchema !== undefined && { outputSchema }) };
  const peer = modernPeer({ answers: { "tools/call": () => result, "tools/list": () => ({ tools: [listed] }) } });
  return openClient(peerTransports(peer));
}

describe("the value of a call", () => {
  test.each([
    ["structured content", { content: [text("{}")], structuredContent: { a: 1 } }, { a: 1 }],
    ["structured content that is not an object", { content: [text("0")], structuredContent: 0 }, 0],
    ["structured content that is null", { content: [], structuredContent: null }, null],
    ["text", { content: [text("a"), text("b")] }, "a\nb"],
    ["content", { content: [text("a"), image] }, [text("a"), image]],
    ["nothing", { content: [] }, []],
    ["no content", {}, []],
    ["content that is null", { content: null }, []],
    ["a text in place of the list", { content: "a" }, "a"],
    ["a block in place of the list", { content: text("a") }, "a"],
    ["a list with a block that is null", { content: [null, text("a")] }, [null, text("a")]],
  ])("is %s", async (_, result, value) => {
    expect(await (await clientOf(result)).callTool("a")).toEqual(value);
  });

  test("a tool error is thrown with its text and the complete result", async () => {
    const result = { content: [text("no such"), image, text("city")], isError: true };
    const client = await clientOf(result);
    const error = await client.callTool("a").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({ message: "no such\ncity", result });
    expect(await client.callToolResult("a")).toEqual(result);
  });

  test("a tool error without text has a default message", async () => {
    await expect((await clientOf({ content: [], isError: true })).callTool("a")).rejects.toThrow(
      'The tool "a" failed without an error message.',
    );
  });
});

describe("the output schema", () => {
  const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
  const good = { content: [], structuredContent: { sum: 1 } };

  test("is not checked for a tool that was not listed, and causes no listing", async () => {
    const client = await clientOf({ content: [], structuredContent: { sum: "x" } }, schema);
    expect(await client.callTool("a")).toEqual({ sum: "x" });
  });

  test.each([
    ["fits", schema, good, undefined],
    ["does not match", schema, { content: [], structuredContent: { sum: "x" } }, "/sum: "],
    ["is missing", schema, { content: [text("1")] }, "it has no structuredContent"],
    ["is missing in a tool error", schema, { content: [text("1")], isError: true }, undefined],
    ["has no schema", undefined, good, undefined],
  ])("of a listed tool is checked: a result that %s", async (_, outputSchema, result, why) => {
    const client = await clientOf(result, outputSchema);
    await client.listTools().all();
    const calling = client.callToolResult("a");
    if (why === undefined) expect(await calling).toEqual(result);
    else
      await expect(calling).rejects.toMatchObject({
        code: "invalid_result",
        data: { result },
        message: expect.stringContaining(why),
      });
  });
});

test("a tool's output is returned on revisions with and without structured content", async () => {
  const output = { type: "object", properties: { sum: { type: "number" } } };
  const add = tool({ output, call: () => ({ sum: 3 }) });
  const server = createServer({ name: "s", version: "1", tools: { add } });
  for (const revision of ["2026-07-28", "2025-06-18", "2024-11-05"]) {
    const client = await openClient(serverTransports(server), { revision });
    await client.listTools().all();
    expect(await client.callTool("add")).toEqual({ sum: 3 });
    await client.close();
  }
});
