import { fakeClock, flushPromises, scriptedPeer } from "mcparley/testing";
import { expect, test } from "vitest";
import { scriptedServer } from "../supervision/testing/scripted-server.ts";
import { createHost } from "./create-host.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("ready() keeps the program running while it waits for a server, and stops its timer", async () => {
  await using host = await createHost({ folder: false, servers: { hung: scriptedServer(() => scriptedPeer()) } });
  const before = timers();
  const stop = new AbortController();
  const ready = host.ready({ signal: stop.signal });
  expect(timers()).toBe(before + 1);
  stop.abort(new Error("stopped"));
  await expect(ready).rejects.toThrow("stopped");
  expect(timers()).toBe(before);
});

test("ready() resolves after its time limit, without the servers that are not ready", async () => {
  const clock = fakeClock();
  await using host = await createHost({
    clock,
    folder: false,
    servers: { hung: scriptedServer(() => scriptedPeer()) },
  });
  const ready = host.ready({ wait: 1_000 });
  await flushPromises();
  await clock.advance(1_000);
  expect((await ready).tools).toEqual([]);
  expect(host.servers.get("hung")!.state).toBe("connecting");
});
