import { LocalError, ProtocolError } from "mcparley";
import type { Client } from "mcparley/client";
import { type JsonRpcRequest, fakeClock, flushPromises, modernPeer } from "mcparley/testing";
import { expect, test, vi } from "vitest";
import { recordedServer, waitUntil } from "./testing/recorded-server.ts";
import { scriptedServer } from "./testing/scripted-server.ts";
import { WatchedResources } from "./watched-resources.ts";

/** Resources whose client is controlled by the test, with the calls of one listener of `note://1`. */
function watched({ refuse = [] }: { refuse?: Error[] } = {}) {
  const clock = fakeClock(1_000_000);
  const ends: ((reason: LocalError | undefined) => void)[] = [];
  const client = {
    server: { capabilities: { resources: { subscribe: true } } },
    listen: vi.fn(() => {
      const refusal = ends.length > 0 ? refuse.shift() : undefined;
      if (refusal) return Promise.reject(refusal);
      let end: (reason: LocalError | undefined) => void = () => {};
      const closed = new Promise<LocalError | undefined>((resolve) => (end = resolve));
      ends.push(end);
      return Promise.resolve({ acknowledged: {}, closed, close: async () => end(undefined) });
    }),
  };
  const report = vi.fn();
  const resources = new WatchedResources({ clock, onUpdated: () => {}, report });
  resources.setClient(client as unknown as Client);
  const received: string[] = [];
  const { acknowledgment: opened, stop } = resources.watch("note://1", (uri) => received.push(uri));
  const lose = (cause: Error = new Error("The server ended the subscription.")): Promise<void> => {
    ends.at(-1)?.(new LocalError("closed", "A subscription was lost.", { cause }));
    return flushPromises();
  };
  return { clock, client, resources, received, opened, stop, report, lose };
}

test("a subscription that the server has ended is opened again, and its resource is reported as updated once", async () => {
  const { clock, client, resources, received, opened, lose } = watched();
  await opened;
  await lose();
  expect(received).toEqual([]);
  await clock.advance(1_000);
  expect(client.listen).toHaveBeenCalledTimes(2);
  expect(received).toEqual(["note://1"]);
  await clock.advance(60_000);
  expect(client.listen).toHaveBeenCalledTimes(2);
  resources.removeClient();
});

test("it is tried again until it can be opened, and then its resource is reported as updated once", async () => {
  const { clock, client, received, opened, report, lose } = watched({
    refuse: [new LocalError("timeout", "No answer."), new ProtocolError(-32603, "Not now.")],
  });
  await opened;
  await lose();
  await clock.advance(1_000);
  await clock.advance(2_000);
  expect(client.listen).toHaveBeenCalledTimes(3);
  expect(received).toEqual([]);
  await clock.advance(4_000);
  expect(client.listen).toHaveBeenCalledTimes(4);
  expect(received).toEqual(["note://1"]);
  expect(report).toHaveBeenCalledTimes(2);
});

test.each([
  ["refuses", new ProtocolError(-32602, "No such resource.")],
  ["wants a sign-in for", new LocalError("unauthorized", "Sign in.")],
])("a subscription that the server %s is not opened again until it is watched again", async (_name, cause) => {
  const { clock, client, resources, opened, lose } = watched();
  await opened;
  await lose(cause);
  await clock.advance(600_000);
  expect(client.listen).toHaveBeenCalledTimes(1);
  await resources.watch("note://1", () => {}).acknowledgment;
  expect(client.listen).toHaveBeenCalledTimes(2);
});

test("a server that ends each subscription at once receives at most 8 more of them", async () => {
  const { clock, client, opened, lose } = watched();
  await opened;
  for (let time = 1; time <= 9; time += 1) {
    expect(client.listen).toHaveBeenCalledTimes(time);
    await lose();
    for (let second = 0; second < 300 && client.listen.mock.calls.length === time; second += 1) {
      await clock.advance(1_000);
    }
  }
  expect(client.listen).toHaveBeenCalledTimes(9);
});

test("a server that ends each subscription after 30 seconds receives all of them", async () => {
  const { clock, client, opened, lose } = watched();
  await opened;
  for (let time = 1; time <= 12; time += 1) {
    await clock.advance(30_000);
    await lose();
    await clock.advance(1_000);
    expect(client.listen).toHaveBeenCalledTimes(time + 1);
  }
});

test("no timer is left after the connection is closed or nothing is watched", async () => {
  const { clock, client, resources, opened, stop, lose } = watched();
  await opened;
  await lose();
  expect(clock.pending).toBe(1);
  resources.removeClient();
  expect(clock.pending).toBe(0);
  resources.setClient(client as unknown as Client);
  await flushPromises();
  await lose();
  stop();
  await flushPromises();
  expect(clock.pending).toBe(0);
});

test("a subscription of a modern server that ends gracefully is opened again by the client", async () => {
  const target = scriptedServer(() =>
    modernPeer({
      capabilities: { resources: { subscribe: true } },
      answers: {
        "resources/list": () => ({ resources: [], ttlMs: 0, cacheScope: "private" }),
        "resources/templates/list": () => ({ resourceTemplates: [], ttlMs: 0, cacheScope: "private" }),
      },
    }),
  );
  const acknowledge = async (): Promise<JsonRpcRequest> => {
    const request = await target.peer.request("subscriptions/listen");
    target.peer.notify("notifications/subscriptions/acknowledged", {
      notifications: request.params?.notifications as object,
      _meta: { "io.modelcontextprotocol/subscriptionId": request.id },
    });
    return request;
  };
  const { server, clock } = recordedServer({ entry: target });
  await server.connect();
  const received: string[] = [];
  const { acknowledgment } = server.watch("note://1", (uri) => received.push(uri));
  const request = await acknowledge();
  await acknowledgment;
  target.peer.answer(request, { resultType: "complete" });
  await flushPromises();
  await clock.advance(1_000);
  await acknowledge();
  await waitUntil(() => received.length > 0);
  expect(received).toEqual(["note://1"]);
  await server.close();
});
