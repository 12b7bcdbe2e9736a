import { fileURLToPath } from "node:url";
import { LocalError, ProtocolError } from "mcparley";
import type { Client } from "mcparley/client";
import { flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import type { ServerEntry } from "../servers/server-entry.ts";
import { recordedServer } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

const call = (client: Client): Promise<string> => client.callTool("add");

/** A server that answers calls, and that a test can switch off. */
function mortal({ timeout = {} }: { timeout?: object } = {}) {
  const state = { isUp: true, attempts: 0 };
  const peers = scriptedServer(() =>
    toolsPeer(() => [toolNamed("add")], {
      answers: { "tools/call": () => ({ content: [{ type: "text", text: "sum" }] }) },
    }),
  );
  const entry: ServerEntry = {
    timeout,
    target: {
      attach(transport) {
        state.attempts += 1;
        if (!state.isUp) throw new LocalError("unreachable", "The server is down.");
        return peers.attach(transport);
      },
    },
  };
  const recorded = recordedServer({ entry });
  const { server, clock } = recorded;
  const die = async (): Promise<void> => {
    peers.peer.close();
    await flushPromises();
    expect(server.state).toBe("failed");
  };
  /** Lets the planned attempt start, and waits for its outcome. */
  const advanceToAttempt = async (): Promise<void> => {
    await flushPromises();
    await clock.advance(server.retryAt! - clock.now());
    await server.waitForAttempt();
  };
  /** Fails attempts until the delay is longer than `ms`. */
  const failUntilDelay = async (ms: number): Promise<void> => {
    state.isUp = false;
    await server.connect().catch(() => {});
    while (server.retryAt! - clock.now() <= ms) await advanceToAttempt();
    state.isUp = true;
  };
  return { ...recorded, state, die, advanceToAttempt, failUntilDelay };
}

test("calls after the death of the server wait for the planned attempt, which they share", async () => {
  const { server, state, die, advanceToAttempt } = mortal();
  await server.use(call);
  await die();
  const calls = Promise.all([server.use(call), server.use(call), server.use(call)]);
  await advanceToAttempt();
  expect(await calls).toEqual(["sum", "sum", "sum"]);
  expect(state.attempts).toBe(2);
  await server.close();
});

test("each death after an answered call is followed by the shortest delay", async () => {
  const { server, clock, die, advanceToAttempt } = mortal();
  await server.use(call);
  for (let death = 0; death < 5; death++) {
    await die();
    expect(server.retryAt! - clock.now()).toBeLessThanOrEqual(1_000);
    const next = server.use(call);
    await advanceToAttempt();
    expect(await next).toBe("sum");
  }
  await server.close();
});

test("an answer that is an error shortens the delay as well, and a failure without an answer does not", async () => {
  const { server, clock, die, advanceToAttempt } = mortal();
  const answers: [unknown, number][] = [
    [new LocalError("timeout", "No answer."), 2_000],
    [new ProtocolError(-32602, "Unknown tool."), 1_000],
  ];
  for (const [error, longest] of answers) {
    await server.reconnect();
    await die();
    await advanceToAttempt();
    await server.use(() => Promise.reject(error as Error)).catch(() => {});
    await die();
    const delay = server.retryAt! - clock.now();
    expect(delay).toBeLessThanOrEqual(longest);
    expect(delay).toBeGreaterThanOrEqual(longest / 2);
  }
  await server.close();
});

test("a call waits for one attempt only, and rejects with its reason", async () => {
  const { server, state, die, advanceToAttempt } = mortal();
  await server.use(call);
  await die();
  state.isUp = false;
  const waiting = server.use(call).catch((error: unknown) => error);
  await advanceToAttempt();
  expect(await waiting).toMatchObject({ code: "unreachable", data: { safeToRepeat: true, server: "notes" } });
  expect(state.attempts).toBe(2);
  await server.close();
});

test.each([
  [{ idle: 3_000 }, 3_000],
  [{ total: 5_000 }, 5_000],
  [{ idle: 9_000, total: 5_000 }, 5_000],
  [{}, 60_000],
])(
  "a call with the time limit %j waits for an attempt within it, and rejects at once for a later one",
  async (timeout, limit) => {
    const { server, clock, state, failUntilDelay } = mortal({ timeout });
    await failUntilDelay(limit);
    const { attempts } = state;
    await expect(server.use(call)).rejects.toMatchObject({ code: "unreachable", data: { safeToRepeat: true } });
    expect(state.attempts).toBe(attempts);
    await clock.advance(server.retryAt! - clock.now() - limit);
    const waiting = server.use(call);
    await clock.advance(limit);
    expect(await waiting).toBe("sum");
    await server.close();
  },
);

test("a call waits for an attempt that is made for it when no automatic one is left", async () => {
  const { server, clock, state, failUntilDelay } = mortal({ timeout: { idle: 600_000 } });
  await failUntilDelay(64_000);
  state.isUp = false;
  await clock.advance(server.retryAt! - clock.now());
  await server.waitForAttempt();
  expect(server.retryAt).toBeUndefined();
  state.isUp = true;
  const waiting = server.use(call);
  await flushPromises();
  await clock.advance(300_000);
  expect(await waiting).toBe("sum");
  await server.close();
});

test("an abort ends the wait of its call, and not that of others", async () => {
  const { server, die, advanceToAttempt } = mortal();
  await server.use(call);
  await die();
  const controller = new AbortController();
  const aborted = server.use(call, controller.signal).catch((error: unknown) => error);
  const other = server.use(call);
  await flushPromises();
  controller.abort(new Error("The user pressed Ctrl-C."));
  expect(await aborted).toMatchObject({ message: "The user pressed Ctrl-C." });
  await advanceToAttempt();
  expect(await other).toBe("sum");
  await server.close();
});

test.each([
  ["disable()", "enable()", (server: { disable(): Promise<void> }) => server.disable()],
  ["close()", "is closed", (server: { close(): Promise<void> }) => server.close()],
] as const)("%s ends the wait of calls with a reason", async (_, reason, stop) => {
  const { server, clock, die } = mortal();
  await server.use(call);
  await die();
  const waiting = server.use(call).catch((error: unknown) => error);
  await flushPromises();
  await stop(server);
  expect(String(await waiting)).toContain(reason);
  expect(clock.pending).toBe(0);
  await server.close();
});

test("reconnect() during the wait serves the waiting calls", async () => {
  const { server, state, die } = mortal();
  await server.use(call);
  await die();
  const waiting = server.use(call);
  await flushPromises();
  await server.reconnect();
  expect(await waiting).toBe("sum");
  expect(state.attempts).toBe(2);
  await server.close();
});

test.each([
  ["pid", ["--exit"]],
  ["exit", []],
])("the error of the call %s of a program with the arguments %j has the name of the server", async (name, args) => {
  const program = fileURLToPath(new URL("./fixtures/notes-server.mjs", import.meta.url));
  const { server } = recordedServer({ entry: { command: process.execPath, args: [program, ...args] } });
  const error = await server.use((client) => client.callTool(name)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "exited" });
  expect(String(error)).toContain('The server "notes" exited');
  expect(String(error)).not.toContain(process.execPath);
  await server.close();
});
