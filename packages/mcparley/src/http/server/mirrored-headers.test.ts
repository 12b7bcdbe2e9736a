import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { prompt, resource, tool } from "../../server/definition.ts";
import type { ServerExtension } from "../../server/core/extension.ts";
import { createServer } from "../../server/create-server.ts";
import { type ModernInit, type RawAnswer, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const query = tool({
  input: {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      where: { type: "object", properties: { zone: { type: ["string", "null"], "x-mcp-header": "Zone" } } },
      text: { type: "string" },
    },
  },
  call: (input) => JSON.stringify(input),
});
const extension: ServerExtension = {
  id: "com.example/jobs",
  methods: { "jobs/get": { mirroredName: "jobId", answer: async ({ params }) => ({ jobId: params.jobId }) } },
};
const server = createServer({
  name: "test",
  version: "1.0.0",
  tools: { query },
  prompts: {
    ask: prompt({ get: () => "asked" }),
    "héllo wörld": prompt({ get: () => "named" }),
    "=?base64?eA==?=": prompt({ get: () => "odd" }),
  },
  resources: { note: resource("note://{id}", { read: ({ id }) => id }) },
  extensions: [extension],
});
const client = rawHttp("http://localhost/mcp", toFetch(server).fetch);

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const call = (args: JsonObject, headers: ModernInit["headers"] = {}): Promise<RawAnswer> =>
  client.modern("tools/call", { name: "query", arguments: args }, { id: 9, headers });

async function expectMismatch(answering: Promise<RawAnswer>, ...words: string[]): Promise<void> {
  const answer = await answering;
  expect(answer.status).toBe(400);
  const message = await answer.json();
  expect(message).toMatchObject({ error: { code: -32020 } });
  for (const word of ["Header mismatch", ...words]) expect(message.error.message).toContain(word);
}

async function expectAnswered(answering: Promise<RawAnswer>): Promise<void> {
  const answer = await answering;
  expect(await answer.json()).toHaveProperty("result");
  expect(answer.status).toBe(200);
}

describe("MCP-Protocol-Version", () => {
  test.each([undefined, "2025-11-25", "v999", ""])("%j does not match the body", async (version) => {
    const headers = { "mcp-protocol-version": version };
    await expectMismatch(client.modern("server/discover", {}, { headers }), "MCP-Protocol-Version", "2026-07-28");
  });

  test("must also match a body with an unknown version", async () => {
    const meta = { "io.modelcontextprotocol/protocolVersion": "v999" };
    await expectMismatch(client.modern("server/discover", {}, { meta }), "'2026-07-28'", "'v999'");
  });
});

describe("Mcp-Method", () => {
  test.each([undefined, "tools/call", "TOOLS/LIST", "tools/list, tools/list"])(
    "%j is not tools/list",
    async (method) => {
      await expectMismatch(
        client.modern("tools/list", {}, { headers: { "mcp-method": method } }),
        "Mcp-Method",
        "tools/list",
      );
    },
  );

  test("the error contains the value of the header, the value of the body, and the id of the request", async () => {
    const answer = await client.modern("tools/list", {}, { id: "abc", headers: { "mcp-method": "prompts/list" } });
    const message = "Header mismatch: Mcp-Method header value 'prompts/list' does not match body value 'tools/list'.";
    expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: "abc", error: { code: -32020, message } });
  });
});

describe("Mcp-Name", () => {
  const methods: [string, JsonObject][] = [
    ["tools/call", { name: "query" }],
    ["prompts/get", { name: "ask" }],
    ["resources/read", { uri: "note://1" }],
    ["jobs/get", { jobId: "job-1" }],
  ];

  test.each(methods)("mirrors the name or URI in the params of %s", async (method, params) => {
    const [name] = Object.values(params) as [string];
    await expectAnswered(client.modern(method, params, { headers: { "mcp-name": name } }));
    await expectAnswered(client.modern(method, params, { headers: { "mcp-name": encoded(name) } }));
    await expectMismatch(client.modern(method, params, { headers: { "mcp-name": "other" } }), "'other'", `'${name}'`);
    await expectMismatch(client.modern(method, params, { headers: { "mcp-name": encoded("other") } }), "Mcp-Name");
    await expectMismatch(
      client.modern(method, params, { headers: { "mcp-name": undefined } }),
      "Mcp-Name",
      "missing",
      name,
    );
  });

  test("is ignored for a method without a name", async () => {
    await expectAnswered(client.modern("tools/list", {}, { headers: { "mcp-name": "whatever" } }));
  });

  test("is encoded if the name contains characters that a header cannot", async () => {
    const name = "héllo wörld";
    await expectAnswered(client.modern("prompts/get", { name }, { headers: { "mcp-name": encoded(name) } }));
    await expectMismatch(client.modern("prompts/get", { name }, { headers: { "mcp-name": name } }), "Mcp-Name");
  });

  test("is encoded again if the name looks encoded", async () => {
    const name = "=?base64?eA==?=";
    await expectAnswered(client.modern("prompts/get", { name }, { headers: { "mcp-name": encoded(name) } }));
    await expectMismatch(client.modern("prompts/get", { name }, { headers: { "mcp-name": name } }), "Mcp-Name");
  });

  test.each(["=?base64?cXVlcnk?=", "=?base64?cXV!cnk=?=", "=?base64?/w==?="])(
    "%s is not Base64 of UTF-8",
    async (name) => {
      await expectMismatch(
        client.modern("tools/call", { name: "query" }, { headers: { "mcp-name": name } }),
        "Mcp-Name",
      );
    },
  );

  test("is not compared if the body has no name, which the check of the params refuses", async () => {
    const answer = await client.modern("tools/call", {}, { headers: { "mcp-name": "query" } });
    expect(await answer.json()).toMatchObject({ error: { code: -32602 } });
  });
});

