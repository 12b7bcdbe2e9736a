import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../rpc/messages.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
let directory: string;
let library: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "mcparley-"));
  library = join(directory, "library.mjs");
  const modules = ["./server.ts", "./stdio/end-process.ts"];
  await build({
    stdin: {
      contents: `${modules.map((module) => `export * from ${JSON.stringify(module)};`).join("\n")}
        export { serveStdio } from "./stdio.ts";`,
      resolveDir: fileURLToPath(new URL("..", import.meta.url)),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: library,
  });
});

afterAll(() => rm(directory, { recursive: true }));

const running: Server[] = [];
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill("SIGKILL");
});

interface Server {
  child: ChildProcessWithoutNullStreams;
  /** The next line of stdout. */
  next: () => Promise<JsonObject>;
  /** Resolves when stderr contains the text. */
  stderrContains: (text: string) => Promise<void>;
  stderr: () => string;
  send: (message: JsonObject) => void;
  exited: Promise<[number | null, string | null]>;
}

function start(args: readonly string[], input?: net.Socket): Server {
  const child = spawn(process.execPath, args, {
    stdio: [input ?? "pipe", "pipe", "pipe"],
  }) as ChildProcessWithoutNullStreams;
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() as string;
    lines.push(...parts);
    child.emit("output");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    child.emit("output");
  });
  if (!input) child.stdin.on("error", () => {});
  const until = async <T>(ready: () => T | undefined): Promise<T> => {
    for (let value = ready(); ; value = ready()) {
      if (value !== undefined) return value;
      await once(child, "output");
    }
  };
  const server: Server = {
    child,
    next: async () => JSON.parse(await until(() => lines.shift())) as JsonObject,
    stderrContains: (text) => until(() => stderr.includes(text) || undefined).then(() => {}),
    stderr: () => stderr,
    send: (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    exited: once(child, "close") as Promise<[number | null, string | null]>,
  };
  running.push(server);
  return server;
}

const serve = (mode: string): Server => start([fixture("server.mjs"), mode, library]);

const call = (id: number, name: string): JsonObject => ({
  id,
  method: "tools/call",
  params: {
    name,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("serves every revision on one pipe", async () => {
  const { send, next, child, exited } = serve("plain");
  send(call(1, "noisy"));
  expect(await next()).toMatchObject({ id: 1, result: { resultType: "complete", content: [{ text: "quiet" }] } });
  const clientInfo = { name: "test", version: "1" };
  send({ id: 2, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  expect(await next()).toMatchObject({ id: 2, result: { protocolVersion: "2025-11-25" } });
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
});

test("console.log and direct writes go to stderr, and the first writer is named once", async () => {
  const { send, next, child, exited, stderr } = serve("plain");
  send(call(1, "noisy"));
  send(call(2, "noisy"));
  // Each line of stdout is a message, or next() would fail to parse it.
  expect([await next(), await next()].map(({ id }) => id)).toEqual([1, 2]);
  child.stdin.end();
  await exited;
  expect(stderr().match(/from a handler\ndirectly\n/g)).toHaveLength(2);
  expect(stderr().match(/stdout carries the protocol.*First written at .*server\.mjs:\d+/g)).toHaveLength(1);
});

test("the end of input ends the process after the calls in flight are answered", async () => {
  const { send, next, stderrContains, child, exited } = serve("plain");
  send(call(1, "slow"));
  child.stdin.end();
  await stderrContains("slow: called");
  child.kill("SIGUSR2");
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  expect(await exited).toEqual([0, null]);
});

test.each([
  ["stuck", "plain"],
  ["hung", "impatient"],
])("a call that never ends does not keep the process alive (%s)", async (name, mode) => {
  const { send, stderrContains, child, exited, stderr } = serve(mode);
  send(call(1, name));
  await stderrContains(`${name}: called`);
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(stderr()).toContain("served\n");
});

test("a resource that keeps the process alive after the end is named, and the process exits", async () => {
  const { child, exited, stderr } = serve("lingering");
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(stderr()).toMatch(/served\n.*keeps this process alive \([^)]*Timeout[^)]*\): exiting/s);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends serving and the process", async (signal) => {
  const { send, next, child, exited, stderr } = serve("plain");
  send(call(1, "noisy"));
  await next();
  child.kill(signal);
  expect(await exited).toEqual([0, null]);
  expect(stderr()).toContain("served\n");
});

test("a client that closes the output ends the process without an error", async () => {
  const { send, stderrContains, child, exited, stderr } = serve("plain");
  send(call(1, "slow"));
  await stderrContains("slow: called");
  child.stdout.destroy();
  child.kill("SIGUSR2");
  expect(await exited).toEqual([0, null]);
  expect(stderr()).not.toMatch(/EPIPE|Error/);
});

test("the death of the parent ends the process although its input stays open", async () => {
  // The test keeps the input socket open, so that the server can only detect the death of its parent.
  const listener = net.createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const ours = net.connect((listener.address() as net.AddressInfo).port, "127.0.0.1");
  const [theirs] = (await once(listener, "connection")) as [net.Socket];
  const args = [fixture("middle.mjs"), process.execPath, fixture("server.mjs"), "plain", library];
  const { child, next, stderrContains, stderr, exited } = start(args, theirs);
  await stderrContains("child ");
  const pid = Number(/child (\d+)/.exec(stderr())?.[1]);
  ours.write(`${JSON.stringify({ jsonrpc: "2.0", ...call(1, "noisy") })}\n`);
  expect(await next()).toMatchObject({ id: 1 });
  child.kill("SIGKILL");
  // Its streams close only when the server, which shares them, has also ended.
  await exited;
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(ours.writable).toBe(true);
  for (const socket of [ours, theirs]) socket.destroy();
  listener.close();
});

test("a child ends when the process that started it exits", async () => {
  const script = `
    import { spawn } from "node:child_process";
    const { endWithThisProcess } = await import(${JSON.stringify(library)});
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
    endWithThisProcess(child.pid);
    process.stderr.write("child " + child.pid, () => process.exit());
  `;
  const host = start(["--input-type=module", "-e", script]);
  await host.exited;
  const pid = Number(/child (\d+)/.exec(host.stderr())?.[1]);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isAlive(pid)).toBe(false);
});
