import { describe, expect, test } from "vitest";
import { gate } from "mcparley-tests/support/gate.ts";
import { metaOf, mirroredHeaders } from "mcparley-tests/support/raw-http.ts";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { toFetch } from "./to-fetch.ts";

// `Bun.serve` calls `fetch(request, server)`, and has checked that the body has its declared length.
const bunServer: object = { requestIP: () => null };

const echo = tool({
  input: { type: "object", properties: { text: { type: "string" } } },
  call: ({ text }) => text ?? "",
});
const handler = toFetch(createServer({ name: "x", version: "1", tools: { echo } }), { maxBody: 1_000 });

const params = { name: "echo", arguments: { text: "ä😀" }, _meta: metaOf() };
const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });

const mcpHeaders = { "mcp-protocol-version": "2026-07-28", ...mirroredHeaders("tools/call", params) };

async function post(body: BodyInit, headers: Record<string, string> = {}, url = "http://localhost/mcp") {
  const request = new Request(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...mcpHeaders,
      ...headers,
    },
  });
  const response = await handler.fetch(request, bunServer);
  return { status: response.status, body: await response.json() };
}

const length = (body: string | Uint8Array) => ({ "content-length": String(new Blob([body as BlobPart]).size) });

describe("a body from Bun.serve", () => {
  test("is read as a whole", async () => {
    expect((await post(message, length(message))).body.result.content).toEqual([{ type: "text", text: "ä😀" }]);
  });

  test("without a length is read in chunks, up to the limit", async () => {
    expect((await post(message)).status).toBe(200);
    expect((await post(`${message}${" ".repeat(1_000)}`)).status).toBe(413);
  });

  test("of the maximum size is accepted, and refused with one byte more", async () => {
    const full = message.padEnd(1_000 - (new Blob([message]).size - message.length));
    expect((await post(full, length(full))).status).toBe(200);
    expect((await post(`${full} `, length(`${full} `))).status).toBe(413);
  });

  test.each([
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["not JSON", new TextEncoder().encode("{")],
    ["empty", new Uint8Array()],
  ])("that is %s is refused with 400", async (_, bytes) => {
    expect((await post(bytes, length(bytes))).status).toBe(400);
    expect((await post(message, length(message))).status).toBe(200);
  });

  test("that was read before is refused", async () => {
    const headers = { "content-type": "application/json", ...length(message) };
    const request = new Request("http://localhost/mcp", { method: "POST", body: message, headers });
    await request.text();
    expect((await handler.fetch(request, bunServer)).status).toBeGreaterThanOrEqual(400);
  });
});

test.each([
  ["http://localhost/mcp", 200],
  ["http://localhost/mcp/", 200],
  ["http://localhost/mcp?a=/b#c", 200],
  ["http://localhost/other?x=/mcp", 404],
  ["http://localhost", 404],
  ["http://localhost?x=/mcp", 404],
])("the path of %s is compared: %s", async (url, status) => {
  const server = createServer({ name: "x", version: "1", tools: { echo } });
  const { fetch } = toFetch(server, { path: "/mcp" });
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...mcpHeaders,
  };
  const response = await fetch(new Request(url, { method: "POST", body: message, headers }));
  expect(response.status).toBe(status);
});

test.each(["while it is answered", "while its body is read"])(
  "a call whose client disconnects %s is cancelled",
  async (time) => {
    const wait = gate();
    const { fetch } = toFetch(createServer({ name: "x", version: "1", tools: { wait: tool({ call: wait.call }) } }));
    const connection = new AbortController();
    const params = { name: "wait", arguments: {}, _meta: metaOf() };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      ...mirroredHeaders("tools/call", params),
      ...length(body),
    };
    const request = new Request("http://localhost/", { method: "POST", body, headers, signal: connection.signal });
    void fetch(request, bunServer);
    if (time === "while it is answered") await wait.entered;
    connection.abort();
    const { signal } = await wait.entered;
    await expect.poll(() => signal.aborted).toBe(true);
  },
);
