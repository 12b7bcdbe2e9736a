import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InProcessServer } from "mcparley/client";
import { describe, expect, test, vi } from "vitest";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { HostOptions } from "../../../packages/host/src/host/host.ts";
import { changingDefinitions, changingTool } from "../hostile/servers/lists.ts";
import { type RawConnection, rawServer } from "../hostile/servers/raw-server.ts";
import { revisions } from "./fault-host.ts";

const done = { content: [{ type: "text", text: "done" }] };
const [before, after] = changingDefinitions;

/** A server whose tool changes when the test changes it. It counts the calls. */
function switchable(): InProcessServer & { calls: number; change(notify: boolean): void } {
  const state = { calls: 0, isChanged: false };
  const connections = new Set<RawConnection>();
  const server = rawServer({ name: "switchable" }, ({ method }, connection) => {
    connections.add(connection);
    if (method === "tools/list") return { tools: [state.isChanged ? after : before] };
    if (method === "tools/call") state.calls++;
    return method === "tools/call" ? done : undefined;
  });
  return {
    ...server,
    get calls() {
      return state.calls;
    },
    change(notify) {
      state.isChanged = true;
      for (const { listening, ...connection } of notify ? connections : []) {
        const _meta = listening === undefined ? {} : { "io.modelcontextprotocol/subscriptionId": listening };
        connection.notify("notifications/tools/list_changed", { _meta });
      }
    },
  };
}

const options: HostOptions = {
  folder: false,
  policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
};

describe.each(revisions)("a tool that changes after its listing (%s)", (revision) => {
  test("with a notification: it leaves the catalogue until the user has accepted the change", async () => {
    const bad = switchable();
    let ask!: () => void;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const review = vi.fn(() => (ask(), { accepted: [] }));
    const servers = { bad: { target: bad, revision } };
    await using host = await createHost({ ...options, servers, renderer: { review } });
    const catalogue = await host.ready();
    expect(catalogue.tools).toHaveLength(1);
    const gone = new Promise<void>((resolve) =>
      host.subscribe((event) => void (event.type === "catalogue" && host.catalogue.tools.length === 0 && resolve())),
    );
    bad.change(true);
    await gone;
    await expect(host.callTool("bad__notes", {})).rejects.toThrow("bad__notes");
    expect(bad.calls).toBe(0);
    await asked;
    expect(review).toHaveBeenCalledOnce();
  });

  test("without a notification: it is not called after the next connection has read the list", async () => {
    const servers = { bad: { target: changingTool(), revision } };
    await using host = await createHost({ ...options, servers });
    const catalogue = await host.ready();
    expect(catalogue.tools).toHaveLength(1);
    await host.servers.get("bad")?.reconnect();
    await host.ready();
    expect(host.catalogue.tools).toHaveLength(0);
    await expect(host.callTool("bad__notes", {})).rejects.toThrow("bad__notes");
  });

  test("during the approval: it is not called, although the user allows the call", async () => {
    const bad = switchable();
    let changed!: Promise<void>;
    const renderer = {
      async approve() {
        changed = new Promise<void>((resolve) =>
          host.subscribe((event) => void (event.type === "catalogue" && resolve())),
        );
        bad.change(true);
        await changed;
        return { action: "allow" as const };
      },
    };
    const policy = { trust: "configured", review: "changes" } as const;
    await using host = await createHost({ ...options, policy, renderer, servers: { bad: { target: bad, revision } } });
    await host.ready();
    const outcome = await host.callTool("bad__notes", {});
    expect(outcome.status).not.toBe("result");
    expect(bad.calls).toBe(0);
  });
});

test("a stored tool that changes before the connection is not called", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley changes-"));
  try {
    const state = { isChanged: false, calls: 0 };
    const server = await changingSite(state);
    const both: HostOptions = { ...options, folder, servers: { bad: server.url } };
    const first = await createHost(both);
    expect((await first.ready()).tools).toHaveLength(1);
    await first.close();
    state.isChanged = true;
    const second = await createHost(both);
    const known = new Promise<void>((resolve) =>
      second.subscribe((event) => void (event.type === "catalogue" && resolve())),
    );
    await known;
    expect(second.servers.get("bad")?.state).toBe("idle");
    expect(second.catalogue.tools).toHaveLength(1);
    const outcome = await second.callTool("bad__notes", {});
    expect(outcome).toMatchObject({ status: "failed", mayHaveRun: false });
    expect(outcome).toMatchObject({ message: expect.stringContaining("has changed since it was listed") as string });
    expect(state.calls).toBe(0);
    await second.close();
    await server.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Starts a server over HTTP, because the lists of servers in this process are not stored. */
async function changingSite(state: { isChanged: boolean; calls: number }) {
  const { createServer } = await import("node:http");
  const { json } = await import("node:stream/consumers");
  const http = createServer((request, response) => {
    void (async () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method } = (await json(request)) as { id?: number; method: string };
      if (method === "tools/call") state.calls++;
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "site", version: "1.0.0" },
        },
        "tools/list": { tools: [state.isChanged ? after : before] },
        "tools/call": done,
      };
      if (id === undefined) return response.writeHead(202).end();
      const result = results[method];
      const reply = result ? { result } : { error: { code: -32601, message: "Unknown method" } };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as { port: number }).port}/mcp`,
    close: () =>
      new Promise<void>((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
