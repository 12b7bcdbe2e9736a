import { describe, expect, test } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../rpc/messages.ts";
import { resource, tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../testing/scripted-peer.ts";
import type { Client } from "../client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";
import type { ServerChange, Subscription } from "./subscription.ts";

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

function acknowledge(peer: ScriptedPeer, { id, params }: JsonRpcRequest): void {
  peer.notify("notifications/subscriptions/acknowledged", {
    notifications: params?.notifications,
    _meta: { [subscriptionId]: id },
  });
}

/** Opens a subscription on a modern peer, which the test plays. */
async function listening(
  client: Client,
  peer: ScriptedPeer,
  filter: Parameters<Client["listen"]>[0],
): Promise<{
  changes: ServerChange[];
  request: JsonRpcRequest;
  subscription: Subscription;
}> {
  const changes: ServerChange[] = [];
  const opening = client.listen(filter, (change) => changes.push(change));
  const request = await peer.request("subscriptions/listen");
  acknowledge(peer, request);
  return { changes, request, subscription: await opening };
}

describe.each(["2026-07-28", "2025-11-25", "2024-11-05"])("with a real server (%s)", (revision) => {
  const define = (): ReturnType<typeof createServer> =>
    createServer({
      name: "s",
      version: "1",
      tools: { t: tool({ call: () => "x" }) },
      resources: { n: resource("note://a", { read: () => "x" }) },
    });

  test("only the requested changes are delivered", async () => {
    const server = define();
    const client = await openClient(serverTransports(server), { revision });
    const changes: ServerChange[] = [];
    const wanted = { tools: true, prompts: true, uris: ["note://a"] };
    const subscription = await client.listen(wanted, (change) => changes.push(change));
    expect(subscription.acknowledged).toEqual({ tools: true, uris: ["note://a"] });
    server.tools.set("u", tool({ call: () => "x" }));
    server.resources.set("m", resource("note://b", { read: () => "x" }));
    server.resources.updated("note://a");
    server.resources.updated("note://b");
    await flushPromises();
    expect(changes).toContainEqual({ kind: "tools" });
    expect(changes).toContainEqual({ kind: "updated", uri: "note://a" });
    expect(changes.length).toBe(2);
    await subscription.close();
    server.tools.delete("u");
    server.resources.updated("note://a");
    await flushPromises();
    expect(changes.length).toBe(2);
    await client.close();
  });

  test("two subscriptions do not affect each other", async () => {
    const server = define();
    const client = await openClient(serverTransports(server), { revision });
    const one: ServerChange[] = [];
    const two: ServerChange[] = [];
    const first = await client.listen({ uris: ["note://a"] }, (change) => one.push(change));
    const second = await client.listen({ uris: ["note://a"] }, (change) => two.push(change));
    server.resources.updated("note://a");
    await flushPromises();
    await first.close();
    await flushPromises();
    server.resources.updated("note://a");
    await flushPromises();
    expect(one.length).toBe(1);
    expect(two.length).toBe(2);
    await second.close();
    await client.close();
  });
});

describe("on a modern revision", () => {
  test("the filter and the acknowledgment use the member names of the specification", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const opening = client.listen({ tools: true, prompts: false, resources: true, uris: ["a:b"] }, () => {});
    const request = await peer.request("subscriptions/listen");
    expect(request.params).toMatchObject({
      notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["a:b"] },
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    expect(request.params?.notifications).not.toHaveProperty("promptsListChanged");
    const notifications = { resourcesListChanged: true };
    peer.notify("notifications/subscriptions/acknowledged", { notifications, _meta: { [subscriptionId]: 99 } });
    peer.notify("notifications/subscriptions/acknowledged", { notifications, _meta: { [subscriptionId]: request.id } });
    expect((await opening).acknowledged).toEqual({ resources: true });
  });

  test("notifications are delivered to the subscription that they name", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const one = await listening(client, peer, { tools: true });
    const two = await listening(client, peer, { tools: true });
    const meta = (id: unknown): JsonObject => ({ _meta: { [subscriptionId]: id } });
    peer.notify("notifications/tools/list_changed", meta(two.request.id));
    peer.notify("notifications/tools/list_changed", meta(String(one.request.id)));
    expect(one.changes.length).toBe(0);
    expect(two.changes.length).toBe(1);
  });

  test("closing the subscription cancels the request", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const { request, subscription } = await listening(client, peer, { tools: true });
    await subscription.close();
    expect((await peer.notification("notifications/cancelled")).params).toMatchObject({ requestId: request.id });
    await subscription.closed;
    expect(client.state).toBe("open");
  });

  test("listen rejects after a refusal and after a timeout", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer), { clock });
    const refused = client.listen({ tools: true }, () => {});
    refused.catch(() => {});
    peer.refuse(await peer.request("subscriptions/listen"), { code: -32601, message: "no" });
    await expect(refused).rejects.toMatchObject({ code: -32601 });
    const silent = client.listen({ tools: true }, () => {});
    silent.catch(() => {});
    const request = await peer.request("subscriptions/listen");
    await clock.advance(60_000);
    await expect(silent).rejects.toMatchObject({ code: "timeout" });
    expect((await peer.notification("notifications/cancelled")).params).toMatchObject({ requestId: request.id });
    expect(clock.pending).toBe(0);
  });

  test("the caller's signal aborts the opening, and has no effect later", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const controller = new AbortController();
    const opening = client.listen({ tools: true }, () => {}, { signal: controller.signal });
    opening.catch(() => {});
    await peer.request("subscriptions/listen");
    controller.abort();
    await expect(opening).rejects.toMatchObject({ code: "aborted" });
    await peer.notification("notifications/cancelled");
    const { subscription } = await listening(client, peer, { tools: true });
    expect(subscription.acknowledged).toEqual({ tools: true });
  });

  test("an error thrown by onChange is reported", async () => {
    const errors: Error[] = [];
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error) });
    const opening = client.listen({ tools: true }, () => expect.fail("mine"));
    acknowledge(peer, await peer.request("subscriptions/listen"));
    await opening;
    peer.notify("notifications/tools/list_changed");
    expect(errors.map(({ message }) => message)).toEqual(["mine"]);
  });
});

