import { expect, test } from "vitest";
import type { Workload } from "../types.ts";
import { Pace, samplesOf } from "./pace.mjs";

const contenders = [{ name: "floor" }, { name: "ours" }, { name: "theirs", rounds: 2 }, { name: "none", notRun: "no" }];
const workload: Workload = { id: "w", section: "s", title: "t", measures: [], rounds: 5, contenders };

test("the samples of a workload are those of all who take part", () => {
  expect(samplesOf(workload)).toBe(12);
});

test("with time enough nothing is left out", () => {
  const pace = new Pace(1_000, () => 0);
  expect(pace.fit(workload, [workload, workload])).toMatchObject({
    rounds: 5,
    contenders: [{ rounds: 5 }, {}, { rounds: 2 }, {}],
  });
});

test("where samples take longer than thought, fewer are taken of what is left", () => {
  let now = 0;
  const pace = new Pace(100, () => now);
  pace.note(12, 60);
  now = 60_000;
  // 40 seconds are left for 24 samples of 5 seconds: a third.
  const fitted = pace.fit(workload, [workload, workload]);
  expect(fitted.rounds).toBe(2);
  expect(fitted.contenders.map(({ rounds }) => rounds)).toEqual([2, 2, 1, 2]);
});

test("when the time is over, everything is still measured once", () => {
  let now = 0;
  const pace = new Pace(10, () => now);
  now = 99_000;
  const fitted = pace.fit(workload, [workload]);
  expect([fitted.rounds, ...fitted.contenders.map(({ rounds }) => rounds)]).toEqual([1, 1, 1, 1, 1]);
});
