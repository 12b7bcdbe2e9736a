import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { LocalError, systemClock } from "mcparley";
import type { Client } from "mcparley/client";
import { fakeClock, flushPromises, type FakeClock, legacyPeer } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { memoryState } from "../state/state-storage.ts";
import type { ServerState } from "./server-state.ts";
import { resolveEntry } from "../servers/server-entry.ts";
import { Supervisor } from "./supervisor.ts";
import { recordedServer } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

const program = fileURLToPath(new URL("./fixtures/notes-server.mjs", import.meta.url));
const pidOf = (client: Client): Promise<number> => client.callTool("pid").then(Number);
const working = () => scriptedServer(() => toolsPeer(() => [toolNamed("add")]));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Supervises the program with the timers of the system. `reached` waits for a state that follows. */
function startedProgram(args: string[] = [], admit?: () => Promise<void>) {
  const emitter = new EventEmitter();
  const states: ServerState[] = [];
  const server = new Supervisor(resolveEntry("notes", { command: process.execPath, args: [program, ...args] }), {
    storage: memoryState(),
    // No time passes, so that no connection is stable on a slow machine.
    clock: { ...systemClock, now: () => 0 },
    ...(admit && { admit }),
    onEvent: ({ state }) => {
      states.push(state);
      emitter.emit(state);
    },
  });
  return { server, states, reached: (state: ServerState) => once(emitter, state) };
}

