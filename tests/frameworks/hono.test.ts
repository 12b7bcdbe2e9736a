import { Hono } from "hono";
import { expect, test } from "vitest";
import { apiKeys } from "../../packages/mcparley/src/auth/server/api-keys.ts";
import { toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import { createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { rawHttp } from "../support/raw-http.ts";

interface User {
  id: string;
  scopes: string[];
}

const whoami = tool({ scopes: ["read"], call: (_, { principal }) => principal?.subject ?? "nobody" });
const server = createServer({ name: "test", version: "1.0.0", tools: { whoami } });

test("a variable of Hono identifies the caller, and a body that middleware has parsed is accepted", async () => {
  const mcp = toFetch(server);
  const app = new Hono<{ Variables: { user: User } }>();
  app.use(async (c, next) => {
    c.set("user", { id: "alice", scopes: ["read"] });
    await next();
  });
  app.post("/mcp", async (c) => {
    const { id, scopes } = c.get("user");
    return mcp.fetch(c.req.raw, { principal: { issuer: "app", subject: id, scopes }, body: await c.req.json() });
  });
  const client = rawHttp("http://localhost/mcp", async (request) => app.fetch(request));
  const answer = await client.modern("tools/call", { name: "whoami" });
  expect((await answer.json()).result.content).toEqual([{ type: "text", text: "alice" }]);
});

test("a mounted handler receives the environment of Hono as its second argument, and is protected by auth", async () => {
  const key = "only-for-this-test";
  const mcp = toFetch(server, { auth: apiKeys([{ key, subject: "ci", scopes: ["read"] }]) });
  const app = new Hono().mount("/api", mcp.fetch);
  const client = rawHttp("http://localhost/api", async (request) => app.fetch(request, { DATABASE: {} }));
  expect((await client.modern("tools/call", { name: "whoami" })).status).toBe(401);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await client.modern("tools/call", { name: "whoami" }, { headers });
  expect((await answer.json()).result.content).toEqual([{ type: "text", text: "ci" }]);
});
