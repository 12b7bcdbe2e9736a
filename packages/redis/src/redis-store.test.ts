import { createHash } from "node:crypto";
import { fakeClock } from "mcparley/testing";
import type { Store } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { redisStore } from "./redis-store.ts";

const client = { isOpen: false, sendCommand: async () => "", duplicate: () => ({}), subscribe: () => {} };

test.each([undefined, null, "redis://127.0.0.1", {}, { ...client, subscribe: undefined }])(
  "refuses %j as client",
  (given) => {
    expect(() => redisStore({ client: given as never })).toThrow(/^redisStore needs a client of the package redis/);
  },
);

test.each([{ timeout: 0 }, { timeout: Number.NaN }, { prefix: 1 as never }])("refuses the options %j", (options) => {
  expect(() => redisStore({ client, ...options })).toThrow(TypeError);
});

test("the error names a client that was never connected", async () => {
  const clock = fakeClock();
  const store = redisStore({ client, timeout: 1_000, clock });
  const refused = expect(store.get("k")).rejects.toThrow("await its connect() first");
  await clock.advance(1_000);
  await refused;
});

test.each<[string, (store: Store) => Promise<unknown>]>([
  ["app:value:{a}", (store) => store.get("a")],
  ["app:log:{a}", (store) => store.readFrom("a", undefined, 1)],
  ["app:channel:{a}", (store) => store.publish("a", "")],
])("the whole name is the hash tag of %s, so it alone selects the slot in a cluster", async (name, use) => {
  const sent: string[][] = [];
  const sendCommand = async (command: string[]) => (sent.push(command), []);
  await use(redisStore({ client: { ...client, isOpen: true, sendCommand }, prefix: "app:" }));
  expect(sent[0]?.[1]).toBe(name);
});

