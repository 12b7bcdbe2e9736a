import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { z } from "zod";
import { type StandardSchema, createServer, tool } from "../server.ts";
import { flushPromises } from "../testing/fake-clock.ts";
import { type RunningStdioServer, type ServeStdioOptions, serveStdio } from "./serve-stdio.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

function served(tools: Parameters<typeof createServer>[0]["tools"] = {}, options: ServeStdioOptions = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: unknown[] = [];
  output.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.trimEnd().split("\n")) lines.push(JSON.parse(line));
  });
  const done: RunningStdioServer = serveStdio(createServer({ name: "s", version: "1", tools }), {
    input,
    output,
    ...options,
  });
  const send = (message: object): void => void input.write(`${JSON.stringify(message)}\n`);
  return { input, output, lines, done, send };
}

test("answers on its streams, ends with its input, and does not change the process", async () => {
  const stdout = (): unknown => Reflect.get(process.stdout, "write");
  const before = { write: stdout(), signals: process.listenerCount("SIGTERM") };
  const { input, lines, done, send } = served();
  send(initialize);
  expect(stdout()).toBe(before.write);
  expect(process.listenerCount("SIGTERM")).toBe(before.signals);
  input.end();
  await done;
  expect(lines).toEqual([
    expect.objectContaining({ id: 1, result: expect.objectContaining({ protocolVersion: "2025-06-18" }) }),
  ]);
});

test("a line over the limit is answered with an error, and serving continues", async () => {
  const { input, lines, done, send } = served({}, { maxLineBytes: 300 });
  send({ ...initialize, padding: "x".repeat(300) });
  send(initialize);
  input.end();
  await done;
  expect(lines).toEqual([
    { jsonrpc: "2.0", error: { code: -32700, message: expect.stringContaining("over the limit of 300 bytes") } },
    expect.objectContaining({ id: 1 }),
  ]);
});

test("closing aborts the signals of the calls in flight, and ends", async () => {
  let reason: unknown;
  let called!: () => void;
  const inFlight = new Promise<void>((resolve) => {
    called = resolve;
  });
  const wait = tool({
    call: (_input, ctx) =>
      new Promise<string>((resolve) => {
        called();
        ctx.signal.addEventListener("abort", () => {
          reason = ctx.signal.reason;
          resolve("late");
        });
      }),
  });
  const { done, send } = served({ wait });
  send(initialize);
  send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "wait" } });
  await inFlight;
  await done.close();
  await done;
  expect(reason).toMatchObject({ code: "closed" });
});

test("a broken output ends serving without an error", async () => {
  const { output, done, send } = served();
  output.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
  send(initialize);
  await done;
});

test.each(["not JSON", "5", '{"jsonrpc":"2.0","method":7}', "[]"])(
  "a peer that sends %j forever and reads nothing receives a limited number of refusals",
  async (line) => {
    const input = new PassThrough();
    const output = new PassThrough({ highWaterMark: 1 });
    const done = serveStdio(createServer({ name: "s", version: "1" }), { input, output });
    const chunk = `${line}\n`.repeat(100);
    for (let count = 0; count < 100; count++) {
      input.write(chunk);
      await flushPromises();
    }
    input.end();
    let refusals = 0;
    for await (const text of output) refusals += String(text).split("\n").length - 1;
    await done;
    expect(refusals).toBeGreaterThanOrEqual(100);
    expect(refusals).toBeLessThan(500);
  },
);

test("refusals are sent again when the peer reads again", async () => {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1 });
  const done = serveStdio(createServer({ name: "s", version: "1" }), { input, output });
  const lines: string[] = [];
  input.write("x\n".repeat(50));
  await flushPromises();
  for (let count = 0; count < 500; count++) input.write("x\n");
  await flushPromises();
  output.setEncoding("utf8").on("data", (text: string) => void lines.push(...text.trimEnd().split("\n")));
  await flushPromises();
  const before = lines.length;
  input.write("x\n");
  await flushPromises();
  expect(lines).toHaveLength(before + 1);
  input.end();
  await done;
});

test.each<[object, string]>([
  [{ drainTimout: 5 }, 'unknown member "drainTimout"; did you mean "drainTimeout"?'],
  [{ port: 3000 }, 'unknown member "port"'],
  [{ auth: () => {} }, 'unknown member "auth"'],
  [{ drainTimeout: "5s" }, '"options.drainTimeout" must be a number of milliseconds, 0 or more; got string'],
  [{ exitTimeout: true }, '"options.exitTimeout" must be a number of milliseconds, 0 or more or false; got boolean'],
  [{ parentCheckInterval: -5 }, "got number -5"],
  [{ maxLineBytes: "5" }, '"options.maxLineBytes" must be a whole number, 0 or more; got string'],
  [{ maxLine: 5 }, 'use "maxLineBytes" instead of "maxLine"'],
  [{ input: "x" }, '"options.input" must be an object; got string'],
])("refuses the options %j at the start", (options, message) => {
  const server = createServer({ name: "s", version: "1" });
  expect(() => serveStdio(server, options)).toThrow(message);
});

test.each([undefined, {}, () => {}, Promise.resolve()])("refuses %s in place of a server", (server) => {
  expect(() => serveStdio(server as never)).toThrow(
    "serveStdio needs a server. Pass the return value of createServer.",
  );
});

test("answers the first request before it converts all schemas of a library", async () => {
  const calls: string[] = [];
  const input = (name: string): StandardSchema => ({
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value: value as object }),
      jsonSchema: { input: () => (calls.push(name), { type: "object" }), output: () => ({}) },
    },
  });
  const names = Array.from({ length: 1_000 }, (_, index) => `t${index}`);
  const tools = Object.fromEntries(names.map((name) => [name, tool({ input: input(name), call: () => "" })]));
  const { input: stdin, output, done, send } = served(tools);
  send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await once(output, "data");
  expect(calls.length).toBeLessThan(names.length);
  stdin.end();
  await done;
  expect(calls).toEqual(names);
});

const bad = tool({ input: z.object({ born: z.date() }), call: () => "" });
const refusal = /^The tool "bad" cannot be offered: .* at "born"/;

test.each([
  ["while its input is open", false],
  ["although its input has ended", true],
])("rejects with the error of a definition and closes the connection, %s", async (_when, isOver) => {
  const { input, output, done } = served({ bad });
  if (isOver) input.end();
  await expect(done).rejects.toThrow(refusal);
  if (!output.closed) await once(output, "close");
});
