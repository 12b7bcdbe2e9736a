import { expect, test } from "vitest";
import { flushPromises } from "mcparley/testing";
import { createQuestionQueue } from "./consent-parts.ts";

const never = new AbortController().signal;

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let [resolve, reject] = [(_value: T): void => {}, (_error: Error): void => {}];
  const promise = new Promise<T>((yes, no) => {
    [resolve, reject] = [yes, no];
  });
  return { promise, resolve, reject };
}

test("100 questions at once are asked one after another, in their order", async () => {
  const queue = createQuestionQueue();
  const order: number[] = [];
  let open = 0;
  const asked = Array.from({ length: 100 }, (_, index) =>
    queue(async () => {
      expect(++open).toBe(1);
      order.push(index);
      await Promise.resolve();
      open--;
      return index;
    }, never),
  );
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(order).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test("a question that fails does not stop the next one", async () => {
  const queue = createQuestionQueue();
  const failed = queue(() => Promise.reject(new Error("closed")), never);
  const next = queue(() => "yes", never);
  await expect(failed).rejects.toThrow("closed");
  expect(await next).toBe("yes");
});

test("an aborted question that waits is not asked, and leaves the order of the others", async () => {
  const queue = createQuestionQueue();
  const first = deferred<string>();
  const stop = new AbortController();
  const asked: string[] = [];
  const one = queue(() => first.promise, never);
  const two = queue(() => asked.push("two"), stop.signal);
  const three = queue(() => asked.push("three"), never);
  stop.abort(new Error("not needed"));
  await expect(two).rejects.toThrow("not needed");
  await flushPromises();
  expect(asked).toEqual([]);
  first.resolve("one");
  expect(await one).toBe("one");
  await three;
  expect(asked).toEqual(["three"]);
});

test("an aborted question that is open makes room for the next one, although it never settles", async () => {
  const queue = createQuestionQueue();
  const stop = new AbortController();
  const one = queue(() => new Promise(() => {}), stop.signal);
  const two = queue(() => "two", never);
  await flushPromises();
  stop.abort(new Error("not needed"));
  await expect(one).rejects.toThrow("not needed");
  expect(await two).toBe("two");
});

test("a question with an aborted signal is not asked", async () => {
  const queue = createQuestionQueue();
  const isAsked = queue(() => expect.unreachable(), AbortSignal.abort(new Error("gone")));
  await expect(isAsked).rejects.toThrow("gone");
  expect(await queue(() => 1, never)).toBe(1);
});
