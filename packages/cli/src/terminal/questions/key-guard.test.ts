import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { processIo } from "../io.ts";
import { manualClock } from "../testing/manual-clock.ts";
import { KeyGuard } from "./key-guard.ts";

/** Returns a stream whose writes end when `release` is called. */
function slowOutput(): { readonly output: Writable; readonly release: () => void } {
  const waiting: (() => void)[] = [];
  const output = new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) });
  return { output, release: () => waiting.splice(0).forEach((done) => done()) };
}

const fastOutput = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

test("ends 500 ms after the question was written, and not before", () => {
  const clock = manualClock();
  const guard = new KeyGuard(clock, fastOutput());
  const calls: string[] = [];
  expect(guard.isActive).toBe(false);
  guard.start(
    () => calls.push(`written, ${guard.isActive}`),
    () => calls.push(`ended, ${guard.isActive}`),
  );
  clock.advance(499);
  expect(calls).toEqual(["written, true"]);
  expect(guard.isActive).toBe(true);
  clock.advance(1);
  expect(calls).toEqual(["written, true", "ended, false"]);
  expect(guard.isActive).toBe(false);
});

test("counts the time from the moment in which delayed output has left the process", async () => {
  const clock = manualClock();
  const { output, release } = slowOutput();
  const guard = new KeyGuard(clock, output);
  guard.start(
    () => output.write("Allow? "),
    () => {},
  );
  clock.advance(60_000);
  expect(guard.isActive).toBe(true);
  expect(clock.pending()).toBe(0);
  const ended = new Promise<void>((resolve) => output.write("later", () => resolve()));
  // The question, the marker of the guard and the later text.
  for (let writes = 0; writes < 3; writes += 1) {
    release();
    await new Promise((resolve) => process.nextTick(resolve));
  }
  await ended;
  expect(guard.isActive).toBe(true);
  clock.advance(499);
  expect(guard.isActive).toBe(true);
  clock.advance(1);
  expect(guard.isActive).toBe(false);
});

test("starts again for the next question, and stops without a call", () => {
  const clock = manualClock();
  const guard = new KeyGuard(clock, fastOutput());
  const ended: string[] = [];
  guard.start(
    () => {},
    () => ended.push("first"),
  );
  clock.advance(400);
  guard.start(
    () => {},
    () => ended.push("second"),
  );
  clock.advance(499);
  expect([guard.isActive, ended]).toEqual([true, []]);
  guard.stop();
  expect([guard.isActive, clock.pending()]).toEqual([false, 0]);
  clock.advance(60_000);
  expect(ended).toEqual([]);
});

test("a guard that is stopped while the output is delayed starts no time", async () => {
  const clock = manualClock();
  const { output, release } = slowOutput();
  const guard = new KeyGuard(clock, output);
  guard.start(
    () => output.write("Allow? "),
    () => {},
  );
  guard.stop();
  const ended = new Promise<void>((resolve) => output.write("later", () => resolve()));
  for (let writes = 0; writes < 3; writes += 1) {
    release();
    await new Promise((resolve) => process.nextTick(resolve));
  }
  await ended;
  expect(clock.pending()).toBe(0);
});

test("the clock of the process calls after the input that arrived in the time, and not if it is cancelled", async () => {
  const { schedule } = processIo();
  const calls: string[] = [];
  const cancel = schedule(0, () => calls.push("cancelled"));
  cancel();
  await new Promise<void>((resolve) => {
    schedule(0, () => {
      calls.push("called");
      resolve();
    });
    // An immediate of a timer that is due at the same time runs before, and after the input was read.
    setTimeout(() => calls.push("timer"), 0);
  });
  expect(calls).toEqual(["timer", "called"]);
});
