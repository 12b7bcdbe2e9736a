import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { connect } from "mcparley/client";
import { streamTransport } from "mcparley/stdio";
import { expect, onTestFinished, test } from "vitest";
import { runServe } from "./serve.ts";
import { type FakeIo, fakeIo } from "../commands/testing/fake-io.ts";
import { addFiles, temporaryFolder } from "./testing/temporary-folder.ts";

const tool = 'import { tool } from "mcparley/server";\nexport default tool({ call: () => "ok" });\n';

function urlIn(io: FakeIo): string {
  const url = /http:\/\/\S+/.exec(io.out())?.[0];
  if (url === undefined) throw new Error(`no URL in ${io.out()}`);
  return url;
}

test("serves HTTP at the URL of the banner, and exits with 0 on Ctrl-C", async () => {
  const cwd = await temporaryFolder({ "books/tools/t.ts": tool, "books/prompts/bad.md": "{{ x }}" });
  const io = fakeIo({ cwd });
  const ended = runServe(["books", "--port", "0"], io);
  await io.seen("in the folder");
  await io.seen("books/prompts/bad.md:1:4: {{ x }} is not an argument of this prompt");
  expect(io.out()).toMatch(/^books 0\.0\.0 is served at\n\n {2}http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
  expect(io.out()).toContain("1 tool       t\n");
  expect(io.out()).toContain("Watching books for changes. Press Ctrl-C to stop.");
  const client = await connect(urlIn(io));
  onTestFinished(() => client.close());
  expect(await client.callTool("t")).toBe("ok");
  await addFiles(cwd, { "books/prompts/bad.md": "fine" });
  await io.seen("books/prompts/bad.md: the problems are corrected");
  expect((await client.listPrompts().all()).map(({ name }) => name)).toEqual(["bad"]);
  await client.close();
  io.pressCtrlC();
  expect(await ended).toBe(0);
});

test("ends on SIGTERM, and does not watch with --no-watch", async () => {
  const io = fakeIo({ cwd: await temporaryFolder({ "prompts/a.md": "a" }) });
  const ended = runServe([".", "--port", "0", "--no-watch", "--name", "other", "--path", "/x"], io);
  await io.seen("Press Ctrl-C to stop.");
  expect(io.out()).toMatch(/^other 0\.0\.0 is served at\n\n {2}http:\/\/127\.0\.0\.1:\d+\/x\n/);
  expect(io.out()).not.toContain("Watching");
  io.terminate();
  expect(await ended).toBe(0);
});

test("reports a port in use as a usage error with a cure", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const io = fakeIo({ cwd: await temporaryFolder({ "prompts/a.md": "a" }) });
  await expect(runServe([".", "--port", String(port)], io)).rejects.toMatchObject({
    name: "UsageError",
    message: expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`),
    hint: "Stop the program that uses the port, or choose another port, such as any free port: --port 0",
  });
  expect(io.out()).toBe("");
});

test("reports a missing folder, and a file in its place, as a usage error", async () => {
  const cwd = await temporaryFolder({ file: "" });
  await expect(runServe(["nowhere"], fakeIo({ cwd }))).rejects.toThrow('There is no folder "nowhere".');
  await expect(runServe(["file"], fakeIo({ cwd }))).rejects.toThrow('"file" is a file, not a folder.');
});

test("asks for --allow-host if it listens for other machines", async () => {
  const io = fakeIo({ cwd: await temporaryFolder({ "prompts/a.md": "a" }) });
  const ended = runServe([".", "--port", "0", "--host", "0.0.0.0", "--no-watch"], io);
  await io.seen("--allow-host NAME");
  io.pressCtrlC();
  expect(await ended).toBe(0);
});

test("refuses requests for another host name, unless --allow-host names it", async () => {
  const cwd = await temporaryFolder({ "prompts/a.md": "a" });
  const statusOf = async (...flags: string[]): Promise<number> => {
    const io = fakeIo({ cwd });
    const ended = runServe([".", "--port", "0", "--no-watch", ...flags], io);
    await io.seen("Press Ctrl-C to stop.");
    const { port } = new URL(urlIn(io));
    const status = await postWithHost(Number(port), "books.example.com");
    io.pressCtrlC();
    await ended;
    return status;
  };
  expect(await statusOf()).toBe(403);
  expect(await statusOf("--allow-host", "books.example.com")).toBe(200);
});

test("writes only protocol messages to stdout over stdio, and problems and tool errors to stderr", async () => {
  const noisy = `${tool.split("\n")[0]}\nexport default tool({ call: () => { throw new Error("boom"); } });\n`;
  const cwd = await temporaryFolder({ "tools/crash.ts": noisy, "tools/t.ts": tool, "prompts/bad.md": "{{ x }}" });
  const stdout = new PassThrough();
  const io = fakeIo({ cwd, stdout });
  let written = "";
  stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
  const ended = runServe([".", "--stdio", "--audit"], io);
  const client = await connect(streamTransport(stdout, io.stdin));
  expect(await client.callTool("t")).toBe("ok");
  await expect(client.callTool("crash")).rejects.toThrow("Internal error");
  expect(await client.listTools().all()).toHaveLength(2);
  await client.close();
  io.stdin.end();
  expect(await ended).toBe(0);
  for (const line of written.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  const lines = io.err().split("\n");
  expect(lines[0]).toMatch(/^prompts\/bad\.md:1:4: /);
  expect(io.err()).toMatch(/^tools\/call crash: Error: boom$/m);
  const audited = lines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { name?: string; outcome: string });
  expect(audited).toContainEqual(expect.objectContaining({ name: "t", outcome: "ok" }));
  expect(audited).toContainEqual(expect.objectContaining({ name: "crash", outcome: "error" }));
});

test("offers tools with scopes to the user who starts the process, over stdio", async () => {
  const scoped = `${tool.split("\n")[0]}\nexport default tool({ scopes: ["notes:write"], call: () => "ok" });\n`;
  const stdout = new PassThrough();
  const io = fakeIo({ cwd: await temporaryFolder({ "tools/scoped.ts": scoped }), stdout });
  const ended = runServe([".", "--stdio"], io);
  const client = await connect(streamTransport(stdout, io.stdin));
  expect(await client.listTools().all()).toHaveLength(1);
  expect(await client.callTool("scoped")).toBe("ok");
  await client.close();
  io.stdin.end();
  await ended;
  expect(io.err()).toBe("");
});

test("logs no calls without --audit", async () => {
  const stdout = new PassThrough();
  const io = fakeIo({ cwd: join(await temporaryFolder({ "books/tools/t.ts": tool }), "books"), stdout });
  const ended = runServe([".", "--stdio"], io);
  const client = await connect(streamTransport(stdout, io.stdin));
  await client.callTool("t");
  await client.close();
  io.stdin.end();
  await ended;
  expect(io.err()).toBe("");
});

test("prints --help in 80 columns", async () => {
  const io = fakeIo();
  expect(await runServe(["--help"], io)).toBe(0);
  expect(
    Math.max(
      ...io
        .out()
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(80);
});

/** Opens a session with a Host header, which `fetch` does not let one set. */
function postWithHost(port: number, host: string): Promise<number> {
  const headers = { host, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path: "/mcp", method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(initialize));
  });
}

test("serves clients of 2024-11-05 with --legacy-sse", async () => {
  const cwd = await temporaryFolder({ "tools/t.ts": tool });
  const io = fakeIo({ cwd });
  const ended = runServe([".", "--port", "0", "--no-watch", "--legacy-sse"], io);
  await io.seen("Press Ctrl-C to stop.");
  const url = /http:\/\/\S+\/sse/.exec(io.out())?.[0];
  const client = await connect(url!, { revision: "2024-11-05" });
  onTestFinished(() => client.close());
  expect(await client.callTool("t")).toBe("ok");
  await client.close();
  io.pressCtrlC();
  expect(await ended).toBe(0);
});

test("has no second address without --legacy-sse", async () => {
  const cwd = await temporaryFolder({ "tools/t.ts": tool });
  const io = fakeIo({ cwd });
  const ended = runServe([".", "--port", "0", "--no-watch"], io);
  await io.seen("Press Ctrl-C to stop.");
  expect(io.out()).not.toContain("/sse");
  expect((await fetch(new URL("/sse", urlIn(io)))).status).toBe(404);
  io.pressCtrlC();
  expect(await ended).toBe(0);
});

test.each([
  [{}, ": --port 0"],
  [{ npm_lifecycle_event: "start" }, ": npm start -- --port 0"],
])("prints a complete cure for a port in use, with the environment %j", async (env, cure) => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as AddressInfo;
  const io = fakeIo({ cwd: await temporaryFolder({ "tools/t.ts": tool }), env });
  await expect(runServe([".", "--port", String(port), "--no-watch"], io)).rejects.toMatchObject({
    hint: expect.stringContaining(cure) as string,
  });
});

test("prints problems last, with their number", async () => {
  const cwd = await temporaryFolder({ "tools/t.ts": tool, "tools/run.sh": "", "prompts/bad.md": "{{ x }}" });
  const io = fakeIo({ cwd });
  const ended = runServe([".", "--port", "0", "--no-watch"], io);
  await io.seen("2 problems. The rest is served at http");
  const lines = io.err().trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines.join("\n")).toContain("tools/run.sh: this file is ignored");
  expect(lines.at(-1)).toBe(`2 problems. The rest is served at ${urlIn(io)}`);
  io.pressCtrlC();
  expect(await ended).toBe(0);
});
