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

test("the pause between two attempts doubles from 20 ms to 250 ms, and ends with the time limit", async () => {
  const clock = fakeClock();
  const times: number[] = [];
  const done = new Attempts(1_000, clock).run("get", async () => {
    times.push(clock.now());
    throw new Error("connect ECONNREFUSED");
  });
  done.catch(() => {});
  await clock.advance(999);
  let isOver = false;
  void done.finally(() => (isOver = true)).catch(() => {});
  await flushPromises();
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(isOver).toBe(true);
  expect(times).toEqual([0, 20, 60, 140, 300, 550, 800]);
  await expect(done).rejects.toMatchObject({ code: "store_unavailable" });
});

test("an operation without a reply rejects with the failure of an earlier attempt", async () => {
  let tries = 0;
  const { clock, done } = run(async () => {
    if (tries++ > 0) return new Promise<string>(() => {});
    throw new Error("connect ECONNREFUSED");
  });
  await clock.advance(limit);
  await expect(done).rejects.toThrow("Redis was unavailable for 2000 ms (get): connect ECONNREFUSED.");
});

test("leaves no timer behind", async () => {
  const succeeding = run(async () => "value");
  await succeeding.done;
  await flushPromises();
  expect(succeeding.clock.pending).toBe(0);
  const refused = run(async () => {
    throw new Error("ERR syntax error");
  });
  await refused.done.catch(() => {});
  await flushPromises();
  expect(refused.clock.pending).toBe(0);
});

test.each([
  "LOADING Redis is loading the dataset in memory",
  "READONLY You can't write against a read only replica.",
  "MASTERDOWN Link with MASTER is down",
  "CLUSTERDOWN The cluster is down",
  "TRYAGAIN Multiple keys request during rehashing of slot",
  "MOVED 3999 127.0.0.1:6381",
  "ASK 3999 127.0.0.1:6381",
  "NOREPLICAS Not enough good replicas to write.",
  "BUSY Redis is busy running a script.",
  "Socket closed unexpectedly",
  "read ECONNRESET",
])("tries again after %j", async (text) => {
  let tries = 0;
  const { clock, done } = run(async () => {
    if (tries++ === 0) throw new Error(text);
    return "value";
  });
  await clock.advance(20);
  expect(await done).toBe("value");
});

test.each<[string, string]>([
  ["NOAUTH Authentication required.", "Redis authentication failed (get): NOAUTH Authentication required. Connect the"],
  [
    "WRONGPASS invalid username-password pair",
    "Redis authentication failed (get): WRONGPASS invalid username-password",
  ],
  ["NOPERM no permissions", "Redis refused get: NOPERM no permissions. Allow the Redis user GET, SET"],
  [
    "MISCONF Redis is configured to save",
    "Redis refused get: MISCONF Redis is configured to save. Redis cannot write to its",
  ],
  [
    "WRONGTYPE Operation against a key",
    "Redis refused get: WRONGTYPE Operation against a key. Another program uses the",
  ],
  ["ERR syntax error", "Redis refused get: ERR syntax error."],
  ["ERR syntax error.", "Redis refused get: ERR syntax error."],
])("%j is refused at once, with its cure", async (text, message) => {
  const { done } = run(async () => {
    throw new Error(text);
  });
  const error = (await done.catch((reason: unknown) => reason)) as Error;
  expect(error).toMatchObject({ code: "store_unavailable" });
  expect(error.message.startsWith(message)).toBe(true);
  expect(error.message).not.toContain("..");
});

test("names the first of several errors of a connection, and an error that is no Error", async () => {
  const aggregate = run(async () => {
    throw new AggregateError([new Error("connect ECONNREFUSED ::1"), new Error("connect ECONNREFUSED 127.0.0.1")]);
  });
  await aggregate.clock.advance(limit);
  await expect(aggregate.done).rejects.toThrow("(get): connect ECONNREFUSED ::1.");
  const empty = run(async () => {
    throw new AggregateError([], "no addresses");
  });
  await empty.clock.advance(limit);
  await expect(empty.done).rejects.toThrow("(get): no addresses.");
});
