import { fakeClock } from "mcparley/testing";
import { expect, test } from "vitest";
import { Attempts } from "./attempts.ts";
import type { Connection, Messages, Receiver } from "./connection.ts";
import { Subscriptions } from "./subscriptions.ts";

/** Subscriptions on a scripted connection, and the names of the operations that it received. */
function subscriptions() {
  const operations: string[] = [];
  const state = { receiver: undefined as Receiver | undefined, refusal: undefined as Error | undefined };
  const messages: Messages = {
    async subscribe(channel) {
      operations.push(`subscribe ${channel}`);
      if (state.refusal) throw state.refusal;
    },
    async unsubscribe(channel) {
      operations.push(`unsubscribe ${channel}`);
      if (state.refusal) throw state.refusal;
    },
    close: async () => void operations.push("close"),
  };
  const connection: Connection = {
    isCluster: false,
    send: async () => undefined,
    async receive(receiver) {
      operations.push("receive");
      if (state.refusal) throw state.refusal;
      state.receiver = receiver;
      return messages;
    },
    close: async () => {},
  };
  const made = new Subscriptions(connection, new Attempts(1_000, fakeClock()));
  /** Delivers a message with a stamp. */
  const deliver = (channel: string, stamp: number, message = "m"): void =>
    state.receiver?.message(channel, `${String(stamp).padStart(16, "0")}${message}`);
  return { made, operations, state, deliver };
}

const refusal = new Error("NOPERM this user has no permissions");

test("a message is delivered without its stamp to each subscription of its channel, once", async () => {
  const { made, operations, deliver } = subscriptions();
  const received: string[] = [];
  for (const name of ["one", "two"])
    await made.subscribe("a", { message: (text) => received.push(`${name} ${text}`), onMissed: undefined });
  await made.subscribe("b", { message: () => received.push("b"), onMissed: undefined });
  deliver("a", 1, "first");
  deliver("a", 1, "first");
  deliver("a", 2, "first");
  deliver("none", 3);
  expect(received).toEqual(["one first", "two first", "one first", "two first"]);
  expect(operations).toEqual(["receive", "subscribe a", "subscribe a", "subscribe b"]);
});

test("the stamps of the last 1,024 messages are known", async () => {
  const { made, deliver } = subscriptions();
  const received: string[] = [];
  await made.subscribe("a", { message: (text) => received.push(text), onMissed: undefined });
  for (let stamp = 0; stamp < 1_025; stamp++) deliver("a", stamp);
  received.length = 0;
  for (const stamp of [1, 512, 1_024]) deliver("a", stamp);
  expect(received).toEqual([]);
  deliver("a", 0);
  expect(received).toHaveLength(1);
});

test("after a reconnect, each subscription of each channel is notified that messages may be missing", async () => {
  const { made, state } = subscriptions();
  const missed: string[] = [];
  for (const [name, channel] of [
    ["one", "a"],
    ["two", "a"],
    ["three", "b"],
  ] as const)
    await made.subscribe(channel, { message: () => {}, onMissed: () => missed.push(name) });
  await made.subscribe("b", { message: () => {}, onMissed: undefined });
  state.receiver?.onMissed();
  expect(missed).toEqual(["one", "two", "three"]);
});

test("the last subscription of a channel unsubscribes from Redis, once, and ignores a failure", async () => {
  const { made, operations, deliver, state } = subscriptions();
  const received: string[] = [];
  const [one, two] = [
    await made.subscribe("a", { message: () => received.push("one"), onMissed: undefined }),
    await made.subscribe("a", { message: () => received.push("two"), onMissed: undefined }),
  ];
  operations.length = 0;
  await one();
  deliver("a", 1);
  expect(received).toEqual(["two"]);
  expect(operations).toEqual([]);
  state.refusal = refusal;
  await two();
  await two();
  await Promise.resolve();
  deliver("a", 2);
  expect(received).toEqual(["two"]);
  expect(operations).toEqual(["unsubscribe a"]);
});

test("a subscription that is refused receives nothing, and leaves the others of its channel", async () => {
  const { made, operations, deliver, state } = subscriptions();
  const received: string[] = [];
  await made.subscribe("a", { message: () => received.push("one"), onMissed: undefined });
  state.refusal = refusal;
  await expect(
    made.subscribe("a", { message: () => received.push("two"), onMissed: () => received.push("missed") }),
  ).rejects.toMatchObject({ code: "store_unavailable" });
  deliver("a", 1);
  state.receiver?.onMissed();
  expect(received).toEqual(["one"]);
  expect(operations).not.toContain("unsubscribe a");
});

test("a connection that could not be opened is opened again by the next subscription", async () => {
  const { made, operations, deliver, state } = subscriptions();
  state.refusal = refusal;
  const received: string[] = [];
  const subscribe = () => made.subscribe("a", { message: (text) => received.push(text), onMissed: undefined });
  await expect(subscribe()).rejects.toMatchObject({ code: "store_unavailable" });
  state.refusal = undefined;
  await subscribe();
  deliver("a", 1);
  expect(received).toEqual(["m"]);
  expect(operations).toEqual(["receive", "receive", "subscribe a"]);
});

test("after close nothing is delivered, and the connection is closed", async () => {
  const { made, operations, deliver, state } = subscriptions();
  const received: string[] = [];
  await made.subscribe("a", { message: () => received.push("m"), onMissed: () => received.push("missed") });
  made.close();
  await Promise.resolve();
  deliver("a", 1);
  state.receiver?.onMissed();
  expect(received).toEqual([]);
  expect(operations.at(-1)).toBe("close");
});
