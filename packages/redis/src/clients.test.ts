import { EventEmitter } from "node:events";
import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { ioredisConnection } from "./ioredis.ts";
import { nodeRedisConnection } from "./node-redis.ts";

const unsharded = async (): Promise<boolean> => false;
const sharded = async (): Promise<boolean> => true;

interface Received {
  missed: number;
  messages: string[];
  receiver: { message: (channel: string, message: string) => void; onMissed: () => void };
}

function receiver(): Received {
  const received: Received = {
    missed: 0,
    messages: [],
    receiver: {
      message: (channel, message) => received.messages.push(`${channel} ${message}`),
      onMissed: () => received.missed++,
    },
  };
  return received;
}

describe("a client of the package redis", () => {
  type Listener = (message: string, channel: string) => void;

  /** A client that records its calls. Its copies are clients of the same kind. */
  class NodeRedis extends EventEmitter {
    isOpen = true;
    readonly calls: unknown[][] = [];
    readonly copies: NodeRedis[] = [];
    readonly listeners_ = new Map<string, Listener>();
    overrides: object | undefined;
    sendCommand = async (...args: unknown[]): Promise<unknown> => void this.calls.push(args);
    subscribe = async (channel: string, listener: Listener): Promise<void> => this.#add("subscribe", channel, listener);
    sSubscribe = async (channel: string, listener: Listener): Promise<void> =>
      this.#add("sSubscribe", channel, listener);
    unsubscribe = async (channel: string, listener: Listener): Promise<void> =>
      void this.calls.push(["unsubscribe", channel, this.listeners_.get(channel) === listener]);
    sUnsubscribe = async (channel: string, listener: Listener): Promise<void> =>
      void this.calls.push(["sUnsubscribe", channel, this.listeners_.get(channel) === listener]);
    destroy = (): void => void this.calls.push(["destroy"]);

    duplicate(overrides: object = {}): NodeRedis {
      const copy = new NodeRedis();
      copy.overrides = overrides;
      this.copies.push(copy);
      return copy;
    }

    async connect(): Promise<void> {
      this.calls.push(["connect"]);
      this.emit("ready");
    }

    #add(name: string, channel: string, listener: Listener): void {
      this.calls.push([name, channel]);
      this.listeners_.set(channel, listener);
    }
  }

  test.each<[string, object, unknown[]]>([
    ["one server", {}, []],
    ["Sentinel", { getSentinelNode: () => {} }, [false]],
    ["a cluster", { nodeByAddress: {} }, ["k", false]],
  ])("of %s sends each command with its time limit, to the primary", async (_, members, first) => {
    const client = Object.assign(new NodeRedis(), members);
    await nodeRedisConnection(client, unsharded).send("k", ["GET", "k"], 12.3);
    expect(client.calls).toEqual([[...first, ["GET", "k"], { timeout: 13, typeMapping: {} }]]);
  });

  test("that is closed sends nothing", async () => {
    const client = Object.assign(new NodeRedis(), { isOpen: false });
    await expect(nodeRedisConnection(client, unsharded).send("k", ["GET", "k"], 1)).rejects.toThrow("connect() first");
    expect(client.calls).toEqual([]);
  });

  test.each([
    ["one server", {}, sharded, "subscribe", "unsubscribe", { pingInterval: 10_000 }],
    ["a cluster without shards", { nodeByAddress: {} }, unsharded, "subscribe", "unsubscribe", {}],
    ["a cluster with shards", { nodeByAddress: {} }, sharded, "sSubscribe", "sUnsubscribe", {}],
  ] as const)(
    "of %s receives messages on a copy",
    async (_, members, isSharded, ...[subscribe, unsubscribe, overrides]) => {
      const client = Object.assign(new NodeRedis(), members);
      const received = receiver();
      const messages = await nodeRedisConnection(client, isSharded).receive(received.receiver);
      const [copy = client] = client.copies;
      expect(copy.overrides).toEqual(overrides);
      await messages.subscribe("a");
      copy.listeners_.get("a")?.("text", "a");
      expect(received.messages).toEqual(["a text"]);
      await messages.unsubscribe("a");
      await messages.close();
      expect(copy.calls).toEqual([["connect"], [subscribe, "a"], [unsubscribe, "a", true], ["destroy"]]);
      expect(client.calls).toEqual([]);
    },
  );

  test("notifies of missed messages after each reconnect, but not after the first connect", async () => {
    const client = new NodeRedis();
    const received = receiver();
    await nodeRedisConnection(client, unsharded).receive(received.receiver);
    expect(received.missed).toBe(0);
    const [copy = client] = client.copies;
    for (const [index, name] of ["ready", "node-ready", "topology-change"].entries()) {
      copy.emit(name);
      expect(received.missed).toBe(index + 1);
    }
    // Without a listener, an error event would throw.
    expect(() => copy.emit("error", new Error("connection lost"))).not.toThrow();
  });

  test("stays open when the store closes its copies", async () => {
    const client = new NodeRedis();
    const connection = nodeRedisConnection(client, unsharded);
    await connection.receive(receiver().receiver);
    await connection.receive(receiver().receiver);
    await connection.close();
    await connection.close();
    expect(client.copies.map(({ calls }) => calls.at(-1))).toEqual([["destroy"], ["destroy"]]);
    expect(client.copies.map(({ calls }) => calls.length)).toEqual([2, 2]);
    expect(client.calls).toEqual([]);
  });
});

