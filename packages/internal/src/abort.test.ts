import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { onAbort } from "./abort.ts";

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
