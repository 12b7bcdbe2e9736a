import { describe, expect, test, vi } from "vitest";
import { type CallObserver, type CallRun, type ObservedCall, startCall } from "./observe.ts";

const call: ObservedCall = {
  side: "client",
  at: 0,
  method: "tools/call",
  name: "a",
  revision: "2026-07-28",
  network: undefined,
};
const end = { outcome: "ok", durationMs: 1, code: undefined, message: undefined } as const;
const observerOf = (run: Partial<CallRun>): CallObserver<ObservedCall> => ({
  started: () => ({ ended: () => {}, ...run }),
});

describe("startCall", () => {
  test("runs a call inside all observers, the first outermost", () => {
    const order: string[] = [];
    const named = (name: string): CallObserver<ObservedCall> =>
      observerOf({
        within: (run) => {
          order.push(name);
          return run();
        },
      });
    const started = startCall([named("a"), observerOf({}), named("b")], call, () => {});
    expect(started.within?.(() => "result")).toBe("result");
    expect(order).toEqual(["a", "b"]);
  });

  test("merges the _meta of all observers", () => {
    const observers = [observerOf({ meta: { a: 1, b: 1 } }), {}, observerOf({ meta: { b: 2 } })];
    expect(startCall(observers, call, () => {}).meta).toEqual({ a: 1, b: 2 });
  });

  test("has neither `meta` nor `within` if no observer has them", () => {
    expect(startCall([observerOf({}), {}], call, () => {})).toEqual({ ended: expect.any(Function) as unknown });
  });

  test("reports the error of an observer and notifies the others", () => {
    const report = vi.fn<(error: unknown) => void>();
    const ended = vi.fn<CallRun["ended"]>();
    const fail = (): never => {
      throw new Error("broken");
    };
    const run = startCall([{ started: fail }, observerOf({ ended: fail }), observerOf({ ended })], call, report);
    run.ended(end);
    expect(ended).toHaveBeenCalledExactlyOnceWith(end);
    expect(report).toHaveBeenCalledTimes(2);
  });
});
