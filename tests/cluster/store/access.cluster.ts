import { redisStore } from "@mcparley/redis";
import type { Store } from "mcparley/server";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { UsageError } from "../../../packages/cli/src/terminal/io.ts";
import { openStore } from "../../../packages/cli/src/serve/settings/open-store.ts";
import { type RedisServer, startRedis } from "../servers/redis.mjs";

/** The commands that the store needs, as its error for a missing permission lists them. */
const needed = "GET SET DEL EVAL EVALSHA XADD XRANGE XREVRANGE PEXPIRE PUBLISH SUBSCRIBE UNSUBSCRIBE PING";
const log = { ttl: 600_000, maxLength: 10 };

let server: RedisServer;
let closing: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis();
  const admin = await createClient({ url: server.url }).connect();
  const allowed = needed.split(" ").map((command) => `+${command}`);
  await admin.sendCommand([
    "ACL",
    "SETUSER",
    "app",
    "on",
    ">secret",
    "~mcparley:*",
    "&mcparley:*",
    "-@all",
    ...allowed,
  ]);
  await admin.sendCommand(["ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "-@all", "+GET"]);
  await admin.sendCommand(["ACL", "SETUSER", "default", "on", ">other"]);
  admin.destroy();
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});
afterAll(() => server.end());

const urlOf = (user: string, password: string): string => server.url.replace("//", `//${user}:${password}@`);

async function openedStore(user: string): Promise<Store> {
  const opened = await openStore(urlOf(user, "secret"), () => {});
  closing.push(() => opened.close());
  return opened.store;
}

async function failure(url: string): Promise<UsageError> {
  const error: unknown = await openStore(url, () => {}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return error as UsageError;
}

test("serve opens its store as a user with only the needed commands, without INFO", async () => {
  const store = await openedStore("app");
  await store.set("a", "b", { ttl: 600_000 });
  expect(await store.compareAndSet("a", "b", "c", { ttl: 600_000 })).toBe(true);
  expect(await store.get("a")).toBe("c");
  await store.append("l", "x", log);
  expect(await store.readFrom("l", undefined, 10)).toHaveLength(1);
  const received = new Promise<string>((resolve) => void store.subscribe("c", resolve));
  const publishing = setInterval(() => void store.publish("c", "message"), 10);
  closing.push(() => clearInterval(publishing));
  expect(await received).toBe("message");
});

test("serve names a missing command", async () => {
  const store = await openedStore("reader");
  await expect(store.set("a", "b", { ttl: 600_000 })).rejects.toThrow(
    /NOPERM.*'…' command.*Allow the Redis user GET, SET/,
  );
});

test.each([
  ["app", "wrong", "WRONGPASS"],
  ["app", "", "NOAUTH"],
  ["", "wrong", "WRONGPASS"],
  ["", "", "NOAUTH"],
])("serve reports that the authentication failed: user %j, password %j", async (user, password, code) => {
  const { message, hint } = await failure(user + password === "" ? server.url : urlOf(user, password));
  expect(message).toContain(`The authentication at the store 127.0.0.1:${server.port} failed: ${code} `);
  expect(hint).toContain("user and password in the URL");
  expect(message + hint).not.toContain("wrong");
});

describe("a client of ioredis", () => {
  const storeOf = (options: object) => {
    const client = new Redis({ host: "127.0.0.1", port: server.port, ...options }).on("error", () => {});
    closing.push(() => client.disconnect());
    const store = redisStore({ client });
    closing.push(() => store.close());
    return store;
  };

  test.each([
    ["a wrong password", { username: "app", password: "wrong" }, "WRONGPASS"],
    ["no password", {}, "NOAUTH"],
  ])("with %s fails with the reason of each operation", async (_, options, code) => {
    const store = storeOf(options);
    const failed = (operation: string) => ({
      code: "store_unavailable",
      message: expect.stringContaining(`Redis authentication failed (${operation}): ${code} `),
    });
    await expect(store.get("a")).rejects.toMatchObject(failed("get"));
    await expect(store.append("l", "x", log)).rejects.toMatchObject(failed("append"));
    await expect(store.subscribe("c", () => {})).rejects.toMatchObject(failed("subscribe"));
  });

  test("works again once its password is right", async () => {
    const admin = await createClient({ url: urlOf("default", "other") }).connect();
    closing.push(() => admin.destroy());
    await admin.sendCommand([
      "ACL",
      "SETUSER",
      "late",
      "on",
      "nopass",
      "resetpass",
      ">first",
      "allkeys",
      "allcommands",
    ]);
    const store = storeOf({ username: "late", password: "second" });
    await expect(store.get("a")).rejects.toThrow("Redis authentication failed");
    await admin.sendCommand(["ACL", "SETUSER", "late", ">second"]);
    await expect.poll(() => store.get("none").catch(() => "failed"), { timeout: 20_000 }).toBeUndefined();
  });
});
