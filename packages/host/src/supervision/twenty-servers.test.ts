import { LocalError } from "mcparley";
import { createServer, tool } from "mcparley/server";
import { type FakeClock, fakeClock, flushPromises, legacyPeer, modernPeer, scriptedPeer } from "mcparley/testing";
import { expect, test } from "vitest";
import type { ServerEntry } from "../servers/server-entry.ts";
import { type RecordedServer, recordedServer, waitUntil } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

/** The bad twentieth server of each kind. */
const bad = {
  dead: (): ServerEntry => ({ attach: () => Promise.reject(new LocalError("unreachable", "The server is down.")) }),
  "hung in the handshake": () => scriptedServer(() => scriptedPeer()),
  "hung in a list": () => scriptedServer(() => modernPeer({ capabilities: { tools: {} } })),
  "lying with 100,000 entries": () => {
    const tools = Array.from({ length: 100_000 }, (_, index) => toolNamed(`t${index}`, ""));
    return scriptedServer(() => toolsPeer(() => tools));
  },
  "lying with wrong types": () =>
    scriptedServer(() =>
      modernPeer({ capabilities: { tools: {} }, answers: { "tools/list": () => ({ tools: "x" }) } }),
    ),
  "lying with pages without an end": () => {
    let page = 0;
    const result = () => ({ tools: [toolNamed(`t${page}`)], nextCursor: `${page++}` });
    return scriptedServer(() => modernPeer({ capabilities: { tools: {} }, answers: { "tools/list": result } }));
  },
  flapping: () =>
    scriptedServer(() => {
      const peer = toolsPeer(() => [toolNamed("add")]);
      void flushPromises().then(() => peer.close());
      return peer;
    }),
  "flooding with changes": () =>
    scriptedServer(() => {
      const peer = legacyPeer({
        capabilities: { tools: { listChanged: true } },
        answers: {
          "server/discover": () => {
            throw new Error("not sent");
          },
          "tools/list": () => {
            for (let index = 0; index < 1_000; index++) peer.notify("notifications/tools/list_changed");
            return { tools: [toolNamed("add")] };
          },
        },
      });
      return peer;
    }),
};

function goodServer(index: number) {
  const name = `tool-${index}`;
  return createServer({ name: `s${index}`, version: "1.0.0", tools: { [name]: tool({ call: () => name }) } });
}

/** Starts 19 good servers, and the bad one first, so that a serial start would wait for it. */
function start(kind: keyof typeof bad): { clock: FakeClock; good: RecordedServer[]; twentieth: RecordedServer } {
  const clock = fakeClock();
  const entry = bad[kind]();
  const connectOptions = kind === "flooding with changes" ? { revision: "2025-11-25" } : {};
  const twentieth = recordedServer({ name: "bad", entry, clock, connectOptions });
  const good = Array.from({ length: 19 }, (_, index) =>
    recordedServer({ name: `s${index}`, entry: goodServer(index), clock }),
  );
  for (const { server } of [twentieth, ...good]) void server.connect().catch(() => {});
  return { clock, good, twentieth };
}

/** Longer than all time limits of the connection. */
const settleTime = 130_000;

test.each(Object.keys(bad) as (keyof typeof bad)[])(
  "with one of 20 servers %s the other 19 are ready before any time passes, and stay usable",
  async (kind) => {
    const { clock, good, twentieth } = start(kind);
    await waitUntil(() => good.every(({ server }) => server.state === "ready"));
    expect(clock.now()).toBe(0);
    const names = good.map((_, index) => `tool-${index}`);
    const callAll = () =>
      Promise.all(good.map(({ server }, index) => server.use((client) => client.callTool(`tool-${index}`))));
    expect(await callAll()).toEqual(names);
    expect(clock.now()).toBe(0);
    await clock.advance(settleTime);
    expect(await callAll()).toEqual(names);
    for (const { states, errors } of good) {
      expect(states).toEqual(["connecting", "ready"]);
      expect(errors).toEqual([]);
    }
    await Promise.all([...good, twentieth].map(({ server }) => server.close()));
    expect(clock.pending).toBe(0);
  },
);
