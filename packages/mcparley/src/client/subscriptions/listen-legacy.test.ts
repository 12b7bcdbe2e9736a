import { expect, test } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonRpcRequest } from "../../rpc/messages.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { ScriptedPeer } from "../../testing/scripted-peer.ts";
import type { Client } from "../client.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";
import type { ServerChange } from "./subscription.ts";

async function connected(options: ConnectOptions = {}): Promise<{ peer: ScriptedPeer; client: Client }> {
  const peer = legacyPeer();
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25", ...options });
  await peer.notification("notifications/initialized");
  return { peer, client };
}

/** Answers the next request, which must be the given one, such as `subscribe a:1`. */
async function answer(peer: ScriptedPeer, expected: string): Promise<void> {
  peer.answer(await asked(peer, expected), {});
}

async function asked(peer: ScriptedPeer, expected: string): Promise<JsonRpcRequest> {
  const message = (await peer.next()) as JsonRpcRequest;
  expect(`${message.method.slice("resources/".length)} ${String(message.params?.uri)}`).toBe(expected);
  return message;
}

/** The requests for resources that the client has sent. */
function sent({ arrived }: ScriptedPeer): string[] {
  return arrived.flatMap(({ message }) =>
    "method" in message && message.method.startsWith("resources/")
      ? [`${message.method.slice("resources/".length)} ${String(message.params?.uri)}`]
      : [],
  );
}

test("a refused resource ends the subscriptions to the earlier resources", async () => {
  const { peer, client } = await connected();
  const outcome = client.listen({ uris: ["a:1", "a:2", "a:3"] }, () => {}).catch((error: unknown) => error);
  await answer(peer, "subscribe a:1");
  peer.refuse(await asked(peer, "subscribe a:2"), { code: -32_002, message: "not found" });
  expect(await outcome).toMatchObject({ code: -32_002 });
  await answer(peer, "unsubscribe a:1");
  await flushPromises();
  expect(sent(peer)).toEqual(["subscribe a:1", "subscribe a:2", "unsubscribe a:1"]);
});

test("an abort ends the subscriptions to the earlier resources and to the one in flight", async () => {
  const { peer, client } = await connected();
  const controller = new AbortController();
  const listening = client.listen({ uris: ["a:1", "a:2", "a:3"] }, () => {}, { signal: controller.signal });
  const outcome = listening.catch((error: unknown) => error);
  await answer(peer, "subscribe a:1");
  await asked(peer, "subscribe a:2");
  controller.abort();
  expect(await outcome).toMatchObject({ code: "aborted" });
  await peer.notification("notifications/cancelled");
  const released = [await peer.next(), await peer.next()] as JsonRpcRequest[];
  const uris = released.map(({ method, params }) => `${method} ${String(params?.uri)}`);
  expect(new Set(uris)).toEqual(new Set(["resources/unsubscribe a:1", "resources/unsubscribe a:2"]));
});

test("a timeout of one resource ends the subscriptions to all of them", async () => {
  const clock = fakeClock();
  const { peer, client } = await connected({ clock });
  const listening = client.listen({ uris: ["a:1", "a:2"] }, () => {}, { timeout: { idle: 1_000 } });
  const outcome = listening.catch((error: unknown) => error);
  await answer(peer, "subscribe a:1");
  await asked(peer, "subscribe a:2");
  await clock.advance(1_000);
  expect(await outcome).toMatchObject({ code: "timeout" });
  expect(new Set(sent(peer))).toEqual(
    new Set(["subscribe a:1", "subscribe a:2", "unsubscribe a:1", "unsubscribe a:2"]),
  );
});

test("two subscriptions to one resource share one subscription of the server", async () => {
  const { peer, client } = await connected();
  const opening = client.listen({ uris: ["a:1", "a:1"] }, () => {});
  await answer(peer, "subscribe a:1");
  const first = await opening;
  const second = await client.listen({ uris: ["a:1"] }, () => {});
  await first.close();
  await flushPromises();
  expect(sent(peer)).toEqual(["subscribe a:1"]);
  await second.close();
  await answer(peer, "unsubscribe a:1");
});

