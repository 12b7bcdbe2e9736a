import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type QueueLimits, RequestQueue } from "./request-queue.ts";

const never = undefined;
type Place = Awaited<ReturnType<RequestQueue["enter"]>>;
const nth = (places: Place[], index: number): Place => places.at(index) as Place;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const limits: QueueLimits = { burst: 2, connections: 1_000, roundMs: 1_000, waitMs: 60_000 };
const queueOf = (given: Partial<QueueLimits>): RequestQueue =>
  new RequestQueue("https://example.com", { ...limits, ...given });

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
  const queue = queueOf({ burst: 2 });
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
  const queue = queueOf({ burst: 2 });
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
  const queue = queueOf({ burst: 2 });
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
  const queue = queueOf({ burst: 1 });
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
  const queue = queueOf({ burst: 1 });
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

test("never admits more requests than connections, also if they are slow", async () => {
  const queue = queueOf({ burst: 2, connections: 3 });
  const admitted: Place[] = [];
  for (let i = 0; i < 6; i++) void enter(queue, admitted);
  await pass(10_000);
  expect(admitted).toHaveLength(3);
  queue.leave(nth(admitted, 0));
  await pass(0);
  expect(admitted).toHaveLength(4);
});

test("rejects a request that has waited for the maximum time, and says how to raise the limits", async () => {
  const queue = queueOf({ burst: 1, connections: 1, waitMs: 3_000 });
  const admitted: Place[] = [];
  await enter(queue, admitted);
  const early = enter(queue, admitted);
  const rejected = expect(early).rejects.toMatchObject({
    code: "unreachable",
    message:
      "No connection to https://example.com was free within 3000 ms: 1 requests wait for replies. Send fewer requests " +
      "at the same time, or raise connection.maxConnections or connection.maxWaitMs of the target.",
  });
  await pass(2_000);
  const late = enter(queue, admitted);
  await pass(1_000);
  await rejected;
  queue.leave(nth(admitted, 0));
  await late;
  expect(admitted).toHaveLength(2);
});

test("reports how long a request waits", async () => {
  const queue = queueOf({ burst: 1 });
  const events: string[] = [];
  const waits = (): (() => void) => {
    events.push("waits");
    return () => void events.push("sent");
  };
  const place = await queue.enter(never, waits);
  const second = Promise.resolve(queue.enter(never, waits)).then(() => events.push("admitted"));
  await pass(500);
  expect(events).toEqual(["waits"]);
  queue.leave(place);
  await second;
  expect(events).toEqual(["waits", "sent", "admitted"]);
});

test("lets as many requests through as there is room for, before they are made, and the others in order", async () => {
  const queue = queueOf({ burst: 2 });
  const through: number[] = [];
  const places: Place[] = [];
  const requests = Array.from({ length: 5 }, async (_, i) => {
    await queue.turn(never);
    through.push(i);
    places.push(await queue.enter(never));
  });
  await pass(0);
  expect(through).toEqual([0, 1]);
  queue.leave(nth(places, 0));
  await pass(0);
  expect(through).toEqual([0, 1, 2]);
  queue.leave(nth(places, 1));
  queue.leave(nth(places, 2));
  await Promise.all(requests);
  expect(through).toEqual([0, 1, 2, 3, 4]);
  expect(places).toHaveLength(5);
});

test("gives the room of a request that has waited but does not enter to the next one", async () => {
  const queue = queueOf({ burst: 1 });
  await queue.turn(never);
  const admitted: Place[] = [];
  const next = queue.turn(never).then(() => enter(queue, admitted));
  await pass(0);
  await next;
  expect(admitted).toHaveLength(1);
});
