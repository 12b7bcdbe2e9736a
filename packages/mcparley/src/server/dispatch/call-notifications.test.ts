import { describe, expect, test } from "vitest";
import { modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import type { Context } from "../core/context.ts";

const modern = "2026-07-28";

describe.each([modern, "2025-11-25"])("on revision %s", (version) => {
  /** Calls a tool that runs `act`, and ends when `end` is opened. Returns the messages that were sent about the call. */
  async function run(act: (ctx: Context) => void, notificationRate?: number, level = "debug") {
    const clock = fakeClock();
    const end = gate();
    const slow = tool({
      call: (input, ctx) => {
        act(ctx);
        return end.call(input, ctx);
      },
    });
    const limits = notificationRate === undefined ? {} : { notificationRate };
    const server = createServer({ name: "x", version: "1", clock, limits, tools: { slow } });
    const peer = await rawPeer(server);
    if (version !== modern) {
      await openSession(peer, version);
      await peer.request("logging/setLevel", { level });
    }
    const token = { progressToken: "t" };
    const logLevel = { "io.modelcontextprotocol/logLevel": level };
    const _meta = version === modern ? modernMeta(modern, {}, { ...token, ...logLevel }) : token;
    const reply = peer.request("tools/call", { name: "slow", _meta });
    await end.entered;
    await peer.settled();
    const sent = () => peer.received.flatMap((message) => ("method" in message ? [message.params ?? {}] : []));
    const finish = async () => {
      end.open("done");
      expect((await reply).result).toMatchObject({ content: [{ text: "done" }] });
    };
    return { clock, sent, finish, peer };
  }

  const progressTo = (count: number) => (ctx: Context) => {
    for (let done = 1; done <= count; done++) ctx.progress(done);
  };
  const doneOf = (sent: readonly object[]) => sent.map((params) => (params as { progress: number }).progress);

  test("1,000 notifications of a call are sent without a delay", async () => {
    const { sent, finish, clock } = await run(progressTo(1000));
    expect(doneOf(sent())).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(clock.pending).toBe(0);
    await finish();
    expect(sent()).toHaveLength(1000);
  });

  test("over the limit the newest progress is sent at the end of the second", async () => {
    const { sent, finish, clock } = await run(progressTo(100), 3);
    expect(doneOf(sent())).toEqual([1, 2, 3]);
    await clock.advance(999);
    expect(doneOf(sent())).toEqual([1, 2, 3]);
    await clock.advance(1);
    expect(doneOf(sent())).toEqual([1, 2, 3, 100]);
    await finish();
    expect(doneOf(sent())).toEqual([1, 2, 3, 100]);
  });

  test("the last progress is sent before the reply", async () => {
    const { finish, clock, peer } = await run(progressTo(100), 3);
    await finish();
    const calls = peer.received.slice(-2).map((message) => ("method" in message ? message.params?.progress : "reply"));
    expect(calls).toEqual([100, "reply"]);
    expect(clock.pending).toBe(0);
  });

  test("a call can send the same number of notifications again in the next second", async () => {
    let report!: Context["progress"];
    const { sent, finish, clock, peer } = await run((ctx) => void (report = ctx.progress), 2);
    for (let done = 1; done <= 5; done++) report(done);
    await clock.advance(1000);
    for (let done = 6; done <= 9; done++) report(done);
    await peer.settled();
    expect(doneOf(sent())).toEqual([1, 2, 5, 6, 7]);
    await finish();
    expect(doneOf(sent())).toEqual([1, 2, 5, 6, 7, 9]);
  });

  test("log messages over the limit are dropped, and a warning contains their number", async () => {
    const log = (ctx: Context): void => {
      for (let line = 1; line <= 10; line++) ctx.log.info(line);
    };
    const { sent, finish } = await run(log, 3);
    await finish();
    expect(sent().map(({ level, data }) => [level, data])).toEqual([
      ["info", 1],
      ["info", 2],
      ["info", 3],
      ["warning", "7 log messages were dropped (limits.notificationRate)."],
    ]);
  });

  test("a client with the log level error receives no warning about dropped messages", async () => {
    const log = (ctx: Context): void => {
      for (let line = 1; line <= 10; line++) ctx.log.error(line);
    };
    const { sent, finish } = await run(log, 3, "error");
    await finish();
    expect(sent().map(({ data }) => data)).toEqual([1, 2, 3]);
  });

  test("nothing is sent about a cancelled call", async () => {
    const { sent, clock, peer } = await run(progressTo(100), 3);
    await peer.close();
    await clock.advance(1000);
    expect(doneOf(sent())).toEqual([1, 2, 3]);
  });
});
