import { afterEach, describe, expect, test } from "vitest";
import { listen } from "../../node/listen.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type RawHttp, metaOf, rawHttp } from "mcparley-tests/support/raw-http.ts";
import type { HttpOptions } from "./options.ts";
import { toFetch } from "../fetch/to-fetch.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

const open = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: open };

function serve(options: HttpOptions = {}) {
  const clock = fakeClock();
  const slow = gate();
  const tools = { slow: tool(slow), hello: tool({ call: () => "Hello" }) };
  const server = createServer({ name: "test", version: "1.0.0", clock, tools });
  const handler = toFetch(server, { health: true, ...options });
  closers.push(handler.close);
  return { client: rawHttp("http://localhost/mcp", handler.fetch), clock, slow, ...handler };
}

const ask = async (client: RawHttp, path: string, method = "GET", headers = {}): Promise<[number, string]> => {
  const answer = await client.send({ method, path, headers });
  return [answer.status, await answer.text()];
};

describe("health checks", () => {
  test("answer GET and HEAD for any Host, and no other methods", async () => {
    const { client } = serve();
    expect(await ask(client, "http://10.1.2.3/healthz")).toEqual([200, '{"status":"alive"}']);
    expect(await ask(client, "http://10.1.2.3/readyz")).toEqual([200, '{"status":"ready"}']);
    expect((await client.send({ method: "HEAD", path: "/readyz" })).status).toBe(200);
    expect((await ask(client, "/healthz", "DELETE"))[0]).not.toBe(200);
    expect((await client.send({ method: "GET", path: "/readyz" })).headers.get("cache-control")).toBe("no-store");
  });

  test("are answered at the paths of the option, and not without the option", async () => {
    const { client } = serve({ health: { live: "/up" }, path: "/mcp" });
    expect((await ask(client, "/up"))[0]).toBe(200);
    expect((await ask(client, "/readyz"))[0]).toBe(200);
    expect((await ask(client, "/healthz"))[0]).toBe(404);
    const without = serve({ health: false, path: "/mcp" });
    expect((await ask(without.client, "/healthz"))[0]).toBe(404);
  });

  test("are on by default with listen, also while it closes, and can be turned off", async () => {
    const slow = gate();
    const server = createServer({ name: "test", version: "1.0.0", tools: { slow: tool(slow) } });
    const listening = await listen(server, { port: 0 });
    closers.push(listening.close);
    const client = rawHttp(listening.url, fetch);
    expect(await ask(client, "/readyz")).toEqual([200, '{"status":"ready"}']);
    const answering = client.modern("tools/call", { name: "slow" });
    await slow.entered;
    const closing = listening.close();
    expect(await ask(client, "/readyz")).toEqual([503, '{"status":"draining"}']);
    expect((await ask(client, "/healthz"))[0]).toBe(200);
    slow.open("done");
    expect((await (await answering).json()).result).toBeDefined();
    await closing;
    const silent = await listen(server, { port: 0, health: false });
    closers.push(silent.close);
    expect((await ask(rawHttp(silent.url, fetch), "/healthz"))[0]).toBe(404);
  });
});

describe("draining", () => {
  test("reports not ready, opens no session or stream, and answers other requests", async () => {
    const { client, drain, slow } = serve();
    const session = { "mcp-session-id": (await client.post(initialize)).headers.get("mcp-session-id")! };
    const answering = client.modern("tools/call", { name: "slow" });
    await slow.entered;
    let isDrained = false;
    const draining = drain().then(() => (isDrained = true));
    expect((await ask(client, "/readyz"))[0]).toBe(503);
    for (const refused of [
      await client.post(initialize),
      await client.modern("subscriptions/listen", { notifications: {} }),
      await client.send({ method: "GET", headers: { ...session, accept: "text/event-stream" } }),
    ]) {
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).toBe("1");
    }
    expect((await client.modern("tools/call", { name: "hello" })).status).toBe(200);
    const params = { name: "hello", arguments: {} };
    expect((await client.post({ jsonrpc: "2.0", id: 2, method: "tools/call", params }, session)).status).toBe(200);
    await flushPromises();
    expect(isDrained).toBe(false);
    slow.open("done");
    expect((await (await answering).json()).result).toBeDefined();
    await draining;
  });

  test("ends a subscription with its graceful result", async () => {
    const { client, drain } = serve();
    const stream = await client.post(
      { jsonrpc: "2.0", id: 5, method: "subscriptions/listen", params: { notifications: {}, _meta: metaOf() } },
      { "mcp-method": "subscriptions/listen", "mcp-protocol-version": "2026-07-28" },
    );
    await stream.next();
    await drain();
    expect(await stream.next()).toMatchObject({ method: "notifications/cancelled" });
    expect(await stream.next()).toMatchObject({ id: 5, result: { resultType: "complete" } });
    expect(await stream.next()).toBeUndefined();
  });

  test("waits no longer than closeTimeout", async () => {
    const { client, drain, slow, clock } = serve({ closeTimeout: 1_000 });
    const answering = client.modern("tools/call", { name: "slow" });
    await slow.entered;
    const draining = drain();
    await clock.advance(1_000);
    await draining;
    slow.open("late, and answered all the same");
    expect((await answering).status).toBe(200);
  });
});
