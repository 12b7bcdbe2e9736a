import { LocalError } from "mcparley";
import type { Client } from "mcparley/client";
import { fakeClock, flushPromises } from "mcparley/testing";
import { expect, test, vi } from "vitest";
import { LiveConnection } from "./live-connection.ts";

/** A client whose subscriptions end when the test says so. */
function fakeClient() {
  const subscriptions: ((reason: LocalError) => void)[] = [];
  let names = ["a"];
  const list = () => ({ all: () => Promise.resolve(names.map((name) => ({ name, inputSchema: { type: "object" } }))) });
  const client = {
    server: { capabilities: { tools: { listChanged: true } }, revisionKind: "modern" },
    state: "open",
    inFlight: 0,
    listTools: list,
    ping: vi.fn(() => Promise.resolve()),
    listen: vi.fn(() => {
      const closed = new Promise<LocalError>((resolve) => subscriptions.push(resolve));
      return Promise.resolve({ acknowledged: { tools: true }, closed, close: () => Promise.resolve() });
    }),
    close: () => Promise.resolve(),
  };
  return {
    client,
    setTools: (changed: string[]) => (names = changed),
    loseSubscription: () => subscriptions.at(-1)?.(new LocalError("closed", "The stream ended.")),
  };
}

test("reads the lists again after it has opened a lost subscription again", async () => {
  const clock = fakeClock();
  const { client, setTools, loseSubscription } = fakeClient();
  const onLists = vi.fn();
  const setting = { kind: "http", clock, maxListTime: 60_000, onLists, report: vi.fn() } as const;
  const connection = new LiveConnection(client as unknown as Client, setting);
  await connection.start(new AbortController().signal);
  loseSubscription();
  await flushPromises();
  setTools(["a", "b"]);
  for (let beat = 0; beat < 5; beat++) await clock.advance(15_000);
  expect(client.listen).toHaveBeenCalledTimes(2);
  expect(onLists).toHaveBeenCalledTimes(1);
  const [read] = onLists.mock.calls[0] as [{ lists: Map<string, unknown> }];
  expect(JSON.stringify([...read.lists])).toContain('"b"');
  await connection.close();
  expect(clock.pending).toBe(0);
});
