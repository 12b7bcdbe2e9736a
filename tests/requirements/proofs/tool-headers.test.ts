import { expect } from "vitest";
import { type JsonObject, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const marked = (name: unknown, more: JsonObject = { type: "string" }): JsonObject => ({
  ...more,
  "x-mcp-header": name,
});
const taking = (properties: JsonObject): JsonObject => ({ type: "object", properties });

/** Checks that a tool with this input cannot be served, and that the error has the expected reason. */
async function expectRefused(world: World, input: JsonObject, why: RegExp): Promise<void> {
  const serving = world.serve({ tools: { t: tool({ input, call: () => "" }) } });
  await expect(serving).rejects.toMatchObject({ code: "invalid_definition", message: expect.stringMatching(why) });
}

const noName = /is not a header name|which is not a header name/;

proves("tools.x-mcp-header.not-empty", async (world) => {
  await expectRefused(world, taking({ a: marked("") }), noName);
});

proves("tools.x-mcp-header.token", async (world) => {
  for (const name of ["My Region", "a:b", "(a)", "ключ", 7, null]) {
    await expectRefused(world, taking({ a: marked(name) }), noName);
  }
});

proves("tools.x-mcp-header.no-control", async (world) => {
  for (const name of ["a\r\nX-Evil: 1", "a\n", "a\t", "a\u0000", "a\u007f"]) {
    await expectRefused(world, taking({ a: marked(name) }), noName);
  }
});

proves("tools.x-mcp-header.unique", async (world) => {
  await expectRefused(world, taking({ a: marked("Region"), b: taking({ c: marked("REGION") }) }), /used twice/);
});

proves("tools.x-mcp-header.primitive", async (world) => {
  for (const type of ["number", "object", "array", "null", undefined, ["string", "integer"]]) {
    await expectRefused(world, taking({ a: marked("A", type === undefined ? {} : { type }) }), /only allowed on/);
  }
});

proves("tools.x-mcp-header.safe-integer", async (world) => {
  const input = taking({ n: marked("N", { type: "integer" }) });
  const peer = await world.serve({ tools: { t: tool({ input, call: ({ n }) => String(n) }) } });
  const send = (n: number) =>
    peer.request("tools/call", { name: "t", arguments: { n } }, { headers: { "mcp-param-n": String(n) } });
  for (const n of [2 ** 53 - 1, 1 - 2 ** 53, 0]) expect(textOf(await send(n))).toBe(String(n));
  for (const n of [2 ** 53, -(2 ** 53), 2 ** 60]) expect((await send(n)).error.code).toBe(-32020);
});

const beyond: [string, JsonObject][] = [
  ["the root", marked("A", { type: "object" })],
  ["items", taking({ a: { type: "array", items: marked("A") } })],
  ["a composition", { type: "object", anyOf: [taking({ a: marked("A") })] }],
  ["a condition", { type: "object", if: taking({ a: marked("A") }) }],
  ["definitions", { type: "object", $defs: { a: marked("A") } }],
  ["any other property", { type: "object", additionalProperties: marked("A") }],
];

proves("tools.x-mcp-header.reachable", async (world) => {
  for (const [, input] of beyond) await expectRefused(world, input, /only allowed on properties that are reached/);
});

proves("tools.x-mcp-header.any-property", async (world) => {
  const input = taking({
    a: marked("A"),
    b: marked("B", { type: "integer" }),
    c: marked("C", { type: "boolean" }),
    d: taking({ e: marked("D.e") }),
  });
  const peer = await world.serve({ tools: { t: tool({ input, call: () => "" }) } });
  const { tools } = (await peer.request("tools/list")).result as { tools: JsonObject[] };
  expect(tools[0]?.inputSchema).toEqual(input);
});

/** One tool for each broken rule, named after the rule. */
const broken: JsonObject[] = [
  { name: "empty", inputSchema: taking({ a: marked("") }) },
  { name: "token", inputSchema: taking({ a: marked("a b") }) },
  { name: "control", inputSchema: taking({ a: marked("a\r\nb") }) },
  { name: "twice", inputSchema: taking({ a: marked("A"), b: marked("a") }) },
  { name: "number", inputSchema: taking({ a: marked("A", { type: "number" }) }) },
  { name: "object", inputSchema: taking({ a: marked("A", { type: "object" }) }) },
  ...beyond.map(([name, inputSchema]) => ({ name, inputSchema })),
];

const fine: JsonObject = { name: "fine", inputSchema: taking({ region: marked("Region") }) };

async function listed(world: World, tools: JsonObject[]) {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const { client, server } = await world.connect({ onError }, { answers: { "tools/list": () => ({ tools }) } });
  const names = (await client.listTools().all()).map(({ name }) => name);
  return { client, server, errors, names };
}

proves("tools.x-mcp-header.client-rejects", async (world) => {
  for (const one of broken) expect((await listed(world, [one])).names).toEqual([]);
});

proves("tools.x-mcp-header.client-keeps", async (world) => {
  const { client, server, names } = await listed(world, [...broken, fine]);
  expect(names).toEqual(["fine"]);
  const calling = client.callTool("fine", { region: "us-west1" });
  const request = await server.request("tools/call");
  expect(server.httpOf(request).headers.get("mcp-param-region")).toBe("us-west1");
  server.answer(request, { content: [{ type: "text", text: "done" }] });
  expect(await calling).toBe("done");
});

proves("tools.x-mcp-header.client-warns", async (world) => {
  const { errors } = await listed(world, broken);
  expect(errors.length).toBe(broken.length);
  for (const [index, { name }] of broken.entries()) {
    expect(errors[index]?.message).toContain(JSON.stringify(name));
    expect(errors[index]?.message).toMatch(/x-mcp-header of ".*" (is|are)/);
  }
});

proves("tools.x-mcp-header.client-ignores", async (world) => {
  const { client, server, errors, names } = await listed(world, [...broken, fine]);
  expect(names.length).toBe(broken.length + 1);
  expect(errors).toEqual([]);
  const calling = client.callTool("token", { a: "b" });
  server.answer(await server.request("tools/call"), { content: [] });
  expect(await calling).toEqual([]);
});
