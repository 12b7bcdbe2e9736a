import { describe, expect, test } from "vitest";
import { createServer } from "../../server/create-server.ts";
import { tool } from "../../server/definition.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { metaOf } from "mcparley-tests/support/raw-http.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
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

describe("a stream that its client does not read", () => {
  const unread = 1_000_000;
  /** Opens the stream of a call. `write` sends a log message with a text of this size. */
  async function openStream(): Promise<{
    clock: FakeClock;
    reports: string[];
    aborted: () => boolean;
    write: (bytes: number) => void;
    finish: () => Promise<void>;
    reader: ReadableStreamDefaultReader<Uint8Array>;
  }> {
    const clock = fakeClock(1_000_000);
    const reports: string[] = [];
    const work = gate();
    const stream = createServer({
      name: "test",
      version: "1.0.0",
      tools: { stream: tool({ call: work.call }) },
      clock,
      limits: { unread },
      onError: (error) => void reports.push((error as Error).message),
    });
    const params = { name: "stream", _meta: { ...metaOf(), "io.modelcontextprotocol/logLevel": "debug" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { fetch } = toFetch(stream);
    const answering = fetch(post("http://localhost/", body, { headers: { ...headers, "mcp-name": "stream" } }));
    const context = await work.entered;
    const write = (bytes: number): void => context.log.info("x".repeat(bytes));
    write(1);
    const reader = (await answering).body!.getReader();
    const finish = async (): Promise<void> => {
      work.open("done");
      await flushPromises();
    };
    return { clock, reports, aborted: () => context.signal.aborted, write, finish, reader };
  }

  test("may let a quarter of limits.unread wait behind the first event, and is aborted and reported with more", async () => {
    const { reports, aborted, write, reader } = await openStream();
    write(unread);
    write(1);
    expect(aborted()).toBe(true);
    expect(reports).toEqual([expect.stringContaining("bytes wait for it (limits.unread)")]);
    await expect(reader.read()).rejects.toThrow("The response was aborted.");
  });

  test("stays open if less than a quarter waits", async () => {
    const { reports, aborted, write, finish, reader } = await openStream();
    for (let count = 0; count < 12; count++) write(20_000);
    expect(aborted()).toBe(false);
    await finish();
    let bytes = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    expect(bytes).toBeGreaterThan(240_000);
    expect(reports).toEqual([]);
  });

  test("is aborted and reported if it is not read for the read timeout, also after its last event", async () => {
    const { clock, reports, write, finish, reader } = await openStream();
    write(20_000);
    await finish();
    await clock.advance(59_000);
    expect(reports).toEqual([]);
    await clock.advance(2_000);
    expect(reports).toEqual([expect.stringContaining("it has read nothing for 60000 ms (readTimeout)")]);
    await expect(reader.read()).rejects.toThrow("The response was aborted.");
    expect(clock.pending).toBe(0);
  });

  test("is aborted after the read timeout since its client has read the last part", async () => {
    const { clock, reports, write, reader } = await openStream();
    for (let count = 0; count < 4; count++) write(20_000);
    await clock.advance(50_000);
    await reader.read();
    await clock.advance(59_000);
    expect(reports).toEqual([]);
    await clock.advance(3_000);
    expect(reports).toEqual([expect.stringContaining("it has read nothing for 60000 ms (readTimeout)")]);
  });

  test("stays open if it is read in parts, and is forgotten when it was read or cancelled", async () => {
    const { clock, reports, write, finish, reader } = await openStream();
    for (let count = 0; count < 4; count++) write(20_000);
    for (let count = 0; count < 4; count++) {
      await clock.advance(50_000);
      await reader.read();
    }
    await finish();
    await clock.advance(50_000);
    await reader.cancel();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000_000);
    expect(reports).toEqual([]);
  });
});
