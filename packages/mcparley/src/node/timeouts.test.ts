import { type Server as HttpServer, createServer as createHttpServer } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { tool } from "../server/definition.ts";
import { createServer } from "../server/create-server.ts";
import { metaOf } from "mcparley-tests/support/raw-http.ts";
import { type ListenOptions, listen } from "./listen.ts";
import { toNodeHandler } from "./node-handler.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const definition = { name: "test", version: "1.0.0", tools: { hello: tool({ call: () => "Hello" }) } };

async function serve(options: Partial<ListenOptions>): Promise<number> {
  const { port, close } = await listen(createServer(definition), { port: 0, closeTimeout: 0, ...options });
  closers.push(close);
  return port;
}

/** Opens a connection, and resolves with all that it received once the server has closed it. */
function dial(port: number): { socket: Socket; closed: Promise<string>; received: () => string } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  socket.on("error", () => {});
  closers.push(() => socket.destroy());
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  return { socket, closed, received: () => text };
}

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "hello", _meta: metaOf() },
});
const head = (length: number): string =>
  "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\n" +
  `mcp-method: tools/call\r\nmcp-name: hello\r\ncontent-length: ${length}\r\n\r\n`;

describe("a listening server closes a connection", () => {
  test("if no byte arrives", async () => {
    const { closed } = dial(await serve({ headersTimeout: 50 }));
    await closed;
  });

  test("if the head of a request does not end", async () => {
    const { socket, closed } = dial(await serve({ headersTimeout: 50 }));
    socket.write("POST /mcp HTTP/1.1\r\nhost: local");
    expect(await closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("if a head arrives byte by byte", async () => {
    const { socket, closed } = dial(await serve({ headersTimeout: 100 }));
    const dripping = setInterval(() => socket.write("x"), 10);
    closers.push(() => clearInterval(dripping));
    socket.write("POST /mcp HTTP/1.1\r\nx: ");
    expect(await closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("if the body of a request does not arrive in time", async () => {
    const { socket, closed } = dial(await serve({ bodyTimeout: 50 }));
    socket.write(head(body.length) + body.slice(0, 10));
    const answer = await closed;
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toContain("bodyTimeout");
  });

  test("if a body arrives byte by byte", async () => {
    const { socket, closed } = dial(await serve({ bodyTimeout: 100 }));
    const dripping = setInterval(() => socket.write(" "), 10);
    closers.push(() => clearInterval(dripping));
    socket.write(head(10_000));
    expect(await closed).toMatch(/^HTTP\/1.1 408 /);
  });

  test("if a request lasts longer than requestTimeout", async () => {
    const { socket, closed } = dial(await serve({ requestTimeout: 50 }));
    socket.write(head(body.length) + body.slice(0, 10));
    await closed;
  });

  test("if no second request arrives", async () => {
    const { socket, closed } = dial(await serve({ keepAliveTimeout: 50 }));
    socket.write(head(body.length) + body);
    expect(await closed).toMatch(/^HTTP\/1.1 200 [^]*Hello/);
  });
});

test("a handler in another server ends a body that does not arrive in time", async () => {
  const handler = toNodeHandler(createServer(definition), { bodyTimeout: 50 });
  const http: HttpServer = createHttpServer({ requestTimeout: 0, headersTimeout: 0 }, handler);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closers.push(() => http.close());
  const { socket, closed } = dial((http.address() as AddressInfo).port);
  socket.write(head(body.length) + body.slice(0, 10));
  expect(await closed).toMatch(/^HTTP\/1.1 408 /);
});

test("a request that arrives in two pieces is answered", async () => {
  const { socket, closed } = dial(await serve({ keepAliveTimeout: 50 }));
  socket.write(head(body.length) + body.slice(0, 10));
  await new Promise((resolve) => setImmediate(resolve));
  socket.write(body.slice(10));
  expect(await closed).toMatch(/^HTTP\/1.1 200 [^]*Hello/);
});
