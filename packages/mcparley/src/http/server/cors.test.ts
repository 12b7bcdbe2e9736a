import { expect, test } from "vitest";
import { createServer } from "../../server/create-server.ts";
import { type RawHttp, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "../fetch/to-fetch.ts";

function serve(options: HttpOptions): RawHttp {
  const { fetch } = toFetch(createServer({ name: "test", version: "1.0.0", tools: {} }), options);
  return rawHttp("http://localhost:3000/mcp", fetch);
}

const origin = "http://localhost:5173";
const preflight = (headers: Record<string, string> = {}): Parameters<RawHttp["send"]>[0] => ({
  method: "OPTIONS",
  headers: { origin, "access-control-request-method": "POST", ...headers },
});
const list = (value: string | null): string[] => (value ?? "").split(",").map((part) => part.trim());

test("answers a preflight with the methods and headers of MCP", async () => {
  const client = serve({ cors: true });
  const asked = "content-type, mcp-param-region, mcp-param-zone, x-other";
  const answer = await client.send(preflight({ "access-control-request-headers": asked }));
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  expect(answer.headers.get("vary")).toBe("Origin");
  expect(list(answer.headers.get("access-control-allow-methods"))).toEqual(["GET", "POST", "DELETE"]);
  const allowed = list(answer.headers.get("access-control-allow-headers"));
  expect(allowed).toEqual(
    expect.arrayContaining([
      "authorization",
      "content-type",
      "last-event-id",
      "mcp-method",
      "mcp-name",
      "mcp-param-region",
      "mcp-param-zone",
      "mcp-protocol-version",
      "mcp-session-id",
    ]),
  );
  expect(allowed).not.toContain("x-other");
  expect(answer.headers.get("access-control-max-age")).toBe("7200");
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
});

test("allows a page to read responses, refusals and the headers of MCP", async () => {
  const client = serve({ cors: true });
  for (const answer of [
    await client.modern("server/discover", {}, { headers: { origin } }),
    await client.post("{", { origin }),
    await client.send({ method: "PUT", headers: { origin } }),
  ]) {
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(list(answer.headers.get("access-control-expose-headers"))).toEqual(
      expect.arrayContaining(["mcp-session-id", "www-authenticate", "retry-after"]),
    );
    await answer.text();
  }
});

test("allows a page to read a stream", async () => {
  const client = serve({ cors: true });
  const filter = { notifications: { toolsListChanged: true } };
  const answer = await client.modern("subscriptions/listen", filter, { headers: { origin } });
  expect(answer.type).toBe("text/event-stream");
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  await answer.leave();
});

test("sends no CORS headers to an origin that is not allowed", async () => {
  const client = serve({ cors: true });
  for (const answer of [
    await client.send(preflight({ origin: "https://evil.example" })),
    await client.modern("server/discover", {}, { headers: { origin: "https://evil.example" } }),
  ]) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    await answer.text();
  }
});

test("adds the headers and credentials of the options", async () => {
  const cors = { headers: ["X-Tenant"], exposedHeaders: ["X-Trace"], credentials: true, maxAge: 60 };
  const client = serve({ cors, allowedOrigins: ["https://app.example.com"] });
  const answer = await client.send(preflight({ origin: "https://app.example.com" }));
  expect(list(answer.headers.get("access-control-allow-headers"))).toContain("x-tenant");
  expect(list(answer.headers.get("access-control-expose-headers"))).toContain("X-Trace");
  expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
  expect(answer.headers.get("access-control-max-age")).toBe("60");
});

test("sends no CORS headers without the option", async () => {
  const client = serve({});
  const answer = await client.modern("server/discover", {}, { headers: { origin } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  await answer.text();
  expect((await client.send(preflight())).status).toBe(405);
});

test('refuses credentials with allowedOrigins "any"', () => {
  const cors = { credentials: true };
  expect(() => serve({ cors, allowedOrigins: "any" })).toThrow(
    expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining("allowedOrigins") }),
  );
  expect(() => serve({ cors, allowedOrigins: ["https://app.example"] })).not.toThrow();
  expect(() => serve({ cors: { credentials: false }, allowedOrigins: "any" })).not.toThrow();
});
