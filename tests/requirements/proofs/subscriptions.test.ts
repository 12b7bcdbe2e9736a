import { expect } from "vitest";
import { type TransportFactory, type JsonObject, MetaKey, openClient, prompt, resource } from "../library.ts";
import { proves } from "../proves.ts";
import { type RawMessage, isNotification, turns } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { stdioScripted } from "../../support/scripted-server.ts";
import { echo } from "../world/subjects.ts";
import { type World, discoverResult } from "../world/world.ts";

const note = resource("note://a", { read: () => "text" });
const all = {
  tools: { echo },
  prompts: { p: prompt({ get: () => "" }) },
  resources: { note },
};

/** Subscribes, and waits for the acknowledgment. */
async function listening(peer: RawPeer, notifications: JsonObject, id: string | number): Promise<RawMessage> {
  peer.start("subscriptions/listen", { notifications }, { id });
  return peer.next((message) => message.method === "notifications/subscriptions/acknowledged" && idOf(message) === id);
}

const idOf = (message: RawMessage): unknown => {
  const carrier = message.params ?? message.result;
  return (carrier?._meta as JsonObject | undefined)?.[MetaKey.subscriptionId];
};

function changeAll({ server }: World): void {
  server.tools.set("more", echo);
  server.prompts.set("more", prompt({ get: () => "" }));
  server.resources.set("more", resource("note://b", { read: () => "" }));
  server.resources.updated("note://a");
  server.resources.updated("note://b");
}

const changesIn = (peer: RawPeer): string[] =>
  peer.received
    .filter((message) => isNotification(message) && !message.method.includes("acknowledged"))
    .map(({ method, params }) => (typeof params.uri === "string" ? params.uri : method));

proves("subscriptions.filter.requested-only", async (world) => {
  const peer = await world.serve(all);
  await listening(peer, { promptsListChanged: true }, 1);
  changeAll(world);
  await peer.settled();
  expect(changesIn(peer)).toEqual(["notifications/prompts/list_changed"]);
});

proves("subscriptions.filter.optional", async (world) => {
  const peer = await world.serve(all);
  await listening(peer, {}, 1);
  await listening(peer, { toolsListChanged: false }, 2);
  changeAll(world);
  await peer.settled();
  expect(changesIn(peer)).toEqual([]);
});

proves("subscriptions.filter.uris", async (world) => {
  const peer = await world.serve(all);
  await listening(peer, { resourceSubscriptions: ["note://a"] }, 1);
  changeAll(world);
  await peer.settled();
  expect(changesIn(peer)).toEqual(["note://a"]);
});

proves("subscriptions.filter.client", async (world) => {
  const { client, server } = await world.connect();
  const opening = client.listen({ tools: true, uris: ["note://a"] }, () => {});
  const request = await server.request("subscriptions/listen");
  expect(request.params.notifications).toEqual({ toolsListChanged: true, resourceSubscriptions: ["note://a"] });
  acknowledge(server, request);
  await opening;
});

proves("subscriptions.acknowledged.first", async (world) => {
  const peer = await world.serve(all);
  peer.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "s" });
  world.server.tools.set("more", echo);
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  world.server.tools.set("even-more", echo);
  await peer.nextNotification("notifications/tools/list_changed");
  const about = peer.received.filter((message) => idOf(message) === "s");
  expect(about[0]?.method).toBe("notifications/subscriptions/acknowledged");
});

proves("subscriptions.acknowledged.subset", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  const asked = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["note://a"], unheardOf: 1 };
  const { params } = await listening(peer, asked, 1);
  expect(params.notifications).toEqual({ toolsListChanged: true });
});

type Scripted = Awaited<ReturnType<World["connect"]>>["server"];

function acknowledge(server: Scripted, request: RawMessage, notifications = request.params.notifications): void {
  const _meta = { [MetaKey.subscriptionId]: request.id };
  server.notify("notifications/subscriptions/acknowledged", { _meta, notifications }, request);
}

function change(server: Scripted, request: RawMessage, kind = "tools"): void {
  const _meta = { [MetaKey.subscriptionId]: request.id };
  server.notify(`notifications/${kind}/list_changed`, { _meta }, request);
}

/** A client with two subscriptions, which its server has acknowledged. */
async function two(world: World) {
  const { client, server } = await world.connect();
  const changes: string[] = [];
  const openings = ["first", "second"].map((name) => client.listen({ tools: true }, () => changes.push(name)));
  const requests = [await server.request("subscriptions/listen"), await server.request("subscriptions/listen")];
  for (const request of requests) acknowledge(server, request);
  return { client, server, requests, changes, subscriptions: await Promise.all(openings) };
}

proves("subscriptions.acknowledged.interleaved", async (world) => {
  const { client, server } = await world.connect();
  const changes: string[] = [];
  const first = client.listen({ tools: true }, () => changes.push("first"));
  const firstRequest = await server.request("subscriptions/listen");
  const second = client.listen({ tools: true }, () => changes.push("second"));
  const secondRequest = await server.request("subscriptions/listen");
  acknowledge(server, firstRequest);
  change(server, firstRequest);
  acknowledge(server, secondRequest);
  await Promise.all([first, second]);
  expect(changes).toEqual(["first"]);
});

