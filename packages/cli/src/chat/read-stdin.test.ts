import { PassThrough, Readable } from "node:stream";
import { fakeClock } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { UsageError } from "../terminal/io.ts";
import { fakeIo } from "../commands/testing/fake-io.ts";
import { readOptionalStdin, readRequiredStdin } from "./read-stdin.ts";

function open({ isSocket = false, terminal = false } = {}) {
  const stdin = new PassThrough();
  const notes: string[] = [];
  const stop = new AbortController();
  const clock = fakeClock();
  const io = { ...fakeIo({ terminal }), stdin, hasSocketStdin: () => isSocket };
  return {
    io,
    stdin,
    notes,
    stop,
    clock,
    options: { signal: stop.signal, note: (text: string) => void notes.push(text), clock },
  };
}

describe("stdin that the message does not name", () => {
  test("is read to its end", async () => {
    const { io, stdin, options } = open();
    const reading = readOptionalStdin(io, options);
    stdin.write("one\r\n");
    stdin.end("two\n");
    expect(await reading).toEqual({ word: undefined, name: "stdin", text: "one\ntwo\n" });
  });

  test.each(["", "\n", "\uFEFF"])("is left out if it is %j", async (text) => {
    const { io, stdin, notes, options } = open();
    stdin.end(text);
    expect(await readOptionalStdin(io, options)).toBeUndefined();
    expect(notes).toEqual([]);
  });

  test("is not read from a terminal", async () => {
    const { io, stdin, options } = open({ terminal: true });
    expect(await readOptionalStdin(io, options)).toBeUndefined();
    expect(stdin.readableDidRead).toBe(false);
  });

  test("is awaited if it is a pipe, which is said after 3 seconds", async () => {
    const { io, stdin, notes, clock, options } = open();
    const reading = readOptionalStdin(io, options);
    await clock.advance(2999);
    expect(notes).toEqual([]);
    await clock.advance(1);
    expect(notes).toEqual(["Waiting for the end of stdin (Ctrl-C stops)."]);
    stdin.end("late");
    expect(await reading).toMatchObject({ text: "late" });
    expect(clock.pending).toBe(0);
  });

  test("is left out if it is a socket that has sent nothing for 3 seconds", async () => {
    const { io, stdin, notes, clock, options } = open({ isSocket: true });
    const reading = readOptionalStdin(io, options);
    await clock.advance(3000);
    expect(await reading).toBeUndefined();
    expect(notes.at(-1)).toContain("stdin has sent nothing for 3 s, and is left out. Write @- in the message");
    expect(stdin.destroyed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("is awaited if it is a socket that has sent something", async () => {
    const { io, stdin, clock, options } = open({ isSocket: true });
    const reading = readOptionalStdin(io, options);
    stdin.write("one");
    await clock.advance(3000);
    stdin.end("two");
    expect(await reading).toMatchObject({ text: "onetwo" });
  });

  test("that never ends is left at an abort", async () => {
    const { io, stdin, stop, clock, options } = open();
    const reading = readOptionalStdin(io, options);
    stdin.write("one");
    stop.abort();
    await expect(reading).rejects.toThrow("aborted");
    expect(stdin.destroyed).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe("stdin that the message names", () => {
  test("is awaited, also if it is a silent socket", async () => {
    const { io, stdin, clock, options } = open({ isSocket: true });
    const reading = readRequiredStdin(io, options);
    await clock.advance(10_000);
    stdin.end("late");
    expect(await reading).toMatchObject({ word: "@-", text: "late" });
  });

  test("is refused if it is a terminal", async () => {
    const { io, options } = open({ terminal: true });
    await expect(readRequiredStdin(io, options)).rejects.toThrow(UsageError);
  });
});

test.each<[string, string | Uint8Array, string]>([
  ["no UTF-8", Uint8Array.of(0x61, 0xff), "Stdin is not UTF-8 text."],
  ["UTF-16", Buffer.from("\uFEFFabc", "utf16le"), "Stdin is not UTF-8 text."],
  ["binary data", "a\0b", "Stdin is binary data."],
  ["one byte over the limit", "a".repeat(4 * 1024 ** 2 + 1), "Stdin has more than 4 MiB."],
])("%s is refused", async (_name, content, reason) => {
  const { io, stdin, options } = open();
  stdin.end(content);
  await expect(readOptionalStdin(io, options)).rejects.toThrow(reason);
});

test("an endless stream is left at the limit", async () => {
  const { io, options } = open();
  const endless = new Readable({
    read() {
      this.push("y\n".repeat(50_000));
    },
  });
  await expect(readOptionalStdin({ ...io, stdin: endless }, options)).rejects.toThrow("Stdin has more than 4 MiB.");
  expect(endless.destroyed).toBe(true);
});

test("a stream that cannot be read is an error with its reason", async () => {
  const { io, stdin, options } = open();
  stdin.destroy(Object.assign(new Error("EISDIR: illegal operation on a directory, read"), { code: "EISDIR" }));
  await expect(readOptionalStdin(io, options)).rejects.toThrow("Stdin cannot be read: EISDIR");
});
