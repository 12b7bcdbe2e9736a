import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { LocalError } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Transport } from "../rpc/transport.ts";
import type { CommandTarget, ProcessListener } from "../client/connect/transports.ts";
import { commandTransports } from "./command-transport.ts";
import type { EndBounds } from "./end-process.ts";

const peer = fileURLToPath(new URL("fixtures/peer.mjs", import.meta.url));
const quick: EndBounds = { exit: 150, terminate: 150, kill: 3_000 };
const opened: Transport[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

interface Conversation {
  transport: Transport;
  /** The next message of the server. */
  next: () => Promise<JsonObject>;
  ask: (method: string, params?: JsonObject) => Promise<JsonObject>;
  problems: Error[];
  closedWith: Promise<Error | undefined>;
}

async function openTransport(
  target: Partial<CommandTarget> & { mode?: string } = {},
  bounds?: EndBounds,
): Promise<Conversation> {
  const { mode = "peer", ...rest } = target;
  const transport = commandTransports({ command: process.execPath, args: [peer, mode], ...rest }, bounds).open();
  opened.push(transport);
  const arrived: JsonObject[] = [];
  const waiting: ((message: JsonObject) => void)[] = [];
  const problems: Error[] = [];
  let close!: (cause: Error | undefined) => void;
  const closedWith = new Promise<Error | undefined>((resolve) => {
    close = resolve;
  });
  await transport.start({
    message(value) {
      const take = waiting.shift();
      if (take) take(value as JsonObject);
      else arrived.push(value as JsonObject);
    },
    malformed: (error) => problems.push(error),
    closed: close,
  });
  const next = (): Promise<JsonObject> => {
    const message = arrived.shift();
    return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve));
  };
  const ask = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
    void transport.send({ jsonrpc: "2.0", id: 1, method, params });
    return (await next()).result as JsonObject;
  };
  return { transport, next, ask, problems, closedWith };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("a server is identified by its command, arguments, working directory and environment", () => {
  const command = process.execPath;
  const identityOf = (target: Partial<CommandTarget>): string | undefined =>
    commandTransports({ command, ...target }).identity;
  const targets: Partial<CommandTarget>[] = [
    {},
    { args: ["a"] },
    { args: ["a", "b"] },
    { args: ["a b"] },
    { cwd: "/" },
    { env: { TOKEN: "one" } },
    { env: { TOKEN: "two" } },
  ];
  expect(new Set(targets.map(identityOf)).size).toBe(targets.length);
  expect(identityOf({ env: { A: "1", B: "2" } })).toBe(identityOf({ env: { B: "2", A: "1" } }));
  expect(identityOf({ cwd: process.cwd() })).toBe(identityOf({}));
  expect(commandTransports({ command, env: { TOKEN: "s3cret" } }).target).toBe(command);
});

test("messages are exchanged with a child process, and it closes without a cause", async () => {
  const { ask, transport, closedWith } = await openTransport();
  expect(await ask("echo", { text: "héllo" })).toEqual({ text: "héllo" });
  const { pid } = await ask("pid");
  await transport.close();
  expect(await closedWith).toBeUndefined();
  expect(isAlive(pid as number)).toBe(false);
});

test("a message that is sent just before closing arrives", async () => {
  let stderr = "";
  const { transport, closedWith } = await openTransport({ stderr: (chunk) => (stderr += chunk) });
  void transport.send({ jsonrpc: "2.0", id: 1, method: "die" });
  await transport.close();
  await closedWith;
  expect(stderr).toBe("fatal: out of cheese\n");
});

test("a child receives its arguments unchanged, because no shell reads them", async () => {
  const args = ["$HOME `id` $(id) %PATH%", "a; exit 9", "x | y > z && w", "*", '"', "'"];
  const program = `process.stdin.resume(); console.log(JSON.stringify({ args: process.argv.slice(1) }))`;
  const { next, closedWith } = await openTransport({ args: ["-e", program, "--", ...args] });
  expect(await Promise.race([next(), closedWith])).toEqual({ args });
});

test("a child has the inherited and the configured variables, and no others", async () => {
  process.env.SOME_HOST_SECRET = "x";
  const { ask } = await openTransport({ env: { GIVEN: "1", LANG: "tlh" } });
  delete process.env.SOME_HOST_SECRET;
  const env = await ask("env");
  expect(env).toMatchObject({ GIVEN: "1", LANG: "tlh", PATH: process.env.PATH });
  expect(env).not.toHaveProperty("SOME_HOST_SECRET");
});

test.each([
  [{ command: "no-such-program-anywhere" }, /Cannot start "no-such-program-anywhere": it was not found on PATH/],
  [{ command: "./no/such/file" }, /the file does not exist/],
  [
    { command: "no-such-program serve --token s3cr3t file.ts" },
    /^Cannot start "no-such-program serve --token \[redacted\] file.ts": no such program exists\. "command" must be the name or path of a program; arguments belong into args: { command: "no-such-program", args: \["serve","--token","\[redacted\]","file.ts"\] }\.$/,
  ],
  [{ command: fileURLToPath(import.meta.url) }, /permission to execute it was denied/],
  [{ cwd: "/no/such/directory" }, /working directory "\/no\/such\/directory" does not exist/],
])("a command that cannot be started is named with the cure: %j", async (target, message) => {
  const failed = openTransport(target);
  await expect(failed).rejects.toThrow(message);
  await expect(failed).rejects.toMatchObject({ code: "unreachable" });
});

