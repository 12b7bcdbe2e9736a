import { describe, expect, test } from "vitest";
import type { Attacked } from "./attack.mjs";
import {
  judgeCount,
  judgeLimits,
  judgeMemory,
  judgePeaks,
  judgeResources,
  judgeRest,
  judgeService,
  judgeSurprises,
} from "./judge.mjs";
import { Service } from "./service.mjs";
import { Tally } from "./tally.mjs";

const moments = (...heaps: number[]) => heaps.map((heap) => ({ heap, rss: 0, resources: {} }));

test("memory that rises and stays is flat, and memory that goes on rising is not", () => {
  expect(judgeMemory("server", moments(5, 9, 20, 20, 20, 21, 20, 20)).isGood).toBe(true);
  expect(judgeMemory("server", moments(5, 10, 15, 20, 25, 30, 35, 40))).toEqual({
    what: "heap of the server",
    isGood: false,
    found: "17.5 MB, at the end 37.5 MB",
  });
});

test("one moment before a collection is no leak", () => {
  expect(judgeMemory("server", moments(20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 90)).isGood).toBe(true);
});

test("what is open that was not at the start is named", () => {
  const before = { heap: 0, rss: 0, resources: { PipeWrap: 3 } };
  expect(judgeResources("server", before, before).isGood).toBe(true);
  expect(judgeResources("server", before, { ...before, resources: { PipeWrap: 3, Timeout: 2 } })).toMatchObject({
    isGood: false,
    found: "2 Timeout, at the start 0",
  });
});

test("a call is open until it settles, and counts once", async () => {
  const tally = new Tally();
  let answer!: () => void;
  const call = tally.watch("echo", new Promise<void>((resolve) => (answer = resolve)));
  await expect(tally.watch("fail", Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(judgeCount("calls settled", tally.begun, tally.settled)).toMatchObject({ isGood: false, found: "1 of 2" });
  expect(tally.openFor(-1)).toEqual(["echo"]);
  answer();
  await call;
  expect(judgeCount("calls settled", tally.begun, tally.settled).isGood).toBe(true);
  expect(tally.openFor(-1)).toEqual([]);
});

test("what nobody expected is told, with how often it happened", () => {
  const tally = new Tally();
  for (let time = 0; time < 3; time++) tally.surprise("polite", new Error("fetch failed"));
  expect(judgeSurprises(tally.surprises)).toMatchObject({ isGood: false, found: "3 × polite: fetch failed" });
});

test("a tolerance allows memory to differ more", () => {
  const grown = moments(20, 20, 20, 20, 20, 25, 25, 25);
  expect(judgeMemory("server", grown).isGood).toBe(false);
  expect(judgeMemory("server", grown, { share: 0.3, megabytes: 10 }).isGood).toBe(true);
});

test("the heap at rest may grow by a tenth and one megabyte", () => {
  const held = (heap: number) => ({ heap, rss: 0, resources: {} });
  expect(judgeRest("heap", held(20), held(23)).isGood).toBe(true);
  expect(judgeRest("heap", held(20), held(23.1))).toEqual({
    what: "heap",
    isGood: false,
    found: "20.0 MB, then 23.1 MB",
  });
});

describe("the service for ordinary visitors", () => {
  const served = (...durations: number[]): Service => {
    const service = new Service(1_000);
    service.calls = durations.length;
    for (const duration of durations) service.answered(duration);
    return service;
  };

  test("is good if every call succeeded in time", () => {
    expect(judgeService(served(3, 4, 15, 1_000))).toMatchObject({
      isGood: true,
      found: "4 calls, p50 ≤ 5 ms, p99 ≤ 1,000 ms, slowest 1,000 ms; 0 failed, 0 over 1000 ms, refused: 0",
    });
  });

  test("fails if there was no call", () => {
    expect(judgeService(served()).isGood).toBe(false);
  });

  test("fails if a call was too slow", () => {
    const { isGood, found } = judgeService(served(3, 1_001));
    expect(isGood).toBe(false);
    expect(found).toContain("1 over 1000 ms");
  });

  test("fails if a call failed", async () => {
    const service = new Service(1_000);
    await expect(service.measure(Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(judgeService(service)).toMatchObject({
      isGood: false,
      found: expect.stringContaining("1 failed") as string,
    });
  });

  test("fails if a response was a refusal, although the client tried again", () => {
    const service = served(3);
    for (const status of [200, 202, 429, 503, 503]) service.responded(status);
    expect(judgeService(service)).toMatchObject({
      isGood: false,
      found: expect.stringContaining("refused: 1 × 429, 2 × 503") as string,
    });
  });
});

describe("the attack", () => {
  const attacked = (name: string, more: Partial<Attacked>): Attacked => ({
    name,
    address: "127.0.0.2",
    reaches: [],
    waves: 1,
    counts: {},
    peaks: {},
    sessions: [],
    surprises: {},
    ...more,
  });
  const endings = {
    "The session was displaced by another, because the server is full.": 5,
    "The session was idle for too long.": 6,
    "The client sent nothing after it opened the session.": 7,
  };

  test("must reach each limit with every attacker of that limit", () => {
    const reaches = ["limits.inFlight"];
    const first = attacked("first", { reaches, counts: { "limits.inFlight": 2_000 } });
    expect(judgeLimits([first], endings)[0]).toEqual({
      what: "limit reached: limits.inFlight",
      isGood: true,
      found: "2,000 × first",
    });
    const second = attacked("second", { reaches, counts: { ok: 9 } });
    expect(judgeLimits([first, second], endings)[0]).toMatchObject({
      isGood: false,
      found: "2,000 × first; 0 × second",
    });
  });

  test("must end sessions for each reason", () => {
    expect(judgeLimits([], endings).map(({ what, isGood, found }) => [what, isGood, found])).toEqual([
      ["limit reached: sessions.max (displaced)", true, "5 × ended sessions"],
      ["limit reached: sessions.handshake", true, "7 × ended sessions"],
      ["limit reached: sessions.idle", true, "6 × ended sessions"],
    ]);
    expect(judgeLimits([], {}).map(({ isGood }) => isGood)).toEqual([false, false, false]);
  });

  test("must not have more sessions or streams open than the limits", () => {
    const one = attacked("one", { peaks: { sessions: 300 } });
    const two = attacked("two", { peaks: { streams: 101 } });
    expect(judgePeaks([one, two], { sessions: 300, streams: 100 })).toEqual([
      { what: "most open sessions", isGood: true, found: "300, limit 300" },
      { what: "most open streams", isGood: false, found: "101, limit 100" },
    ]);
    expect(judgePeaks([], { sessions: 300 })[0]?.isGood).toBe(false);
  });
});
