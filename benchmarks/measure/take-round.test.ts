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

test("each is warmed until it has worked long enough, and then measured in turns, there and back", async () => {
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

test("one that cannot be kept busy is measured all the same", async () => {
  const log: string[] = [];
  await takeRound([contender("idle", log, { used: 0 })], amount, () => {});
  expect(log.filter((one) => one === "idle warm 100")).toHaveLength(50);
  expect(log.filter((one) => one === "idle counted 10")).toHaveLength(8);
});

test("one that fails is ended and left out, and the others go on", async () => {
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

test("what has no turns is sampled one after another", async () => {
  const taken: string[] = [];
  const sampled = (name: string): Contender => ({
    name,
    sample: () => Promise.resolve({ figure: taken.push(name) }),
  });
  const outcomes = await takeRound([sampled("a"), sampled("b")], undefined, () => {});
  expect(outcomes.get("b")).toEqual({ figure: 2 });
});
