import { expect, test } from "vitest";
import { judgeCount, judgeMemory, judgeResources, judgeSurprises } from "./judge.mjs";
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
