import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import { NodeExchange } from "./node-exchange.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Starts an HTTP server that passes each request to `handle`. Returns its port. */
async function serve(handle: (exchange: NodeExchange, closed: Promise<void>) => void): Promise<number> {
  const http = createServer((request, response) => {
    const closed = new Promise<void>((resolve) => response.on("close", resolve));
    handle(new NodeExchange(request, response), closed);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    http.close();
    http.closeAllConnections();
  });
  return (http.address() as AddressInfo).port;
}

test("reading rejects if the client disconnects during its body", async () => {
  let begun!: () => void;
  const reading = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let read!: Promise<string>;
  const port = await serve((exchange) => {
    read = exchange.readText({ maxBytes: 1000, startTimeout: () => () => {} });
    read.catch(() => {});
    begun();
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf");
  await reading;
  socket.destroy();
  const error = await read.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LocalError);
  expect(error).toMatchObject({ code: "closed" });
});

test("a client that disconnects after its whole response is not reported as disconnected", async () => {
  let gone = false;
  const ends: Promise<void>[] = [];
  const port = await serve((exchange, closed) => {
    ends.push(closed);
    exchange.onGone(() => {
      gone = true;
    });
    exchange.respond(200, { "content-type": "text/plain" }, "whole");
  });
  const answer = await fetch(`http://127.0.0.1:${port}/path?query`);
  expect(await answer.text()).toBe("whole");
  await Promise.all(ends);
  expect(gone).toBe(false);
});

test("a listener is called immediately if the client has already disconnected", async () => {
  const disconnected = new Promise<void>((resolve) => {
    void serve((exchange, closed) => {
      void closed.then(() => exchange.onGone(resolve));
      exchange.stream(200, {});
    }).then((port) => {
      const leaving = new AbortController();
      void fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal }).then(() => leaving.abort());
    });
  });
  await disconnected;
});

test("a response after the start of a stream aborts the stream", async () => {
  const port = await serve((exchange) => {
    exchange.stream(200, { "content-type": "text/event-stream" }).write(":\n\n");
    setImmediate(() => exchange.respond(500, {}, "too late"));
  });
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  await expect(answer.text()).rejects.toThrow();
});

test.each([
  ["authorization", "Bearer a", "Bearer b"],
  ["authorization", "Bearer a", "Bearer a"],
  ["content-type", "application/json", "text/plain"],
  ["host", "localhost", "evil.example"],
  ["origin", "http://localhost", "https://evil.example"],
  ["dpop", "a", "b"],
  ["mcp-session-id", "a", "b"],
  ["mcp-protocol-version", "2025-11-25", "2026-07-28"],
])("two headers %s have a value that is neither of them, as in the web classes", async (name, first, second) => {
  let value: string | undefined;
  const port = await serve((exchange) => {
    value = exchange.header(name);
    exchange.respond(204, {});
  });
  const socket = connect(port, "127.0.0.1");
  const host = name === "host" ? "" : "Host: localhost\r\n";
  socket.write(
    `GET / HTTP/1.1\r\n${host}${name.toUpperCase()}: ${first}\r\n${name}: ${second}\r\nConnection: close\r\n\r\n`,
  );
  socket.resume();
  await once(socket, "close");
  expect(value).toBe(`${first}, ${second}`);
});

test("a stream whose client has disconnected has no unread bytes", { timeout: 10_000 }, async () => {
  const unreadBodies = new Set<object>();
  const http = createServer().listen(0, "127.0.0.1");
  closers.push(() => http.close());
  await once(http, "listening");
  const socket = connect((http.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  closers.push(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [request, response] = (await once(http, "request")) as [IncomingMessage, ServerResponse];
  const exchange = new NodeExchange(request, response);
  exchange.readers = { note: (body) => unreadBodies.add(body), remove: (body) => unreadBodies.delete(body) };
  const stream = exchange.stream(200, {});
  stream.write(": opened\n\n");
  await once(socket, "data");
  socket.end();
  await once(request.socket, "end");
  stream.end();
  expect(unreadBodies.size).toBe(1);
  await once(response, "close");
  // A session ends its stream again.
  stream.end();
  expect(unreadBodies.size).toBe(0);
});
