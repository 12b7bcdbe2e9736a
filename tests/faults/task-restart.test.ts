import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("programs/task-server.mjs", import.meta.url));

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "mcparley-tasks-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Calls the tool, and calls `killed` with the id of the process that runs it. Returns the progress and the value. */
async function callAndKill(
  client: Client,
  kill: (pid: number) => void,
): Promise<{ pid: number; seen: unknown[]; value: unknown }> {
  let pid = 0;
  const seen: unknown[] = [];
  const value = await client.callTool(
    "build",
    {},
    {
      onProgress({ progress, total, message = "" }) {
        seen.push([progress, total]);
        if (pid !== 0) return;
        pid = Number(message.split(" ")[1]);
        kill(pid);
      },
    },
  );
  return { pid, seen, value };
}

describe.each(["2025-11-25", "2026-07-28"])("a call of a tool that may run again, on %s", (revision) => {
  test("ends with the result of the next process, if its process on stdio was killed", async () => {
    const command = { command: process.execPath, args: [program, folder, "stdio"] };
    await using client = await connect(command, { revision, extensions: [followTasks()] });
    const { pid, seen, value } = await callAndKill(client, (running) => process.kill(running, "SIGKILL"));
    expect(value).toBe(`begun by ${pid}`);
    expect(seen).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  test("ends with the result of the next process, if its process over HTTP was killed", async () => {
    const children: ChildProcess[] = [];
    let url = new URL(await start());
    async function start(): Promise<string> {
      const child = spawn(process.execPath, [program, folder, "http"], { stdio: ["ignore", "pipe", "inherit"] });
      children.push(child);
      const [line] = await once(createInterface(child.stdout), "line");
      return String(line);
    }
    // The next process has another port, as behind a proxy.
    const toCurrent: typeof fetch = (target, init) => {
      const current = new URL(String(target instanceof Request ? target.url : target));
      current.port = url.port;
      return fetch(current, init);
    };
    try {
      await using client = await connect(url, { revision, fetch: toCurrent, extensions: [followTasks()] });
      let restarted: Promise<void> | undefined;
      const { pid, seen, value } = await callAndKill(client, (running) => {
        process.kill(running, "SIGKILL");
        restarted = once(children[0]!, "exit").then(async () => void (url = new URL(await start())));
      });
      await restarted;
      expect(pid).toBe(children[0]!.pid);
      expect(value).toBe(`begun by ${pid}`);
      expect(seen).toEqual([
        [1, 2],
        [2, 2],
      ]);
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
  });
});
