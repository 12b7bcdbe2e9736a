import { Declined, LocalError } from "mcparley";
import type { Transport } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { discoverResult, fakeClock, flushPromises, scriptedPeer } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { memoryState } from "../state/state-storage.ts";
import { resolveEntry } from "../servers/server-entry.ts";
import { Supervisor } from "./supervisor.ts";
import { recordedServer } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

const echo = createServer({
  name: "echo",
  version: "1.0.0",
  tools: { echo: tool({ description: "Echoes.", call: () => "echo" }) },
});

/** A server whose connection never completes the handshake. */
const hung = () => scriptedServer(() => scriptedPeer());
/** A server that accepts no connection. */
function dead() {
  let attempts = 0;
  return {
    attach() {
      attempts++;
      return Promise.reject(new LocalError("unreachable", "The server is down."));
    },
    get attempts() {
      return attempts;
    },
  };
}
const working = () => scriptedServer(() => toolsPeer(() => [toolNamed("add")]));
/** A server that accepts no connection until `isUp` is true. */
function recovering() {
  const good = working();
  const server = {
    isUp: false,
    attach: (transport: Transport): Promise<unknown> =>
      server.isUp ? good.attach(transport) : Promise.reject(new LocalError("unreachable", "The server is down.")),
  };
  return server;
}

describe("the states", () => {
  test("a connection that is not needed any more when its lists arrive is closed", async () => {
    const target = working();
    const disabling: Promise<void>[] = [];
    const server = new Supervisor(resolveEntry("notes", target), {
      storage: memoryState(),
      onLists: (lists) => lists && disabling.push(server.disable()),
    });
    await expect(server.connect()).rejects.toMatchObject({ code: "closed" });
    await Promise.all(disabling);
    expect(server.state).toBe("disabled");
    expect(target.peer.isClosed).toBe(true);
    await server.close();
  });

  test("the first use connects, reads the lists and runs the work", async () => {
    const { server, states, clock } = recordedServer({ entry: echo });
    expect(server.state).toBe("idle");
    expect(server.info).toBeUndefined();
    expect(await server.use((client) => client.callTool("echo"))).toBe("echo");
    expect(states).toEqual(["connecting", "ready"]);
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["echo"]);
    expect(server.lists).toMatchObject({ isCached: false, listedAt: 1_000_000 });
    expect(server.info?.info?.name).toBe("echo");
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test("an eager server connects without a use", async () => {
    const { server, states } = recordedServer({ entry: { target: echo, eager: true } });
    expect(states).toEqual([]);
    await flushPromises();
    await server.waitForAttempt();
    expect(states).toEqual(["connecting", "ready"]);
    await server.close();
  });

  test("two uses at once share one attempt", async () => {
    const target = working();
    const { server } = recordedServer({ entry: target });
    const names = await Promise.all([
      server.use(async (client) => client.server.info?.name),
      server.use(async (client) => client.server.info?.name),
    ]);
    expect(names[0]).toBe(names[1]);
    expect(target.peers).toHaveLength(1);
    await server.close();
  });

  test("an attempt that fails leads to failed, with a time of the next attempt", async () => {
    const target = dead();
    const { server, states, clock } = recordedServer({ entry: target });
    const error = await server.use(() => Promise.resolve()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "unreachable", data: { safeToRepeat: true } });
    expect(String(error)).toContain("The server is down.");
    expect(String(error)).toMatch(/at 1970-01-01T00:16:4\d.*reconnect\(\)/);
    expect(states).toEqual(["connecting", "failed"]);
    expect(server.error?.message).toContain("down");
    expect(server.retryAt).toBeGreaterThanOrEqual(1_000_500);
    expect(server.retryAt).toBeLessThanOrEqual(1_001_000);
    await server.close();
    expect(clock.pending).toBe(0);
    expect(server.retryAt).toBeUndefined();
  });

  test("connect() during the back-off rejects without an attempt", async () => {
    const target = dead();
    const { server } = recordedServer({ entry: target });
    await expect(server.connect()).rejects.toThrow("down");
    const { attempts } = target;
    await expect(server.connect()).rejects.toThrow("down");
    expect(target.attempts).toBe(attempts);
    await server.close();
  });

  test("automatic attempts follow after growing delays, and end after the eighth", async () => {
    const target = dead();
    const { server, clock, states } = recordedServer({ entry: target });
    await expect(server.connect()).rejects.toThrow("down");
    const delays: number[] = [];
    while (server.retryAt !== undefined && delays.length < 20) {
      const delay = server.retryAt - clock.now();
      delays.push(delay);
      await clock.advance(delay);
    }
    expect(delays).toHaveLength(8);
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeLessThanOrEqual(1_000 * 2 ** index);
      expect(delay).toBeGreaterThanOrEqual(500 * 2 ** index);
    }
    expect(server.state).toBe("failed");
    expect(clock.pending).toBe(0);
    expect(states.filter((state) => state === "connecting")).toHaveLength(9);
    await server.close();
  });

  test("a use after the last automatic attempt and its delay is an attempt", async () => {
    const target = recovering();
    const { server, clock } = recordedServer({ entry: target });
    await expect(server.connect()).rejects.toThrow("down");
    await clock.advance(3_600_000);
    expect(server.state).toBe("failed");
    target.isUp = true;
    expect(await server.use(() => Promise.resolve("done"))).toBe("done");
    await server.close();
  });

  test("reconnect() after a failure makes an attempt without the delay", async () => {
    const target = recovering();
    const { server, states } = recordedServer({ entry: target });
    await expect(server.connect()).rejects.toThrow("down");
    target.isUp = true;
    await server.reconnect();
    expect(states).toEqual(["connecting", "failed", "connecting", "ready"]);
    await server.close();
  });

  test("reconnect() of a ready server replaces its connection", async () => {
    const target = working();
    const { server, states } = recordedServer({ entry: target });
    await server.connect();
    await server.reconnect();
    expect(states).toEqual(["connecting", "ready", "connecting", "ready"]);
    expect(target.peers.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    await server.close();
    expect(target.peer.isClosed).toBe(true);
  });

  test("a server that never answers the handshake fails at the time limit", async () => {
    const { server, clock, states } = recordedServer({ entry: { target: hung(), timeout: { total: 20_000 } } });
    const connecting = server.connect().catch((reason: unknown) => reason);
    await clock.advance(19_999);
    expect(server.state).toBe("connecting");
    await clock.advance(1);
    expect(await connecting).toMatchObject({ code: "timeout" });
    expect(states).toEqual(["connecting", "failed"]);
    await server.close();
    expect(clock.pending).toBe(0);
  });
});

