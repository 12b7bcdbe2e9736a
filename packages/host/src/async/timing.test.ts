import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { withAnySignal } from "./timing.ts";

describe("withAnySignal", () => {
  test("returns the result of the work, and leaves no listener", async () => {
    const parent = new AbortController();
    const result = await withAnySignal([parent.signal, undefined], async (signal) => {
      expect(getEventListeners(parent.signal, "abort")).toHaveLength(1);
      expect(signal.aborted).toBe(false);
      return "done";
    });
    expect(result).toBe("done");
    expect(getEventListeners(parent.signal, "abort")).toEqual([]);
  });

  test("rejects as the work does, and leaves no listener", async () => {
    const parent = new AbortController();
    await expect(withAnySignal([parent.signal], () => Promise.reject(new Error("No.")))).rejects.toThrow("No.");
    expect(getEventListeners(parent.signal, "abort")).toEqual([]);
  });

  test("aborts with the reason of the signal that is aborted first", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const work = withAnySignal(
      [first.signal, second.signal],
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(signal.reason));
        }),
    );
    second.abort("the second");
    first.abort("the first");
    expect(await work).toBe("the second");
  });

  test("gives an aborted signal to the work if one is aborted already", async () => {
    const seen = await withAnySignal([undefined, AbortSignal.abort("before")], ({ aborted, reason }) =>
      Promise.resolve([aborted, reason]),
    );
    expect(seen).toEqual([true, "before"]);
  });
});
