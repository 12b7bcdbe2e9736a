import { expect, test } from "vitest";
import { resource, tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";

const _meta = { "com.example/trace": { id: 1 } };

test.each(["2024-11-05", "2025-11-25", "2026-07-28"])(
  "the client receives _meta of progress, log messages and changes on %s",
  async (revision) => {
    const server = createServer({
      name: "s",
      version: "1",
      tools: {
        t: tool({
          call: (_, ctx) => {
            ctx.progress({ progress: 1, total: 2, _meta });
            ctx.log.error("broken", "db", _meta);
            ctx.log.error("plain");
            return "done";
          },
        }),
      },
      resources: { r: resource("r://1", { read: () => "" }) },
    });
    const seen: unknown[] = [];
    const client = await openClient(serverTransports(server), {
      revision,
      onLog: (message) => void seen.push(message),
    });
    const changes: unknown[] = [];
    const subscription = await client.listen({ uris: ["r://1"] }, (change) => void changes.push(change));
    await client.callTool("t", {}, { logLevel: "debug", onProgress: (progress) => void seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 2, _meta },
      { level: "error", logger: "db", data: "broken", _meta },
      { level: "error", data: "plain" },
    ]);
    server.resources.updated("r://1", _meta);
    server.resources.updated("r://1");
    await flushPromises();
    expect(changes).toEqual([
      { kind: "updated", uri: "r://1", _meta },
      { kind: "updated", uri: "r://1" },
    ]);
    expect(() => server.resources.updated("r://1", { "a b": 1 })).toThrow('the invalid key "a b"');
    await subscription.close();
    await client.close();
  },
);

test.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "_meta of an elicitation reaches the host, and _meta of its result the server, on %s",
  async (revision) => {
    let raw: unknown;
    const server = createServer({
      name: "s",
      version: "1",
      tools: {
        t: tool({
          call: async (_, ctx) => {
            await ctx.elicit({ message: "?", schema: { type: "object", properties: {} }, meta: _meta });
            return "done";
          },
        }),
      },
    });
    const client = await openClient(serverTransports(server), {
      revision,
      elicit: (question) => {
        raw = question._meta;
        return { action: "accept", content: {}, _meta };
      },
    });
    expect(await client.callTool("t")).toBe("done");
    expect(raw).toMatchObject(_meta);
    await client.close();
  },
);
