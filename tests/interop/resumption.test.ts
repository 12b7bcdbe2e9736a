import { randomUUID } from "node:crypto";
import { Client as OfficialClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryEventStore } from "@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { connect } from "mcparley/client";
import { listen } from "mcparley/node";
import { createServer, memoryStore, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { listenOn } from "./official-http-sse.ts";

/** Resolves when an event has occurred `count` times. */
function times(count: number): { reached: Promise<void>; happened: () => void } {
  let left = count;
  let reach: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, happened: () => void (--left === 0 && reach()) };
}

test("a call of the official client (v1) continues after our server has ended its connection", async () => {
  const resumed = times(3);
  const server = createServer({
    name: "ours",
    version: "1.0.0",
    store: memoryStore(),
    tools: {
      work: tool({
        call: async (_, ctx) => {
          ctx.progress(1);
          await resumed.reached;
          ctx.progress(2);
          return "done";
        },
      }),
    },
  });
  const listening = await listen(server, {
    port: 0,
    events: { maxStream: 100, retry: 10 },
    auth: (head) => void (head.header("last-event-id")?.startsWith("p") && resumed.happened()),
  });
  const client = new OfficialClient({ name: "official", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(listening.url)));
  const seen: number[] = [];
  const onprogress = ({ progress }: { progress: number }): unknown => seen.push(progress);
  const { content } = await client.callTool({ name: "work" }, undefined, { onprogress });
  expect(content).toEqual([{ type: "text", text: "done" }]);
  expect(seen[0]).toBe(1);
  await client.close();
  await listening.close();
});

test("a call of our client continues after the official server (v1) has ended its connection", async () => {
  const resumed = times(2);
  const makeServer = (): McpServer => {
    const server = new McpServer({ name: "official", version: "1.0.0" });
    server.registerTool("work", { description: "Lets its connection go." }, async (extra) => {
      extra.closeSSEStream?.();
      await resumed.reached;
      return { content: [{ type: "text", text: "done" }] };
    });
    return server;
  };
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const official = await listenOn((request, response) => {
    if (request.method === "GET") resumed.happened();
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    if (known) return void known.handleRequest(request, response);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new InMemoryEventStore(),
      retryInterval: 10,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    return void makeServer()
      .connect(transport as never)
      .then(() => transport.handleRequest(request, response));
  }, "/mcp");
  const client = await connect(official.url, { revision: "2025-11-25" });
  expect(await client.callTool("work")).toBe("done");
  await client.close();
  await official.close();
});