/** A store on a client that answers each command with the next of the replies. An error is thrown. */
function scripted(replies: unknown[], members: object = {}) {
  const sent: string[][] = [];
  const sendCommand = async (...args: unknown[]): Promise<unknown> => {
    sent.push(args.find(Array.isArray) as string[]);
    const reply = replies.shift();
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const clock = fakeClock();
  const store = redisStore({ client: { ...client, isOpen: true, sendCommand, ...members }, timeout: 1_000, clock });
  return { store, sent, clock };
}

const stamp = "abcdefgh00000001";

test("get returns a value without its stamp, also an empty one, and undefined for a missing key", async () => {
  const { store } = scripted([`${stamp}value`, stamp, null]);
  expect(await store.get("k")).toBe("value");
  expect(await store.get("k")).toBe("");
  expect(await store.get("k")).toBeUndefined();
});

test("delete returns whether there was a value", async () => {
  const { store, sent } = scripted([1, 0, "1"]);
  expect([await store.delete("k"), await store.delete("k"), await store.delete("k")]).toEqual([true, false, true]);
  expect(sent[0]).toEqual(["DEL", "mcparley:value:{k}"]);
});

test.each([
  [60_000, "60000"],
  [0.2, "1"],
  [-5, "1"],
  [1.5, "2"],
  [Number.MAX_SAFE_INTEGER, "3155760000000"],
])("a lifetime of %d ms is sent as %s", async (ttl, sentTtl) => {
  const { store, sent } = scripted(["OK", 1, "1-0"]);
  await store.set("k", "v", { ttl });
  await store.compareAndSet("k", undefined, "v", { ttl });
  await store.append("l", "v", { ttl, maxLength: 7 });
  expect(sent[0]).toEqual(["SET", "mcparley:value:{k}", expect.stringMatching(/^.{16}v$/), "PX", sentTtl]);
  expect(sent[1]?.slice(4)).toEqual([expect.stringMatching(/^.{16}$/), "0", "", "1", "v", sentTtl, "0"]);
  expect(sent[2]?.slice(4)).toEqual([expect.stringMatching(/^.{16}$/), "v", "7", sentTtl, "0"]);
});

test("compareAndSet tells an empty value from none, and returns whether the value was set", async () => {
  const { store, sent } = scripted([1, "0", 0]);
  expect(await store.compareAndSet("k", "", undefined, { ttl: 1 })).toBe(true);
  expect(await store.compareAndSet("k", undefined, "", { ttl: 1 })).toBe(false);
  expect(await store.compareAndSet("k", "a", "b", { ttl: 1 })).toBe(false);
  expect(sent.map((command) => command.slice(5, 9))).toEqual([
    ["1", "", "0", ""],
    ["0", "", "1", ""],
    ["1", "a", "1", "b"],
  ]);
});

test("readFrom reads the entries after a position, without their stamps", async () => {
  const { store, sent } = scripted([[["5-1", ["e", `${stamp}a`]]], []]);
  const [entry] = await store.readFrom("l", undefined, 2.9);
  expect(entry?.value).toBe("a");
  await store.readFrom("l", entry?.position, 2);
  expect(sent).toEqual([
    ["XRANGE", "mcparley:log:{l}", "-", "+", "COUNT", "2"],
    ["XRANGE", "mcparley:log:{l}", "(5-1", "+", "COUNT", "2"],
  ]);
});

test.each<[string | undefined, number]>([
  [undefined, 0],
  [undefined, -1],
  ["not a position", 10],
])("readFrom sends nothing for the position %j and the limit %i", async (position, limit) => {
  const { store, sent } = scripted([]);
  expect(await store.readFrom("l", position, limit)).toEqual([]);
  expect(sent).toEqual([]);
});

test("a script is sent by its digest, and again by its source if Redis does not know it", async () => {
  const { store, sent } = scripted([new Error("NOSCRIPT No matching script."), 1, 1]);
  expect(await store.compareAndSet("k", "a", "b", { ttl: 1 })).toBe(true);
  await store.compareAndSet("k", "a", "b", { ttl: 1 });
  expect(sent.map(([name]) => name)).toEqual(["EVALSHA", "EVAL", "EVALSHA"]);
  const source = sent[1]?.[1] ?? "";
  expect(sent[0]?.[1]).toBe(createHash("sha1").update(source).digest("hex"));
  expect(sent[1]?.slice(2)).toEqual(sent[0]?.slice(2));
});

test("another error of a script is not answered with its source", async () => {
  const { store, sent } = scripted([new Error("OOM command not allowed")]);
  await expect(store.compareAndSet("k", "a", "b", { ttl: 1 })).rejects.toThrow("OOM");
  expect(sent.map(([name]) => name)).toEqual(["EVALSHA"]);
});

describe("publish in a cluster", () => {
  const members = { nodeByAddress: {} };

  test("uses shards if its servers have them, which is asked once", async () => {
    const { store, sent } = scripted([0, 1, 1], members);
    await store.publish("a", "one");
    await store.publish("a", "two");
    expect(sent.map((command) => command.slice(0, 2))).toEqual([
      ["SPUBLISH", "mcparley:channel:{}"],
      ["SPUBLISH", "mcparley:channel:{a}"],
      ["SPUBLISH", "mcparley:channel:{a}"],
    ]);
    expect(sent.map((command) => command[2]?.slice(16))).toEqual(["", "one", "two"]);
  });

  test("uses no shards with older servers, and any of them", async () => {
    const keys: unknown[] = [];
    const sendCommand = async (key: unknown, _isReadonly: unknown, [name]: string[]): Promise<number> => {
      keys.push([name, key]);
      if (name === "SPUBLISH") throw new Error("ERR unknown command 'SPUBLISH', with args");
      return 1;
    };
    const { store } = scripted([], { ...members, sendCommand });
    await store.publish("a", "one");
    expect(keys).toEqual([
      ["SPUBLISH", "mcparley:channel:{}"],
      ["PUBLISH", undefined],
    ]);
  });

  test("asks again for shards after the servers were unavailable", async () => {
    const { store, sent } = scripted([new Error("NOPERM no permissions"), 0, 1], members);
    await expect(store.publish("a", "one")).rejects.toThrow("NOPERM");
    await store.publish("a", "two");
    expect(sent.map(([name]) => name)).toEqual(["SPUBLISH", "SPUBLISH", "SPUBLISH"]);
  });
});

test("publish on one server is not sent to the server of a key", async () => {
  const keys: unknown[] = [];
  const sendCommand = async (command: string[]): Promise<number> => (keys.push(command), 1);
  const { store } = scripted([], { sendCommand });
  await store.publish("a", "one");
  expect(keys).toEqual([["PUBLISH", "mcparley:channel:{a}", expect.stringMatching(/^.{16}one$/)]]);
});

test("a closed store ends its operations and its copy of the client, and delivers nothing", async () => {
  const calls: string[] = [];
  let deliver = (_text: string, _channel: string): void => {};
  const copy = {
    on: () => {},
    connect: async () => {},
    subscribe: async (_channel: string, listener: typeof deliver) => void (deliver = listener),
    unsubscribe: async () => {},
    destroy: () => void calls.push("destroy"),
  };
  const { store } = scripted([], { duplicate: () => copy });
  const received: string[] = [];
  await store.subscribe("a", (message) => received.push(message));
  deliver(`${stamp}one`, "mcparley:channel:{a}");
  await store.close?.();
  await Promise.resolve();
  deliver(`abcdefgh00000002two`, "mcparley:channel:{a}");
  expect(received).toEqual(["one"]);
  expect(calls).toContain("destroy");
  await expect(store.get("k")).rejects.toMatchObject({ code: "closed" });
});

test("a closed store ends a copy of the client that could not connect", async () => {
  const calls: string[] = [];
  const connect = (): Promise<never> => Promise.reject(new Error("NOAUTH Authentication required."));
  const copy = { on: () => {}, connect, destroy: () => void calls.push("destroy") };
  const { store } = scripted([], { duplicate: () => copy });
  await expect(store.subscribe("a", () => {})).rejects.toThrow("NOAUTH");
  expect(calls).toEqual([]);
  await store.close?.();
  expect(calls).toEqual(["destroy"]);
});
