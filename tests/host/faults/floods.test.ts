import { describe, expect, test } from "vitest";
import type { InProcessServer } from "mcparley/client";
import { type Flood, flood } from "../hostile/servers/floods.ts";
import { rawServer, toolNamed } from "../hostile/servers/raw-server.ts";
import { faultHost, revisions } from "./fault-host.ts";

const kinds: readonly Flood[] = ["progress", "logs", "list_changed", "updated", "unknown"];

/** Counts the requests that a server receives. */
function counted(server: InProcessServer): { server: InProcessServer; requests: Map<string, number> } {
  const requests = new Map<string, number>();
  return {
    requests,
    server: {
      ...server,
      attach: (transport) =>
        server.attach({
          ...transport,
          send: (message, ...rest) => transport.send(message, ...rest),
          start: (listener) =>
            transport.start({
              ...listener,
              message(value, ...rest) {
                const { method } = value as { method?: string };
                if (method !== undefined) requests.set(method, (requests.get(method) ?? 0) + 1);
                return listener.message(value, ...rest);
              },
            }),
        }),
    },
  };
}

describe.each(revisions)("a flood of 100,000 notifications in a call (%s)", (revision) => {
  test.each(kinds)(
    "%s: the call ends, another server answers meanwhile, and the lists are read a few times",
    async (kind) => {
      const { server, requests } = counted(flood(kind));
      await using fault = await faultHost(server, { revision });
      let updates = 0;
      await fault.host.watch({ server: "bad", uri: "test://flooded" }, () => updates++);
      const before = requests.get("tools/list") ?? 0;
      const flooded = fault.host.callTool("bad__flood", {});
      expect(await fault.ping()).toBe("pong");
      expect(await flooded).toMatchObject({ status: "result", result: { content: [{ text: "done" }] } });
      expect((requests.get("tools/list") ?? 0) - before).toBeLessThan(10);
      expect(await fault.ping()).toBe("pong");
    },
  );

  test("a flood of changes without a change makes no new catalogue", async () => {
    await using fault = await faultHost(flood("list_changed", 1_000), { revision });
    const { catalogue } = fault.host;
    await fault.host.callTool("bad__flood", {});
    await fault.ping();
    expect(fault.host.catalogue).toBe(catalogue);
  });
});

test("a call of another server is answered while a server floods without an end", async () => {
  let sent = 0;
  const endless = rawServer({ name: "endless" }, async ({ id, method, params }, connection) => {
    if (method === "tools/list") return { tools: [toolNamed("flood")] };
    if (method !== "tools/call") return undefined;
    const { progressToken } = params["_meta"] as { progressToken: unknown };
    while (!connection.cancelled.has(id) && !connection.isClosed) {
      for (let index = 0; index < 1_000; index++) {
        connection.notify("notifications/progress", { progressToken: progressToken as string, progress: ++sent });
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { content: [] };
  });
  await using fault = await faultHost(endless, { revision: "2025-11-25" });
  const cancel = new AbortController();
  const flooded = fault.host.callTool("bad__flood", {}, { signal: cancel.signal });
  for (let index = 0; index < 20; index++) expect(await fault.ping()).toBe("pong");
  cancel.abort(new Error("The user cancelled."));
  await expect(flooded).rejects.toThrow("The user cancelled.");
  expect(await fault.ping()).toBe("pong");
});
