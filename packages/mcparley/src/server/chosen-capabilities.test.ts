import { describe, expect, test } from "vitest";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { connect } from "../connect.ts";
import { toFetch } from "../http/fetch/to-fetch.ts";
import { createServer } from "./create-server.ts";
import { prompt, resource, tool } from "./definition.ts";
import type { AnyServerDefinition } from "./core/options.ts";

const modern = "2026-07-28";
const logging = tool({ call: (_, { log }) => (log.error("logged"), "done") });
const all = {
  tools: { logging },
  prompts: { p: prompt({ get: () => "" }) },
  resources: { r: resource("r:a", { read: () => "" }) },
};

function serverWith(definition: Partial<AnyServerDefinition>) {
  return createServer({ name: "x", version: "1", ...all, ...definition });
}

/** Attaches a peer, and returns the capabilities that the server declared to it. */
async function attachPeer(version: string, definition: Partial<AnyServerDefinition>) {
  const server = serverWith(definition);
  if (version !== modern) {
    const peer = await rawPeer(server);
    return { server, peer, capabilities: (await openSession(peer, version)).capabilities };
  }
  const meta = modernMeta(modern, {}, { "io.modelcontextprotocol/logLevel": "debug" });
  const peer = await rawPeer(server, { meta });
  return { server, peer, capabilities: (await peer.request("server/discover")).result.capabilities };
}

const notificationsOf = ({ received }: RawPeer): string[] =>
  received.flatMap((message) => ("method" in message ? message.method : []));

describe.each(["2024-11-05", "2025-11-25", modern])("on revision %s", (version) => {
  test("a server declares every capability that its definitions use by default", async () => {
    expect((await attachPeer(version, {})).capabilities).toEqual({
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    });
  });

  test("a server without listChanged does not declare it, and sends no changes of lists", async () => {
    const { server, peer, capabilities } = await attachPeer(version, { capabilities: { listChanged: false } });
    expect(capabilities).toEqual({ logging: {}, tools: {}, prompts: {}, resources: { subscribe: true } });
    if (version === modern) {
      void peer.request("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "s" });
      const { params } = await peer.nextNotification("notifications/subscriptions/acknowledged");
      expect(params?.notifications).toEqual({});
    }
    server.tools.set("more", logging);
    await peer.settled();
    expect(notificationsOf(peer)).not.toContain("notifications/tools/list_changed");
    await peer.close();
  });

  test("a server without subscribe does not declare it, and refuses subscriptions", async () => {
    const { server, peer, capabilities } = await attachPeer(version, { capabilities: { subscribe: false } });
    expect(capabilities).toMatchObject({ resources: { listChanged: true } });
    expect(capabilities).not.toHaveProperty("resources.subscribe");
    if (version === modern) {
      void peer.request("subscriptions/listen", { notifications: { resourceSubscriptions: ["r:a"] } }, { id: "s" });
      const { params } = await peer.nextNotification("notifications/subscriptions/acknowledged");
      expect(params?.notifications).toEqual({});
    } else {
      for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
        expect((await peer.request(method, { uri: "r:a" })).error.code).toBe(-32601);
      }
    }
    server.resources.updated("r:a");
    await peer.settled();
    expect(notificationsOf(peer)).not.toContain("notifications/resources/updated");
    await peer.close();
  });

  test("a server without logging does not declare it, and sends no log messages", async () => {
    const { peer, capabilities } = await attachPeer(version, { capabilities: { logging: false } });
    expect(capabilities).not.toHaveProperty("logging");
    if (version !== modern) {
      expect((await peer.request("logging/setLevel", { level: "debug" })).error.code).toBe(-32601);
    }
    expect((await peer.request("tools/call", { name: "logging" })).result).toMatchObject({
      content: [{ text: "done" }],
    });
    expect(notificationsOf(peer)).not.toContain("notifications/message");
    await peer.close();
  });

  test("experimental capabilities of both sides are declared and can be read", async () => {
    let seen: unknown;
    const look = tool({ call: (_, { peer }) => ((seen = peer.capabilities.experimental), "done") });
    const server = serverWith({ tools: { look }, experimental: { "example.com/fast": { level: 2 } } });
    const client = await connect(server, { revision: version, experimental: { "example.com/slow": {} } });
    await client.callTool("look");
    expect(seen).toEqual({ "example.com/slow": {} });
    expect(client.server.capabilities.experimental).toEqual({ "example.com/fast": { level: 2 } });
    await client.close();
  });
});

describe("the revisions that a server serves", () => {
  test("a legacy client of a modern server receives an error that names the versions", async () => {
    const peer = await rawPeer(serverWith({ revisions: [modern] }));
    const clientInfo = { name: "raw", version: "1" };
    const { error } = await peer.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    expect(error.code).toBe(-32022);
    expect(error.message).toContain(`Supported: ${modern}.`);
    expect(error.data).toEqual({ supported: [modern], requested: "2025-11-25" });
    await peer.close();
  });

  test.each([true, false])("over HTTP, with sessions %s, the error has status 400", async (sessions) => {
    const http = rawHttp("http://localhost/mcp", toFetch(serverWith({ revisions: [modern] }), { sessions }).fetch);
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    expect(answer.status).toBe(400);
    expect(answer.headers.has("mcp-session-id")).toBe(false);
    expect((await answer.json()).error.data).toEqual({ supported: [modern], requested: "2025-11-25" });
    for (const headers of [{}, { "mcp-protocol-version": "2025-06-18" }]) {
      const other = await http.post({ jsonrpc: "2.0", id: 2, method: "tools/list" }, headers);
      expect(other.status).toBe(400);
    }
    const { result } = await (await http.modern("tools/list")).json();
    expect(result.tools).toHaveLength(1);
  });

  test("a modern client of a legacy server receives the versions, and a client of both kinds falls back", async () => {
    const server = serverWith({ revisions: ["2025-06-18"] });
    const peer = await rawPeer(server, { meta: modernMeta(modern) });
    const { error } = await peer.request("server/discover");
    expect(error).toMatchObject({ code: -32022, data: { supported: ["2025-06-18"], requested: modern } });
    await peer.close();
    const client = await connect(server);
    expect(client.server.revision).toBe("2025-06-18");
    await client.close();
  });

  test("a session is opened in a served revision only", async () => {
    const server = serverWith({ revisions: [modern, "2025-06-18", "2025-03-26"] });
    for (const [asked, opened] of [
      ["2025-03-26", "2025-03-26"],
      ["2025-11-25", "2025-06-18"],
      ["2024-11-05", "2025-06-18"],
    ] as const) {
      const peer = await rawPeer(server);
      expect((await openSession(peer, asked)).protocolVersion).toBe(opened);
      await peer.close();
    }
  });

  test("server/discover names the served revisions, the newest first", async () => {
    const peer = await rawPeer(serverWith({ revisions: ["2025-03-26", modern] }), { meta: modernMeta(modern) });
    expect((await peer.request("server/discover")).result.supportedVersions).toEqual([modern, "2025-03-26"]);
    await peer.close();
  });

  test("HTTP requests with the header of another revision are refused with the list", async () => {
    const http = rawHttp("http://localhost/mcp", toFetch(serverWith({ revisions: ["2025-11-25"] })).fetch);
    const answer = await http.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": "2025-06-18" });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.message).toContain("Supported: 2025-11-25.");
  });

  test.each([
    [[], "revisions is empty"] as const,
    [["2026-07-28", "1999-01-01"], '"1999-01-01" does not exist'] as const,
  ])("the list %j is refused", (revisions, message) => {
    expect(() => serverWith({ revisions })).toThrow(message);
  });
});
