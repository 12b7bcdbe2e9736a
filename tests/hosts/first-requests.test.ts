import { readFile } from "node:fs/promises";
import path from "node:path";
import { toFetch } from "mcparley/http";
import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";

interface FirstRequest {
  readonly package: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly id: string | number };
}

const file = path.join(import.meta.dirname, "first-requests.json");
const hosts = JSON.parse(await readFile(file, "utf8")) as Record<string, FirstRequest>;

const server = createServer({ name: "sums", version: "1.0.0", tools: { hello: tool({ call: () => "Hello" }) } });

describe("the first request of a host", () => {
  test("is recorded for several hosts", () => {
    expect(Object.keys(hosts).length).toBeGreaterThan(2);
  });

  test.each(Object.values(hosts))("is answered with a result: $package", async ({ headers, body }) => {
    const { fetch } = toFetch(server);
    const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: JSON.stringify(body) });
    const response = await fetch(request);
    expect(response.status).toBe(200);
    const text = await response.text();
    const json = /^\s*\{/.test(text) ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "");
    expect(JSON.parse(json)).toMatchObject({ id: body.id, result: expect.any(Object) as object });
    await server.close();
  });
});
