import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, copyHandbook, serveFolder } from "../../interop/handbook.ts";
import { type RedisServer, startCluster, startRedis } from "../servers/redis.mjs";

describe.each([
  ["one server", async (): Promise<RedisServer[]> => [await startRedis({ options: ["--requirepass", "hush"] })]],
  ["a cluster", (): Promise<RedisServer[]> => startCluster()],
])("mcparley serve --store, on %s", (_name, start) => {
  let servers: RedisServer[];
  let folder: string;
  let remove: () => Promise<void>;
  const running: Running[] = [];

  beforeAll(async () => {
    servers = await start();
    ({ folder, remove } = await copyHandbook());
    const url = servers.length === 1 ? servers[0]!.url.replace("//", "//:hush@") : servers[0]!.url;
    for (const _ of [1, 2]) running.push(await serveFolder(folder, "--no-watch", "--store", url));
  });
  afterAll(async () => {
    await Promise.all(running.map((process) => process.stop()));
    await Promise.all(servers.map((server) => server.end()));
    await remove();
  });

  const post = (process: Running, message: object, session?: string): Promise<Response> =>
    fetch(process.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });

  test("a session that one process opened is served by the other, and ends in both", async () => {
    const [first, second] = running as [Running, Running];
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const opened = await post(first, { id: 1, method: "initialize", params });
    const session = opened.headers.get("mcp-session-id") ?? "";
    await post(second, { method: "notifications/initialized" }, session);
    const call = { id: 2, method: "tools/call", params: { name: "word_count", arguments: { text: "two words" } } };
    expect(await (await post(second, call, session)).json()).toMatchObject({
      result: { structuredContent: { words: 2 } },
    });
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    expect((await fetch(second.url, { method: "DELETE", headers })).status).toBe(204);
    expect((await post(first, call, session)).status).toBe(404);
    expect(first.output() + second.output()).not.toContain("hush");
  });
});
