import { describe, expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import type { ServerLimits } from "../../server/core/options.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type RawAnswer, type RawHttp, metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import { toFetch } from "../fetch/to-fetch.ts";
import {
  echo,
  from,
  initialized,
  open,
  ping,
  protocolVersion,
  request,
  serve,
  statusOf,
  trustProxy,
} from "mcparley-tests/support/served-http.ts";

describe("requests in flight", () => {
  const call = (client: RawHttp, headers: Record<string, string>, text = "") =>
    client.modern("tools/call", { name: "wait", arguments: { text } }, { headers });

  /** Starts a server whose calls of `wait` are answered when the test calls `finish`. */
  function waiting(limits: Partial<ServerLimits>) {
    const entered: (() => void)[] = [];
    const wait = tool({
      input: { type: "object" },
      call: () => new Promise<string>((resolve) => entered.push(() => resolve("done"))),
    });
    const served = serve({ trustProxy }, { limits, tools: { wait } });
    /** Starts calls, and returns when they are all in their handlers. */
    const start = async (
      count: number,
      headers: Record<string, string>,
      text?: string,
    ): Promise<Promise<RawAnswer>[]> => {
      const before = entered.length;
      const answers = Array.from({ length: count }, () => call(served.client, headers, text));
      while (entered.length < before + count) await flushPromises();
      return answers;
    };
    const finish = (): void => entered.splice(0).forEach((answer) => answer());
    return { ...served, start, finish };
  }

  async function expectBusy(answering: Promise<RawAnswer>, limit: string): Promise<void> {
    const answer = await answering;
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect((await answer.json()).error.message).toContain(limit);
  }

  test("a caller has at most limits.inFlight of them, and others are served", async () => {
    const { client, start, finish } = waiting({ inFlight: 2 });
    const answers = await start(2, from("203.0.113.66"));
    await expectBusy(call(client, from("203.0.113.66")), "limits.inFlight");
    answers.push(...(await start(2, from("192.0.2.1"))));
    finish();
    for (const answer of answers) expect(await statusOf(answer)).toBe(200);
    const again = await start(2, from("203.0.113.66"));
    finish();
    for (const answer of again) expect(await statusOf(answer)).toBe(200);
  });

  test("a caller has no more of them than there are free places", async () => {
    const { client, start, finish } = waiting({ requests: 8 });
    const answers = await start(4, from("203.0.113.66"));
    await expectBusy(call(client, from("203.0.113.66")), "limits.requests");
    answers.push(...(await start(2, from("192.0.2.1"))));
    await expectBusy(call(client, from("192.0.2.1")), "limits.requests");
    answers.push(...(await start(1, from("192.0.2.2"))));
    finish();
    for (const answer of answers) expect(await statusOf(answer)).toBe(200);
    const again = await start(4, from("192.0.2.3"));
    finish();
    for (const answer of again) expect(await statusOf(answer)).toBe(200);
  });

  test("a caller at its limit can still cancel a call and answer an input request", async () => {
    const ask = tool({ call: async (_, { roots }) => `${(await roots()).length} roots` });
    const { client } = serve({}, { limits: { inFlight: 1 }, tools: { ask } });
    const opening = request("initialize", {
      protocolVersion,
      capabilities: { roots: {} },
      clientInfo: { name: "raw", version: "1" },
    });
    const session = await open(client, opening);
    await statusOf(client.post(initialized, session));
    const answer = await client.post(request("tools/call", { name: "ask" }), {
      ...session,
      accept: "text/event-stream",
    });
    const asked = (await answer.next()) as { id: number; method: string };
    expect(asked.method).toBe("roots/list");
    expect(await statusOf(client.post(ping, session))).toBe(429);
    const result = { roots: [{ uri: "file:///a" }] };
    expect(await statusOf(client.post({ jsonrpc: "2.0", id: asked.id, result }, session))).toBe(202);
    expect(await answer.next()).toMatchObject({ result: { content: [{ text: "1 roots" }] } });
  });

  test("the error of a refused request has its id", async () => {
    const { client, start, finish } = waiting({ inFlight: 1 });
    const answers = await start(1, {});
    expect(await (await client.modern("tools/list", {}, { id: "seven" })).json()).toMatchObject({
      id: "seven",
      error: { code: -32600 },
    });
    finish();
    for (const answer of answers) expect(await statusOf(answer)).toBe(200);
  });

  test("requests whose body has not arrived count by caller as well", async () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      clock: fakeClock(),
      tools: { echo },
      limits: { requests: 4 },
    });
    const { fetch } = toFetch(server, { trustProxy });
    const client = rawHttp("http://localhost/mcp", fetch);
    for (let count = 0; count < 2; count++) {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
      const headers = { "content-type": "application/json", ...from("203.0.113.66") };
      void fetch(new Request("http://localhost/mcp", { method: "POST", headers, body, duplex: "half" } as RequestInit));
    }
    await flushPromises();
    await expectBusy(client.modern("tools/list", {}, { headers: from("203.0.113.66") }), "limits.requests");
    expect(await statusOf(client.modern("tools/list", {}, { headers: from("192.0.2.1") }))).toBe(200);
  });

  test("a caller's bodies use no more bytes than are free", async () => {
    const text = "x".repeat(2_000);
    const { client, start, finish } = waiting({ bodies: 10_000 });
    const answers = await start(2, from("203.0.113.66"), text);
    await expectBusy(call(client, from("203.0.113.66"), text), "limits.bodies");
    answers.push(...(await start(1, from("192.0.2.1"), text)));
    finish();
    for (const answer of answers) expect(await statusOf(answer)).toBe(200);
    const later = await start(2, from("203.0.113.66"), text);
    finish();
    for (const answer of later) expect(await statusOf(answer)).toBe(200);
  });

  test("a body of exactly limits.bodies is read, and one byte more is refused", async () => {
    const body = JSON.stringify(request("ping", { _meta: metaOf() }));
    const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": "ping" };
    const statusWith = (bodies: number) => statusOf(serve({}, { limits: { bodies } }).client.send({ body, headers }));
    // The revision has no ping, so the server answers 404 after it has read the request.
    expect(await statusWith(body.length)).toBe(404);
    expect(await statusWith(body.length - 1)).toBe(429);
  });

  test("the declared bytes of a body count before it is read", async () => {
    const { client } = serve({}, { limits: { bodies: 1_000 } });
    const headers = { "content-length": "1001" };
    await expectBusy(client.send({ body: "{}", headers }), "limits.bodies");
  });

  test.each(["abc", "-5", "1e999", ""])("counts a body whose declared length is %j as it arrives", async (length) => {
    const { client } = serve({}, { limits: { bodies: 1_000 } });
    const headers = { "content-type": "application/json", "content-length": length };
    const body = JSON.stringify(request("ping", { padding: "x".repeat(1_000) }));
    for (let count = 0; count < 3; count++) expect(await statusOf(client.send({ body, headers }))).not.toBe(200);
    await expectBusy(client.send({ body, headers: { "content-type": "application/json" } }), "limits.bodies");
  });

  test("a client that disconnects and a request that is refused release their share", async () => {
    const { client, start, finish } = waiting({ inFlight: 1 });
    const leaving = new AbortController();
    const gone = client.modern("tools/call", { name: "wait" }, { headers: from("192.0.2.1"), signal: leaving.signal });
    await flushPromises();
    leaving.abort();
    await flushPromises();
    finish();
    await gone;
    expect(await statusOf(client.send({ body: "{", headers: from("192.0.2.1") }))).toBe(415);
    const answers = await start(1, from("192.0.2.1"));
    finish();
    for (const answer of answers) expect(await statusOf(answer)).toBe(200);
  });
});

