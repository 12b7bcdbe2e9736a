import { describe, expect, test } from "vitest";
import { Screen } from "./screen.ts";
import { fakeIo } from "./testing/fake-io.ts";

describe("Screen", () => {
  test("what is noted during a question follows its answer", async () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    const screen = new Screen(io, () => {});
    await screen.quietly(async () => {
      screen.note("noted");
      screen.progress({ progress: 1 });
      expect(io.err()).toBe("");
    });
    expect(io.err()).toContain("noted\n");
  });

  test("a line of progress makes room for a note, and is drawn again below it", () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    const screen = new Screen(io, () => {});
    screen.progress({ progress: 1, total: 4 });
    screen.note("noted");
    expect(io.err()).toBe("\r\u001b[2K25% (1/4)\r\u001b[2Knoted\n\r\u001b[2K25% (1/4)");
  });

  test("a line of progress never takes more than one line", () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
    new Screen(io, () => {}).progress({ progress: 1, message: "長い".repeat(100) });
    const drawn = io.err().slice("\r\u001b[2K".length);
    expect(drawn.endsWith("…")).toBe(true);
    expect(drawn.length).toBeLessThan(45);
  });
});
