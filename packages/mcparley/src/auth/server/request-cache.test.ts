import { describe, expect, test, vi } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { requestGate, responseCache, withCooldown } from "./request-cache.ts";

describe("a cache of responses", () => {
  const setUp = (max = 2) => {
    const clock = fakeClock(1_000);
    const request = vi.fn<(key: string) => Promise<string>>(async (key) => `${key}!`);
    const cached = responseCache<string>({ max, clock });
    const get = (key: string, lifetime = 100) =>
      cached(key, async () => ({ value: await request(key), expiresAt: clock.now() + lifetime }));
    return { clock, request, get };
  };

  test("requests again after a failure, at once", async () => {
    const { request, get } = setUp();
    request.mockRejectedValueOnce(new Error("lost"));
    await expect(get("a")).rejects.toThrow("lost");
    expect(await get("a")).toBe("a!");
    expect(request).toHaveBeenCalledTimes(2);
  });

  test("shares a request that fails with concurrent calls only", async () => {
    const { request, get } = setUp();
    request.mockRejectedValueOnce(new Error("lost"));
    expect((await Promise.allSettled([get("a"), get("a")])).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    expect(request).toHaveBeenCalledTimes(1);
    expect(await get("a")).toBe("a!");
  });

  test("returns a response until it expires", async () => {
    const { clock, request, get } = setUp();
    await get("a");
    await clock.advance(99);
    await get("a");
    expect(request).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    await get("a");
    expect(request).toHaveBeenCalledTimes(2);
  });

  test("does not store a response that is expired already, and drops an older one", async () => {
    const { request, get } = setUp();
    await get("a", 0);
    await get("a", 0);
    expect(request).toHaveBeenCalledTimes(2);
  });

  test("drops the response that was not used for the longest time", async () => {
    const { request, get } = setUp(2);
    await get("a");
    await get("b");
    await get("a");
    await get("c");
    request.mockClear();
    await get("a");
    await get("c");
    expect(request).not.toHaveBeenCalled();
    await get("b");
    expect(request).toHaveBeenCalledExactlyOnceWith("b");
  });
});

describe("a request with a pause after a failure", () => {
  test("fails with the same error during the pause, and is sent again after it", async () => {
    const clock = fakeClock();
    const work = vi.fn(async () => "ok");
    const run = withCooldown(work, { pause: 100, clock });
    work.mockRejectedValueOnce(new Error("down"));
    await expect(run()).rejects.toThrow("down");
    await clock.advance(99);
    await expect(run()).rejects.toThrow("down");
    expect(work).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(await run()).toBe("ok");
    expect(await run()).toBe("ok");
    expect(work).toHaveBeenCalledTimes(3);
  });

  test("is shared while it runs, and sent again after it has ended", async () => {
    const work = vi.fn(async () => "ok");
    const run = withCooldown(work, { pause: 100, clock: fakeClock() });
    await Promise.all([run(), run()]);
    expect(work).toHaveBeenCalledTimes(1);
    await run();
    expect(work).toHaveBeenCalledTimes(2);
  });
});

describe("a gate of requests", () => {
  test("frees the place of a request that fails, in the order of the waiting ones", async () => {
    const gate = requestGate({ running: 1, waiting: 2 }, () => new Error("full"));
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const start = (name: string) =>
      gate(() => {
        started.push(name);
        return new Promise<void>((_, reject) => ends.push(() => reject(new Error(name))));
      }).catch((error: Error) => error.message);
    const first = start("first");
    const others = [start("second"), start("third")];
    expect(await start("fourth")).toBe("full");
    ends.shift()?.();
    expect(await first).toBe("first");
    await Promise.resolve();
    expect(started).toEqual(["first", "second"]);
    ends.shift()?.();
    await others[0];
    await Promise.resolve();
    ends.shift()?.();
    expect(await others[1]).toBe("third");
    const last = start("last");
    expect(started).toEqual(["first", "second", "third", "last"]);
    ends.shift()?.();
    await last;
  });
});
