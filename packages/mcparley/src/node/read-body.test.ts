import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { HttpRefusal } from "../http/server/refusal.ts";
import { type NodeRequest, readBody } from "./read-body.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const context = new AsyncLocalStorage<string>();
const head = (length: string): string => `POST / HTTP/1.1\r\nHost: localhost\r\n${length}\r\n\r\n`;

interface Read {
  socket: Socket;
  /** Settles when the request has arrived, before its body is read. */
  begun: Promise<unknown>;
  /** The text, and the asynchronous context after it was read. */
  read: Promise<{ text: string; seen: string | undefined }>;
}

/** Serves one request, whose body is read by code that runs in a separate context. */
async function reading(limit: number, before: (request: NodeRequest) => void = () => {}): Promise<Read> {
  const http = createServer();
  const begun = once(http, "request");
  const read = new Promise<{ text: string; seen: string | undefined }>((resolve, reject) => {
    http.once("request", (request) =>
      context.run("of the request", () => {
        before(request);
        const limits = { maxBytes: limit, startTimeout: () => () => {} };
        const owner = { held: undefined, abortBody: undefined };
        const reading = async (): Promise<void> => {
          const text = await readBody(request, limits, owner);
          resolve({ text, seen: context.getStore() });
        };
        reading().catch(reject);
      }),
    );
  });
  read.catch(() => {});
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const socket = connect((http.address() as AddressInfo).port, "127.0.0.1");
  closers.push(() => {
    socket.destroy();
    http.close();
    http.closeAllConnections();
  });
  return { socket, begun, read };
}

const whole = { text: "a whole body", seen: "of the request" };

test("a body that arrives with its head is read immediately", async () => {
  const { socket, read } = await reading(100);
  socket.write(`${head("Content-Length: 12")}a whole body`);
  expect(await read).toEqual(whole);
});

test("a body that arrives later, in pieces, is read in the async context of its request", async () => {
  const { socket, begun, read } = await reading(100);
  socket.write(head("Content-Length: 12"));
  await begun;
  socket.write("a whole ");
  socket.write("body");
  expect(await read).toEqual(whole);
});

test("a body that arrives partly with its head is read completely", async () => {
  const { socket, begun, read } = await reading(100);
  socket.write(`${head("Content-Length: 12")}a who`);
  await begun;
  socket.write("le body");
  expect(await read).toEqual(whole);
});

test.each([
  ["in one chunk", "c\r\na whole body\r\n0\r\n\r\n"],
  ["in two chunks", "5\r\na who\r\n7\r\nle body\r\n0\r\n\r\n"],
])("a body of unknown length is read to its end: %s", async (_, body) => {
  const { socket, read } = await reading(100);
  socket.write(`${head("Transfer-Encoding: chunked")}${body}`);
  expect(await read).toEqual(whole);
});

test("a request without a body has an empty one", async () => {
  const { socket, read } = await reading(100);
  socket.write(head("Content-Length: 0"));
  expect((await read).text).toBe("");
});

test("a chunk over the limit is refused, also if it is the first", async () => {
  const { socket, read } = await reading(5);
  socket.write(`${head("Transfer-Encoding: chunked")}c\r\na whole body\r\n0\r\n\r\n`);
  const error = await read.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(HttpRefusal);
  expect(error).toMatchObject({ status: 413 });
});

test.each([
  ["of known length", `${head("Content-Length: 12")}a whole body`],
  ["in a chunk", `${head("Transfer-Encoding: chunked")}c\r\na whole body\r\n0\r\n\r\n`],
])("accepts a body of the limit, and refuses one byte more: %s", async (_, sent) => {
  const within = await reading(12);
  within.socket.write(sent);
  expect(await within.read).toEqual(whole);
  const over = await reading(11);
  over.socket.write(sent);
  await expect(over.read).rejects.toMatchObject({ status: 413 });
});

test("another reader of the stream misses no data", async () => {
  let along = "";
  const { socket, read } = await reading(100, (request) => {
    request.on("data", (chunk: Buffer) => (along += chunk.toString()));
  });
  socket.write(`${head("Content-Length: 12")}a whole body`);
  expect(await read).toEqual(whole);
  expect(along).toBe("a whole body");
});