describe("Mcp-Param headers", () => {
  test("are accepted if they match the arguments", async () => {
    const args = { region: "eu", limit: 42, dry: false, where: { zone: "b" }, text: "free" };
    const headers = {
      "mcp-param-region": "eu",
      "mcp-param-limit": "42",
      "mcp-param-dry": "false",
      "mcp-param-zone": "b",
    };
    await expectAnswered(call(args, headers));
    const answer = await call({ region: " Ä " }, { "mcp-param-region": encoded(" Ä ") });
    expect((await answer.json()).result.content).toEqual([{ type: "text", text: '{"region":" Ä "}' }]);
  });

  test.each(["42", "42.0", "4.2e1"])("%s is the integer 42", async (limit) => {
    await expectAnswered(call({ limit: 42 }, { "mcp-param-limit": limit }));
  });

  test.each(["43", "", "forty", "0x2a", "42,42"])("%j is not the integer 42", async (limit) => {
    await expectMismatch(call({ limit: 42 }, { "mcp-param-limit": limit }), "Mcp-Param-Limit", "'42'");
  });

  test.each([
    ["region", "us", { region: "eu" }],
    ["dry", "True", { dry: true }],
    ["zone", "a", { where: { zone: "b" } }],
    ["region", "=?base64?ZXU?=", { region: "eu" }],
  ])("refuses Mcp-Param-%s: %s for another value", async (name, value, args) => {
    await expectMismatch(call(args, { [`mcp-param-${name}`]: value }), `'${value}'`);
  });

  test("are a mismatch if one is missing for a value", async () => {
    await expectMismatch(call({ region: "eu" }), "Mcp-Param-Region", "missing", "'eu'");
    await expectMismatch(call({ region: "" }), "Mcp-Param-Region", "missing");
    await expectAnswered(call({ region: "" }, { "mcp-param-region": "" }));
  });

  test("are not required for a null or missing argument", async () => {
    await expectAnswered(call({}));
    await expectAnswered(call({ where: { zone: null } }));
    await expectAnswered(call({ where: {} }));
  });

  test("are a mismatch without an argument", async () => {
    await expectMismatch(call({}, { "mcp-param-region": "eu" }), "Mcp-Param-Region", "'eu'");
    await expectMismatch(call({ where: { zone: null } }, { "mcp-param-zone": "b" }), "Mcp-Param-Zone");
  });

  test("are ignored if the tool does not define them", async () => {
    await expectAnswered(call({}, { "mcp-param-other": "x" }));
  });

  test("are not compared with properties of a prototype", async () => {
    await expectAnswered(call(JSON.parse('{"where":{"__proto__":{"zone":"b"}}}') as JsonObject));
  });
});

test("does not require the headers of a legacy request", async () => {
  const legacy = rawHttp("http://localhost/mcp", toFetch(server, { sessions: false }).fetch);
  const params = { name: "query", arguments: { region: "eu" } };
  await expectAnswered(legacy.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { "mcp-method": "wrong" }));
});

const serverWith = (header: string): ReturnType<typeof createServer> => {
  const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } } as const;
  return createServer({ name: "test", version: "1", tools: { deploy: tool({ input, call: () => "done" }) } });
};

test("toFetch refuses a tool with an invalid x-mcp-header", () => {
  expect(() => toFetch(serverWith("My Region"))).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: expect.stringMatching(/tool "deploy".*x-mcp-header of "region" is "My Region"/) as string,
    }) as Error,
  );
  expect(() => toFetch(serverWith("Region"))).not.toThrow();
});
