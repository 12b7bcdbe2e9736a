import { createServer, resource } from "mcparley/server";
import { flushPromises, legacyPeer } from "mcparley/testing";
import { expect, test } from "vitest";
import { recordedServer, waitUntil } from "./testing/recorded-server.ts";
import { scriptedServer } from "./testing/scripted-server.ts";

const connectOptions = { revision: "2025-11-25" };

/** A legacy server with resources. `subscribed` has the URIs of the requests, with "-" for those to unsubscribe. */
function resourceServer() {
  const subscribed: string[] = [];
  const target = scriptedServer(() =>
    legacyPeer({
      capabilities: { resources: { subscribe: true } },
      answers: {
        "resources/list": () => ({ resources: [] }),
        "resources/templates/list": () => ({ resourceTemplates: [] }),
        "resources/subscribe": ({ params }) => {
          subscribed.push(String(params?.uri));
          return {};
        },
        "resources/unsubscribe": ({ params }) => {
          subscribed.push(`-${String(params?.uri)}`);
          return {};
        },
      },
    }),
  );
  const update = (uri: string): Promise<void> => {
    target.peer.notify("notifications/resources/updated", { uri });
    return flushPromises();
  };
  return { target, subscribed, update };
}

test("a watched resource is subscribed to, and its updates and those of its parts are received", async () => {
  const { target, subscribed, update } = resourceServer();
  const { server, updatedUris } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  const received: string[] = [];
  server.watch("note://1", (uri) => received.push(uri));
  await waitUntil(() => subscribed.length > 0);
  expect(subscribed).toEqual(["note://1"]);
  await update("note://1");
  await update("note://1/a");
  await update("note://10");
  expect(received).toEqual(["note://1", "note://1/a"]);
  expect(updatedUris).toEqual(["note://1", "note://1/a"]);
  await server.close();
});

test("a watch before the first connection begins with it, and opens none", async () => {
  const { target, subscribed } = resourceServer();
  const { server } = recordedServer({ entry: target, connectOptions });
  const received: string[] = [];
  server.watch("note://1", (uri) => received.push(uri));
  await flushPromises();
  expect(server.state).toBe("idle");
  await server.connect();
  await waitUntil(() => subscribed.length > 0);
  expect(subscribed).toEqual(["note://1"]);
  expect(received).toEqual([]);
  await server.close();
});

test("after a reconnect the resource is subscribed to again, and reported as updated once", async () => {
  const { target, subscribed, update } = resourceServer();
  const { server } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  const received: string[] = [];
  server.watch("note://1", (uri) => received.push(uri));
  await waitUntil(() => subscribed.length === 1);
  await flushPromises();
  await server.reconnect();
  await waitUntil(() => subscribed.length === 2);
  expect(received).toEqual(["note://1"]);
  expect(subscribed).toEqual(["note://1", "note://1"]);
  await update("note://1");
  expect(received).toHaveLength(2);
  await server.close();
});

test("two listeners share a subscription, which ends with the last of them", async () => {
  const { target, subscribed, update } = resourceServer();
  const { server } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  const received: string[] = [];
  const listener = (uri: string) => received.push(uri);
  const first = server.watch("note://1", listener);
  const second = server.watch("note://1", listener);
  await waitUntil(() => subscribed.length === 1);
  await update("note://1");
  expect(received).toHaveLength(2);
  first.stop();
  first.stop();
  await flushPromises();
  expect(subscribed).toEqual(["note://1"]);
  second.stop();
  await waitUntil(() => subscribed.length === 2);
  expect(subscribed).toEqual(["note://1", "-note://1"]);
  await server.close();
});

test("the subscription of other resources continues while one is added", async () => {
  const { target, subscribed } = resourceServer();
  const { server } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  server.watch("note://1", () => {});
  await waitUntil(() => subscribed.length === 1);
  server.watch("note://2", () => {});
  await waitUntil(() => subscribed.length === 2);
  await flushPromises();
  expect(subscribed).toEqual(["note://1", "note://2"]);
  await server.close();
});

test("an error of a listener is reported, and does not affect the others", async () => {
  const { target, update, subscribed } = resourceServer();
  const { server, errors } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  const received: string[] = [];
  server.watch("note://1", () => {
    throw new Error("listener");
  });
  server.watch("note://1", (uri) => received.push(uri));
  await waitUntil(() => subscribed.length === 1);
  await update("note://1");
  expect(received).toEqual(["note://1"]);
  expect(errors.map(({ message }) => message)).toEqual(["listener"]);
  await server.close();
});

test("it works with a server of a modern revision", async () => {
  const today = resource("board://today", { title: "Today", read: () => "Nothing" });
  const board = createServer({ name: "board", version: "1.0.0", resources: { today } });
  const { server, updatedUris } = recordedServer({ entry: board });
  await server.connect();
  server.watch("board://today", () => {});
  // The server has no sign of the acknowledgment, so it reports changes until one arrives.
  while (updatedUris.length === 0) {
    board.resources.updated("board://today");
    await flushPromises();
  }
  expect(server.info?.revision).toBe("2026-07-28");
  expect(updatedUris[0]).toBe("board://today");
  await server.close();
});

test("an update of one of two watched resources is received by its listener only", async () => {
  const { target, subscribed, update } = resourceServer();
  const { server } = recordedServer({ entry: target, connectOptions });
  await server.connect();
  const received: string[] = [];
  for (const uri of ["note://1", "note://10", "note://dir/"])
    server.watch(uri, (updated) => received.push(`${uri} ${updated}`));
  await waitUntil(() => subscribed.length === 3);
  for (const uri of ["note://10", "note://1?a", "note://1#a", "note://dir/a"]) await update(uri);
  expect(received).toEqual([
    "note://10 note://10",
    "note://1 note://1?a",
    "note://1 note://1#a",
    "note://dir/ note://dir/a",
  ]);
  await server.close();
});
