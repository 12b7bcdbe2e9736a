import { fakeClock } from "mcparley/testing";
import { expect, test } from "vitest";
import { redisStore } from "./redis-store.ts";

const client = { isOpen: false, sendCommand: async () => "", duplicate: () => ({}), subscribe: () => {} };

test.each([undefined, null, "redis://127.0.0.1", {}, { ...client, subscribe: undefined }])(
  "%j is no client",
  (given) => {
    expect(() => redisStore({ client: given as never })).toThrow(/^redisStore needs a client of the package redis/);
  },
);

test.each([{ timeout: 0 }, { timeout: Number.NaN }, { prefix: 1 as never }])("%j is refused", (options) => {
  expect(() => redisStore({ client, ...options })).toThrow(TypeError);
});

test("a client that was never connected is named as what is wrong", async () => {
  const clock = fakeClock();
  const store = redisStore({ client, timeout: 1_000, clock });
  const refused = expect(store.get("k")).rejects.toThrow("await its connect() first");
  await clock.advance(1_000);
  await refused;
});