describe("disable() and enable()", () => {
  test("a server that is disabled at the start is not used until enable()", async () => {
    const { server, states } = recordedServer({ entry: { target: echo, disabled: true, eager: true } });
    await expect(server.use(() => Promise.resolve())).rejects.toThrow("enable()");
    await expect(server.reconnect()).rejects.toThrow("enable()");
    server.enable();
    await server.connect();
    expect(states).toEqual(["idle", "connecting", "ready"]);
    await server.close();
  });

  test("a ready server closes its connection and hides its lists", async () => {
    const target = working();
    const { server, states, lists, clock } = recordedServer({ entry: target });
    await server.connect();
    await server.disable();
    expect(target.peer.isClosed).toBe(true);
    expect(server.lists).toBeUndefined();
    expect(lists.at(-1)).toBeUndefined();
    expect(clock.pending).toBe(0);
    server.enable();
    expect(states).toEqual(["connecting", "ready", "disabled", "idle"]);
    expect(lists.at(-1)).toMatchObject({ isCached: true, tools: [{ name: "add" }] });
    await server.close();
  });

  test("a server that is connecting aborts its attempt, and waiting uses reject", async () => {
    const target = hung();
    const { server, states, clock } = recordedServer({ entry: target });
    const use = server.use(() => Promise.resolve()).catch((reason: unknown) => reason);
    await flushPromises();
    await server.disable();
    expect(String(await use)).toContain("is disabled");
    expect(target.peer.isClosed).toBe(true);
    expect(states).toEqual(["connecting", "disabled"]);
    expect(clock.pending).toBe(0);
    await server.close();
  });

  test("a failed server makes no further attempt", async () => {
    const target = dead();
    const { server, states, clock } = recordedServer({ entry: target });
    await server.connect().catch(() => {});
    await server.disable();
    expect(clock.pending).toBe(0);
    expect(states).toEqual(["connecting", "failed", "disabled"]);
    expect(server.error).toBeUndefined();
    await server.close();
  });

  test("enable() of a server that is not disabled has no effect", async () => {
    const { server, states } = recordedServer({ entry: echo });
    await server.connect();
    server.enable();
    expect(states).toEqual(["connecting", "ready"]);
    await server.close();
  });
});

