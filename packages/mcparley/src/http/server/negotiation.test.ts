import { describe, expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const echo = tool({ call: () => "hello" });
const serve = (options: HttpOptions = {}): ReturnType<typeof rawHttp> =>
  rawHttp(
    "http://localhost/mcp",
    toFetch(createServer({ name: "test", version: "1", tools: { echo } }), options).fetch,
  );
const call = { name: "echo" };

describe("Accept", () => {
  test.each([
    [undefined, "application/json"],
    ["application/json, text/event-stream", "application/json"],
    ["text/event-stream, application/json;q=0.5", "application/json"],
    ["*/*", "application/json"],
    ["application/*", "application/json"],
    ["APPLICATION/JSON", "application/json"],
    ["text/html, */*;q=0.1", "application/json"],
    ["text/event-stream", "text/event-stream"],
    ["text/*", "text/event-stream"],
    ["application/json;q=0, text/event-stream", "text/event-stream"],
  ])("answers %j with %s", async (accept, type) => {
    const answer = await serve().modern("tools/call", call, { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe(type);
    expect(await answer.text()).toContain("hello");
  });

  test.each(["text/html", "application/json;q=0", "image/*, text/plain", "*/*;q=0.0", ""])(
    "refuses %j with 406",
    async (accept) => {
      const answer = await serve().modern("tools/call", call, { headers: { accept } });
      expect(answer.status).toBe(406);
      expect((await answer.json()).error.message).toContain(`"${accept}"`);
    },
  );

  test("sends a client that accepts only JSON its result and no notifications", async () => {
    const progress = tool({
      call: (_, ctx) => {
        ctx.progress(1);
        return "done";
      },
    });
    const { fetch } = toFetch(createServer({ name: "test", version: "1", tools: { progress } }));
    const client = rawHttp("http://localhost/mcp", fetch);
    const more = { headers: { accept: "application/json" }, meta: { progressToken: 1 } };
    const answer = await client.modern("tools/call", { name: "progress" }, more);
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "done" }] } });
  });
});

describe("the path", () => {
  test.each(["/mcp", "/mcp/", "/mcp?x=1", "/mcp/?x=/other"])("answers %s without a redirect", async (path) => {
    for (const configured of ["/mcp", "/mcp/"]) {
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };
      const body = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: metaOf() } };
      const all = { "content-type": "application/json", ...headers };
      const answer = await serve({ path: configured }).send({ path, headers: all, body });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  });

  test.each(["/", "/mcp2", "/mcp//", "/MCP", "/other/mcp"])("answers %s with 404", async (path) => {
    const answer = await serve({ path: "/mcp" }).send({ path, body: "{}" });
    expect(answer.status).toBe(404);
    expect((await answer.json()).error.message).toContain("/mcp");
  });

  test("answers every path if the option is not set", async () => {
    expect((await serve().send({ path: "/any/where" })).status).toBe(415);
  });

  test("accepts the option without its first slash", async () => {
    expect((await serve({ path: "mcp" }).send({ path: "/mcp" })).status).toBe(415);
  });

  test("can be the root", async () => {
    expect((await serve({ path: "/" }).send({ path: "/" })).status).toBe(415);
    expect((await serve({ path: "/" }).send({ path: "/mcp" })).status).toBe(404);
  });
});

describe("Content-Type", () => {
  const body = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: metaOf() } };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };

  test.each(["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"])(
    "accepts %j",
    async (type) => {
      const answer = await serve().send({ body, headers: { ...headers, "content-type": type } });
      expect(answer.status).toBe(200);
      await answer.text();
    },
  );

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"])(
    "refuses %j with 415",
    async (type) => {
      const answer = await serve().send({ body, headers: { ...headers, "content-type": type } });
      expect(answer.status).toBe(415);
      expect((await answer.json()).error.message).toContain(`"${type}"`);
    },
  );

  test("refuses an encoded body with 415", async () => {
    const encoded = { ...headers, "content-type": "application/json", "content-encoding": "gzip" };
    const answer = await serve().send({ body, headers: encoded });
    expect(answer.status).toBe(415);
    expect((await answer.json()).error.message).toContain('"gzip"');
  });
});
