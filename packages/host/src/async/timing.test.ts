import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { onAbort, withAnySignal } from "./timing.ts";

describe("withAnySignal", () => {
  test("returns the result of the work, and leaves no listener", async () => {
    const parent = new AbortController();
    const result = await withAnySignal([parent.signal], async (signal) => {
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
    const seen = await withAnySignal(
      [new AbortController().signal, AbortSignal.abort("before")],
      ({ aborted, reason }) => Promise.resolve([aborted, reason]),
    );
    expect(seen).toEqual([true, "before"]);
  });
});

describe("onAbort", () => {
  test("calls the listener once, with the reason", () => {
    const [controller, listener] = [new AbortController(), vi.fn()];
    onAbort(controller.signal, listener);
    controller.abort("first");
    controller.abort("second");
    expect(listener.mock.calls).toEqual([["first"]]);
  });

  test("calls the listener at once if the signal is aborted already", () => {
    const listener = vi.fn();
    onAbort(AbortSignal.abort("before"), listener)();
    expect(listener.mock.calls).toEqual([["before"]]);
  });

  test("does not call a listener that was removed, and calls the others", () => {
    const [controller, removed, other] = [new AbortController(), vi.fn(), vi.fn()];
    const remove = onAbort(controller.signal, removed);
    onAbort(controller.signal, other);
    remove();
    remove();
    controller.abort("reason");
    expect(removed).not.toHaveBeenCalled();
    expect(other).toHaveBeenCalledTimes(1);
  });

  test("accepts no signal", () => {
    const listener = vi.fn();
    onAbort(undefined, listener)();
    expect(listener).not.toHaveBeenCalled();
  });

  test("adds any number of listeners to one signal without a warning", () => {
    const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { signal } = new AbortController();
    const removals = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    expect(getEventListeners(signal, "abort")).toHaveLength(100);
    for (const remove of removals) remove();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(warnings).not.toHaveBeenCalled();
    warnings.mockRestore();
  });
});
