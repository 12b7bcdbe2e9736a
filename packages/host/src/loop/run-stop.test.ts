import { expect, test } from "vitest";
import { RunStop } from "./run-stop.ts";

test("the first of several stops is the reason", () => {
  for (const [first, second] of [
    ["time", "cancelled"],
    ["cancelled", "time"],
  ] as const) {
    const stop = new RunStop(undefined);
    stop.stop(first);
    const { reason } = stop.signal;
    stop.stop(second);
    expect(stop.reason).toBe(first);
    expect(stop.signal.reason).toBe(reason);
  }
});

test("the caller's signal cancels the run, until it is closed", () => {
  const caller = new AbortController();
  const [open, closed] = [new RunStop(caller.signal), new RunStop(caller.signal)];
  closed.close();
  caller.abort();
  expect([open.reason, closed.reason]).toEqual(["cancelled", undefined]);
});