describe("a client of the package ioredis", () => {
  /** A client that records its calls. Its copies are clients of the same kind. */
  class Ioredis extends EventEmitter {
    readonly status = "ready";
    readonly calls: string[][] = [];
    readonly copies: Ioredis[] = [];
    readonly overrides: unknown[];
    failure: Error | undefined;

    constructor(overrides: unknown[] = []) {
      super();
      this.overrides = overrides;
    }

    duplicate(...overrides: unknown[]): Ioredis {
      const copy = new Ioredis(overrides);
      this.copies.push(copy);
      return copy;
    }

    call = async (...words: string[]): Promise<unknown> => this.#record(words);
    subscribe = async (...channels: string[]): Promise<unknown> => this.#record(["subscribe", ...channels]);
    unsubscribe = async (channel: string): Promise<unknown> => this.#record(["unsubscribe", channel]);
    ssubscribe = async (channel: string): Promise<unknown> => this.#record(["ssubscribe", channel]);
    sunsubscribe = async (channel: string): Promise<unknown> => this.#record(["sunsubscribe", channel]);
    disconnect = (): void => void this.calls.push(["disconnect"]);

    async #record(words: string[]): Promise<unknown> {
      this.calls.push(words);
      if (this.failure) throw this.failure;
      return "OK";
    }
  }

  const noResend = { maxRetriesPerRequest: 0, enableOfflineQueue: false, autoResendUnfulfilledCommands: false };
  const always = { lazyConnect: false, keyPrefix: "" };

  test.each<[string, object, unknown[]]>([
    ["one server", {}, [{ ...always, ...noResend }]],
    [
      "a cluster",
      { nodes: () => [] },
      [
        [],
        {
          ...always,
          enableOfflineQueue: false,
          retryDelayOnFailover: 0,
          scaleReads: "master",
          redisOptions: { keyPrefix: "" },
        },
      ],
    ],
  ])("of %s sends all commands on one copy that sends none of them again", async (_, members, overrides) => {
    const client = Object.assign(new Ioredis(), members);
    const connection = ioredisConnection(client, unsharded);
    expect(await connection.send("k", ["GET", "k"], 10)).toBe("OK");
    await connection.send("k", ["DEL", "k"], 10);
    expect(client.copies).toHaveLength(1);
    expect(client.copies[0]?.overrides).toEqual(overrides);
    expect(client.copies[0]?.calls).toEqual([
      ["GET", "k"],
      ["DEL", "k"],
    ]);
    expect(client.calls).toEqual([]);
  });

  test("reports why it has no connection, until it is connected again", async () => {
    const client = new Ioredis();
    const connection = ioredisConnection(client, unsharded);
    await connection.send("k", ["GET", "k"], 10);
    const [copy = client] = client.copies;
    const notConnected = new Error("Stream isn't writeable and enableOfflineQueue options is false");
    copy.failure = notConnected;
    await expect(connection.send("k", ["GET", "k"], 10)).rejects.toBe(notConnected);
    const reason = new Error("connect ECONNREFUSED");
    copy.emit("error", reason);
    await expect(connection.send("k", ["GET", "k"], 10)).rejects.toBe(reason);
    const lastNodeError = new Error("connect ETIMEDOUT");
    copy.emit("error", Object.assign(new Error("Failed to refresh slots cache."), { lastNodeError }));
    await expect(connection.send("k", ["GET", "k"], 10)).rejects.toBe(lastNodeError);
    const refusal = new Error("OOM command not allowed");
    copy.failure = refusal;
    await expect(connection.send("k", ["GET", "k"], 10)).rejects.toBe(refusal);
    copy.failure = notConnected;
    copy.emit("ready");
    await expect(connection.send("k", ["GET", "k"], 10)).rejects.toBe(notConnected);
  });

  test("of one server subscribes again after a reconnect, before it notifies of missed messages", async () => {
    const client = new Ioredis();
    const received = receiver();
    const messages = await ioredisConnection(client, sharded).receive(received.receiver);
    const [copy = client] = client.copies;
    expect(copy.overrides).toEqual([{ ...always, autoResubscribe: true }]);
    copy.emit("ready");
    await messages.subscribe("a");
    await messages.subscribe("b");
    await messages.unsubscribe("a");
    copy.emit("message", "b", "text");
    expect(received).toMatchObject({ messages: ["b text"], missed: 0 });
    copy.calls.length = 0;
    copy.emit("ready");
    expect(received.missed).toBe(0);
    await flushPromises();
    expect(copy.calls).toEqual([["subscribe", "b"]]);
    expect(received.missed).toBe(1);
    copy.failure = new Error("connection lost");
    copy.emit("ready");
    copy.emit("error", new Error("connection lost"));
    await flushPromises();
    expect(received.missed).toBe(1);
    copy.failure = undefined;
    await messages.unsubscribe("b");
    copy.calls.length = 0;
    copy.emit("ready");
    await flushPromises();
    expect(copy.calls).toEqual([]);
    await messages.close();
    expect(copy.calls).toEqual([["disconnect"]]);
  });

  test.each([
    ["without shards", unsharded, "message", "subscribe", "unsubscribe"],
    ["with shards", sharded, "smessage", "ssubscribe", "sunsubscribe"],
  ] as const)(
    "of a cluster %s notifies of missed messages if its nodes change",
    async (_, isSharded, event, ...names) => {
      const client = Object.assign(new Ioredis(), { nodes: () => [] });
      const received = receiver();
      const messages = await ioredisConnection(client, isSharded).receive(received.receiver);
      const [copy = client] = client.copies;
      expect(copy.overrides).toEqual([[], { ...always, shardedSubscribers: isSharded === sharded }]);
      await messages.subscribe("a");
      await messages.unsubscribe("a");
      copy.emit(event, "a", "text");
      copy.emit(event === "message" ? "smessage" : "message", "a", "other");
      expect(received.messages).toEqual(["a text"]);
      expect(copy.calls).toEqual(names.map((name) => [name, "a"]));
      for (const name of ["+node", "-node", "ready"]) copy.emit(name);
      expect(received.missed).toBe(3);
      await messages.close();
      expect(copy.calls.at(-1)).toEqual(["disconnect"]);
    },
  );

  test("stays connected when the store closes its copies", async () => {
    const client = new Ioredis();
    const connection = ioredisConnection(client, unsharded);
    await connection.send("k", ["GET", "k"], 10);
    await connection.receive(receiver().receiver);
    await connection.close();
    await connection.close();
    expect(client.copies.map(({ calls }) => calls.filter(([name]) => name === "disconnect").length)).toEqual([1, 1]);
    expect(client.calls).toEqual([]);
  });
});