describe("a subscription that breaks", () => {
  test("is reopened after a restart of the server, and every change kind is reported once", async () => {
    const clock = fakeClock();
    const [first, second] = [modernPeer(), modernPeer()];
    const client = await openClient(peerTransports(first, second), { clock });
    const one = await listening(client, first, { tools: true, uris: ["a:b"] });
    const two = await listening(client, first, { prompts: true });
    first.close(new LocalError("exited", "gone"));
    await flushPromises();
    expect(client.state).toBe("reconnecting");
    await clock.advance(500);
    for (let both = 0; both < 2; both++) acknowledge(second, await second.request("subscriptions/listen"));
    await flushPromises();
    expect(one.changes).toEqual([{ kind: "tools" }, { kind: "updated", uri: "a:b" }]);
    expect(two.changes).toEqual([{ kind: "prompts" }]);
    expect(client.state).toBe("open");
    second.notify("notifications/prompts/list_changed");
    expect(two.changes.length).toBe(2);
    expect(clock.pending).toBe(0);
  });

  test("is requested again in a legacy session", async () => {
    const clock = fakeClock();
    const subscribing = { "resources/subscribe": () => ({}), "resources/unsubscribe": () => ({}) };
    const [first, second] = [legacyPeer({ answers: subscribing }), legacyPeer({ answers: subscribing })];
    const client = await openClient(peerTransports(first, second), { clock, revision: "2025-11-25" });
    const changes: ServerChange[] = [];
    await client.listen({ resources: true, uris: ["a:b"] }, (change) => changes.push(change));
    first.close();
    await clock.advance(500);
    await flushPromises();
    expect(second.arrived.map(({ message }) => "method" in message && message.method)).toEqual([
      "initialize",
      "notifications/initialized",
      "resources/subscribe",
    ]);
    expect(changes).toEqual([{ kind: "resources" }, { kind: "updated", uri: "a:b" }]);
  });

  test("continues in the session that replaces a lost one, also if another call replaced it", async () => {
    const clock = fakeClock();
    const subscribing = { "resources/subscribe": () => ({}) };
    const [first, second] = [legacyPeer({ answers: subscribing }), legacyPeer({ answers: subscribing })];
    const dialer = Object.assign(peerTransports(first, second), { kind: "http" as const });
    const client = await openClient(dialer, { clock, revision: "2025-11-25" });
    await first.notification("notifications/initialized");
    const changes: ServerChange[] = [];
    await client.listen({ uris: ["a:b"] }, (change) => changes.push(change));
    const stillRunning = client.callTool("b");
    stillRunning.catch(() => {});
    await first.request("tools/call");
    const calling = client.callTool("a");
    first.fail(await first.request("tools/call"), new LocalError("session_lost", "404"));
    await second.notification("notifications/initialized");
    second.answer(await second.request("tools/call"), { content: [] });
    await calling;
    await clock.advance(500);
    await flushPromises();
    expect(changes).toEqual([{ kind: "updated", uri: "a:b" }]);
    first.notify("notifications/resources/updated", { uri: "a:b" });
    expect(changes.length).toBe(1);
    second.notify("notifications/resources/updated", { uri: "a:b/part" });
    expect(changes.at(-1)).toEqual({ kind: "updated", uri: "a:b/part" });
  });

  test("is reopened on the same HTTP connection if only its request fails", async () => {
    const clock = fakeClock();
    const errors: Error[] = [];
    const peer = modernPeer();
    const dialer = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(dialer, { clock, onError: (error) => errors.push(error) });
    const { request, changes } = await listening(client, peer, { tools: true });
    peer.fail(request, new LocalError("closed", "the stream broke"));
    await flushPromises();
    expect(client.state).toBe("reconnecting");
    await clock.advance(500);
    acknowledge(peer, await peer.request("subscriptions/listen"));
    await flushPromises();
    expect(changes).toEqual([{ kind: "tools" }]);
    expect(errors.map(({ message }) => message)).toEqual(["the stream broke"]);
    expect(client.state).toBe("open");
  });

  test("ends after ten attempts with increasing delays", async () => {
    const clock = fakeClock();
    const errors: Error[] = [];
    const peer = modernPeer();
    const dialer = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(dialer, { clock, onError: (error) => errors.push(error) });
    const { request, subscription } = await listening(client, peer, { tools: true });
    peer.fail(request, new LocalError("closed", "broke"));
    const at: number[] = [];
    void (async () => {
      for (;;) {
        const again = await peer.request("subscriptions/listen");
        at.push(clock.now());
        peer.fail(again, new LocalError("unreachable", "down"));
      }
    })();
    await clock.advance(3_600_000);
    await subscription.closed;
    expect(at.length).toBe(10);
    const pauses = at.map((time, index) => time - (at[index - 1] ?? 0));
    for (const [index, pause] of pauses.entries()) {
      const longest = Math.min(30_000, 500 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(longest / 2);
      expect(pause).toBeLessThanOrEqual(longest);
    }
    expect(errors.at(-1)).toMatchObject({
      message: "A subscription was lost and could not be opened again. Call listen() again if it is needed. down",
      cause: { message: "down" },
    });
    expect(await subscription.closed).toBe(errors.at(-1));
    expect(client.state).toBe("open");
    expect(clock.pending).toBe(0);
  });

  test("uses up its attempts also if it breaks right after the acknowledgment", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const dialer = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(dialer, { clock });
    const { request, subscription } = await listening(client, peer, { tools: true });
    let last = request;
    for (let time = 0; time < 10; time++) {
      peer.fail(last, new LocalError("closed", "broke"));
      await clock.advance(30_000);
      last = await peer.request("subscriptions/listen");
      acknowledge(peer, last);
      await flushPromises();
    }
    peer.fail(last, new LocalError("closed", "broke"));
    await subscription.closed;
    expect(clock.pending).toBe(0);
  });

  test("has all attempts again after a change was delivered", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const dialer = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(dialer, { clock });
    let { request } = await listening(client, peer, { tools: true });
    for (let time = 0; time < 25; time++) {
      peer.notify("notifications/tools/list_changed", { _meta: { [subscriptionId]: request.id } });
      peer.fail(request, new LocalError("closed", "broke"));
      await clock.advance(500);
      request = await peer.request("subscriptions/listen");
      acknowledge(peer, request);
      await flushPromises();
    }
    expect(client.state).toBe("open");
  });

  test("ends if it is refused while it is reopened", async () => {
    const clock = fakeClock();
    const [first, second] = [modernPeer(), modernPeer()];
    const client = await openClient(peerTransports(first, second), { clock });
    const { subscription } = await listening(client, first, { tools: true });
    first.close();
    await clock.advance(500);
    second.refuse(await second.request("subscriptions/listen"), { code: -32601, message: "no" });
    expect(await subscription.closed).toMatchObject({ code: "closed", cause: { code: -32601 } });
    expect(client.state).toBe("open");
  });

  test("releases its timer if it is closed while it waits for the next attempt", async () => {
    const clock = fakeClock();
    const [first, second] = [modernPeer(), scriptedPeer()];
    const client = await openClient(peerTransports(first, second), { clock });
    const { subscription } = await listening(client, first, { tools: true });
    first.close();
    await flushPromises();
    await client.close();
    await subscription.closed;
    expect(clock.pending).toBe(0);
    expect(client.state).toBe("closed");
  });
});