test("a subscription that opens while the last one closes is subscribed to again", async () => {
  const { peer, client } = await connected();
  const opening = client.listen({ uris: ["a:1"] }, () => {});
  await answer(peer, "subscribe a:1");
  await (await opening).close();
  const unsubscribing = await asked(peer, "unsubscribe a:1");
  const again = client.listen({ uris: ["a:1"] }, () => {});
  await flushPromises();
  expect(sent(peer)).toEqual(["subscribe a:1", "unsubscribe a:1"]);
  peer.answer(unsubscribing, {});
  await answer(peer, "subscribe a:1");
  await (await again).close();
  await answer(peer, "unsubscribe a:1");
});

test("a subscription that closes while another one opens leaves the resource subscribed", async () => {
  const { peer, client } = await connected();
  const controller = new AbortController();
  const first = client.listen({ uris: ["a:1"] }, () => {}, { signal: controller.signal });
  first.catch(() => {});
  await asked(peer, "subscribe a:1");
  const second = client.listen({ uris: ["a:1"] }, () => {});
  await flushPromises();
  controller.abort();
  await expect(first).rejects.toMatchObject({ code: "aborted" });
  await peer.notification("notifications/cancelled");
  await answer(peer, "subscribe a:1");
  await (await second).close();
  await answer(peer, "unsubscribe a:1");
  await flushPromises();
  expect(sent(peer)).toEqual(["subscribe a:1", "subscribe a:1", "unsubscribe a:1"]);
});

test("the resources of 50 concurrent subscriptions stay subscribed until the last one closes", async () => {
  const peer = legacyPeer({ answers: { "resources/subscribe": () => ({}), "resources/unsubscribe": () => ({}) } });
  const client = await openClient(peerTransports(peer), { revision: "2025-11-25" });
  const open = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const subscription = await client.listen({ uris: ["a:1", "a:2"] }, () => {});
      if (index % 3 > 0) await subscription.close();
      return subscription;
    }),
  );
  await flushPromises();
  expect(
    sent(peer)
      .filter((one) => one.endsWith("a:1"))
      .at(-1),
  ).toBe("subscribe a:1");
  await Promise.all(open.map((subscription) => subscription.close()));
  await flushPromises();
  expect(
    sent(peer)
      .filter((one) => one.endsWith("a:1"))
      .at(-1),
  ).toBe("unsubscribe a:1");
  expect(
    sent(peer)
      .filter((one) => one.endsWith("a:2"))
      .at(-1),
  ).toBe("unsubscribe a:2");
});

test("no unsubscribe is sent on a lost connection, and the new one subscribes", async () => {
  const clock = fakeClock();
  const peers = [legacyPeer(), legacyPeer()] as const;
  const client = await openClient(peerTransports(...peers), { clock, revision: "2025-11-25" });
  await peers[0].notification("notifications/initialized");
  const opening = client.listen({ uris: ["a:1"] }, () => {});
  await answer(peers[0], "subscribe a:1");
  await opening;
  peers[0].close(new LocalError("exited", "gone"));
  await clock.advance(500);
  await peers[1].notification("notifications/initialized");
  await answer(peers[1], "subscribe a:1");
  expect(sent(peers[0])).toEqual(["subscribe a:1"]);
});

test.each([
  ["note://1", true],
  ["note://1/part", true],
  ["note://1?part", true],
  ["note://1#part", true],
  ["note://10", false],
])("a subscriber of note://1 receives an update of %s: %s", async (uri, isExpected) => {
  const { peer, client } = await connected();
  const changes: ServerChange[] = [];
  const opening = client.listen({ uris: ["note://1"] }, (change) => changes.push(change));
  await answer(peer, "subscribe note://1");
  await opening;
  peer.notify("notifications/resources/updated", { uri });
  expect(changes).toEqual(isExpected ? [{ kind: "updated", uri }] : []);
});
