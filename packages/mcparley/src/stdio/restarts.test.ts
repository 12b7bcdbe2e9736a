import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connect } from "../client.ts";
import type { TransportFactory } from "../client/connect/transports.ts";
import type { Transport } from "../rpc/transport.ts";
import { fakeClock, flushPromises } from "../testing/fake-clock.ts";
import { Restarts, commandTransports } from "./command-transport.ts";

const peer = fileURLToPath(new URL("fixtures/peer.mjs", import.meta.url));

/** Starts a process and waits for its end. */
async function runToEnd(transports: TransportFactory): Promise<Error | undefined> {
  const transport = transports.open();
  const over = new Promise<Error | undefined>((resolve) => {
    void transport.start({ message: () => {}, malformed: () => {}, closed: resolve });
  });
  const cause = await over;
  await transport.close();
  return cause;
}

const start = (transport: Transport): Promise<void> =>
  Promise.resolve(transport.start({ message: () => {}, malformed: () => {}, closed: () => {} }));

test("a program that ends soon after each start is restarted immediately once, and then with increasing delays", async () => {
  const clock = fakeClock();
  const target = { command: process.execPath, args: [peer, "dies"] };
  const transports = commandTransports(target, undefined, clock);
  expect((await runToEnd(transports))?.message).not.toContain("delayed");
  expect((await runToEnd(transports))?.message).toContain(
    "exited with code 3. It ended soon after each of its last 2 starts, so the next start is delayed. The end of its stderr",
  );
  const third = runToEnd(transports);
  await flushPromises();
  expect(clock.pending).toBe(1);
  await clock.advance(500);
  expect((await third)?.message).toContain("last 3 starts");
  expect(clock.pending).toBe(0);
});

test("a transport that is closed during the delay starts no process", async () => {
  const clock = fakeClock();
  const target = { command: process.execPath, args: [peer, "dies"] };
  const transports = commandTransports(target, undefined, clock);
  for (let twice = 0; twice < 2; twice++) await runToEnd(transports);
  const third = transports.open();
  const starting = start(third);
  starting.catch(() => {});
  await third.close();
  await expect(starting).rejects.toMatchObject({ code: "closed" });
  expect(clock.pending).toBe(0);
});

test("at most nine starts fit in 30 seconds", async () => {
  const clock = fakeClock();
  const restarts = new Restarts(clock);
  let starts = 0;
  const run = async (): Promise<void> => {
    while (clock.now() < 30_000 && starts < 100) {
      await restarts.wait();
      starts++;
      restarts.noteStart();
      restarts.noteEnd();
    }
  };
  const running = run();
  await clock.advance(60_000);
  await running;
  expect(starts).toBeLessThanOrEqual(9);
});

test("a program that has run for 30 seconds is restarted immediately", async () => {
  const clock = fakeClock();
  const restarts = new Restarts(clock);
  for (let failures = 0; failures < 3; failures++) {
    restarts.noteStart();
    restarts.noteEnd();
  }
  expect(restarts.wait()).toBeDefined();
  await clock.advance(10_000);
  restarts.noteStart();
  await clock.advance(30_000);
  expect(restarts.noteEnd()).toBe("");
  expect(restarts.wait()).toBeUndefined();
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("connecting that is aborted rejects while the program is still being ended", async () => {
  const controller = new AbortController();
  let pid = 0;
  const code = "process.stderr.write(String(process.pid)); setInterval(() => {}, 1000);";
  const stderr = (chunk: string): void => {
    pid = Number(chunk);
    controller.abort();
  };
  const target = { command: process.execPath, args: ["-e", code], stderr };
  await expect(connect(target, { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  expect(isAlive(pid)).toBe(true);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test.each([
  ["throws", () => JSON.parse("{") as void],
  ["rejects", () => Promise.reject(new SyntaxError("no")) as unknown as void],
])("a stderr callback that %s is reported, and the process continues", async (_, stderr) => {
  const reports: Error[] = [];
  const code = "process.stderr.write('x'); setTimeout(() => {}, 10)";
  const transport = commandTransports({ command: process.execPath, args: ["-e", code], stderr }).open();
  await new Promise<void>((resolve) => {
    void transport.start({ message: () => {}, malformed: (error) => reports.push(error), closed: () => resolve() });
  });
  expect(reports).toEqual([expect.any(SyntaxError)]);
});
