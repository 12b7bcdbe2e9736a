import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ProtocolError } from "mcparley";
import { type Client, connect } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { command, packages, startServer } from "./handbook.ts";

const everything = path.join(packages, "@modelcontextprotocol/server-everything/dist/index.js");
const filesystem = path.join(packages, "@modelcontextprotocol/server-filesystem/dist/index.js");

/** Returns a port that is free now. The published server needs a number, and cannot choose one. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

describe.each(["stdio", "http"] as const)("our client with server-everything over %s", (transport) => {
  let client: Client;
  let stop: () => Promise<void> = async () => {};
  const asked: string[] = [];
  const reported: Error[] = [];

  beforeAll(async () => {
    let target: string | { command: string; args: string[] } = {
      command: process.execPath,
      args: [everything, "stdio"],
    };
    if (transport === "http") {
      const port = await freePort();
      const server = await startServer([everything, "streamableHttp"], /listening on port \d+/, { PORT: String(port) });
      target = `http://127.0.0.1:${port}/mcp`;
      stop = server.stop;
    }
    client = await connect(target, {
      elicit: (request, source) => {
        asked.push(`${source.during}: ${request.message}`);
        return { action: "decline" };
      },
      sample: (request) => ({
        role: "assistant",
        model: "scripted",
        content: { type: "text", text: `${request.maxTokens}` },
      }),
      roots: [{ uri: "file:///tmp", name: "tmp" }],
      onError: (error) => reported.push(error),
      extensions: [followTasks()],
    });
  });

  afterAll(async () => {
    await client.close();
    await stop();
  });

  test("detects a legacy server", () => {
    expect(client.server).toMatchObject({
      revisionKind: "legacy",
      revision: "2025-11-25",
      info: { name: "mcp-servers/everything" },
    });
  });

  test("lists everything, and calls tools with every kind of content", async () => {
    const names = (await client.listTools().all()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image", "get-structured-content"]));
    expect(await client.callTool("echo", { message: "hello" })).toBe("Echo: hello");
    const { content } = await client.callToolResult("get-tiny-image");
    expect(content.map(({ type }) => type)).toContain("image");
    expect(await client.callTool("get-structured-content", { location: "New York" })).toMatchObject({
      conditions: expect.any(String) as string,
    });
    const links = await client.callToolResult("get-resource-links", { count: 2 });
    expect(links.content.filter(({ type }) => type === "resource_link")).toHaveLength(2);
  });

  test("receives all progress before the result", async () => {
    const seen: number[] = [];
    await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.2, steps: 4 },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test("follows a task, and reports its status messages as progress", async () => {
    const texts: unknown[] = [];
    const report = await client.callTool(
      "simulate-research-query",
      { topic: "tasks" },
      { onProgress: ({ message }) => texts.push(message) },
    );
    expect(report).toContain("Research Report");
    expect(texts.length).toBeGreaterThan(1);
    expect(new Set(texts).size).toBe(texts.length);
  });

  test("cancels a call, and can be used afterwards", async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, onProgress: () => controller.abort() };
    const call = client.callTool("trigger-long-running-operation", { duration: 5, steps: 50 }, options);
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    expect(await client.callTool("echo", { message: "still here" })).toBe("Echo: still here");
  });

  test("gets prompts, completes arguments, reads resources and templates", async () => {
    expect((await client.listPrompts().all()).map(({ name }) => name)).toContain("args-prompt");
    const { messages } = await client.getPrompt("args-prompt", { city: "Paris" });
    expect(JSON.stringify(messages)).toContain("Paris");
    const ref = { type: "ref/prompt", name: "completable-prompt" } as const;
    const { values } = await client.complete(ref, { name: "department", value: "Eng" });
    expect(values).toContain("Engineering");
    const [template] = await client.listResourceTemplates().all();
    expect(template?.uriTemplate).toContain("{resourceId}");
    const { contents } = await client.readResource("demo://resource/dynamic/text/1");
    expect(contents).toMatchObject([{ text: expect.stringContaining("Resource 1") as string }]);
  });

  test("declines elicitation with the name of the call, and answers sampling and roots requests", async () => {
    const result = await client.callToolResult("trigger-elicitation-request");
    expect(JSON.stringify(result.content)).toMatch(/declin/i);
    expect(asked).toEqual([expect.stringContaining('tools/call "trigger-elicitation-request": ')]);
    const sampled = await client.callToolResult("trigger-sampling-request", { prompt: "hi", maxTokens: 77 });
    expect(JSON.stringify(sampled.content)).toContain("77");
    expect(JSON.stringify(await client.callToolResult("get-roots-list"))).toContain("file:///tmp");
  });

  test("rejects with an error that has the cause if the server refuses a request", async () => {
    await expect(client.request("no/such-method")).rejects.toBeInstanceOf(ProtocolError);
    await expect(client.callTool("echo", { message: 5 })).rejects.toThrow(/message/);
  });

  test("reports no error", () => {
    expect(reported).toEqual([]);
  });
});

describe("our client with server-filesystem", () => {
  let folder: string;
  let client: Client;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "mcparley-files-"));
    await writeFile(path.join(folder, "note.txt"), "hello from a file\n");
    client = await connect({ command: process.execPath, args: [filesystem, folder] });
  });
  afterAll(async () => {
    await client.close();
    await rm(folder, { recursive: true });
  });

  test("reads and writes inside its folder, and receives an error outside of it", async () => {
    expect(JSON.stringify(await client.callTool("read_text_file", { path: path.join(folder, "note.txt") }))).toContain(
      "hello from a file",
    );
    await client.callTool("write_file", { path: path.join(folder, "new.txt"), content: "new" });
    expect(JSON.stringify(await client.callTool("list_directory", { path: folder }))).toContain("new.txt");
    await expect(client.callTool("read_text_file", { path: "/etc/passwd" })).rejects.toMatchObject({
      code: "tool_error",
    });
  });
});

describe("our command with published servers", () => {
  const run = async (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> => {
    const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [status] = (await once(child, "close")) as [number];
    return { status, stdout, stderr };
  };
  const target = ["--", process.execPath, everything, "stdio"];

  test("lists and calls over stdio", async () => {
    const listed = await run("list", "--json", ...target);
    expect(listed).toMatchObject({ status: 0 });
    expect(JSON.stringify(JSON.parse(listed.stdout))).toContain("get-sum");
    const called = await run("call", "get-sum", "a:=2", "b:=40", ...target);
    expect(called).toMatchObject({ status: 0, stdout: expect.stringContaining("42") as string });
  });

  test("reports an unknown tool with a suggestion", async () => {
    const { status, stderr } = await run("call", "get-sun", "a:=2", ...target);
    expect(status).not.toBe(0);
    expect(stderr).toContain("get-sum");
  });

  test("exits with code 4 if the server is unreachable", async () => {
    const port = await freePort();
    expect(await run("list", `http://127.0.0.1:${port}/mcp`)).toMatchObject({ status: 4 });
  });

  test("exits with code 4 and names the program if it does not exist", async () => {
    const { status, stderr } = await run("list", "--", "no-such-program-of-ours");
    expect(status).toBe(4);
    expect(stderr).toContain("no-such-program-of-ours");
  });
});
