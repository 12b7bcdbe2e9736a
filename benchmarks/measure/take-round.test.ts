import { expect, test, vi } from "vitest";
import type { Contender, Turns } from "../types.ts";
import { takeRound } from "./take-round.mjs";

const amount = { warmup: 250, duration: 80 };

/** A contender that notes its turns; each uses some milliseconds of CPU time. */
function contender(name: string, log: string[], more: { used?: number; turn?: Turns["turn"] } = {}): Contender {
  const turns: Turns = {
    turn: async (milliseconds, isCounted) => {
      log.push(`${name} ${isCounted ? "counted" : "warm"} ${milliseconds}`);
      return more.turn ? more.turn(milliseconds, isCounted) : (more.used ?? 100);
    },
    figures: () => Promise.resolve({ perSecond: 1 }),
    end: () => Promise.resolve(log.push(`${name} ended`)),
  };
  return { name, start: () => Promise.resolve(turns) };
}

test("warms each contender up, then measures in turns, forth and back", async () => {
  const log: string[] = [];
  const outcomes = await takeRound([contender("a", log), contender("b", log, { used: 50 })], amount, () => {});
  expect(log.filter((one) => one === "a warm 100")).toHaveLength(3);
  expect(log.filter((one) => one === "b warm 100")).toHaveLength(5);
  expect(log.slice(8, 14)).toEqual(["a", "b", "b", "a", "a", "b"].map((name) => `${name} counted 10`));
  expect(log.filter((one) => one === "a counted 10")).toHaveLength(8);
  expect(log.slice(-2)).toEqual(["a ended", "b ended"]);
  expect([...outcomes]).toEqual([
    ["a", { perSecond: 1 }],
    ["b", { perSecond: 1 }],
  ]);
});

test("warms a contender up for its own time if it has one", async () => {
  const log: string[] = [];
  const slow = { ...contender("slow", log), warmup: 650 };
  await takeRound([slow, contender("a", log)], amount, () => {});
  expect(log.filter((one) => one === "slow warm 100")).toHaveLength(7);
  expect(log.filter((one) => one === "a warm 100")).toHaveLength(3);
});

test("measures a contender that is not always busy", async () => {
  const log: string[] = [];
  await takeRound([contender("idle", log, { used: 0 })], amount, () => {});
  expect(log.filter((one) => one === "idle warm 100")).toHaveLength(50);
  expect(log.filter((one) => one === "idle counted 10")).toHaveLength(8);
});

test("ends and omits a failed contender, and continues with the others", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const log: string[] = [];
  const fails = () => Promise.reject(new Error("ended with 1"));
  const broken = contender("broken", log, { turn: fails });
  const absent: Contender = { name: "absent", start: () => Promise.reject(new Error("not found")) };
  const outcomes = await takeRound([broken, absent, contender("sound", log)], amount, () => {});
  written.mockRestore();
  expect(outcomes.get("broken")).toBe("ended with 1");
  expect(outcomes.get("absent")).toBe("not found");
  expect(outcomes.get("sound")).toEqual({ perSecond: 1 });
  expect(log.filter((one) => one === "broken ended")).toHaveLength(1);
  expect(log.filter((one) => one === "sound counted 10")).toHaveLength(8);
});

test("samples contenders without turns one after another", async () => {
  const taken: string[] = [];
  const sampled = (name: string): Contender => ({
    name,
    sample: () => Promise.resolve({ figure: taken.push(name) }),
  });
  const outcomes = await takeRound([sampled("a"), sampled("b")], undefined, () => {});
  expect(outcomes.get("b")).toEqual({ figure: 2 });
});
