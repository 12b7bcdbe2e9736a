import { spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, connect as openSocket } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { HttpOptions } from "mcparley/http";
import { listen, toNodeHandler } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { afterEach, describe, expect, test } from "vitest";
import { metaOf, rawHttp } from "../support/raw-http.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Served {
  url: string;
  port: number;
  /** The number of calls of the tool so far. */
  calls: () => number;
}

function countingServer(): { server: ReturnType<typeof createServer>; calls: () => number } {
  let calls = 0;
  const count = tool({ input: { type: "object" }, call: () => String(++calls) });
  const server = createServer({ name: "counting", version: "1.0.0", tools: { count }, onError: () => {} });
  return { server: server, calls: () => calls };
}

async function serve(options: HttpOptions & { host?: string } = {}): Promise<Served> {
  const { server, calls } = countingServer();
  const { url, port, close } = await listen(server, { port: 0, closeTimeout: 0, ...options });
  closers.push(close);
  return { url, port, calls };
}

const toolCall = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "count", arguments: {}, _meta: metaOf() },
};
const callHeaders = {
  "content-type": "application/json",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "count",
};

interface Sent {
  status: number | undefined;
  body: string;
}

/** Sends a request with any `Host`, which `fetch` does not allow. */
async function send(
  port: number,
  init: { method?: string; path?: string; headers?: Record<string, string>; body?: string },
): Promise<Sent> {
  const { method = "POST", path = "/mcp", headers = {}, body = JSON.stringify(toolCall) } = init;
  const sent = request({ port, host: "127.0.0.1", method, path, headers: { ...callHeaders, ...headers } });
  sent.end(method === "POST" ? body : undefined);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

describe("web pages in a browser", () => {
  /** The page is at `http://evil.example:<port>`, whose name now leads to 127.0.0.1. */
  const rebound = (port: number): Record<string, string> => ({
    host: `evil.example:${port}`,
    origin: `http://evil.example:${port}`,
  });

  test("CVE-2025-66414: refuses requests under a foreign name, by every method and path", async () => {
    const { port, calls } = await serve({ legacySse: true });
    const targets = [
      ["POST", "/mcp"],
      ["GET", "/mcp"],
      ["DELETE", "/mcp"],
      ["OPTIONS", "/mcp"],
      ["GET", "/sse"],
      ["POST", "/messages?sessionId=x"],
    ] as const;
    for (const [method, path] of targets) {
      const { host, origin } = rebound(port) as { host: string; origin: string };
      // Browsers send no Origin with some GET requests.
      for (const headers of [{ host, origin }, { host }]) {
        const answer = await send(port, { method, path, headers });
        expect(method).toEqual(method);
        expect(path).toEqual(path);
        expect(answer.status).toBe(403);
      }
    }
    expect(calls()).toBe(0);
    expect((await send(port, { headers: { host: `127.0.0.1:${port}` } })).status).toBe(200);
    expect(calls()).toBe(1);
  });

  test("CVE-2025-66414: refuses pages of another origin that send to the server's own name", async () => {
    const { port, calls } = await serve();
    const host = `localhost:${port}`;
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "file://", "http://["]) {
      const plain = { host, origin, "content-type": "text/plain" };
      for (const headers of [{ host, origin }, plain]) expect((await send(port, { headers })).status).toBe(403);
    }
    expect(calls()).toBe(0);
  });

  test("CVE-2025-66414: a server on all addresses answers no foreign names before it is configured", async () => {
    const { port, calls } = await serve({ host: "0.0.0.0" });
    expect((await send(port, { headers: rebound(port) })).status).toBe(403);
    expect((await send(port, { headers: { host: "192.168.1.10" } })).status).toBe(403);
    expect(calls()).toBe(0);
  });

  test("CVE-2025-66414: a handler in an existing HTTP server checks names by default", async () => {
    const { server, calls } = countingServer();
    const http = createHttpServer(toNodeHandler(server)).listen(0, "127.0.0.1");
    await once(http, "listening");
    closers.push(() => http.close());
    const { port } = http.address() as AddressInfo;
    expect((await send(port, { headers: rebound(port) })).status).toBe(403);
    expect(calls()).toBe(0);
  });

  test("CVE-2025-66414: `mcparley serve` refuses requests under a foreign name", async () => {
    const program = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
    const folder = fileURLToPath(new URL("../../examples/handbook", import.meta.url));
    const child = spawn(process.execPath, [program, "serve", folder, "--port", "0"], { timeout: 150_000 });
    const ended = once(child, "close");
    closers.push(async () => {
      child.kill();
      await ended;
    });
    const port = await new Promise<number>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface(stream).on("line", (line) => {
          const found = /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(line)?.[1];
          if (found !== undefined) resolve(Number(found));
        });
      }
      ended.then(([code]) => reject(new Error(`mcparley serve ended with ${String(code)}`)), reject);
    });
    const body = JSON.stringify({ ...toolCall, method: "tools/list", params: { _meta: metaOf() } });
    const headers = { "mcp-method": "tools/list" };
    expect((await send(port, { body, headers: { ...headers, ...rebound(port) } })).status).toBe(403);
    expect((await send(port, { body, headers })).status).toBe(200);
  });
});

