import { createServer, tool } from "mcparley/server";
import { listen } from "mcparley/node";
import { asTask, tasks } from "mcparley/tasks";
import { describe, expect, onTestFinished, test } from "vitest";
import { runClientCommand } from "./run.ts";
import { fakeIo } from "./testing/fake-io.ts";

function taskServer(ended: () => void = () => {}) {
  const extensions = [asTask({ support: "required" })];
  return createServer({
    name: "reports",
    version: "1.0.0",
    extensions: [tasks({ pollIntervalMs: 50 })],
    tools: {
      report: tool({
        extensions,
        call: (_, ctx) => {
          ctx.progress(1, 2, "Reading the numbers");
          return "It was a good year.";
        },
      }),
      wait: tool({
        extensions,
        call: (_, ctx) =>
          new Promise<string>((_resolve, reject) => {
            ctx.progress(1, 2, "Waiting");
            ctx.signal.addEventListener("abort", () => {
              ended();
              reject(new Error("cancelled"));
            });
          }),
      }),
    },
  });
}

describe.each(["2026-07-28", "2025-11-25"])("a tool that is available only as a task, on %s", (revision) => {
  const url = "http://127.0.0.1:1/mcp";

  test("is called as a task, and its status is shown as progress", async () => {
    const io = fakeIo({ server: taskServer() });
    const code = await runClientCommand("call", [url, "report", "--revision", revision], io);
    expect(code).toBe(0);
    expect(io.out()).toBe("It was a good year.\n");
    expect(io.err()).toContain("progress: task working");
    expect(io.err().match(/task completed/g)).toHaveLength(1);
  });

  test("is cancelled with Ctrl-C, also over HTTP", async () => {
    let ended = (): void => {};
    const cancelled = new Promise<void>((resolve) => (ended = resolve));
    const server = taskServer(() => ended());
    const listening = await listen(server, { port: 0 });
    onTestFinished(() => listening.close());
    const io = fakeIo();
    const done = runClientCommand("call", [listening.url, "wait", "--revision", revision], io);
    await io.seen("task working");
    io.pressCtrlC();
    expect(await done).toBe(130);
    await cancelled;
  });
});
