import { expect, test, vi } from "vitest";
import { modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { resource } from "./definition.ts";
import { createServer } from "./create-server.ts";

const wrong = [{ ttlMs: -1 }, { ttlMs: 0.5 }, { ttlMs: NaN }, { ttlMs: Infinity }, { cacheScope: "shared" }];

test.each(wrong)("%j is refused for lists and for resources", (hint) => {
  const listCache = hint as object;
  expect(() => createServer({ name: "x", version: "1", listCache })).toThrow(Object.keys(hint)[0]);
  const cached = resource("a:", { cache: listCache, read: () => "" });
  expect(() => createServer({ name: "x", version: "1", resources: { cached } })).toThrow('resource "cached"');
});

test.each(wrong)("%j is refused from a handler", async (hint) => {
  const onError = vi.fn<(error: unknown) => void>();
  const read = resource("a:", { read: () => ({ contents: [], ...(hint as object) }) });
  const server = createServer({ name: "x", version: "1", resources: { read }, onError });
  const peer = await rawPeer(server, { meta: modernMeta("2026-07-28") });
  expect((await peer.request("resources/read", { uri: "a:" })).error.code).toBe(-32603);
  expect(onError).toHaveBeenCalledTimes(1);
});
