import { type RequestListener, createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Client, type HttpTarget, type ReceivedPart, connect } from "../client.ts";
import { createServer, resource } from "../server.ts";
import { toNodeHandler } from "./node-handler.ts";

const blob = Buffer.alloc(1_048_576, "0123456789").toString("base64");
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const server = createServer({
  name: "large",
  version: "1.0.0",
  resources: { large: resource("large://blob", { read: () => ({ blob }) }) },
});

/** Serves the large resource. `intercept` may answer a request of `resources/read` itself: then it returns true. */
async function serve(intercept: (...given: Parameters<RequestListener>) => boolean = () => false): Promise<string> {
  const handler = toNodeHandler(server);
  const http = createHttpServer((request, response) => {
    if (request.headers["mcp-method"] !== "resources/read" || !intercept(request, response)) handler(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    http.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

async function connected(url: string, target: Partial<HttpTarget> = {}): Promise<Client> {
  const client = await connect({ url, ...target });
  closers.push(() => client.close());
  return client;
}

const read = (client: Client): Promise<unknown> => client.readResource("large://blob");

test("a reply of exactly the limit is read, and one byte more is refused", async () => {
  const url = await serve();
  const seen: ReceivedPart[] = [];
  await read(await connected(url, { onReceived: (received) => seen.push(received) }));
  const size = seen.at(-1)?.bytes ?? 0;
  expect(await read(await connected(url, { limits: { message: size } }))).toMatchObject({ contents: [{ blob }] });
  await expect(read(await connected(url, { limits: { message: size - 1 } }))).rejects.toMatchObject({
    code: "too_large",
    message: `The server answered with more than ${size - 1} bytes. Raise limits.message.`,
  });
});

test("the limit of a resource is 24 MiB by default, and that of another reply is 16 MiB", async () => {
  let size = 0;
  const url = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { id } = JSON.parse(body) as { id: number };
      const result = { resultType: "complete", contents: [], ttlMs: 0, cacheScope: "private" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }).padEnd(size));
    });
    return true;
  });
  const client = await connected(url);
  size = 25_165_824;
  expect(await read(client)).toMatchObject({ contents: [] });
  size++;
  await expect(read(client)).rejects.toMatchObject({ code: "too_large" });
  size = 16_777_217;
  await expect(client.request("resources/read", { uri: "large://blob" })).rejects.toMatchObject({ code: "too_large" });
});

test("onReceived is called with the bytes that have arrived, up to the announced total", async () => {
  const seen: ReceivedPart[] = [];
  const client = await connected(await serve(), { onReceived: (received) => seen.push(received) });
  seen.length = 0;
  await read(client);
  const bytes = seen.map((received) => received.bytes);
  expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
  expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([bytes.at(-1)]));
  expect(bytes.at(-1)).toBeGreaterThan(blob.length);
});

test("an error of onReceived fails the call whose reply arrives", async () => {
  let isFailing = false;
  const client = await connected(await serve(), {
    onReceived: () => {
      if (isFailing) throw new Error("The display is gone.");
    },
  });
  isFailing = true;
  await expect(read(client)).rejects.toThrow("The display is gone.");
  isFailing = false;
  expect(await read(client)).toMatchObject({ contents: [{ blob }] });
});

test("a large reply that breaks off fails the call, and the next call is sent on another connection", async () => {
  let times = 0;
  const url = await serve((_, response) => {
    if (times++ > 0) return false;
    response.writeHead(200, { "content-type": "application/json", "content-length": blob.length });
    response.write(`{"jsonrpc":"2.0","result":"${blob.slice(0, 500_000)}`, () => response.destroy());
    return true;
  });
  const client = await connected(url);
  await expect(read(client)).rejects.toMatchObject({ code: "closed" });
  expect(await read(client)).toMatchObject({ contents: [{ blob }] });
});

test("an abort while a large reply arrives cancels the call", async () => {
  const abort = new AbortController();
  const url = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": blob.length });
    response.write(blob.slice(0, 500_000));
    return true;
  });
  const client = await connected(url, {
    onReceived: ({ bytes }) => {
      if (bytes > 100_000) abort.abort();
    },
  });
  await expect(client.readResource("large://blob", { signal: abort.signal })).rejects.toMatchObject({
    code: "aborted",
  });
});
