import { fakeClock, flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import { type Attempt, Attempts } from "./attempts.ts";

const limit = 2_000;

function run(attempt: (attempt: Attempt) => Promise<string>) {
  const clock = fakeClock();
  const attempts = new Attempts(limit, clock);
  const done = attempts.run("get", attempt);
  done.catch(() => {});
  return { clock, attempts, done };
}

test("retries transient failures until an attempt succeeds", async () => {
  const attempts: Attempt[] = [];
  const { clock, done } = run(async (attempt) => {
    attempts.push(attempt);
    if (attempts.length < 3)
      throw new Error(attempts.length === 1 ? "connect ECONNREFUSED" : "LOADING Redis is loading");
    return "value";
  });
  await flushPromises();
  await clock.advance(20);
  await clock.advance(40);
  expect(await done).toBe("value");
  expect(attempts.map(({ isRetry }) => isRetry)).toEqual([false, true, true]);
  expect(attempts.map(({ timeLeft }) => timeLeft)).toEqual([limit, limit - 20, limit - 60]);
});

test("does not retry an operation that the server refuses", async () => {
  let tries = 0;
  const { done } = run(async () => {
    tries++;
    throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
  });
  await expect(done).rejects.toMatchObject({
    code: "store_unavailable",
    message:
      "Redis refused get: OOM command not allowed when used memory > '…'. Raise maxmemory of Redis, or store values with shorter lifetimes.",
  });
  expect(tries).toBe(1);
});

test("leaves out keys and values that contain line breaks and line separators", async () => {
  const { done } = run(async () => {
    throw new Error(`ERR wrong arguments 'my\u2028key' "a\nb"`);
  });
  await expect(done).rejects.toThrow(`ERR wrong arguments '…' "…"`);
});

test("rejects with the last failure after the time limit", async () => {
  const { clock, done } = run(async () => {
    throw new Error("connect ECONNREFUSED 127.0.0.1:6379");
  });
  for (let ms = 0; ms < limit; ms += 20) await clock.advance(20);
  await expect(done).rejects.toThrow("Redis was unavailable for 2000 ms (get): connect ECONNREFUSED 127.0.0.1:6379.");
});

test("rejects an operation without a reply after the time limit", async () => {
  const { clock, done } = run(() => new Promise(() => {}));
  await clock.advance(limit);
  await expect(done).rejects.toThrow("Redis was unavailable for 2000 ms (get): no reply arrived.");
});

test("makes no further attempts after close", async () => {
  const { clock, attempts, done } = run(async () => {
    throw new Error("Socket closed unexpectedly");
  });
  await flushPromises();
  attempts.close();
  await clock.advance(20);
  await expect(done).rejects.toMatchObject({ code: "closed" });
});
