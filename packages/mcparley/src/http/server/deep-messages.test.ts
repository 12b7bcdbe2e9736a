import { beforeAll, describe, expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { toFetch } from "../fetch/to-fetch.ts";

/** JSON.parse accepts any nesting. Recursive code exhausts the stack at a few thousand levels. */
const deep = "[".repeat(100_000) + "]".repeat(100_000);

const errors: unknown[] = [];
const server = createServer({
  name: "deep",
  version: "1.0.0",
  tools: { a: tool({ input: { type: "object" }, call: () => "x" }) },
  onError: (error) => errors.push(error),
});
const endpoint = toFetch(server);

async function post(body: string, headers: Record<string, string>): Promise<Response> {
  const accept = "application/json, text/event-stream";
  const all = { "content-type": "application/json", accept, ...headers };
  return endpoint.fetch(new Request("http://localhost/mcp", { method: "POST", body, headers: all }));
}

const initialize = (capabilities: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
  `"capabilities":${capabilities},"clientInfo":{"name":"a","version":"1"}}}`;

const modern = (method: string, params: string, info = ""): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}"_meta":{` +
  `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
  `"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"${info}}}}}`;

async function expectRefusal(response: Response): Promise<void> {
  expect(response.status).toBeLessThan(500);
  const { error } = (await response.json()) as { error: { code: number; message: string } };
  expect(error.message).toContain("nested more than 64 levels deep");
  expect(error.code).toBe(-32602);
  expect(errors).toEqual([]);
}

describe("requests that are nested 100,000 levels deep", () => {
  test.each([
    ["arguments", "tools/call", `"name":"a","arguments":{"a":${deep}},`, ""],
    ["an input response", "tools/call", `"name":"a","inputResponses":{"a":${deep}},"requestState":"x",`, ""],
    ["the client's name", "tools/list", "", `,"x":${deep}`],
    ["a filter", "subscriptions/listen", `"notifications":{"x":${deep}},`, ""],
    ["a reference", "completion/complete", `"ref":{"x":${deep}},`, ""],
    ["a cursor", "tools/list", `"cursor":${deep},`, ""],
  ])("are refused with an ordinary error for %s", async (_, method, params, info) => {
    const named = method === "tools/call" ? { "mcp-name": "a" } : undefined;
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named };
    await expectRefusal(await post(modern(method, params, info), headers));
  });

  test("are refused with an ordinary error for capabilities in initialize", async () => {
    await expectRefusal(await post(initialize(`{"x":${deep}}`), {}));
  });

  describe("in a session", () => {
    let session: Record<string, string>;
    beforeAll(async () => {
      const response = await post(initialize("{}"), {});
      const id = response.headers.get("mcp-session-id") ?? "";
      session = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
    });

    test.each(["tools/call", "logging/setLevel", "resources/subscribe", "prompts/get"])(
      "are refused with an ordinary error for %s",
      async (method) => {
        const body = `{"jsonrpc":"2.0","id":2,"method":"${method}","params":{"name":"a","arguments":{"a":${deep}}}}`;
        await expectRefusal(await post(body, session));
      },
    );

    test.each([
      `{"jsonrpc":"2.0","method":"notifications/initialized","params":{"x":${deep}}}`,
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${deep},"reason":${deep}}}`,
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${deep}}}`,
      `{"jsonrpc":"2.0","id":99,"result":{"x":${deep}}}`,
      `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"","data":${deep}}}`,
    ])("are ignored as %.60s", async (body) => {
      expect((await post(body, session)).status).toBe(202);
      expect(errors).toEqual([]);
    });
  });
});
