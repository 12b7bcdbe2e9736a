import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import { LocalError } from "../../packages/mcparley/src/rpc/errors.ts";
import { commandTransports } from "../../packages/mcparley/src/stdio/command-transport.ts";
import type { Fault } from "./dimensions.ts";
import { preload } from "./preload.ts";
import { runCell } from "./run-cell.ts";

const program = fileURLToPath(new URL("programs/failing-server.mjs", import.meta.url));

beforeAll(preload);

/** Starts a server program that fails in a way. */
function start(how: string): Promise<Client> {
  return openClient(commandTransports({ command: process.execPath, args: [program, how] }));
}

async function codeOf(running: Promise<unknown>): Promise<string> {
  const error: unknown = await running.then(
    () => "result",
    (reason: unknown) => reason,
  );
  return error instanceof LocalError ? error.code : String(error);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a real process fails like the simulated one", () => {
  test.each<[how: string, fault: Fault]>([
    ["exit", "reset-after"],
    ["cut", "reset-in-answer"],
    ["hang", "hang"],
  ])("%s, as in the cell %s", async (how, fault) => {
    const simulated = await runCell({ operation: "call", fault, transport: "stdio", revision: "2026-07-28" });
    const client = await start(how);
    const { pid } = await client.callTool("work");
    // Only a call that is never answered has a short timeout: a busy machine answers the others late.
    const failing = client.callTool("fail", {}, how === "hang" ? { timeout: { idle: 500 } } : {});
    expect(await codeOf(failing)).toBe(simulated.settles);
    const { pid: next } = await client.callTool("work");
    expect(next === pid).toBe(how === "hang");
    await client.close();
    expect([pid, next].filter(isRunning)).toEqual([]);
  });

  test("a missing program, as in the cell refused", async () => {
    const simulated = await runCell({
      operation: "connect",
      fault: "refused",
      transport: "stdio",
      revision: "2026-07-28",
    });
    const connecting = openClient(commandTransports({ command: "mcparley-has-no-such-program" }));
    expect(await codeOf(connecting)).toBe(simulated.settles);
  });

  test("a process that exited between two calls is started again", async () => {
    const client = await start("none");
    const { pid } = await client.callTool("work");
    process.kill(pid, "SIGKILL");
    while (client.state === "open") await new Promise((resolve) => setImmediate(resolve));
    const { pid: next } = await client.callTool("work");
    expect(next).not.toBe(pid);
    await client.close();
    expect([pid, next].filter(isRunning)).toEqual([]);
  });
});
