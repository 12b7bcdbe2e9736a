import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { LocalError, ProtocolError } from "./errors.ts";
import { failure, success } from "./messages.ts";
import { PendingRequests } from "./pending-requests.ts";

const what = 'tools/call "add"';

/** Records the value or error of a promise without waiting for it to settle. */
function watch<T>(promise: Promise<T>): { settled: unknown[] } {
  const watched: { settled: unknown[] } = { settled: [] };
  promise.then(
    (value) => watched.settled.push(value),
    (error: unknown) => watched.settled.push(error),
  );
  return watched;
}

describe("a request settles once", () => {
  test("with its result", async () => {
    const table = new PendingRequests();
    const answer = table.wait(1, { what });
    expect(table.settle(success(1, { a: 1 }))).toBe(true);
    expect(table.settle(success(1, { a: 2 }))).toBe(false);
    expect(await answer).toEqual({ a: 1 });
    expect(table.size).toBe(0);
  });

  test("with the peer's error", async () => {
    const table = new PendingRequests();
    const answer = table.wait(1, { what });
    table.settle(failure(1, { code: -32602, message: "no", data: { a: 1 } }));
    await expect(answer).rejects.toMatchObject({ code: -32602, message: "no", data: { a: 1 } });
    await expect(answer).rejects.toBeInstanceOf(ProtocolError);
  });

  test('a response with id "1" does not settle request 1', async () => {
    const table = new PendingRequests();
    const one = watch(table.wait(1, { what }));
    expect(table.settle(success("1", {}))).toBe(false);
    await Promise.resolve();
    expect(one.settled).toEqual([]);
    expect(table.size).toBe(1);
  });

  test("with a timeout without a response, and notifies the peer", async () => {
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const onAbandoned = vi.fn<(reason: string) => void>();
    const call = watch(table.wait(1, { what, idleTimeout: 100, onAbandoned }));
    await clock.advance(99);
    expect(call.settled).toEqual([]);
    await clock.advance(1);
    expect(call.settled).toMatchObject([{ code: "timeout", message: expect.stringContaining(what) as string }]);
    expect(onAbandoned).toHaveBeenCalledTimes(1);
    expect(table.settle(success(1, {}))).toBe(false);
    expect(clock.pending).toBe(0);
  });

  test("progress restarts the idle limit, but not the total limit", async () => {
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const onProgress = vi.fn<(progress: object) => void>();
    const call = watch(table.wait(1, { what, idleTimeout: 100, totalTimeout: 250, onProgress }));
    for (let step = 0; step < 3; step++) {
      await clock.advance(80);
      expect(table.progress(1, { progress: step })).toBe(true);
    }
    expect(call.settled).toEqual([]);
    await clock.advance(10);
    expect(call.settled).toMatchObject([
      { code: "timeout", message: expect.stringContaining("250 ms in total") as string },
    ]);
    expect(onProgress).toHaveBeenCalledTimes(3);
    expect(table.progress(1, {})).toBe(false);
  });

  test("a pause stops the time limits until it ends", async () => {
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const call = watch(table.wait(1, { what, idleTimeout: 100, totalTimeout: 300 }));
    await clock.advance(90);
    const [first, second] = [table.pause(1), table.pause(1)];
    await clock.advance(1_000_000);
    first();
    first();
    await clock.advance(1_000_000);
    second();
    await clock.advance(99);
    expect(call.settled).toEqual([]);
    await clock.advance(1);
    expect(call.settled).toMatchObject([{ code: "timeout" }]);
  });

  test("progress during a pause does not end it", async () => {
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const call = watch(table.wait(1, { what, idleTimeout: 100 }));
    const resume = table.pause(1);
    expect(table.progress(1, { progress: 1 })).toBe(true);
    await clock.advance(1_000);
    expect(call.settled).toEqual([]);
    resume();
    await clock.advance(100);
    expect(call.settled).toMatchObject([{ code: "timeout" }]);
  });

  test("the listener of the caller's signal is removed, whatever settles the request", async () => {
    const { signal } = new AbortController();
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const calls = [1, 2, 3].map((id) => watch(table.wait(id, { what, signal, idleTimeout: 10 })));
    const listeners = (): number => getEventListeners(signal, "abort").length;
    expect(listeners()).toBeGreaterThan(0);
    table.settle(success(1, {}));
    table.fail(2, new LocalError("closed", "x"));
    expect(listeners()).toBeGreaterThan(0);
    await clock.advance(10);
    expect(calls.map(({ settled }) => settled.length)).toEqual([1, 1, 1]);
    expect(listeners()).toBe(0);
  });

  test("the rest of the total limit continues after a pause", async () => {
    const clock = fakeClock();
    const table = new PendingRequests(clock);
    const onPaused = vi.fn<(ms: number) => void>();
    const call = watch(table.wait(1, { what, totalTimeout: 300, onPaused }));
    for (const before of [200, 60]) {
      await clock.advance(before);
      const [first, second] = [table.pause(1), table.pause(1)];
      await clock.advance(1_000_000);
      first();
      second();
      second();
    }
    expect(onPaused.mock.calls).toEqual([[1_000_000], [1_000_000]]);
    await clock.advance(39);
    expect(call.settled).toEqual([]);
    await clock.advance(1);
    expect(call.settled).toMatchObject([{ message: expect.stringContaining("300 ms in total") as string }]);
  });

  test("with the caller's signal, before or after sending", async () => {
    const table = new PendingRequests();
    await expect(table.wait(1, { what, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    const controller = new AbortController();
    const onAbandoned = vi.fn<(reason: string) => void>();
    const call = table.wait(2, { what, signal: controller.signal, onAbandoned });
    controller.abort(new Error("changed my mind"));
    await expect(call).rejects.toMatchObject({ code: "aborted", cause: { message: "changed my mind" } });
    expect(onAbandoned).toHaveBeenCalledTimes(1);
    expect(table.size).toBe(0);
  });

  test("with the end of the connection, for all requests", async () => {
    const table = new PendingRequests();
    const calls = [table.wait(1, { what }), table.wait("1", { what })];
    table.failAll(new LocalError("closed", "gone"));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "closed" });
    expect(table.size).toBe(0);
  });
});

test("each request settles exactly once and no timer remains, for any order of events", async () => {
  const events = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("answer" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("error" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("progress" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("abort" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("pause" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("resume" as const), id: fc.nat(4) }),
      fc.record({ kind: fc.constant("time" as const), id: fc.nat(120) }),
    ),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(events, async (script) => {
      const clock = fakeClock();
      const table = new PendingRequests(clock);
      const controllers = Array.from({ length: 5 }, () => new AbortController());
      const resumes = new Map<number, () => void>();
      const calls = controllers.map(({ signal }, id) =>
        watch(table.wait(id, { what, idleTimeout: 50, totalTimeout: 200, signal })),
      );
      for (const { kind, id } of script) {
        if (kind === "answer") table.settle(success(id, {}));
        else if (kind === "error") table.settle(failure(id, { code: 1, message: "x" }));
        else if (kind === "progress") table.progress(id, {});
        else if (kind === "abort") controllers[id]?.abort();
        else if (kind === "pause") resumes.set(id, table.pause(id));
        else if (kind === "resume") resumes.get(id)?.();
        else await clock.advance(id);
      }
      table.failAll(new LocalError("closed", "end"));
      await clock.advance(1000);
      expect(calls.map(({ settled }) => settled.length)).toEqual([1, 1, 1, 1, 1]);
      expect(table.size).toBe(0);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 200 },
  );
});
