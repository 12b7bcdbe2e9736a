import { fakeClock } from "mcparley/testing";
import type { Store } from "mcparley/server";
import { expect, test } from "vitest";
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
