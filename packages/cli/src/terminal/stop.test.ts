import { type ConnectOptions, type Timeouts, connect } from "mcparley/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { talk } from "./questions/prompter.ts";
import { runClientCommand } from "../commands/run.ts";
import { Screen } from "./screen.ts";
import { Stop } from "./stop.ts";
import { exampleServer } from "../commands/testing/example-server.ts";
import { fakeIo } from "../commands/testing/fake-io.ts";

const server = exampleServer();
const url = "http://127.0.0.1:1/mcp";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function makeStop(): Stop {
  return new Stop({ onInterrupt: () => () => {}, onTerminate: () => () => {} }, () => {});
}

describe("the limit of a command", () => {
  test("ends the command when the time is over", () => {
    const stop = makeStop();
    stop.limit(1000);
    vi.advanceTimersByTime(999);
    expect(stop.reason).toBeUndefined();
    expect(stop.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stop.reason).toBe("timeout");
    expect(stop.signal.aborted).toBe(true);
  });

  test("does not count pauses, which may overlap", () => {
    const stop = makeStop();
    stop.limit(1000);
    vi.advanceTimersByTime(600);
    const [first, second] = [stop.pause(), stop.pause()];
    vi.advanceTimersByTime(5000);
    first();
    first();
    vi.advanceTimersByTime(5000);
    second();
    vi.advanceTimersByTime(399);
    expect(stop.reason).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(stop.reason).toBe("timeout");
  });

  test("has no effect after it is removed, and above the longest time of a timer", () => {
    const stop = makeStop();
    stop.limit(1000);
    stop.limit(undefined);
    stop.limit(1e12);
    vi.advanceTimersByTime(1e10);
    expect(stop.reason).toBeUndefined();
    stop.limit(10);
    stop.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("--timeout limits all requests of a command together", async () => {
  const io = fakeIo({ server });
  const done = runClientCommand("call", [url, "wait", "--timeout", "2"], io);
  await io.seen("waiting");
  await vi.advanceTimersByTimeAsync(2000);
  expect(await done).toBe(6);
  expect(io.err()).toContain("The command did not finish within 2 s.");
});

test("--timeout of a command ends before the limits of its calls", async () => {
  const given: (Timeouts | undefined)[] = [];
  const io = fakeIo({
    connect: async (_target: unknown, options?: ConnectOptions) => {
      given.push(options?.timeout);
      return connect(server, options);
    },
  });
  const done = runClientCommand("call", [url, "wait", "--timeout", "2"], io);
  await io.seen("waiting");
  await vi.advanceTimersByTimeAsync(2000);
  await done;
  const [{ idle, total } = {}] = given;
  expect(idle).toBeGreaterThan(2000);
  expect(total).toBeGreaterThan(2000);
});

test("--timeout does not count the time in which the user is asked", async () => {
  const [io, stop] = [fakeIo({ terminal: true }), makeStop()];
  stop.limit(1000);
  const setting = { io, stop, screen: new Screen(io, () => {}) };
  const talking = talk(setting, stop.signal, (prompter) => prompter.ask("Name: "));
  vi.advanceTimersByTime(60_000);
  io.stdin.push("Ada\n");
  expect(await talking).toBe("Ada");
  vi.advanceTimersByTime(999);
  expect(stop.reason).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(stop.reason).toBe("timeout");
});

test("--timeout of watch limits the time until the watch is active", async () => {
  const io = fakeIo({ server });
  const done = runClientCommand("watch", [url, "--timeout", "2"], io);
  await io.seen("Watching");
  await vi.advanceTimersByTimeAsync(60_000);
  io.pressCtrlC();
  expect(await done).toBe(130);
});
