import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { tool } from "../server/definition.ts";
import { type Server, coreOf, createServer } from "../server/create-server.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { type RunningHttpServer, listen } from "./listen.ts";
import { toNodeHandler } from "./node-handler.ts";
import type { HttpOptions } from "../http/server/options.ts";

const limit = 4 * 1024 * 1024;
const size = tool({ input: { type: "object" }, call: ({ text }) => String((text as string).length) });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Served extends RunningHttpServer {
  server: Server;
  errors: unknown[];
}

async function serve(
  options: HttpOptions = {},
  tools: Record<string, ReturnType<typeof tool>> = { size },
): Promise<Served> {
  const errors: unknown[] = [];
  const server = createServer({ name: "test", version: "1.0.0", tools, onError: (error) => errors.push(error) });
  const listening = await listen(server, { port: 0, closeTimeout: 0, ...options });
  closers.push(listening.close);
  return { ...listening, server, errors };
}

const head = {
  "content-type": "application/json",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "size",
};

/** Returns a call of exactly the given number of bytes. */
function callOf(bytes: number): string {
  const message = (text: string): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "size", arguments: { text }, _meta: metaOf() },
    });
  return message("x".repeat(bytes - message("").length));
}

/** Opens a socket that records the received text. */
function dial(port: number): { socket: Socket; until: (pattern: RegExp) => Promise<string>; closed: Promise<void> } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let checkText = (): void => {};
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    checkText();
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  closers.push(() => socket.destroy());
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      checkText = () => {
        if (pattern.test(text)) resolve(text);
      };
      socket.once("close", () => reject(new Error(`The connection was closed after: ${text.slice(-500)}`)));
      checkText();
    });
  return { socket, until, closed };
}

