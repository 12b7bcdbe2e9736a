import { expect, test } from "vitest";
import { legacyTalk, nextGet } from "mcparley-tests/support/http-talk.ts";
import { flushPromises } from "../../testing/fake-clock.ts";

test.each([5_000, 29_000, 59_000])(
  "a response stream that a proxy interrupts every %i ms is always resumed",
  async (ms) => {
    const { client, clock, next } = await legacyTalk();
    (await nextGet(next)).status(405);
    const calling = client.callTool("slow", {}, { timeout: { idle: 36_000_000, total: 36_000_000 } });
    const call = await next();
    let feed = call.stream();
    feed.raw("id: e1\ndata: \n\n");
    for (let cut = 1; cut <= 50; cut++) {
      await clock.advance(ms);
      feed.break();
      feed = (await nextGet(next)).stream();
    }
    feed.event({ jsonrpc: "2.0", id: call.body.id, result: { content: [{ type: "text", text: "done" }] } });
    expect(await calling).toBe("done");
  },
);

test("a call whose stream cannot be resumed because the session is lost is not sent again", async () => {
  const { client, next, waiting } = await legacyTalk();
  (await nextGet(next)).status(405);
  const outcome = client.callTool("pay").catch((error: unknown) => error);
  const feed = (await next()).stream();
  feed.raw("id: e1\ndata: \n\n");
  await flushPromises();
  feed.break();
  (await nextGet(next)).status(404);
  expect(await outcome).toMatchObject({ code: "closed", data: { safeToRepeat: false } });
  expect(client.state).toBe("reconnecting");
  await flushPromises();
  expect(waiting()).toBe(0);
});

test("a broken response stream is resumed after its last event, and not before the server's retry time", async () => {
  const { client, clock, next, waiting } = await legacyTalk();
  (await nextGet(next)).status(405);
  const calling = client.callTool("slow");
  const call = await next();
  const stream = call.stream();
  stream.raw("id: e1\nretry: 700\ndata: \n\n");
  await flushPromises();
  stream.end();
  await clock.advance(699);
  expect(waiting()).toBe(0);
  await clock.advance(71);
  const resumed = await nextGet(next);
  expect(resumed.headers.get("last-event-id")).toBe("e1");
  const rest = resumed.stream();
  rest.event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } }, "e2");
  await flushPromises();
  rest.break();
  const again = await nextGet(next);
  expect(again.headers.get("last-event-id")).toBe("e2");
  again.stream().event({ jsonrpc: "2.0", id: call.body.id, result: { content: [] } }, "e3");
  await calling;
});

test("a response stream is resumed at most ten times without progress, with increasing delays", async () => {
  const { client, clock, next } = await legacyTalk();
  (await nextGet(next)).status(405);
  const outcome = client.callTool("slow", {}, { timeout: { idle: 3_600_000 } }).catch((error: unknown) => error);
  const stream = (await next()).stream();
  stream.raw("id: e1\ndata: \n\n");
  await flushPromises();
  stream.break();
  const times: number[] = [];
  for (let tries = 0; tries < 10; tries++) {
    const hit = await nextGet(next);
    times.push(clock.now());
    hit.fail(new TypeError("fetch failed"));
    await flushPromises();
  }
  expect(await outcome).toMatchObject({ code: "closed" });
  expect(times.at(-1)).toBeGreaterThan(60_000);
  expect(clock.pending).toBe(0);
});

test("a response stream without event ids cannot be resumed, and its call fails immediately", async () => {
  const { client, next, clock } = await legacyTalk();
  (await nextGet(next)).status(405);
  const outcome = client.callTool("slow").catch((error: unknown) => error);
  (await next()).stream().break(new Error("terminated"));
  expect(await outcome).toMatchObject({ code: "closed", message: expect.stringContaining("terminated") });
  expect(clock.pending).toBe(0);
});