describe("the loss of a connection", () => {
  test("a process that is killed while nothing is called is started again", async () => {
    const { server, states, reached } = startedProgram();
    const first = await server.use(pidOf);
    const failed = reached("failed");
    process.kill(first, "SIGKILL");
    await failed;
    expect(server.lists?.tools).toHaveLength(2);
    expect(server.lists?.isCached).toBe(true);
    await reached("ready");
    expect(await server.use(pidOf)).not.toBe(first);
    expect(states).toEqual(["connecting", "ready", "failed", "connecting", "ready"]);
    await server.close();
  });

  test("a call that ends the process rejects, and the next one after reconnect() succeeds", async () => {
    const { server } = startedProgram();
    await expect(server.use((client) => client.callTool("exit"))).rejects.toMatchObject({
      code: "exited",
    });
    await server.reconnect();
    expect(await server.use(pidOf)).toBeGreaterThan(0);
    await server.close();
  });

  test("a program that ends at once leads to failed, with its exit code", async () => {
    const { server } = startedProgram(["--exit"]);
    await expect(server.connect()).rejects.toMatchObject({ code: "exited", data: { safeToRepeat: true, exitCode: 3 } });
    expect(server.state).toBe("failed");
    expect(server.error?.message).toContain("3");
    await server.close();
  });

  test("a program is started only after the one before has ended", async () => {
    let pid: number | undefined;
    const wasRunning: boolean[] = [];
    const { server } = startedProgram([], async () => void wasRunning.push(pid !== undefined && isRunning(pid)));
    pid = await server.use(pidOf);
    await server.reconnect();
    expect(wasRunning).toEqual([false, false]);
    pid = await server.use(pidOf);
    await server.disable();
    expect(isRunning(pid)).toBe(false);
    await server.close();
  });

  test("a program that never answers fails at the time limit, and is ended", async () => {
    const entry = { command: process.execPath, args: [program, "--hang"] };
    const { server, clock, states } = recordedServer({ entry });
    const connecting = server.connect().catch((error: unknown) => error);
    while (!states.includes("failed")) await clock.advance(5_000);
    expect(await connecting).toMatchObject({ code: "timeout" });
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test("after a stable time the server connects again at once, and the lists stay", async () => {
    const target = working();
    const { server, clock, states } = recordedServer({ entry: target });
    await server.connect();
    await clock.advance(30_000);
    target.peer.close();
    await flushPromises();
    await server.waitForAttempt();
    expect(states).toEqual(["connecting", "ready", "idle", "connecting", "ready"]);
    expect(server.lists).toMatchObject({ isCached: false, tools: [{ name: "add" }] });
    await server.close();
  });

  test("a connection that ends soon counts as a failure", async () => {
    const target = working();
    const { server, clock, states } = recordedServer({ entry: target });
    await server.connect();
    await clock.advance(29_999);
    target.peer.close();
    await flushPromises();
    expect(states).toEqual(["connecting", "ready", "failed"]);
    expect(server.retryAt).toBeDefined();
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test("a flapping server is connected with growing delays, and then waits for its next use", async () => {
    const target = working();
    const { server, clock } = recordedServer({ entry: target });
    await server.connect();
    const delays: number[] = [];
    for (;;) {
      target.peer.close();
      await flushPromises();
      if (server.retryAt === undefined) break;
      delays.push(server.retryAt - clock.now());
      await clock.advance(server.retryAt - clock.now());
      await server.waitForAttempt();
    }
    expect(delays).toHaveLength(8);
    expect(delays.at(-1)).toBeGreaterThanOrEqual(64_000);
    expect(server.state).toBe("failed");
    await clock.advance(300_000);
    expect(target.peers).toHaveLength(9);
    await server.connect();
    expect(server.state).toBe("ready");
    await server.close();
  });

  test("a loss while the lists are read fails the attempt", async () => {
    const target = scriptedServer(() => toolsPeer(() => [], { answers: {} }));
    const { server } = recordedServer({
      entry: {
        async attach(transport) {
          await target.attach(transport);
          const { peer } = target;
          const send = peer.transport.send.bind(peer.transport);
          peer.transport.send = (message, envelope) => {
            if ("method" in message && message.method === "tools/list") return peer.close(new Error("crash"));
            return send(message, envelope);
          };
        },
      },
    });
    await expect(server.connect()).rejects.toMatchObject({ code: "closed" });
    expect(server.state).toBe("failed");
    expect(target.peers).toHaveLength(1);
    await server.close();
  });
});

describe("hung servers", () => {
  // Windows has no such signal.
  test.skipIf(process.platform === "win32")(
    "a program that stops to answer is noticed by a ping, and its connection is replaced",
    async () => {
      const { server, clock, states } = recordedServer({ entry: { command: process.execPath, args: [program] } });
      const pid = await server.use(pidOf);
      process.kill(pid, "SIGSTOP");
      await clock.advance(60_000);
      expect(server.state).toBe("ready");
      await clock.advance(30_000);
      await flushPromises();
      process.kill(pid, "SIGCONT");
      expect(states.slice(0, 3)).toEqual(["connecting", "ready", "idle"]);
      await server.close();
      expect(clock.pending).toBe(0);
    },
  );

  test("a call that times out leads to a ping, which a working server answers", async () => {
    const target = scriptedServer(() => toolsPeer(() => [toolNamed("slow")]));
    const { server, clock, states } = recordedServer({ entry: { target, timeout: { idle: 5_000 } } });
    await server.connect();
    const call = server.use((client) => client.callTool("slow")).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await call).toMatchObject({ code: "timeout" });
    await clock.advance(10_000);
    expect(states).toEqual(["connecting", "ready"]);
    await server.close();
  });

  test("a call that times out leads to a ping, without whose answer the server has failed", async () => {
    const target = scriptedServer(() =>
      legacyPeer({
        capabilities: { tools: {} },
        answers: { "tools/list": () => ({ tools: [toolNamed("slow")] }) },
      }),
    );
    const connectOptions = { revision: "2025-11-25" };
    const { server, clock } = recordedServer({ entry: { target, timeout: { idle: 5_000 } }, connectOptions });
    await server.connect();
    const call = server.use((client) => client.callTool("slow")).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await call).toMatchObject({ code: "timeout" });
    await clock.advance(9_999);
    expect(server.state).toBe("ready");
    await clock.advance(1);
    expect(server.state).toBe("failed");
    await server.close();
  });
});

describe("sleep", () => {
  /** Returns a clock whose time can jump, as that of a machine that slept. The jump does not count for its timers. */
  function sleepyClock(): { clock: FakeClock; sleep: (ms: number) => void } {
    const inner = fakeClock(1_000_000);
    let slept = 0;
    const clock: FakeClock = {
      now: () => inner.now() + slept,
      setTimeout: (fn, ms) => inner.setTimeout(fn, ms),
      clearTimeout: (handle) => inner.clearTimeout(handle),
      advance: (ms) => inner.advance(ms),
      get pending() {
        return inner.pending;
      },
    };
    return { clock, sleep: (ms) => void (slept += ms) };
  }

  test("after it the server is pinged and its lists are read again", async () => {
    const { clock, sleep } = sleepyClock();
    let description = "before";
    const target = scriptedServer(() => toolsPeer(() => [toolNamed("add", description)]));
    const { server } = recordedServer({ entry: target, clock });
    await server.connect();
    await clock.advance(15_000);
    description = "after";
    sleep(3_600_000);
    await clock.advance(15_000);
    const methods = target.peer.arrived.flatMap(({ message }) => ("method" in message ? [message.method] : []));
    expect(methods).toEqual(["server/discover", "tools/list", "server/discover", "tools/list"]);
    expect(server.lists?.tools[0]?.description).toBe("after");
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test("a use right after it checks the connection first, and connects again", async () => {
    const { clock, sleep } = sleepyClock();
    let isLost = false;
    const target = scriptedServer((connection) => {
      const peer = toolsPeer(() => [toolNamed("add")]);
      const send = peer.transport.send.bind(peer.transport);
      peer.transport.send = (message, envelope) => (isLost && connection === 0 ? undefined : send(message, envelope));
      return peer;
    });
    const { server, states } = recordedServer({ entry: target, clock });
    await server.connect();
    isLost = true;
    sleep(3_600_000);
    const use = server.use(() => Promise.resolve("done"));
    await clock.advance(10_000);
    expect(await use).toBe("done");
    expect(target.peers).toHaveLength(2);
    expect(states).toEqual(["connecting", "ready", "idle", "connecting", "ready"]);
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test("a clock that was set back does not delay the next attempt", async () => {
    const { clock, sleep } = sleepyClock();
    const entry = { attach: () => Promise.reject(new LocalError("unreachable", "The server is down.")) };
    let attempts = 0;
    const admit = () => {
      attempts++;
      return Promise.resolve();
    };
    const { server } = recordedServer({ entry, clock, admit });
    await server.connect().catch(() => {});
    sleep(-3_600_000);
    await server.connect().catch(() => {});
    expect(attempts).toBe(2);
    await server.close();
  });
});