describe("large requests", () => {
  const limit = 4 * 1024 * 1024;
  const large = (bytes: number): string => {
    const message = (filler: string): string =>
      JSON.stringify({ ...toolCall, params: { ...toolCall.params, arguments: { filler } } });
    return message("x".repeat(bytes - message("").length));
  };

  test("GHSA-f897-62hf-6gxq: a body over 4 MiB is refused and never parsed", async () => {
    const { port, calls } = await serve();
    expect((await send(port, { body: large(limit) })).status).toBe(200);
    // The rest of the body is never sent: the server closes the connection, and sending more could fail before the response.
    const headers = { ...callHeaders, "content-length": limit + 1 };
    const sent = request({ port, host: "127.0.0.1", method: "POST", path: "/mcp", headers });
    sent.write("{");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    sent.destroy();
    expect(calls()).toBe(1);
  });

  test("GHSA-f897-62hf-6gxq: a body without an announced length ends at the limit", async () => {
    const { port, url, calls } = await serve();
    const socket = openSocket(port, "127.0.0.1");
    closers.push(() => socket.destroy());
    let sent = 0;
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    const closed = new Promise<void>((resolve) => {
      socket.once("error", () => resolve());
      socket.once("close", () => resolve());
    });
    const head = { host: `127.0.0.1:${port}`, "transfer-encoding": "chunked", ...callHeaders };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n`);
    const mebibyte = "x".repeat(1024 * 1024);
    const feed = (): void => {
      while (!socket.destroyed && socket.writable && sent < 256) {
        sent++;
        if (!socket.write(`100000\r\n${mebibyte}\r\n`)) {
          socket.once("drain", feed);
          return;
        }
      }
    };
    feed();
    await closed;
    // The operating system buffers some of it.
    expect(sent).toBeLessThan(64);
    expect(answer === "" || answer.startsWith("HTTP/1.1 413 ")).toBe(true);
    expect(calls()).toBe(0);
    expect((await rawHttp(url, fetch).modern("tools/list")).status).toBe(200);
  });

  test("GHSA-f897-62hf-6gxq: a body that a framework parsed has the same limit", async () => {
    const { server, calls } = countingServer();
    const handler = toNodeHandler(server);
    const http = createHttpServer((request, response) => {
      void text(request).then((body) => {
        handler(Object.assign(request, { body: JSON.parse(body) as unknown }), response);
      });
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    closers.push(() => http.close());
    const { port } = http.address() as AddressInfo;
    expect((await send(port, { body: large(limit + 1) })).status).toBe(413);
    expect(calls()).toBe(0);
    expect((await send(port, {})).status).toBe(200);
  });

  test("GHSA-f897-62hf-6gxq: a batch of more than 100 messages is refused as a whole", async () => {
    const { url, calls } = await serve();
    const client = rawHttp(url, fetch);
    const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "raw", version: "1.0.0" } };
    const opened = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
    const batch = (length: number): object[] =>
      Array.from({ length }, (_, id) => ({ ...toolCall, id, params: { name: "count", arguments: {} } }));
    for (const length of [101, 20_000]) {
      expect((await client.post(batch(length), session)).status).toBe(400);
      expect(calls()).toBe(0);
    }
    const answer = await client.post(batch(100), session);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(calls()).toBe(100);
  });
});