test.each([
  [{ command: "" }, /"command" must be/],
  [{ command: "x", args: ["--token", 1] as unknown as string[] }, /"args" must be an array of strings/],
])("a target that is not a command is refused: %j", (target, message) => {
  expect(() => commandTransports(target)).toThrow(message);
  expect(() => commandTransports(target)).toThrow(LocalError);
});

test("the name of a target contains no secret", () => {
  const dialer = commandTransports({ command: "npx", args: ["server", "--api-key", "s3cr3t", "--port", "1"] });
  expect(dialer.target).toBe("npx server --api-key [redacted] --port 1");
});

test("closing ends a child that ignores the end of input and SIGTERM", async () => {
  const { ask, transport, closedWith } = await openTransport({ mode: "stubborn" }, quick);
  const { pid } = await ask("pid");
  await transport.close();
  expect(await closedWith).toBeUndefined();
  expect(isAlive(pid as number)).toBe(false);
});

test("closing ends the server behind a launcher", async () => {
  const { ask, transport } = await openTransport({ mode: "launcher" }, quick);
  const { pid } = await ask("pid");
  await transport.close();
  await expect.poll(() => isAlive(pid as number)).toBe(false);
});

test("a child's own children end with it when it exits by itself", async () => {
  let stderr = "";
  const { ask, closedWith } = await openTransport({ mode: "leaver", stderr: (chunk) => (stderr += chunk) }, quick);
  void ask("die");
  expect(await closedWith).toMatchObject({ code: "exited" });
  const left = Number(/left (\d+)/.exec(stderr)?.[1]);
  expect(left).toBeGreaterThan(0);
  await expect.poll(() => isAlive(left)).toBe(false);
});

test("stderr is drained, so that a child that floods it still answers and ends", async () => {
  const { ask, transport } = await openTransport();
  expect(await ask("flood")).toEqual({});
  await transport.close();
});

test("a child that dies closes the transport with its exit code and the end of its stderr", async () => {
  const { ask, closedWith, transport } = await openTransport();
  void ask("die");
  const error = (await closedWith) as LocalError;
  expect(error.code).toBe("exited");
  expect(error.message).toMatch(/exited with code 7\. The end of its stderr:\nfatal: out of cheese$/);
  expect(error.data).toEqual({ exitCode: 7, signal: null, stderr: "fatal: out of cheese" });
  await expect(transport.send({ jsonrpc: "2.0", method: "x" })).rejects.toMatchObject({ code: "closed" });
});

test("a child that exits immediately without output is reported with its stderr, without secrets", async () => {
  const { closedWith } = await openTransport({ mode: "dies" });
  expect(await closedWith).toMatchObject({
    code: "exited",
    data: { exitCode: 3, stderr: "cannot read config.json\nAPI_KEY=[redacted]" },
  });
});

test("a child that ends by itself without a message is reported with the likely reason", async () => {
  for (const [source, stderr] of [
    ["", "It wrote nothing to stderr."],
    ["console.error('Usage: serve'); console.log('Usage')", "The end of its stderr:\nUsage: serve"],
  ] as const) {
    const { closedWith } = await openTransport({ args: ["-e", source] });
    const error = (await closedWith) as LocalError;
    expect(error.message).toContain(
      " exited with code 0. It ended by itself and sent no message. Check that it calls serveStdio",
    );
    expect(error.message).toContain(stderr);
  }
});

test.each([
  ["dies", "with code 3"],
  ["peer", "with code 0"],
])("a child (%s) that failed, or has sent a message, is reported without this reason", async (mode, how) => {
  const { ask, transport, closedWith } = await openTransport({ mode });
  if (mode === "peer") {
    await ask("echo");
    void transport.send({ jsonrpc: "2.0", id: 1, method: "half" });
  }
  const { message } = (await closedWith) as LocalError;
  expect(message).toContain(`exited ${how}.`);
  expect(message).not.toContain("ended by itself");
});

