import { readFileSync } from "node:fs";
import { LocalError } from "mcparley";
import type { Transport } from "mcparley/client";
import { expect, test } from "vitest";
import { type ServerState, type ServerAction, transitions } from "./server-state.ts";
import { recordedServer, waitUntil } from "./testing/recorded-server.ts";
import { scriptedServer, toolsPeer } from "./testing/scripted-server.ts";

test("the diagram shows exactly the transitions of the table", () => {
  const source = readFileSync(new URL("./server-state.ts", import.meta.url), "utf8");
  const drawn = [...source.matchAll(/^ \* {3}(\w+) --> (\w+): (\w+)/gm)].map(([, from, to, action]) =>
    [from, action, to].join(" ").replaceAll("_", "-"),
  );
  const listed = arrows.map((arrow) => arrow.join(" "));
  expect(drawn.toSorted()).toEqual(listed.toSorted());
});

/** A supervised server whose connections wait for `answer`, and everything that a test needs to cause a transition. */
function controlled() {
  const target = scriptedServer(() => toolsPeer(() => []));
  let waiting: ((outcome: "up" | "down" | "sign-in") => void) | undefined;
  const entry = {
    async attach(transport: Transport): Promise<unknown> {
      const outcome = await new Promise((resolve) => (waiting = resolve));
      if (outcome === "down") throw new LocalError("unreachable", "The server is down.");
      if (outcome === "sign-in") throw new LocalError("sign_in_required", "Sign in.");
      return target.attach(transport);
    },
  };
  const recorded = recordedServer({ entry });
  const answer = async (outcome: "up" | "down" | "sign-in"): Promise<void> => {
    await waitUntil(() => waiting !== undefined);
    waiting?.(outcome);
    waiting = undefined;
  };
  const connect = async (outcome: "up" | "down" | "sign-in"): Promise<void> => {
    const connecting = recorded.server.connect().catch(() => {});
    await answer(outcome);
    await connecting;
  };
  return { ...recorded, target, answer, connect };
}

type Controlled = ReturnType<typeof controlled>;

const reach: Record<ServerState, (controlled: Controlled) => Promise<unknown>> = {
  idle: () => Promise.resolve(),
  connecting: async ({ server }) => void server.connect().catch(() => {}),
  ready: ({ connect }) => connect("up"),
  failed: ({ connect }) => connect("down"),
  "needs-sign-in": ({ connect }) => connect("sign-in"),
  disabled: ({ server }) => server.disable(),
};

const cause: Record<ServerAction, (controlled: Controlled) => Promise<unknown>> = {
  attempt: async ({ server }) => void server.reconnect().catch(() => {}),
  succeed: ({ answer }) => answer("up"),
  fail: async ({ server, answer, target }) => (server.state === "ready" ? target.peer.close() : answer("down")),
  refuse: async ({ server, answer }) => {
    if (server.state === "connecting") return answer("sign-in");
    return server.use(() => Promise.reject(new LocalError("unauthorized", "401"))).catch(() => {});
  },
  lose: async ({ clock, target }) => {
    await clock.advance(30_000);
    target.peer.close();
  },
  disable: async ({ server }) => void server.disable(),
  enable: async ({ server }) => server.enable(),
  close: ({ server }) => server.close(),
};

const arrows = Object.entries(transitions).flatMap(([from, actions]) =>
  Object.entries(actions).map(([action, to]) => [from as ServerState, action as ServerAction, to] as const),
);

test.each(arrows)("%s, %s → %s", async (from, action, to) => {
  const server = controlled();
  await reach[from](server);
  expect(server.server.state).toBe(from);
  const { length } = server.states;
  await cause[action](server);
  // A transition to the same state is not reported.
  await waitUntil(() => from === to || server.states.length > length);
  expect(from === to ? server.server.state : server.states[length]).toBe(to);
  await server.server.close();
  expect(server.clock.pending).toBe(0);
  expect(server.target.peers.every(({ isClosed }) => isClosed)).toBe(true);
});

const allStates = Object.keys(transitions) as ServerState[];

test.each(allStates)("after close() in %s nothing runs, and every use rejects", async (from) => {
  const { server, clock, states, ...rest } = controlled();
  await reach[from]({ server, clock, states, ...rest });
  await server.close();
  const { length } = states;
  await expect(server.use(() => Promise.resolve())).rejects.toMatchObject({ code: "closed" });
  await clock.advance(3_600_000);
  expect(states).toHaveLength(length);
  expect(clock.pending).toBe(0);
});

test("a stable connection that ends because of the token needs a sign-in, and is not opened again", async () => {
  const { server, states, clock, connect, target } = controlled();
  await connect("up");
  await clock.advance(30_000);
  await server.use(() => Promise.reject(new LocalError("unauthorized", "401"))).catch(() => {});
  await waitUntil(() => states.length > 2);
  await clock.advance(600_000);
  expect(states).toEqual(["connecting", "ready", "needs-sign-in"]);
  expect(target.peers).toHaveLength(1);
  await server.close();
});
