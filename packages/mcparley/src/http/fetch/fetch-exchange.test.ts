import { expect, test } from "vitest";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { metaOf } from "mcparley-tests/support/raw-http.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import { toFetch } from "./to-fetch.ts";

const size = tool({ input: { type: "object" }, call: ({ text }) => String((text as string).length) });
const errors: unknown[] = [];
const onError = (error: unknown): void => void errors.push(error);
const server = createServer({ name: "test", version: "1.0.0", tools: { size }, onError });

const headers = {
  "content-type": "application/json",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "size",
};

/** Returns a call whose JSON has exactly `bytes` bytes. */
function callOf(bytes: number): Uint8Array<ArrayBuffer> {
  const params = (text: string): object => ({ name: "size", arguments: { text }, _meta: metaOf() });
  const message = (text: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: params(text) });
  return new TextEncoder().encode(message("x".repeat(bytes - message("").length)));
}

function post(url: string, body: BodyInit, more: RequestInit = {}): Request {
  return new Request(url, { method: "POST", headers, body, ...more });
}

/** Returns a body of unknown length that arrives in chunks of 100 bytes. */
function pieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, (at += 100)));
    },
  });
}

test("reads a body of exactly maxBody bytes and refuses one byte more, with and without Content-Length", async () => {
  const { fetch } = toFetch(server, { maxBody: 2000 });
  const streamed = { duplex: "half" } as RequestInit;
  expect((await fetch(post("http://localhost/", callOf(2000)))).status).toBe(200);
  expect((await fetch(post("http://localhost/", callOf(2001)))).status).toBe(413);
  expect((await fetch(post("http://localhost/", pieces(callOf(2000)), streamed))).status).toBe(200);
  expect((await fetch(post("http://localhost/", pieces(callOf(2001)), streamed))).status).toBe(413);
});

test("refuses a body that is not UTF-8 with 400", async () => {
  const body = callOf(500);
  body[400] = 0xff;
  const answer = await toFetch(server).fetch(post("http://localhost/", body));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: -32700 } });
});

test("reports no error if the client disconnects while it sends its body", async () => {
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
  const answer = await toFetch(server).fetch(post("http://localhost/", broken, { duplex: "half" } as RequestInit));
  expect(answer.status).toBe(400);
  expect(errors).toEqual([]);
});

test("runs no call for a request that was aborted before it arrived", async () => {
  const answer = await toFetch(server).fetch(post("http://localhost/", callOf(500), { signal: AbortSignal.abort() }));
  expect(await answer.text()).not.toContain("result");
  expect(errors).toEqual([]);
});

test("checks the host of the URL, and accepts any host over https", async () => {
  const { fetch } = toFetch(server);
  expect((await fetch(post("http://localhost:8787/", callOf(500)))).status).toBe(200);
  expect((await fetch(post("http://mcp.example.com/", callOf(500)))).status).toBe(403);
  expect((await fetch(post("https://mcp.example.com/", callOf(500)))).status).toBe(200);
});

/** A clock of Workers: a timer ends with the request that set it. */
function clockOfWorkers(): FakeClock & { endRequest(): void } {
  const clock = fakeClock();
  const handles = new Set<unknown>();
  return {
    ...clock,
    get pending() {
      return clock.pending;
    },
    setTimeout(fn, ms) {
      const handle = clock.setTimeout(fn, ms);
      handles.add(handle);
      return handle;
    },
    endRequest() {
      for (const handle of handles) clock.clearTimeout(handle);
      handles.clear();
    },
  };
}

test("sends keep-alives in a request after the platform has ended the timers of an earlier request", async () => {
  const clock = clockOfWorkers();
  const work = { first: gate(), second: gate() };
  const tools = { first: tool({ call: work.first.call }), second: tool({ call: work.second.call }) };
  const { fetch } = toFetch(createServer({ name: "test", version: "1.0.0", tools, clock }), { keepAlive: 10 });
  const call = (name: string): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, _meta: metaOf() } });
    return fetch(post("http://localhost/", body, { headers: { ...headers, "mcp-name": name } }));
  };

  const first = call("first");
  await work.first.entered;
  work.first.open("done");
  expect((await first).headers.get("content-type")).toBe("application/json");
  clock.endRequest();

  const second = call("second");
  await work.second.entered;
  await clock.advance(30);
  work.second.open("done");
  const text = await (await second).text();
  expect(text.match(/^:$/gm)).toHaveLength(3);
  expect(text).toContain("done");
  expect(clock.pending).toBe(0);
});

test("aborts a stream when more than 64 MiB wait in it", async () => {
  const exchange = new FetchExchange(new Request("http://localhost/"));
  const stream = exchange.stream(200, {});
  const { body } = await exchange.response;
  const megabyte = "x".repeat(1_048_576);
  for (let count = 0; count < 64; count++) stream.write(megabyte);
  stream.write("x");
  expect(exchange.closed).toBe(false);
  stream.write("x");
  expect(exchange.closed).toBe(true);
  await expect(body!.getReader().read()).rejects.toThrow("The response was aborted.");
});
