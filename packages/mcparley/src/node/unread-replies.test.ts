import { once } from "node:events";
import { type Socket, connect } from "node:net";
import v8 from "node:v8";
import vm from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { metaOf } from "mcparley-tests/support/raw-http.ts";
import { createServer } from "../server/create-server.ts";
import { tool } from "../server/definition.ts";
import type { AnyServerDefinition } from "../server/core/options.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { listen } from "./listen.ts";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc") as () => void;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const size = 8 * 1024 * 1024;

/** A server whose tool `large` returns a text of 8 MiB, each another one. */
async function serve(definition: Partial<AnyServerDefinition> = {}) {
  const errors: string[] = [];
  let calls = 0;
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools: {
      large: tool({ call: () => Buffer.alloc(size, `${++calls} `).toString("latin1") }),
      slow: tool({
        call: (_, ctx) => {
          ctx.progress(1);
          return Buffer.alloc(size, "x").toString("latin1");
        },
      }),
    },
    onError: (error: unknown) => void errors.push((error as Error).message),
    ...definition,
  });
  const listening = await listen(server, { port: 0, closeTimeout: 0, keepAlive: 3_600_000, legacySse: true });
  closers.push(listening.close);
  return { port: listening.port, errors, calls: () => calls };
}

function dial(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  closers.push(() => socket.destroy());
  return socket;
}

/** Sends a call, and reads nothing. */
function call(port: number, { accept = "application/json, text/event-stream", name = "large" } = {}): Socket {
  const params = { name, arguments: {}, _meta: metaOf({ meta: { progressToken: "p" } }) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const socket = dial(port).pause();
  const head = `mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: ${name}\r\naccept: ${accept}`;
  socket.write(`POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${head}\r\n`);
  socket.write(`content-length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

/** Opens an HTTP+SSE session. Reads nothing after the event that names the path for messages. */
async function openSse(port: number): Promise<(message: object) => Promise<void>> {
  const stream = dial(port);
  stream.write("GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n");
  let text = "";
  while (!/data: (\S+)/.test(text)) text += String((await once(stream, "data"))[0]);
  stream.pause();
  const path = /data: (\S+)/.exec(text)?.[1];
  return async (message) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) };
    await (await fetch(`http://127.0.0.1:${port}${path}`, init)).text();
  };
}

const used = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe("16 unread replies of 8 MiB", () => {
  test.each([
    ["as JSON", {}],
    ["as an event", { accept: "text/event-stream" }],
    ["on event streams", { name: "slow" }],
  ])("%s hold about limits.unread of memory, and other callers are answered", async (_, options) => {
    const { port, errors } = await serve({ limits: { unread: 32 * 1024 * 1024 } });
    const before = used();
    const sockets = Array.from({ length: 16 }, () => call(port, options));
    // The replies are written in the order of the requests.
    await expect.poll(() => errors.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(6);
    const reader = call(port, options);
    reader.resume();
    let received = 0;
    for await (const chunk of reader) if ((received += (chunk as Buffer).length) > size) break;
    // Closed connections release their memory a moment later.
    await expect.poll(() => used() - before, { timeout: 10_000 }).toBeLessThan(70_000_000);
    expect(new Set(errors)).toEqual(
      new Set([expect.stringContaining("does not read the reply: all replies have too many bytes (limits.unread)")]),
    );
    for (const socket of sockets) socket.destroy();
  });

  test("on the stream of an HTTP+SSE session close it", async () => {
    const { port, errors } = await serve({ limits: { unread: 64 * 1024 * 1024 } });
    const post = await openSse(port);
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
    await post({ id: 0, method: "initialize", params });
    const before = used();
    for (let id = 1; id <= 16; id++) await post({ id, method: "tools/call", params: { name: "large" } });
    expect(errors).toEqual([expect.stringMatching(/\d+ bytes wait for it \(limits\.unread\)/)]);
    expect(used() - before).toBeLessThan(50_000_000);
  });
});

describe("the connection of a client", () => {
  const readTimeout = 60_000;

  test("is closed and reported if it reads nothing for the read timeout", async () => {
    const clock = fakeClock();
    const { port, errors } = await serve({ clock });
    const socket = call(port);
    await once(socket, "readable");
    await clock.advance(readTimeout - 1_000);
    expect(errors).toEqual([]);
    await clock.advance(2_000);
    expect(errors).toEqual([expect.stringContaining("read nothing for 60000 ms (readTimeout)")]);
    let received = 0;
    socket.on("data", (chunk: Buffer) => (received += chunk.length)).resume();
    await once(socket, "close");
    expect(received).toBeLessThan(size);
  });

  test("stays open if it reads slowly, for many times the read timeout", async () => {
    const clock = fakeClock();
    const { port, errors } = await serve({ clock });
    const socket = call(port);
    let received = 0;
    const closing = once(socket, "close");
    for (let limit = 2_621_440; received < size; limit += 2_621_440) {
      while (received < Math.min(limit, size)) {
        const chunk = socket.read() as Buffer | null;
        received += chunk?.length ?? 0;
        if (!chunk) await Promise.race([once(socket, "readable"), closing]);
        if (socket.closed) break;
      }
      expect(socket.closed).toBe(false);
      // The buffers of the operating system show the server in steps that the client has read.
      await clock.advance(readTimeout * 0.9);
    }
    expect(errors).toEqual([]);
  });
});