describe("races", () => {
  test("the abort of one use does not abort the attempt of another", async () => {
    const target = scriptedServer(() => scriptedPeer({ "tools/list": () => ({ tools: [] }) }));
    const { server } = recordedServer({ entry: target });
    const abort = new AbortController();
    const first = server.use(() => Promise.resolve("first"), abort.signal).catch((reason: unknown) => reason);
    const second = server.use(() => Promise.resolve("second"));
    await flushPromises();
    abort.abort(new Error("not needed"));
    expect(String(await first)).toContain("not needed");
    const discover = await target.peer.request("server/discover");
    target.peer.answer(discover, discoverResult({}));
    expect(await second).toBe("second");
    await server.close();
  });

  test("uses that wait for a replaced attempt follow the new one", async () => {
    const target = scriptedServer((connection) => (connection === 0 ? scriptedPeer() : toolsPeer(() => [])));
    const { server, states } = recordedServer({ entry: target });
    const use = server.use(() => Promise.resolve("done"));
    await flushPromises();
    await server.reconnect();
    expect(await use).toBe("done");
    expect(target.peers[0]?.isClosed).toBe(true);
    expect(states).toEqual(["connecting", "ready"]);
    await server.close();
  });

  test("close() during an attempt rejects the waiting uses and leaves no timer", async () => {
    const { server, clock } = recordedServer({ entry: hung() });
    const use = server.use(() => Promise.resolve()).catch((reason: unknown) => reason);
    await flushPromises();
    await server.close();
    expect(await use).toMatchObject({ code: "closed" });
    expect(clock.pending).toBe(0);
    await expect(server.connect()).rejects.toThrow("is closed");
    await expect(server.reconnect()).rejects.toThrow("is closed");
  });

  test("close() while the consent is pending rejects, and a later consent has no effect", async () => {
    let consent!: () => void;
    const target = working();
    const admit = () => new Promise<void>((resolve) => (consent = resolve));
    const { server, clock } = recordedServer({ entry: target, admit });
    const use = server.use(() => Promise.resolve()).catch((reason: unknown) => reason);
    await flushPromises();
    await server.close();
    consent();
    await flushPromises();
    expect(await use).toMatchObject({ code: "closed" });
    expect(target.peers).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  test("close() after everything can be called again", async () => {
    const { server } = recordedServer({ entry: echo });
    await server.connect();
    await server.close();
    await server.close();
    expect(server.state).toBe("idle");
  });
});

describe("consent", () => {
  test("it is asked for before each attempt", async () => {
    let asked = 0;
    const target = working();
    const admit = () => {
      asked++;
      expect(target.peers).toHaveLength(asked - 1);
      return Promise.resolve();
    };
    const { server } = recordedServer({ entry: target, admit });
    await server.connect();
    await server.reconnect();
    expect(asked).toBe(2);
    await server.close();
  });

  test("a denial leads to failed without automatic attempts, until reconnect()", async () => {
    let isDenied = true;
    let asked = 0;
    const admit = () => {
      asked++;
      return isDenied ? Promise.reject(new Declined("The user does not trust the program.")) : Promise.resolve();
    };
    const { server, clock, states } = recordedServer({ entry: echo, admit });
    await expect(server.connect()).rejects.toThrow("does not trust the program. Call reconnect() to ask again.");
    expect(clock.pending).toBe(0);
    expect(server.retryAt).toBeUndefined();
    await clock.advance(3_600_000);
    await expect(server.use(() => Promise.resolve())).rejects.toThrow("does not trust");
    expect(asked).toBe(1);
    isDenied = false;
    await server.reconnect();
    expect(states).toEqual(["connecting", "failed", "connecting", "ready"]);
    await server.close();
  });

  test("the time that the user needs is not limited", async () => {
    let consent!: () => void;
    const admit = () => new Promise<void>((resolve) => (consent = resolve));
    const { server, clock } = recordedServer({ entry: echo, admit });
    const connecting = server.connect();
    await clock.advance(3_600_000);
    expect(server.state).toBe("connecting");
    consent();
    await connecting;
    expect(server.state).toBe("ready");
    await server.close();
  });
});

describe("callbacks", () => {
  test("an error of a callback does not stop the server", async () => {
    const fail = () => {
      throw new Error("callback");
    };
    const callbacks = { onEvent: fail, onLists: fail, onError: fail, onUpdated: fail };
    const server = new Supervisor(resolveEntry("a", echo), {
      storage: memoryState(),
      clock: fakeClock(),
      ...callbacks,
    });
    await server.connect();
    expect(server.state).toBe("ready");
    await server.close();
  });

  test("prepareTarget replaces the target of each attempt", async () => {
    const good = working();
    const { server } = recordedServer({ entry: dead(), prepareTarget: () => good });
    await server.connect();
    expect(good.peers).toHaveLength(1);
    await server.close();
  });
});