const headOf = (headers: Record<string, string | number>): string =>
  `POST /mcp HTTP/1.1\r\n${Object.entries({ host: "localhost", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

describe("a body", () => {
  test("of 4 MiB is read, and one byte more is refused with 413", async () => {
    const { url } = await serve();
    const fits = await fetch(url, { method: "POST", headers: head, body: callOf(limit) });
    expect(fits.status).toBe(200);
    await fits.text();
    const tooLarge = await fetch(url, { method: "POST", headers: head, body: callOf(limit + 1) });
    expect(tooLarge.status).toBe(413);
    expect(await tooLarge.json()).toMatchObject({
      error: { message: expect.stringContaining("4194304 bytes (maxBody)") as string },
    });
  });

  test("without Content-Length has the same limit", async () => {
    const { url } = await serve({ maxBody: 2000 });
    const chunked = (text: string): ReadableStream =>
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < text.length; at += 100) controller.enqueue(Buffer.from(text.slice(at, at + 100)));
          controller.close();
        },
      });
    for (const [bytes, status] of [
      [2000, 200],
      [2001, 413],
    ] as const) {
      const body = chunked(callOf(bytes));
      const answer = await fetch(url, { method: "POST", headers: head, body, duplex: "half" } as RequestInit);
      expect(answer.status).toBe(status);
      await answer.text();
    }
  });

  test("over the limit leaves its connection usable", async () => {
    const { port } = await serve({ maxBody: 2000 });
    const { socket, until } = dial(port);
    socket.write(headOf({ ...head, "content-length": 2500 }) + "x".repeat(2500));
    await until(/^HTTP\/1.1 413 /);
    const body = callOf(1000);
    socket.write(headOf({ ...head, "content-length": body.length }) + body);
    await until(/HTTP\/1.1 200 [^]*"resultType"/);
  });

  test("that does not end is cut off", async () => {
    const { port } = await serve({ maxBody: 2000 });
    const { socket, closed } = dial(port);
    socket.write(headOf({ ...head, "content-length": 1_000_000 }) + "x".repeat(10_000));
    await closed;
  });

  test("that is not UTF-8 is refused with 400", async () => {
    const { url } = await serve();
    const body = Buffer.from(callOf(500), "latin1");
    body[body.indexOf("xx")] = 0xff;
    const answer = await fetch(url, { method: "POST", headers: head, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: -32700 } });
  });

  test("is read correctly if a character is split between two packets", async () => {
    const { port } = await serve();
    const body = Buffer.from(callOf(500).replace("xxxx", "é€"));
    const at = body.indexOf("é") + 1;
    const { socket, until } = dial(port);
    socket.setNoDelay();
    socket.write(headOf({ ...head, "content-length": body.length }));
    socket.write(body.subarray(0, at));
    await new Promise((resolve) => setImmediate(resolve));
    socket.write(body.subarray(at));
    await until(/HTTP\/1.1 200 /);
  });
});

describe("a client that disconnects", () => {
  test("during a message leaves no state, and is not an error", async () => {
    const { port, url, errors } = await serve();
    for (const half of ['{"jsonrpc":"2.0",', ""]) {
      const { socket, closed } = dial(port);
      socket.write(headOf({ ...head, "content-length": 100 }) + half);
      await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      await closed;
    }
    const answer = await rawHttp(url, fetch).modern("tools/call", { name: "size", arguments: { text: "" } });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(errors).toEqual([]);
  });

  test("during a stream ends it and its subscriptions", async () => {
    const { url, server } = await serve();
    const leaving = new AbortController();
    const filter = { notifications: { toolsListChanged: true } };
    const answer = await rawHttp(url, fetch).modern("subscriptions/listen", filter, { signal: leaving.signal });
    await answer.next();
    const core = coreOf(server);
    expect(core.openStreams).toBe(1);
    const left = new Promise<void>((resolve) => {
      const poll = (): void => void (core.openStreams === 0 ? resolve() : setImmediate(poll));
      poll();
    });
    leaving.abort();
    await left;
    expect(core.changes.size).toBe(0);
  });

  test("during a legacy call does not cancel it", async () => {
    const slow = gate();
    const { url, port, errors } = await serve({}, { slow: tool(slow) });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const opened = await rawHttp(url, fetch).post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    await opened.text();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow" } });
    const { socket, closed } = dial(port);
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    socket.write(headOf({ "content-type": "application/json", ...session, "content-length": body.length }) + body);
    const ctx = await slow.entered;
    socket.destroy();
    await closed;
    // The answer on another connection shows that the server has processed the disconnect.
    await (await rawHttp(url, fetch).post({ jsonrpc: "2.0", id: 2, method: "ping" }, session)).text();
    expect(ctx.signal.aborted).toBe(false);
    ctx.progress(1);
    slow.open("nobody reads this");
    expect(errors).toEqual([]);
  });
});

describe("a body that a framework has read", () => {
  /** Simulates a framework that reads the body and stores the result of `leave` in `request.body`. */
  async function serveParsed(leave: (body: Buffer) => unknown, options: HttpOptions = {}): Promise<string> {
    const server = createServer({ name: "test", version: "1.0.0", tools: { size }, onError: () => {} });
    const handler = toNodeHandler(server, options);
    const http = createHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = leave(Buffer.concat(chunks));
        setImmediate(() => handler(Object.assign(request, { body }), response));
      });
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    closers.push(() => {
      http.close();
      http.closeAllConnections();
    });
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  }

  const parse = (body: Buffer): unknown => JSON.parse(body.toString());
  const post = async (url: string, body: BodyInit, more: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(url, { method: "POST", headers: { ...head, ...more }, body });
    await answer.text();
    return answer.status;
  };

  test.each<[string, (body: Buffer) => unknown]>([
    ["an object", parse],
    ["a string", (body) => body.toString()],
    ["bytes", (body) => body],
  ])("is accepted as %s, and the limit applies", async (_, leave) => {
    const url = await serveParsed(leave, { maxBody: 2000 });
    expect(await post(url, callOf(2000))).toBe(200);
    expect(await post(url, callOf(2001))).toBe(413);
  });

  test("is measured after decompression", async () => {
    const url = await serveParsed((body) => JSON.parse(gunzipSync(body).toString()), { maxBody: 2000 });
    const gzip = { "content-encoding": "gzip" };
    expect(await post(url, gzipSync(callOf(2000)), gzip)).toBe(200);
    expect(await post(url, gzipSync(callOf(2001)), gzip)).toBe(413);
  });

  test("and discarded is answered with 500", async () => {
    expect(await post(await serveParsed(() => undefined), callOf(500))).toBe(500);
  });

  test("is read from the request if the framework did not read it, with any value of `request.body`", async () => {
    const server = createServer({ name: "test", version: "1.0.0", tools: { size } });
    const handler = toNodeHandler(server);
    const http = createHttpServer((request, response) => handler(Object.assign(request, { body: {} }), response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    closers.push(() => {
      http.close();
      http.closeAllConnections();
    });
    expect(await post(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`, callOf(500))).toBe(200);
  });
});

test.each([
  ["accept", {}],
  ["x-forwarded-for", { trustProxy: "x-forwarded-for" }],
  ["forwarded", { trustProxy: "forwarded" }],
])("%s is read only if all headers have at most 16 KiB", async (name, options) => {
  const { port } = await serve(options);
  const statusFor = async (length: number): Promise<string> => {
    const { socket, until } = dial(port);
    socket.write(headOf({ ...head, "content-length": 0, [name]: ",".repeat(length) }));
    return (await until(/^HTTP.*\r\n/)).slice(0, "HTTP/1.1 431".length);
  };
  expect(await statusFor(15_000)).not.toBe("HTTP/1.1 431");
  expect(await statusFor(16_384)).toBe("HTTP/1.1 431");
});
