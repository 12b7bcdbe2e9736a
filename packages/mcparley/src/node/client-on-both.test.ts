import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { Client } from "../client/calls/client.ts";
import { openClient } from "../client/connect/open-client.ts";
import type { HttpTarget } from "../http/client/settings.ts";
import { httpTransports } from "../http/client/transport.ts";
import { LocalError } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import { discoverResult } from "../testing/peer-transports.ts";

/*
 * The transport behaves in the same way with undici and with `fetch`: replies, redirects, limits, event streams, cancellation,
 * authorization and errors.
 */

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Answer = (exchange: { id: unknown; request: IncomingMessage; response: ServerResponse }) => void;

const json = { "content-type": "application/json" };
const events = { "content-type": "text/event-stream" };
const resultOf = (id: unknown, text = "done"): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", content: [{ type: "text", text }] } });

/** Connects to a server of 2026-07-28 whose tool is answered by `answer`. */
async function connectTo(answer: Answer, target: Partial<HttpTarget>): Promise<{ client: Client; paths: string[] }> {
  const paths: string[] = [];
  const known: Record<string, JsonObject> = {
    "server/discover": discoverResult(),
    "tools/list": { tools: [], ttlMs: 60_000, cacheScope: "public" },
  };
  const server = createServer((request, response) => {
    void request.toArray().then((parts) => {
      const { id, method } = JSON.parse(parts.join("")) as JsonObject;
      const result = known[String(method)];
      if (result) {
        const reply = { jsonrpc: "2.0", id, result: { resultType: "complete", ...result } };
        return response.writeHead(200, json).end(JSON.stringify(reply));
      }
      paths.push(request.url ?? "");
      return answer({ id, request, response });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const client = await openClient(httpTransports({ url, ...target }));
  closers.push(() => client.close());
  await client.listTools().all();
  return { client, paths };
}

describe.each([
  ["undici", undefined],
  ["fetch", globalThis.fetch],
])("with %s", (_, fetch) => {
  const connected = (answer: Answer, target: Partial<HttpTarget> = {}): ReturnType<typeof connectTo> =>
    connectTo(answer, { ...(fetch && { fetch }), ...target });

  test.each<[string, Answer]>([
    ["JSON", ({ id, response }) => response.writeHead(200, json).end(resultOf(id))],
    [
      "compressed JSON",
      ({ id, response }) =>
        response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(resultOf(id))),
    ],
    ["JSON with a byte order mark", ({ id, response }) => response.writeHead(200, json).end(`\uFEFF${resultOf(id)}`)],
    ["an event stream", ({ id, response }) => response.writeHead(200, events).end(`data: ${resultOf(id)}\n\n`)],
    [
      "an event stream in small parts",
      ({ id, response }) => {
        response.writeHead(200, events);
        for (const character of `: comment\r\n\r\nid: 1\r\ndata: ${resultOf(id)}\r\n\r\n`) response.write(character);
        response.end();
      },
    ],
    [
      "a redirect that keeps the origin and the method",
      ({ id, request, response }) => {
        if (request.url === "/mcp") response.writeHead(307, { location: "/moved" }).end();
        else response.writeHead(200, json).end(resultOf(id));
      },
    ],
  ])("%s is read", async (_name, answer) => {
    const { client } = await connected(answer);
    expect(await client.callTool("tool")).toBe("done");
  });

  test("text of many bytes for a character arrives unchanged", async () => {
    const text = "größe 🎉 ".repeat(20_000);
    const { client } = await connected(({ id, response }) => response.writeHead(200, json).end(resultOf(id, text)));
    expect(await client.callTool("tool")).toBe(text);
  });

  test.each<[string, Answer, Partial<HttpTarget>, { code: string; message: string }]>([
    [
      "a redirect to another origin",
      ({ response }) => response.writeHead(307, { location: "https://other.example/mcp" }).end(),
      {},
      { code: "http", message: "redirects to https://other.example/mcp (307), which is not followed" },
    ],
    [
      "a redirect without end",
      ({ response }) => response.writeHead(308, { location: "/mcp" }).end(),
      {},
      { code: "http", message: "more than 3 times" },
    ],
    [
      "a reply over the limit",
      ({ id, response }) => response.writeHead(200, json).end(resultOf(id, "x".repeat(20_000))),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 bytes. Raise limits.message." },
    ],
    [
      "a compressed reply over the limit",
      ({ id, response }) =>
        response
          .writeHead(200, { ...json, "content-encoding": "gzip" })
          .end(gzipSync(resultOf(id, "x".repeat(1_000_000)))),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 bytes. Raise limits.message." },
    ],
    [
      "an event over the limit",
      ({ id, response }) => response.writeHead(200, events).end(`data: ${resultOf(id, "x".repeat(20_000))}\n\n`),
      { limits: { message: 10_000 } },
      { code: "too_large", message: "more than 10000 characters. Raise limits.message." },
    ],
    [
      "a page instead of JSON",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello"),
      {},
      { code: "invalid_message", message: 'with 200 and content of type "text/html" instead of JSON' },
    ],
    [
      "invalid JSON",
      ({ response }) => response.writeHead(200, json).end("{"),
      {},
      { code: "invalid_message", message: 'is not valid JSON: "{"' },
    ],
    [
      "a refusal",
      ({ response }) => response.writeHead(401, { "www-authenticate": "Bearer" }).end("The key is wrong."),
      {},
      { code: "unauthorized", message: "The key is wrong." },
    ],
    [
      "an error of a proxy",
      ({ response }) => response.writeHead(502).end("No server is available."),
      {},
      { code: "http", message: "502" },
    ],
    [
      "a connection that ends without a reply",
      ({ request }) => void request.socket.destroy(),
      {},
      { code: "closed", message: "The connection was lost" },
    ],
    [
      "a body that ends too early",
      ({ response }) => {
        response.writeHead(200, { ...json, "content-length": "100" });
        response.write("{", () => response.destroy());
      },
      {},
      { code: "closed", message: "The response could not be read" },
    ],
  ])("%s is an error", async (_name, answer, target, expected) => {
    const { client } = await connected(answer, target);
    const error: unknown = await client.callTool("tool").catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(LocalError);
    expect((error as LocalError).code).toBe(expected.code);
    expect((error as LocalError).message).toContain(expected.message);
  });

  test("a call that is cancelled closes its connection", async () => {
    let arrived: (socket: Socket) => void = () => {};
    const arrival = new Promise<Socket>((resolve) => (arrived = resolve));
    const { client } = await connected(({ request }) => arrived(request.socket));
    const controller = new AbortController();
    const calling = client.callTool("tool", {}, { signal: controller.signal });
    const socket = await arrival;
    const closed = once(socket, "close");
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    await closed;
  });

  test("authorization is sent with each request, and again after a challenge", async () => {
    let token = "old";
    const sent: unknown[] = [];
    const { client } = await connected(
      ({ id, request, response }) => {
        sent.push(request.headers.authorization);
        if (request.headers.authorization === "Bearer new") response.writeHead(200, json).end(resultOf(id));
        else response.writeHead(401, { "www-authenticate": 'Bearer realm="x"' }).end();
      },
      {
        auth: {
          headers: () => Promise.resolve({ Authorization: `Bearer ${token}` }),
          challenged({ status, headers, shown }) {
            expect([status, headers.get("www-authenticate"), shown]).toEqual([
              401,
              'Bearer realm="x"',
              { Authorization: "Bearer old" },
            ]);
            token = "new";
            return Promise.resolve(true);
          },
        },
      },
    );
    expect(await client.callTool("tool")).toBe("done");
    expect(sent).toEqual(["Bearer old", "Bearer new"]);
  });
});
