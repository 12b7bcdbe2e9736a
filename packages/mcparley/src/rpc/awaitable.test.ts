import { describe, expect, test } from "vitest";
import { after, all, isPromise, recover } from "./awaitable.ts";

describe("continues synchronously with a value, and asynchronously with a promise", () => {
  test("after", async () => {
    expect(after(1, (value) => value + 1)).toBe(2);
    const later = after(Promise.resolve(1), (value) => value + 1);
    expect(isPromise(later)).toBe(true);
    expect(await later).toBe(2);
  });

  test("all", async () => {
    expect(all([1, 2])).toEqual([1, 2]);
    expect(await all([1, Promise.resolve(2)])).toEqual([1, 2]);
    await expect(Promise.resolve(all([1, Promise.reject(new Error("no"))]))).rejects.toThrow("no");
  });

  test("waits for any object with a then method, like await", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- thenables are tested
    const thenable = { then: (resolve: (value: number) => void) => resolve(3) } as unknown as Promise<number>;
    expect(await after(thenable, (value) => value + 1)).toBe(4);
    expect([null, undefined, 1, "then", {}, []].map((value) => isPromise(value))).not.toContain(true);
  });
});

describe("handles an error or a rejection once", () => {
  const describeError = (error: unknown): string => `handled ${(error as Error).message}`;

  test.each([
    ["thrown", () => Promise.reject(new Error("later"))],
    [
      "rejected",
      () => {
        throw new Error("now");
      },
    ],
  ])("%s", async (_, run: () => string | Promise<string>) => {
    expect(await recover(run, describeError)).toMatch(/^handled (now|later)$/);
  });

  test("does not handle a success", async () => {
    expect(recover(() => "fine", describeError)).toBe("fine");
    expect(await recover(() => Promise.resolve("fine"), describeError)).toBe("fine");
  });
});