proves("subscriptions.acknowledged.checked", async (world) => {
  const { client, server } = await world.connect();
  const opening = client.listen({ tools: true, prompts: true }, () => {});
  acknowledge(server, await server.request("subscriptions/listen"), { toolsListChanged: true });
  expect((await opening).acknowledged).toEqual({ tools: true });
});

proves("subscriptions.id.on-all", async (world) => {
  const peer = await world.serve(all);
  const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["note://a"] };
  await listening(peer, filter, "s");
  changeAll(world);
  await peer.settled();
  await world.server.close();
  await peer.response("s");
  expect(peer.received.length).toBeGreaterThanOrEqual(6);
  for (const message of peer.received) expect(idOf(message)).toBe("s");
});

proves("subscriptions.id.of-request", async (world) => {
  const peer = await world.serve(all);
  for (const id of ["1", 1, 0, "", "a b"]) {
    expect(idOf(await listening(peer, { toolsListChanged: true }, id))).toBe(id);
  }
});

proves("subscriptions.id.correlated", async (world) => {
  const { server, requests, changes } = await two(world);
  change(server, requests[1]!);
  await turns();
  expect(changes).toEqual(["second"]);
});

proves("subscriptions.concurrent", async (world) => {
  const peer = await world.serve(all);
  await listening(peer, { toolsListChanged: true }, "tools");
  await listening(peer, { resourceSubscriptions: ["note://a"] }, "notes");
  changeAll(world);
  const tools = await peer.nextNotification("notifications/tools/list_changed");
  const notes = await peer.nextNotification("notifications/resources/updated");
  expect(idOf(tools)).toBe("tools");
  expect(idOf(notes)).toBe("notes");
});

proves("subscriptions.ended.by-client", {
  async server(world) {
    const peer = await world.serve(all);
    await listening(peer, { toolsListChanged: true }, "s");
    peer.cancel("s");
    await peer.settled();
    const before = peer.received.length;
    changeAll(world);
    await peer.settled();
    expect(peer.received.length).toBe(before);
  },
  async client(world) {
    const { server, requests, changes, subscriptions } = await two(world);
    await subscriptions[0]!.close();
    await turns();
    if (world.isHttp) expect(server.httpOf(requests[0]!).signal.aborted).toBe(true);
    else expect((await server.notification("notifications/cancelled")).params.requestId).toBe(requests[0]!.id);
    change(server, requests[1]!);
    await turns();
    expect(changes).toEqual(["second"]);
  },
});

proves("subscriptions.ended.gracefully", async (world) => {
  const peer = await world.serve(all);
  await listening(peer, { toolsListChanged: true }, "s");
  await world.server.close();
  const answer = await peer.response("s");
  expect(answer.result.resultType).toBe("complete");
  expect(idOf(answer)).toBe("s");
  expect(peer.received.at(-1)).toBe(answer);
});

proves("subscriptions.ended.cleanly", async (world) => {
  const { server, requests, changes } = await two(world);
  const _meta = { [MetaKey.subscriptionId]: requests[0]!.id };
  server.answer(requests[0]!, { resultType: "complete", _meta });
  await turns();
  await world.clock.advance(500);
  const again = await server.request("subscriptions/listen");
  expect(requests.map(({ id }) => id)).not.toContain(again.id);
  acknowledge(server, again);
  await turns();
  // Changes in the meantime were missed.
  expect(changes).toEqual(["first"]);
});

proves("subscriptions.lost.reopened", async (world) => {
  const { client, server } = await world.connect();
  const changes: unknown[] = [];
  const opening = client.listen({ tools: true }, (change) => changes.push(change));
  const request = await server.request("subscriptions/listen");
  const feed = server.httpOf(request).stream();
  const _meta = { [MetaKey.subscriptionId]: request.id };
  const params = { _meta, notifications: { toolsListChanged: true } };
  feed.event({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
  await opening;
  feed.break();
  await turns();
  await world.clock.advance(60_000);
  acknowledge(server, await server.request("subscriptions/listen"));
  await turns();
  // Changes in the meantime were missed.
  expect(changes).toEqual([{ kind: "tools" }]);
});

proves("subscriptions.lost.resent", async (world) => {
  const answers = { "server/discover": () => discoverResult([world.version]) };
  const played = [stdioScripted(answers), stdioScripted(answers)];
  let opened = 0;
  const open: TransportFactory["open"] = () => played[opened++]!.transport;
  const dialer: TransportFactory = { kind: "stream", target: "a command", transient: true, open };
  const client = await openClient(dialer, { revision: world.version, clock: world.clock });
  const [first, second] = played.map(({ server }) => server);
  const opening = client.listen({ tools: true }, () => {});
  acknowledge(first!, await first!.request("subscriptions/listen"));
  await opening;
  first!.close();
  await turns();
  await world.clock.advance(60_000);
  const request = await second!.request("subscriptions/listen");
  expect(request.params.notifications).toEqual({ toolsListChanged: true });
  await client.close();
});

proves("subscriptions.stateless", async (world) => {
  const first = await world.serve(all);
  await listening(first, { toolsListChanged: true }, "s");
  first.cancel("s");
  await first.settled();
  const second = await world.serve(all);
  changeAll(world);
  await second.settled();
  expect(changesIn(second)).toEqual([]);
});
