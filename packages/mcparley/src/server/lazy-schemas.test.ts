import { createServer as createHttpServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { connect } from "../connect.ts";
import { toFetch } from "../http.ts";
import { listen, toNodeHandler } from "../node.ts";
import type { JsonObject } from "../rpc/messages.ts";
import { memoryPair } from "../rpc/memory-transport.ts";
import { serveStdio } from "../stdio.ts";
import type { StandardSchema } from "../schema/standard-schema.ts";
import { convertToolsWhenIdle } from "./checks/convert-tools.ts";
import type { Tool } from "./core/definition-types.ts";
import type { Registry } from "./core/registry.ts";
import { coreOf, createServer } from "./create-server.ts";
import { tool } from "./definition.ts";

const named = { name: "test", version: "1" };
const message =
  /^The tool "bad" cannot be offered: "input": Cannot convert this zod schema to JSON Schema at "user\.born"/;
const refusal = { code: "invalid_definition", message: expect.stringMatching(message) as string };
const bad = tool({ input: z.object({ user: z.object({ born: z.date() }) }), call: () => "" });
const good = tool({ input: z.object({ a: z.string() }), call: ({ a }) => a });

/** Returns a schema and the conversions of it. */
function countedSchema() {
  const convert = vi.fn((): JsonObject => ({ type: "object" }));
  const schema: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "counted",
      validate: (value) => ({ value: value as object }),
      jsonSchema: { input: convert, output: convert },
    },
  };
  return { schema, convert };
}

test.each(["input", "output"] as const)(
  "createServer does not convert the %s of a library, and the first list does",
  async (member) => {
    const { schema, convert } = countedSchema();
    const server = createServer({ ...named, tools: { t: tool({ [member]: schema, call: () => ({}) as never }) } });
    expect(convert).not.toHaveBeenCalled();
    const client = await connect(server);
    expect(convert).toHaveBeenCalledOnce();
    await client.listTools().all();
    await client.callTool("t", {});
    expect(convert).toHaveBeenCalledOnce();
    await client.close();
  },
);

test("a JSON Schema, and a definition that needs no conversion, are still checked by createServer", () => {
  const input = { type: "strng" } as never;
  expect(() => createServer({ ...named, tools: { t: tool({ input, call: () => "" }) } })).toThrow(/"strng"/);
  expect(() => createServer({ ...named, tools: { "a b": bad } })).toThrow(/1 to 128 letters/);
});

test("a tool that is set later is converted at once, and the tool before it stays", () => {
  const server = createServer({ ...named, tools: { bad: good } });
  expect(() => server.tools.set("bad", bad)).toThrow(expect.objectContaining(refusal) as Error);
  expect(server.tools.get("bad")).toBe(good);
});

test("mount refuses a schema that cannot be converted", () => {
  const inner = createServer({ ...named, tools: { bad } });
  expect(() => createServer(named).mount("in", inner)).toThrow(/tool "in\.bad" cannot be offered.*user\.born/);
});

test("connect in the same process, and attach, reject with the error of the definition", async () => {
  const server = createServer({ ...named, tools: { good, bad } });
  await expect(server.attach(memoryPair()[1])).rejects.toMatchObject(refusal);
  await expect(connect(server)).rejects.toThrow(message);
});

test("toFetch converts with the first request, and refuses every request if a schema cannot be converted", async () => {
  const onError = vi.fn();
  const initialize = (): Request =>
    new Request("http://localhost/", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      }),
    });
  const { schema, convert } = countedSchema();
  const counted = toFetch(createServer({ ...named, tools: { t: tool({ input: schema, call: () => "" }) } }));
  expect(convert).not.toHaveBeenCalled();
  expect((await counted.fetch(initialize())).status).toBe(200);
  expect((await counted.fetch(initialize())).status).toBe(200);
  expect(convert).toHaveBeenCalledOnce();
  const { fetch } = toFetch(createServer({ ...named, tools: { good, bad }, onError }));
  expect((await fetch(initialize())).status).toBe(500);
  expect((await fetch(initialize())).status).toBe(500);
  expect(onError.mock.calls.map(([error]) => error as Error)).toEqual([
    expect.objectContaining(refusal),
    expect.objectContaining(refusal),
  ]);
});

test("listen rejects before it listens", async () => {
  await expect(listen(createServer({ ...named, tools: { good, bad } }), 0)).rejects.toMatchObject(refusal);
  const input = z.object({ region: z.string().meta({ "x-mcp-header": "My Region" }) });
  const server = createServer({ ...named, tools: { t: tool({ input, call: () => "" }) } });
  await expect(listen(server, 0)).rejects.toThrow(/tool "t".*x-mcp-header of "region" is "My Region"/);
});

test("serveStdio rejects, and answers until then", async () => {
  const running = serveStdio(createServer({ ...named, tools: { good, bad } }), {
    input: new PassThrough(),
    output: new PassThrough(),
  });
  await expect(running).rejects.toMatchObject(refusal);
});

test("toNodeHandler reports a schema that cannot be converted, and answers each request with status 500", async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const reported = new Promise((resolve) => onError.mockImplementationOnce(resolve));
  const handler = toNodeHandler(createServer({ ...named, tools: { good, bad }, onError }));
  expect(await reported).toMatchObject(refusal);
  const http = createHttpServer(handler).listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain("bad");
  expect(onError).toHaveBeenCalledTimes(2);
  await handler.close();
  http.close();
});

test("toFetch refuses requests if a converted schema has an invalid x-mcp-header", async () => {
  const onError = vi.fn();
  const input = z.object({ region: z.string().meta({ "x-mcp-header": "My Region" }) });
  const { fetch } = toFetch(createServer({ ...named, tools: { t: tool({ input, call: () => "" }) }, onError }));
  expect((await fetch(new Request("http://localhost/", { method: "POST", body: "{}" }))).status).toBe(500);
  expect(String(onError.mock.calls[0]?.[0])).toMatch(/tool "t".*x-mcp-header of "region" is "My Region"/);
});

test.each([
  ["deleted", (tools: Registry<Tool>) => void tools.delete("bad")],
  ["replaced", (tools: Registry<Tool>) => tools.set("bad", good as Tool)],
])("a tool that is %s before its turn ends nothing", async (_what, change) => {
  const server = createServer({ ...named, tools: { bad } });
  const conversion = convertToolsWhenIdle(coreOf(server));
  change(server.tools);
  await expect(conversion).resolves.toBeUndefined();
});
