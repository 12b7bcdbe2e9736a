import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { watch } from "chokidar";
import { ToolError } from "mcparley/server";
import { expect, onTestFinished, test } from "vitest";
import { type Program, runProgram } from "./run-program.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const unused = new AbortController().signal;

function node(script: string, options: Partial<Program> = {}): Program {
  return {
    file: process.execPath,
    args: ["-e", script],
    cwd: process.cwd(),
    env: {},
    stdin: "",
    timeLimit: 15_000,
    outputLimit: 1024 ** 2,
    success: [0],
    ...options,
  };
}

/** Resolves when the file exists. */
function appears(path: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(path, { ignoreInitial: false }).once("add", () => resolve());
    onTestFinished(() => watcher.close());
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("returns the output of a program, which reads its input and only its own environment", async () => {
  const echo = node("process.stdin.pipe(process.stdout)", { stdin: "Grüße\n".repeat(50_000) });
  expect(await runProgram(echo, unused)).toBe(echo.stdin);
  const env = node("process.stdout.write(JSON.stringify(process.env))", { env: { ONLY: "this" } });
  expect(JSON.parse(await runProgram(env, unused))).toEqual({ ONLY: "this" });
});

test("succeeds if the program does not read its input", async () => {
  expect(await runProgram(node("process.stdout.write('ok')", { stdin: "x".repeat(2_000_000) }), unused)).toBe("ok");
});

test("reports a failure as a tool error with the exit code and the end of standard error", async () => {
  const script = "process.stderr.write('x'.repeat(100_000) + '\\nlast words'); process.exitCode = 3";
  const error = await runProgram(node(script), unused).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ToolError);
  expect((error as Error).message).toMatch(/^The program failed with exit code 3:\nx+\nlast words$/);
  expect((error as Error).message.length).toBeLessThan(2100);
  expect(await runProgram(node("process.exitCode = 3", { success: [0, 3] }), unused)).toBe("");
});

test("reports a program that does not exist", async () => {
  await expect(runProgram(node("", { file: "no-such-program-here" }), unused)).rejects.toThrow("is not installed");
});

test("reports arguments that the system rejects as a tool error", async () => {
  await expect(runProgram(node("", { args: ["-e", "", "x".repeat(10_000_000)] }), unused)).rejects.toThrow(ToolError);
  await expect(runProgram(node("", { args: ["a\0b"] }), unused)).rejects.toThrow(ToolError);
});

test("returns output at the limit, and ends the program at one byte more", async () => {
  const script = (bytes: number) => `process.stdout.write('x'.repeat(${bytes}))`;
  expect(await runProgram(node(script(5000), { outputLimit: 5000 }), unused)).toHaveLength(5000);
  await expect(runProgram(node(script(5001), { outputLimit: 5000 }), unused)).rejects.toThrow(
    "wrote more than 4.9 KiB",
  );
  const endless =
    "const w = () => { while (process.stdout.write('x'.repeat(65536))); process.stdout.once('drain', w) }; w()";
  await expect(runProgram(node(endless), unused)).rejects.toThrow("wrote more than 1 MiB");
});

test("ends a program after the time limit, also if it ignores SIGTERM", async () => {
  await expect(runProgram(node("setInterval(() => {}, 1000)", { timeLimit: 60 }), unused)).rejects.toThrow(
    "took longer than 60 ms",
  );
  const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
  await expect(runProgram(node(stubborn, { timeLimit: 300 }), unused)).rejects.toThrow("took longer than 300 ms");
});

test.skipIf(process.platform === "win32")(
  "ends the program and its descendants when the call is cancelled",
  async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "pid");
    const grandchild =
      "process.on('SIGTERM', () => {}); require('fs').writeFileSync(process.argv[1] + '.part', String(process.pid)); require('fs').renameSync(process.argv[1] + '.part', process.argv[1]); setInterval(() => {}, 1000)";
    // The grandchild has no pipe to this process. Only the process group links it to the program.
    const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}, ${JSON.stringify(file)}], { stdio: 'ignore' }); setInterval(() => {}, 1000)`;
    const controller = new AbortController();
    const running = runProgram(node(script), controller.signal);
    await appears(file);
    const pid = Number(await readFile(file, "utf8"));
    expect(isRunning(pid)).toBe(true);
    controller.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
    await expect.poll(() => isRunning(pid) && !isZombie(pid)).toBe(false);
  },
);

/**
 * A process that has ended stays in the process table until its parent waits for it. In a container that may never
 * happen.
 */
function isZombie(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && / Z /.test(readFileSync(stat, "utf8"));
}

test("starts no program for a call that is already cancelled", async () => {
  await expect(runProgram(node(""), AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});
