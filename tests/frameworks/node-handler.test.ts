import { once } from "node:events";
import { type RequestListener, ServerResponse, createServer as createHttpServer } from "node:http";
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import compression from "compression";
import express from "express";
import { openHttpSession, rawHttp } from "../support/raw-http.ts";
import { afterEach, describe, expect, test } from "vitest";
import { apiKeys } from "../../packages/mcparley/src/auth/server/api-keys.ts";
import { protectedResource } from "../../packages/mcparley/src/auth/server/protected-resource.ts";
import { createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { type NodeHandler, toNodeHandler } from "../../packages/mcparley/src/node/node-handler.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const whoami = tool({ call: (_, { principal }) => principal?.subject ?? "nobody" });

function serverOf(definition: Partial<AnyServerDefinition> = {}): ReturnType<typeof createServer> {
  return createServer({ name: "test", version: "1.0.0", tools: { whoami }, ...definition });
}

async function listening(app: RequestListener): Promise<string> {
  const http = createHttpServer(app).listen(0, "127.0.0.1");
  await once(http, "listening");
  closers.push(async () => {
    http.close();
    http.closeAllConnections();
    await once(http, "close");
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

const clientOf = async (app: RequestListener): Promise<ReturnType<typeof rawHttp>> =>
  rawHttp(await listening(app), fetch);
const callerOf = async (client: ReturnType<typeof rawHttp>, headers = {}): Promise<unknown> => {
  const answer = await client.modern("tools/call", { name: "whoami" }, { headers });
  const { result } = await answer.json();
  return (result as { content: { text: string }[] } | undefined)?.content[0]?.text ?? answer.status;
};

const gzipped = { "accept-encoding": "gzip" };

/** A tool that reports progress and then waits until the test ends it. */
function stepwise(): { server: ReturnType<typeof createServer>; finish: () => void } {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const step = tool({
    async call(_, ctx) {
      ctx.progress(1, 2);
      await finished;
      return "done";
    },
  });
  return { server: serverOf({ tools: { step } }), finish };
}

describe("behind middleware that compresses", () => {
  const params = { name: "step", arguments: {}, _meta: { progressToken: "p" } };

  test("events of a modern call arrive before its result", async () => {
    const { server, finish } = stepwise();
    const client = await clientOf(
      express()
        .use(compression({ threshold: 0 }))
        .all("/mcp", toNodeHandler(server)),
    );
    const answer = await client.modern(
      "tools/call",
      { name: "step" },
      { meta: { progressToken: "p" }, headers: gzipped },
    );
    expect(answer.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(answer.headers.get("content-encoding")).toBeNull();
    expect(await answer.next()).toMatchObject({ method: "notifications/progress" });
    finish();
    expect(await answer.next()).toMatchObject({ result: { content: [{ text: "done" }] } });
  });

  test("events of a session's call and of its standalone stream arrive at once", async () => {
    const { server, finish } = stepwise();
    const client = await clientOf(
      express()
        .use(compression({ threshold: 0 }))
        .all("/mcp", toNodeHandler(server)),
    );
    const session = await openHttpSession(client, { headers: gzipped });
    const stream = await client.send({ method: "GET", headers: session });
    server.tools.set("other", whoami);
    expect(await stream.next()).toMatchObject({ method: "notifications/tools/list_changed" });
    const called = await client.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params }, session);
    expect(await called.next()).toMatchObject({ method: "notifications/progress" });
    finish();
    expect(await called.next()).toMatchObject({ result: { content: [{ text: "done" }] } });
    await stream.leave();
  });

  test("events of HTTP+SSE arrive at once", async () => {
    const handler = toNodeHandler(serverOf(), { path: "/mcp", legacySse: true });
    const client = await clientOf(express().use(compression({ threshold: 0 }), handler));
    const stream = await client.send({ method: "GET", path: "/sse", headers: gzipped });
    expect(await stream.block()).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=/);
    await stream.leave();
  });

  test("each event is flushed if the middleware ignores no-transform", async () => {
    const { server, finish } = stepwise();
    const handler = toNodeHandler(server);
    let flushed = 0;
    const client = await clientOf((request, response) => {
      handler(request, Object.assign(response, { flush: () => flushed++ }));
    });
    const answer = await client.modern("tools/call", { name: "step" }, { meta: { progressToken: "p" } });
    await answer.next();
    finish();
    await answer.next();
    expect(flushed).toBe(2);
  });
});

test("middleware that reads the headers of writeHead receives them as an object", async () => {
  const handler = toNodeHandler(serverOf());
  let given: unknown;
  const client = await clientOf((request, response) => {
    response.writeHead = function (this: ServerResponse, status: number, headers: any) {
      given = headers;
      return ServerResponse.prototype.writeHead.call(this, status, headers);
    };
    handler(request, response);
  });
  expect(await callerOf(client)).toBe("nobody");
  expect(given).toMatchObject({ "content-type": "application/json" });
});

describe("in Express", () => {
  const owners = new Map([["cookie-of-alice", { id: "alice", scopes: ["read"] }]]);

  test("the user that the framework has authenticated is the caller", async () => {
    const handler = toNodeHandler(serverOf());
    const app = express().all("/mcp", (request, response) => {
      const user = owners.get(request.headers.cookie ?? "");
      if (!user) response.sendStatus(401);
      else handler(request, response, { principal: { issuer: "app", subject: user.id, scopes: user.scopes } });
    });
    const client = await clientOf(app);
    expect(await callerOf(client, { cookie: "cookie-of-alice" })).toBe("alice");
    expect((await client.modern("tools/call", { name: "whoami" })).status).toBe(401);
  });

  test.each([
    ["express.json()", () => express.json()],
    ["express.raw()", () => express.raw({ type: "application/json" })],
    ["express.text()", () => express.text({ type: "application/json" })],
  ])("a body of %s is read from the request", async (_, parser) => {
    expect(await callerOf(await clientOf(express().use(parser(), toNodeHandler(serverOf()))))).toBe("nobody");
  });

  test("middleware serves the metadata of auth, and forwards other paths", async () => {
    const auth = protectedResource({
      resource: "https://notes.example.com/mcp",
      issuers: ["https://auth.example.com"],
      verifier: () => undefined,
    });
    const app = express().use(toNodeHandler(serverOf(), { path: "/mcp", auth, health: true }));
    app.get("/hello", (_, response) => void response.send("Hello"));
    const client = await clientOf(app);
    const metadata = await client.send({ method: "GET", path: "/.well-known/oauth-protected-resource/mcp" });
    expect(JSON.parse(await metadata.text())).toMatchObject({ resource: "https://notes.example.com/mcp" });
    expect((await client.send({ method: "GET", path: "/healthz" })).status).toBe(200);
    expect(await (await client.send({ method: "GET", path: "/hello" })).text()).toBe("Hello");
    expect((await client.send({ method: "GET", path: "/other" })).status).toBe(404);
    expect((await client.modern("tools/call", { name: "whoami" })).status).toBe(401);
  });

  describe("below a base path", () => {
    const resource = "https://notes.example.com/api/mcp";
    const auth = protectedResource({ resource, issuers: ["https://auth.example.com"], verifier: () => undefined });
    const metadata = "/.well-known/oauth-protected-resource/api/mcp";

    test("a handler with the whole path serves the endpoint and its metadata", async () => {
      const client = await clientOf(express().use(toNodeHandler(serverOf(), { path: "/api/mcp", auth })));
      const found = await client.send({ method: "GET", path: metadata });
      expect(JSON.parse(await found.text())).toMatchObject({ resource });
      expect((await client.send({ path: "/api/mcp", body: {} })).status).toBe(401);
      expect((await client.send({ path: "/mcp", body: {} })).status).toBe(404);
    });

    test("a handler that is mounted has the rest of the path, and does not receive requests for its metadata", async () => {
      const client = await clientOf(express().use("/api", toNodeHandler(serverOf(), { path: "/mcp", auth })));
      expect((await client.send({ path: "/api/mcp", body: {} })).status).toBe(401);
      expect((await client.send({ path: "/mcp", body: {} })).status).toBe(404);
      expect((await client.send({ method: "GET", path: metadata })).status).toBe(404);
    });

    test("a handler behind a proxy that strips the base path serves the metadata at its public path", async () => {
      const client = await clientOf(toNodeHandler(serverOf(), { path: "/mcp", auth }));
      const refused = await client.send({ path: "/mcp", body: {} });
      expect(refused.headers.get("www-authenticate")).toContain(
        `resource_metadata="https://notes.example.com${metadata}"`,
      );
      const found = await client.send({ method: "GET", path: metadata });
      expect(JSON.parse(await found.text())).toMatchObject({ resource });
    });
  });

  test("middleware forwards requests with a foreign Host if they are not for MCP", async () => {
    const app = express().use(
      toNodeHandler(serverOf(), { path: "/mcp", auth: apiKeys([{ key: "k".repeat(16), subject: "a" }]) }),
    );
    app.get("/hello", (_, response) => void response.send("Hello"));
    const client = await clientOf(app);
    const headers = { origin: "https://evil.example" };
    expect((await client.send({ method: "GET", path: "/hello", headers })).status).toBe(200);
    expect((await client.send({ method: "GET", path: "/mcp", headers })).status).toBe(403);
  });
});

describe("a body that a framework has read", () => {
  const reading =
    (handler: NodeHandler, pass: (body: string) => unknown): RequestListener =>
    (request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (chunk: string) => (body += chunk));
      request.on("end", () => process.nextTick(() => handler(request, response, { body: pass(body) })));
    };

  test.each<[string, (body: string) => unknown]>([
    ["parsed", (body) => JSON.parse(body)],
    ["as text", (body) => body],
    ["as bytes", (body) => Buffer.from(body)],
  ])("is used if it is passed on %s", async (_, pass) => {
    expect(await callerOf(await clientOf(reading(toNodeHandler(serverOf()), pass)))).toBe("nobody");
  });

  test("is refused with an error that names the cure if it is not passed on", async () => {
    const errors: unknown[] = [];
    const handler = toNodeHandler(serverOf({ onError: (error: unknown) => void errors.push(error) }));
    const client = await clientOf(reading(handler, () => undefined));
    const answer = await client.modern("tools/call", { name: "whoami" });
    expect(answer.status).toBe(500);
    const { error } = await answer.json();
    expect(error?.message).toContain("handler(request, response, { body })");
    expect(errors.map(String)).toEqual([`Error: ${error?.message}`]);
  });

  test.each<[string, unknown]>([
    ["parsed", { text: "x".repeat(200) }],
    ["as text", "x".repeat(200)],
  ])("has the limit of maxBody, %s", async (_, body) => {
    const handler = toNodeHandler(serverOf(), { maxBody: 100 });
    const client = await clientOf(reading(handler, () => body));
    expect((await client.modern("tools/call", { name: "whoami" })).status).toBe(413);
  });
});

describe("over HTTP/2", () => {
  const head = {
    ":method": "POST",
    ":path": "/mcp",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const callOf = (name: string): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name,
        _meta: {
          progressToken: "p",
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
  const modern = (name: string): Record<string, string> => ({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  });

  async function session(handler: NodeHandler): Promise<ClientHttp2Session> {
    const http = createHttp2Server((request, response) => handler(request, response));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const client = connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    closers.push(async () => {
      http.close();
      client.destroy();
      await once(http, "close");
    });
    return client;
  }

  async function send(
    client: ClientHttp2Session,
    headers: object,
    body: string,
  ): Promise<{ status: number; text: string }> {
    const stream = client.request({ ...head, ...headers });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    stream.end(body);
    const [received] = (await once(stream, "response")) as [Record<string, unknown>];
    await once(stream, "close");
    return { status: Number(received[":status"]), text };
  }

  test("the name in :authority is checked like a Host", async () => {
    const client = await session(toNodeHandler(serverOf()));
    const answered = await send(client, modern("whoami"), callOf("whoami"));
    expect(answered).toMatchObject({ status: 200, text: expect.stringContaining("nobody") });
    for (const foreign of [{ ":authority": "evil.example" }, { ":authority": "evil.example", host: "localhost" }]) {
      const refused = await send(client, { ...modern("whoami"), ...foreign }, callOf("whoami"));
      expect(refused).toMatchObject({ status: 403, text: expect.stringContaining("evil.example") });
    }
  });

  test("a refusal during the shutdown has no connection header, for which Node would print a warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    closers.push(() => process.off("warning", onWarning));
    const handler = toNodeHandler(serverOf());
    const client = await session(handler);
    await handler.close();
    expect((await send(client, modern("whoami"), callOf("whoami"))).status).toBe(503);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test("a stream that the client resets cancels its call", async () => {
    let abort = (): void => {};
    const aborted = new Promise<void>((resolve) => (abort = resolve));
    const step = tool({
      call(_, ctx) {
        ctx.signal.addEventListener("abort", () => abort());
        ctx.progress(1);
        return aborted;
      },
    });
    const client = await session(toNodeHandler(serverOf({ tools: { step } })));
    const stream = client.request({ ...head, ...modern("step") });
    stream.on("error", () => {});
    stream.end(callOf("step"));
    await once(stream, "data");
    stream.close();
    await aborted;
  });
});
