import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestQueue } from "./request-queue.ts";

const never = undefined;
type Place = Awaited<ReturnType<RequestQueue["enter"]>>;
const nth = (places: Place[], index: number): Place => places.at(index) as Place;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Enters the queue, and records the place when it is admitted. */
function enter(queue: RequestQueue, admitted: Place[], signal?: AbortSignal): Promise<void> {
  return Promise.resolve(queue.enter(signal)).then((place) => void admitted.push(place));
}

/** Lets time pass, and then the tasks that the timers have queued. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

test("admits requests up to the limit at the same time, and the others in order when places are released", async () => {
  const queue = new RequestQueue(2, 1_000);
  const order: string[] = [];
  const places = ["a", "b", "c", "d"].map((name) =>
    Promise.resolve(queue.enter(never)).then((place) => {
      order.push(name);
      return place;
    }),
  );
  const first = await Promise.race(places);
  await places[1];
  expect(order).toEqual(["a", "b"]);
  queue.leave(first);
  await places[2];
  expect(order).toEqual(["a", "b", "c"]);
  expect(queue.isEmpty).toBe(false);
});

test("no longer counts running requests if no request has finished for a round", async () => {
  const queue = new RequestQueue(2, 1_000);
  const admitted: Place[] = [];
  for (let i = 0; i < 6; i++) void enter(queue, admitted);
  await pass(999);
  expect(admitted).toHaveLength(2);
  await pass(1);
  expect(admitted).toHaveLength(4);
  await pass(1_000);
  expect(admitted).toHaveLength(6);
  expect(vi.getTimerCount()).toBe(0);
});

test("no longer counts a request that runs for more than five rounds while others finish", async () => {
  const queue = new RequestQueue(2, 1_000);
  const admitted: Place[] = [];
  await enter(queue, admitted);
  for (let i = 0; i < 100; i++) void enter(queue, admitted);
  for (let round = 1; round <= 5; round++) {
    queue.leave(nth(admitted, -1));
    await pass(1_000);
    expect(admitted).toHaveLength(2 + round);
  }
  queue.leave(nth(admitted, -1));
  await pass(1_000);
  // One place of the finished request, and one of the slow request.
  expect(admitted).toHaveLength(9);
});

test("does not count a request twice if it finishes after it became slow", async () => {
  const queue = new RequestQueue(1, 1_000);
  const admitted: Place[] = [];
  for (let i = 0; i < 4; i++) void enter(queue, admitted);
  await pass(1_000);
  expect(admitted).toHaveLength(2);
  queue.leave(nth(admitted, 0));
  await pass(0);
  expect(admitted).toHaveLength(2);
  queue.leave(nth(admitted, 1));
  await pass(0);
  expect(admitted).toHaveLength(3);
});

test("skips a request that was aborted while it waited", async () => {
  const queue = new RequestQueue(1, 1_000);
  const admitted: Place[] = [];
  const controller = new AbortController();
  await enter(queue, admitted);
  const aborted = enter(queue, admitted, controller.signal);
  void enter(queue, admitted);
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  queue.leave(nth(admitted, 0));
  await pass(0);
  expect(admitted).toHaveLength(2);
  queue.leave(nth(admitted, 1));
  expect(queue.isEmpty).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