describe("a slow body", () => {
  /** A body of which only the first bytes arrive. */
  const dripping = (onCancel: () => void): ReadableStream =>
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")), cancel: onCancel });
  const post = (body: BodyInit): Request =>
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);

  test("is answered with 408 after bodyTimeout, and its reading ends", async () => {
    const clock = fakeClock();
    const server = createServer({ name: "test", version: "1.0.0", clock, tools: { echo } });
    const { fetch } = toFetch(server, { bodyTimeout: 5_000 });
    let isCancelled = false;
    const answering = fetch(post(dripping(() => (isCancelled = true))));
    await clock.advance(4_999);
    expect(isCancelled).toBe(false);
    await clock.advance(1);
    const answer = await answering;
    expect(answer.status).toBe(408);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await answer.text()).toContain("bodyTimeout");
    expect(isCancelled).toBe(true);
  });

  test("times out after 30 s by default", async () => {
    const clock = fakeClock();
    const server = createServer({ name: "test", version: "1.0.0", clock, tools: { echo } });
    const answering = toFetch(server).fetch(post(dripping(() => {})));
    let isOver = false;
    void answering.then(() => (isOver = true));
    await clock.advance(29_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect((await answering).status).toBe(408);
  });

  test("sets no timer for a body that has arrived", async () => {
    const { client, clock } = serve();
    const call = (text: string): Promise<number> =>
      statusOf(client.modern("tools/call", { name: "echo", arguments: { text } }));
    // The first call loads the JSON Schema evaluator, and has a keep-alive timer while it waits.
    await call("x");
    const before = clock.pending;
    expect(await call("x".repeat(100_000))).toBe(200);
    await flushPromises();
    expect(clock.pending).toBe(before);
  });
});
