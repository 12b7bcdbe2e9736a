import { once } from "node:events";
import { createServer as createProbe } from "node:net";
import path from "node:path";
import type { Client as OfficialClient } from "@modelcontextprotocol/sdk/client/index.js";
import { type Client, connect, forgetRevisions } from "mcparley/client";
import { type RunningHttpServer, listen } from "mcparley/node";
import { type Server, createServer, tool } from "mcparley/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { packages, startServer } from "./handbook.ts";
import { type Listening as Official, officialClient, officialServer } from "./official-http-sse.ts";

afterEach(forgetRevisions);

function ourServer(): Server {
  const server: Server = createServer({
    name: "ours",
    version: "1.0.0",
    tools: {
      echo: tool({
        input: { type: "object", properties: { text: { type: "string" } } },
        call: ({ text }) => String(text),
      }),
      ask: tool({
        call: async (_, ctx) => {
          const question = { role: "user" as const, content: { type: "text" as const, text: "Hello?" } };
          return JSON.stringify((await ctx.sample({ messages: [question], maxTokens: 10 })).content);
        },
      }),
      wait: tool({
        call: (_, ctx) => {
          ctx.progress(1);
          return new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve("aborted")));
        },
      }),
      grow: tool({
        call: () => {
          server.tools.set("grown", tool({ call: () => "" }));
          return "grown";
        },
      }),
    },
  });
  return server;
}

describe("the official client (v1) over HTTP+SSE with our server", () => {
  let listening: RunningHttpServer;
  let client: OfficialClient;
  let changed: () => void = () => {};
  const url = (): string => listening.url.replace(/\/mcp$/, "/sse");

  beforeAll(async () => {
    listening = await listen(ourServer(), { port: 0, legacySse: true });
    client = await officialClient(url(), () => changed());
  });
  afterAll(async () => {
    await client.close();
    await listening.close();
  });

  test("connects and calls tools", async () => {
    expect(client.getServerVersion()).toMatchObject({ name: "ours" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    const { content } = await client.callTool({ name: "echo", arguments: { text: "héllo" } });
    expect(content).toEqual([{ type: "text", text: "héllo" }]);
  });

  test("answers sampling", async () => {
    const { content } = await client.callTool({ name: "ask" });
    expect(content).toEqual([{ type: "text", text: '{"type":"text","text":"Hi."}' }]);
  });

  test("cancels a call, and can be used afterwards", async () => {
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort() };
    await expect(client.callTool({ name: "wait" }, undefined, options)).rejects.toThrow();
    expect(await client.ping()).toEqual({});
  });

  test("is notified that the list of tools has changed", async () => {
    const received = new Promise<void>((resolve) => {
      changed = resolve;
    });
    await client.callTool({ name: "grow" });
    await received;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("grown");
  });

  test("several clients that use the same ids at the same time receive their own results", async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => officialClient(url())));
    const texts = await Promise.all(
      clients.map(
        async (one, index) => (await one.callTool({ name: "echo", arguments: { text: `${index}` } })).content,
      ),
    );
    expect(texts).toEqual(clients.map((_, index) => [{ type: "text", text: `${index}` }]));
    await Promise.all(clients.map((one) => one.close()));
  });

  test("our client connects to the same server at both URLs", async () => {
    const modern = await connect(listening.url);
    const old = await connect(url());
    expect(modern.server.revision).toBe("2026-07-28");
    expect(old.server.revision).toBe("2025-11-25");
    expect(await old.callTool("echo", { text: "both" })).toBe("both");
    await Promise.all([modern.close(), old.close()]);
  });
});

describe("our client with the official server (v1) over HTTP+SSE", () => {
  let official: Official;
  let client: Client;

  beforeAll(async () => {
    official = await officialServer();
    client = await connect(official.url, {
      sample: () => ({ role: "assistant", model: "scripted", content: { type: "text", text: "Hi." } }),
    });
  });
  afterAll(async () => {
    await client.close();
    await official.close();
  });

  test("detects HTTP+SSE by the server's refusal, and does not probe again", async () => {
    expect(client.server).toMatchObject({ revisionKind: "legacy", info: { name: "official" } });
    expect(official.requests.slice(0, 4)).toEqual(["POST /sse", "POST /sse", "GET /sse", "POST /messages"]);
    official.requests.length = 0;
    const again = await connect(official.url);
    expect(official.requests.filter((request) => request === "POST /sse")).toEqual([]);
    await again.close();
  });

  test("calls tools, and receives progress", async () => {
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["count", "ask", "grow"]);
    const seen: number[] = [];
    expect(await client.callTool("count", {}, { onProgress: ({ progress }) => seen.push(progress) })).toBe("five");
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("answers sampling requests of the official server", async () => {
    expect(await client.callTool("ask")).toBe('{"type":"text","text":"Hi."}');
  });

  test("receives change notifications", async () => {
    let received: () => void = () => {};
    const listed = new Promise<void>((resolve) => {
      received = resolve;
    });
    const subscription = await client.listen({ tools: true }, received);
    await client.callTool("grow");
    await listed;
    await subscription.close();
  });
});

describe("our client with server-everything over HTTP+SSE", () => {
  let client: Client;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const probe = createProbe().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as { port: number };
    probe.close();
    await once(probe, "close");
    const everything = path.join(packages, "@modelcontextprotocol/server-everything/dist/index.js");
    const server = await startServer([everything, "sse"], /running on port \d+/, { PORT: String(port) });
    stop = server.stop;
    client = await connect(`http://127.0.0.1:${port}/sse`);
  });
  afterAll(async () => {
    await client.close();
    await stop();
  });

  test("lists and calls tools, gets prompts and reads resources", async () => {
    const tools = (await client.listTools().all()).map(({ name }) => name);
    expect(tools).toContain("echo");
    expect(await client.callTool("echo", { message: "hi" })).toContain("hi");
    expect((await client.listPrompts().all()).length).toBeGreaterThan(0);
    const [resource] = await client.listResources().all();
    expect((await client.readResource(resource?.uri ?? "")).contents).toHaveLength(1);
  });
});
