import { fakeClock, flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import { type Attempt, Attempts } from "./attempts.ts";

const limit = 2_000;

function begun(attempt: (attempt: Attempt) => Promise<string>) {
  const clock = fakeClock();
  const attempts = new Attempts(limit, clock);
  const done = attempts.run("get", attempt);
  done.catch(() => {});
  return { clock, attempts, done };
}

test("what fails for now is tried again, until it works", async () => {
  const seen: Attempt[] = [];
  const { clock, done } = begun(async (attempt) => {
    seen.push(attempt);
    if (seen.length < 3) throw new Error(seen.length === 1 ? "connect ECONNREFUSED" : "LOADING Redis is loading");
    return "value";
  });
  await flushPromises();
  await clock.advance(20);
  await clock.advance(40);
  expect(await done).toBe("value");
  expect(seen.map(({ again }) => again)).toEqual([false, true, true]);
  expect(seen.map(({ within }) => within)).toEqual([limit, limit - 20, limit - 60]);
});

test("what the server refuses is not tried again", async () => {
  let tries = 0;
  const { done } = begun(async () => {
    tries++;
    throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
  });
  await expect(done).rejects.toMatchObject({
    code: "store_unavailable",
    message:
      "Redis refused get: OOM command not allowed when used memory > '…'. Raise its maxmemory, or give what is stored shorter lives.",
  });
  expect(tries).toBe(1);
});

test("when the time is over the last that stood in the way is said", async () => {
  const { clock, done } = begun(async () => {
    throw new Error("connect ECONNREFUSED 127.0.0.1:6379");
  });
  for (let ms = 0; ms < limit; ms += 20) await clock.advance(20);
  await expect(done).rejects.toThrow("Redis was out of reach for 2000 ms (get): connect ECONNREFUSED 127.0.0.1:6379.");
});

test("an answer that never comes ends with the time", async () => {
  const { clock, done } = begun(() => new Promise(() => {}));
  await clock.advance(limit);
  await expect(done).rejects.toThrow("Redis was out of reach for 2000 ms (get): no answer came.");
});

test("once closed nothing is tried any more", async () => {
  const { clock, attempts, done } = begun(async () => {
    throw new Error("Socket closed unexpectedly");
  });
  await flushPromises();
  attempts.close();
  await clock.advance(20);
  await expect(done).rejects.toMatchObject({ code: "closed" });
});
