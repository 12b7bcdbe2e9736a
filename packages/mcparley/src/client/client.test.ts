import { expect, test } from "vitest";
import { createServer } from "../server/server.ts";
import { prompt, resource, tool } from "../server/definition.ts";
import { openClient } from "./open-client.ts";
import { serverDialer } from "./local-dialers.ts";

const server = createServer({
  name: "demo",
  version: "1.0.0",
  tools: {
    add: tool({
      input: { type: "object", properties: { a: { type: "number" } } },
      call: ({ a }) => `got ${String(a)}`,
    }),
    ask: tool({
      call: async (_, ctx) => {
        const { ok } = await ctx.elicit({
          message: "sure?",
          schema: { type: "object", properties: { ok: { type: "boolean" } } },
        });
        return `ok: ${String(ok)}`;
      },
    }),
  },
  prompts: { hi: prompt({ get: () => "hi" }) },
  resources: { note: resource("note://a", { read: () => "text" }) },
});

for (const revision of ["auto", "2025-11-25", "2025-03-26"]) {
  test(`smoke ${revision}`, async () => {
    const client = await openClient(serverDialer(server), {
      revision,
      elicit: () => ({ action: "accept", content: { ok: true } }),
      onError: (e) => console.log(e),
    });
    expect(client.server.info?.name).toBe("demo");
    expect(await client.callTool("add", { a: 1 })).toBe("got 1");
    expect((await client.listTools().all()).length).toBe(2);
    if (revision !== "2025-03-26") expect(await client.callTool("ask")).toBe("ok: true");
    const changes: unknown[] = [];
    const sub = await client.listen({ tools: true, uris: ["note://a"] }, (c) => changes.push(c));
    server.resources.updated("note://a");
    await client.ping();
    expect(changes).toEqual([{ kind: "updated", uri: "note://a" }]);
    await sub.close();
    expect(client.inFlight).toBe(0);
    await client.close();
    await client.closed;
    expect(client.state).toBe("closed");
  });
}
