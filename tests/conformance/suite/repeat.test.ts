import { expect, test } from "vitest";
import { passedWhenRepeated, repeatFailed } from "./repeat.mjs";
import type { Run, Verdict } from "./types.ts";

const run: Run = { id: "1.0 client all", release: "1.0", leg: "client", scenarios: ["a", "b", "c"] };
const verdict = (scenario: string, state: Verdict["state"], of: Run = run): Verdict => ({
  run: of,
  scenario,
  state,
  failures: [],
  checks: [],
});

test("repeats only failed scenarios, each in a separate run", async () => {
  const repeated: (readonly string[])[] = [];
  const verdicts = await repeatFailed([verdict("a", "passed"), verdict("b", "failed")], async (runs) => {
    repeated.push(...runs.map(({ scenarios }) => scenarios));
    return runs.map((one) => verdict(one.scenarios[0]!, "passed", one));
  });
  expect(repeated).toEqual([["b"]]);
  expect(verdicts).toEqual([verdict("a", "passed"), { ...verdict("b", "passed"), repeated: 1 }]);
  expect(verdicts[1]?.run).toBe(run);
  expect(passedWhenRepeated(verdicts)).toEqual(["client b in 1.0 client all (repetition 1)"]);
});

test("a scenario that fails every time fails, after two repetitions", async () => {
  let times = 0;
  const verdicts = await repeatFailed([verdict("b", "failed")], async ([one]) => {
    times++;
    return [verdict("b", "failed", one)];
  });
  expect(times).toBe(2);
  expect(verdicts[0]?.state).toBe("failed");
  expect(passedWhenRepeated(verdicts)).toEqual([]);
});

test("repeats nothing if many scenarios fail", async () => {
  const all = Array.from({ length: 21 }, (_, at) => verdict(String(at), "failed"));
  const never = (): Promise<never> => Promise.reject(new Error("It was repeated."));
  expect(await repeatFailed(all, never)).toEqual(all);
});
