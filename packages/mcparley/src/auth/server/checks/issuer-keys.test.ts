import { expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { issuerKeys } from "./issuer-keys.ts";

const jwks = "https://as.example/jwks";

test("requests that hold the same old keys share one request for newer ones", async () => {
  const clock = fakeClock(1_000_000);
  const fetched: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    fetched.push(url);
    return Response.json({ keys: [{ kty: "EC", kid: String(fetched.length) }] });
  };
  const keys = issuerKeys({ issuer: "https://as.example", jwks, fetch, clock });
  const old = await keys.current();
  expect(await keys.newerThan(old)).toBe(30_000);
  await clock.advance(29_999);
  expect(await keys.newerThan(old)).toBe(1);
  await clock.advance(1);
  const [newer, shared] = await Promise.all([keys.newerThan(old), keys.newerThan(old)]);
  expect(newer).toMatchObject({ loadedAt: 1_030_000 });
  expect(shared).toBe(newer);
  // A request that began before the others and has verified its token with the old keys until now.
  await clock.advance(30_000);
  expect(await keys.newerThan(old)).toBe(newer);
  expect(fetched).toEqual([jwks, jwks]);
});

test("keys in the options are never replaced", async () => {
  const keys = issuerKeys({
    issuer: "https://as.example",
    jwks: { keys: [{ kty: "EC", kid: "a" }] },
    fetch: () => Promise.reject(new Error("not expected")),
    clock: fakeClock(),
  });
  const current = await keys.current();
  expect(current.has("a")).toBe(true);
  expect(current.has(undefined)).toBe(false);
  expect(await keys.newerThan(current)).toBe(Infinity);
});
