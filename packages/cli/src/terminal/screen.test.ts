import { describe, expect, test } from "vitest";
import { Screen } from "./screen.ts";
import { fakeIo } from "../commands/testing/fake-io.ts";

describe("Screen", () => {
  test("writes notes that arrive during a question after its answer", async () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    const screen = new Screen(io, () => {});
    await screen.quietly(async () => {
      screen.note("noted");
      screen.progress({ progress: 1 });
      expect(io.err()).toBe("");
    });
    expect(io.err()).toContain("noted\n");
  });

  test("removes the progress line before a note, and draws it again below", () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    const screen = new Screen(io, () => {});
    screen.progress({ progress: 1, total: 4 });
    screen.note("noted");
    expect(io.err()).toBe("\r\u001b[2K25% (1/4)\r\u001b[2Knoted\n\r\u001b[2K25% (1/4)");
  });

  test("wraps the paragraph of a note on a terminal, and leaves it on one line in a pipe", () => {
    const long = `${"word ".repeat(20)}end`;
    const terminal = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    new Screen(terminal, () => {}).noteParagraph(long);
    expect(terminal.err()).toBe(`${"word ".repeat(16).trim()}\n${"word ".repeat(4)}end\n`);
    const pipe = fakeIo({ env: {} });
    new Screen(pipe, () => {}).noteParagraph(long);
    expect(pipe.err()).toBe(`${long}\n`);
  });

  test("cuts progress to one line", () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    new Screen(io, () => {}).progress({ progress: 1, message: "長い".repeat(100) });
    const drawn = io.err().slice("\r\u001b[2K".length);
    expect(drawn.endsWith("…")).toBe(true);
    expect(drawn.length).toBeLessThan(45);
  });
});
