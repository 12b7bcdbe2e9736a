import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createServer, resource } from "../server.ts";
import { type RunningHttpServer, listen } from "./listen.ts";

const bytes = Buffer.alloc(8 * 1_048_576, "0123456789");
const blob = bytes.toString("base64");

let running: RunningHttpServer | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Serves a large resource, with at most one request in flight for each caller. */
async function serve(): Promise<RunningHttpServer> {
  const server = createServer({
    name: "large",
    version: "1.0.0",
    limits: { inFlight: 1 },
    resources: {
      plain: resource("large://plain", { read: () => new Uint8Array(bytes) }),
      events: resource("large://events", {
        read: (_, ctx) => {
          ctx.progress(1, 2);
          return { blob, meta: { "example.com/title": "ä€😀" } };
        },
      }),
    },
  });
  return (running = await listen(server, { port: 0, closeTimeout: 100 }));
}

/** Sends `resources/read`. Resolves with the head of the reply. */
async function read(url: string, uri: string): Promise<{ sent: ClientRequest; reply: IncomingMessage }> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
    progressToken: 1,
  };
  const sent = request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "resources/read",
      "mcp-name": uri,
    },
  });
  sent.on("error", () => {});
  sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri, _meta } }));
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  return { sent, reply };
}

async function textOf(reply: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of reply) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

test("a large result is sent with its length", async () => {
  const { url } = await serve();
  const { reply } = await read(url, "large://plain");
  const text = await textOf(reply);
  expect(Number(reply.headers["content-length"])).toBe(text.length);
  expect(JSON.parse(text)).toMatchObject({ id: 1, result: { contents: [{ uri: "large://plain", blob }] } });
});

test("a large result with other characters than ASCII is the last event of a stream", async () => {
  const { url } = await serve();
  const { reply } = await read(url, "large://events");
  const events = (await textOf(reply)).split("\n\n").flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
  expect(events).toHaveLength(2);
  const [, last = ""] = events;
  expect(JSON.parse(last)).toMatchObject({
    id: 1,
    result: { contents: [{ blob, _meta: { "example.com/title": "ä€😀" } }] },
  });
});

test("a client that disconnects in the middle of a large result frees its place", async () => {
  const { url } = await serve();
  const { sent, reply } = await read(url, "large://plain");
  await once(reply, "readable");
  const refused = await read(url, "large://plain");
  expect(refused.reply.statusCode).toBe(429);
  refused.reply.resume();
  sent.destroy();
  await expect
    .poll(async () => {
      const next = await read(url, "large://plain");
      await textOf(next.reply);
      return next.reply.statusCode;
    })
    .toBe(200);
});

test.each(["large://plain", "large://events"])("closing the server lets a client read the rest of %s", async (uri) => {
  const http = await serve();
  const { reply } = await read(http.url, uri);
  await once(reply, "readable");
  const closing = http.close();
  const text = await textOf(reply);
  expect(text.length).toBeGreaterThan(blob.length);
  expect(reply.complete).toBe(true);
  await closing;
});