describe("the stderr that an error shows", () => {
  const shown = async (lines: readonly string[]): Promise<string> => {
    const source = `console.error(${JSON.stringify(lines.join("\n"))}); process.exit(1)`;
    const { closedWith } = await openTransport({ args: ["-e", source] });
    return ((await closedWith) as LocalError).message.split("The end of its stderr:\n")[1] ?? "";
  };
  const frames = Array.from({ length: 12 }, (_, at) => `    at work (file:///srv/app.js:${at}:1)`);

  test.each([
    "Error: Cannot find module '/srv/missing.js'",
    "Uncaught TypeError: x is not a function",
    "ModuleNotFoundError: No module named 'mcp'",
    "java.lang.IllegalStateException: no port",
    "panic: runtime error: index out of range",
    "npm: error: no such option",
  ])("has the line that names the error before its last lines: %s", async (error) => {
    expect(await shown(["starting", error, ...frames])).toBe([error, "…", ...frames].join("\n"));
  });

  test("has the error once if it is in the last lines", async () => {
    const lines = ["Error: old", "starting", "Error: new", ...frames.slice(0, 9)];
    expect(await shown(lines)).toBe(lines.join("\n"));
  });

  test("has no frames inside of Node", async () => {
    const inside = Array.from({ length: 12 }, () => "    at Module._load (node:internal/modules/cjs/loader:1038:27)");
    expect(await shown(["Error: old", "starting", "Error: new", ...inside, "Node.js v20"])).toBe(
      "Error: old\nstarting\nError: new\nNode.js v20",
    );
  });

  test("names a missing file", async () => {
    const { closedWith } = await openTransport({ args: ["/no/such/file.js"] });
    expect(((await closedWith) as LocalError).message).toContain("Error: Cannot find module '/no/such/file.js'");
  });

  test("has the last lines only if none names an error", async () => {
    expect(await shown(["starting", ...frames])).toBe(frames.join("\n"));
  });
});

test("a child that is killed is reported with its signal", async () => {
  const { ask, closedWith } = await openTransport();
  void ask("kill");
  expect(await closedWith).toMatchObject({ code: "exited", data: { exitCode: null, signal: "SIGKILL" } });
});

test("a child that closes its stdout without exiting is ended", async () => {
  const { ask, closedWith } = await openTransport({ mode: "stubborn" }, quick);
  void ask("hang up");
  expect(await closedWith).toMatchObject({ code: "exited", data: { signal: "SIGKILL" } });
});

test("an incomplete message is reported before the end", async () => {
  const { ask, closedWith, problems } = await openTransport();
  void ask("half");
  await closedWith;
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('inside a line: "{\\"jsonrpc\\":')]);
});

test("a transport can be closed twice, and before the start", async () => {
  const { transport } = await openTransport();
  await Promise.all([transport.close(), transport.close()]);
  const never = commandTransports({ command: process.execPath }).open();
  await never.close();
  await expect(never.start({ message() {}, malformed() {}, closed() {} })).rejects.toMatchObject({ code: "closed" });
});

test("onReceived is called while a large line arrives, and its errors are reported without an effect on the reply", async () => {
  const seen: number[] = [];
  const { ask, problems } = await openTransport({
    onReceived: ({ bytes, total }) => {
      expect(total).toBeUndefined();
      seen.push(bytes);
      if (seen.length === 1) throw new Error("The display is gone.");
    },
  });
  const text = "x".repeat(2_000_000);
  expect(await ask("echo", { text })).toEqual({ text });
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen.at(-1)).toBeGreaterThan(1_000_000);
  expect(problems.map(({ message }) => message)).toEqual(["The display is gone."]);
});

describe("the listener of onStart", () => {
  function recorded(): { events: unknown[]; onStart: NonNullable<CommandTarget["onStart"]> } {
    const events: unknown[] = [];
    const onStart = (): ProcessListener => {
      events.push("start");
      return { started: (pid) => events.push(pid), ended: () => events.push("end") };
    };
    return { events, onStart };
  }

  test("receives the process id at the start, and the end after the process and its group", async () => {
    const { events, onStart } = recorded();
    const { ask, transport } = await openTransport({ mode: "launcher", onStart }, quick);
    const { pid } = await ask("pid");
    expect(events).toEqual(["start", expect.any(Number)]);
    await transport.close();
    await expect.poll(() => events).toEqual(["start", events[1], "end"]);
    expect(isAlive(pid as number)).toBe(false);
  });

  test("receives the end of a process that dies", async () => {
    const { events, onStart } = recorded();
    const { ask, closedWith } = await openTransport({ onStart });
    void ask("die");
    await closedWith;
    await expect.poll(() => events).toEqual(["start", expect.any(Number), "end"]);
  });

  test.each([{ command: "no-such-program-anywhere" }, { command: "a\0b" }])(
    "receives the end, and no process id, if the program cannot be started: %j",
    async ({ command }) => {
      const { events, onStart } = recorded();
      await expect(openTransport({ command, args: [], onStart })).rejects.toThrow("Cannot start");
      expect(events).toEqual(["start", "end"]);
    },
  );

  test("does not affect the connection if it throws, and its errors are reported", async () => {
    const fail = (message: string) => (): never => {
      throw new Error(message);
    };
    const throwing = await openTransport({ onStart: fail("no listener") });
    expect(await throwing.ask("echo")).toEqual({});
    expect(throwing.problems.map(({ message }) => message)).toEqual(["no listener"]);

    const { ask, transport, problems, closedWith } = await openTransport({
      onStart: () => ({ started: fail("not started"), ended: fail("not ended") }),
    });
    expect(await ask("echo")).toEqual({});
    await transport.close();
    expect(await closedWith).toBeUndefined();
    await expect.poll(() => problems.map(({ message }) => message)).toEqual(["not started", "not ended"]);
  });
});
