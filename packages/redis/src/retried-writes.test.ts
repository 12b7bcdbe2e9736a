import type { Clock } from "mcparley";
import type { Store } from "mcparley/server";
import { beforeEach, expect, test } from "vitest";
import { redisStore } from "./redis-store.ts";
import { append } from "./scripts.ts";

const ttl = 60_000;
/** Calls each timer at once, so that no test waits between two attempts. */
const clock: Clock = { now: () => 0, setTimeout: (fn, ms) => ms < 1000 && queueMicrotask(fn), clearTimeout: () => {} };

/** A Redis server with one stream. It runs the script of `append` and loses the next `lost` replies. */
let entries: [id: string, value: string][];
let lost: number;
let sent: string[][];

/** Runs the script as documented: an attempt that may be a retry searches the stream for its stamp. */
function runAppend([stamp, value, , , again]: readonly string[]): string {
  const found = again === "1" && entries.find(([, text]) => text.startsWith(stamp ?? ""));
  if (found) return found[0];
  entries.push([`1-${entries.length}`, `${stamp}${value}`]);
  return entries.at(-1)?.[0] ?? "";
}

const client = {
  isOpen: true,
  duplicate: () => client,
  subscribe: () => {},
  async sendCommand(command: string[]) {
    sent.push(command);
    if (command[0] === "XRANGE") return entries.map(([id, value]) => [id, ["e", value]]);
    if (command[0] === "EVALSHA") throw new Error("NOSCRIPT No matching script.");
    const reply = runAppend(command.slice(4));
    if (lost-- > 0) throw new Error("Socket closed unexpectedly");
    return reply;
  },
};

beforeEach(() => {
  entries = [];
  sent = [];
  lost = 0;
});

test.each([0, 1, 3])(
  "append stores one entry at the returned position if its reply is lost %i times",
  async (times) => {
    lost = times;
    const store = redisStore({ client, clock });
    const position = await store.append("log", "a", { ttl, maxLength: 10 });
    const second = await store.append("log", "a", { ttl, maxLength: 10 });
    expect(await store.readFrom("log", undefined, 10)).toEqual([
      { position, value: "a" },
      { position: second, value: "a" },
    ]);
  },
);

test("only a retry searches the log for its stamp", async () => {
  lost = 1;
  const store = redisStore({ client, clock });
  await store.append("log", "a", { ttl, maxLength: 10 });
  const tries = sent.filter(([name]) => name === "EVAL");
  expect(tries.map((command) => command.at(-1))).toEqual(["0", "1"]);
  expect(tries[0]?.slice(0, -1)).toEqual(tries[1]?.slice(0, -1));
  expect(append.source).toMatch(/ARGV\[5\] == '1'.*XREVRANGE.*ARGV\[1\].*return entry\[1\].*XADD/s);
});

test("compareAndSet sends keepTtl to the script", async () => {
  const store = redisStore({ client, clock });
  await store.compareAndSet("k", "a", "b", { ttl });
  await store.compareAndSet("k", "a", "b", { ttl, keepTtl: true });
  expect(sent.filter(([name]) => name === "EVAL").map((command) => command.at(-1))).toEqual(["0", "1"]);
});

test.each<[string, (store: Store) => Promise<unknown>]>([
  ["set", (store) => store.set("k", "a", { ttl })],
  ["compareAndSet", (store) => store.compareAndSet("k", "a", "b", { ttl })],
  ["append", (store) => store.append("log", "a", { ttl, maxLength: 10 })],
  ["publish", (store) => store.publish("channel", "a")],
])("%s sends the same stamp again if its reply was lost, so that the write takes effect once", async (_, write) => {
  lost = 2;
  const store = redisStore({ client, clock });
  await write(store);
  const writes = sent.filter(([name]) => name !== "EVALSHA");
  const stamps = writes.map((command) => command.find((word) => /^[\w-]{8}0{7}0/.test(word))?.slice(0, 16));
  expect(stamps).toHaveLength(3);
  expect(stamps[0]).toHaveLength(16);
  expect(new Set(stamps).size).toBe(1);
  sent.length = 0;
  await write(store);
  const next = sent.at(-1)?.find((word) => word.startsWith(stamps[0]?.slice(0, 8) ?? "?"));
  expect(next?.slice(0, 16)).not.toBe(stamps[0]);
});
