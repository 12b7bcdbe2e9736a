import { describe, expect, test } from "vitest";
import { type FakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { resource, tool } from "../../packages/mcparley/src/server/definition.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import {
  type Cluster,
  type Node,
  cluster,
  event,
  failing,
  getStream,
  message,
  open,
  request,
  soFar,
} from "./cluster.ts";

const toolsChanged = "notifications/tools/list_changed";
const updated = "notifications/resources/updated";

const servers = (more: object = {}): Cluster =>
  cluster({
    definition: () => ({
      tools: { hello: tool({ call: () => "Hello" }) },
      resources: { note: resource("note://one", { read: () => "one" }) },
    }),
    ...more,
  });

async function changeTools({ server }: Node): Promise<void> {
  server.tools.set("another", tool({ call: () => "" }));
  server.tools.delete("another");
  await flushPromises();
}

/** Opens a subscription to the tools and one resource, and reads its acknowledgment. */
async function listen({ client }: Node, id: string): Promise<RawAnswer> {
  const notifications = { toolsListChanged: true, resourceSubscriptions: ["note://one"] };
  const stream = await client.modern("subscriptions/listen", { notifications }, { id });
  expect(await stream.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  return stream;
}

const methods = async (stream: RawAnswer): Promise<unknown[]> => (await soFar(stream)).map(({ method }) => method);

describe("a change on one node", () => {
  test("reaches every subscription on every node once", async () => {
    const { nodes } = servers();
    const streams = [];
    for (const node of nodes) streams.push(await listen(node, "a"), await listen(node, "b"));
    await changeTools(nodes[1]!);
    nodes[1]!.server.resources.updated("note://one");
    nodes[1]!.server.resources.updated("note://two");
    await flushPromises();
    for (const stream of streams) {
      const received = await methods(stream);
      expect(received).toHaveLength(2);
      expect(new Set(received)).toEqual(new Set([updated, toolsChanged]));
    }
  });

  test.each(["2025-03-26", "2025-06-18", "2025-11-25"])(
    "reaches every session of %s once, on any node",
    async (version) => {
      const { nodes, client } = servers();
      const streams = [];
      for (const node of nodes) {
        const session = await open(client, version);
        await request(client, session, "resources/subscribe", { params: { uri: "note://one" } });
        streams.push(await getStream(node.client, session));
        // Another node serves it too; only this node receives its notifications.
        await request(client, session, "ping");
        await request(client, session, "ping");
      }
      await flushPromises();
      await changeTools(nodes[0]!);
      nodes[0]!.server.resources.updated("note://one");
      await flushPromises();
      for (const stream of streams) expect(await methods(stream)).toEqual([toolsChanged, updated]);
    },
  );

  test("reaches the stream of a session that subscribed on another node while it was open", async () => {
    const { nodes, client } = servers();
    const session = await open(client);
    const stream = await getStream(nodes[0]!.client, session);
    await request(nodes[1]!.client, session, "resources/subscribe", { params: { uri: "note://one" } });
    nodes[2]!.server.resources.updated("note://one");
    await flushPromises();
    await request(nodes[1]!.client, session, "resources/unsubscribe", { params: { uri: "note://one" } });
    nodes[2]!.server.resources.updated("note://one");
    await flushPromises();
    expect(await methods(stream)).toEqual([updated]);
  });

  test("is stored for a session without an open stream, and sent once when it opens one on any node", async () => {
    const { nodes, client } = servers();
    await changeTools(nodes[0]!);
    const session = await open(client);
    const silent = await getStream(nodes[0]!.client, session);
    expect(await methods(silent)).toEqual([]);
    await silent.leave();
    await flushPromises();
    await changeTools(nodes[1]!);
    await changeTools(nodes[2]!);
    const received = await getStream(nodes[1]!.client, session);
    expect(await methods(received)).toEqual([toolsChanged]);
    await received.leave();
    await flushPromises();
    expect(await methods(await getStream(nodes[2]!.client, session))).toEqual([]);
  });

  test("is sent on the newest stream of a session only, and on an older one after that has ended", async () => {
    const { nodes } = servers();
    const session = await open(nodes[0]!.client);
    const older = await getStream(nodes[0]!.client, session);
    await flushPromises();
    const newer = await getStream(nodes[1]!.client, session);
    await flushPromises();
    await changeTools(nodes[2]!);
    await event(newer);
    expect((await event(newer))?.message?.method).toBe(toolsChanged);
    await newer.leave();
    await flushPromises();
    await changeTools(nodes[2]!);
    expect(await methods(older)).toEqual([toolsChanged]);
  });

  test("reaches a session whose node died, on the node where the client opens its next stream", async () => {
    const { nodes } = servers();
    const session = await open(nodes[0]!.client);
    await getStream(nodes[0]!.client, session);
    await flushPromises();
    nodes[0]!.kill();
    await changeTools(nodes[1]!);
    expect(await methods(await getStream(nodes[2]!.client, session))).toEqual([toolsChanged]);
  });
});

describe("a change that each process detects", () => {
  const versioned = (contents: string[]): Cluster =>
    cluster({
      definition: (node) => ({
        tools: {},
        resources: { note: resource("note://one", { read: () => contents[node]! }) },
        changeVersion: () => contents[node],
      }),
    });

  /** Changes the content of a process. */
  function change({ nodes }: Cluster, contents: string[], [node, content]: [number, string]): void {
    contents[node] = content;
    nodes[node]!.server.tools.set("a", tool({ call: () => content }));
    nodes[node]!.server.resources.updated("note://one");
  }

  const both = [updated, toolsChanged];
  const byName = (a: unknown, b: unknown): number => String(a).localeCompare(String(b));

  /** Reads the messages of a stream. The returned function returns the methods since its last call. */
  function reader(stream: RawAnswer): () => Promise<unknown[]> {
    const read: unknown[] = [];
    void (async () => {
      for (let next = await message(stream); next; next = await message(stream)) read.push(next.method);
    })();
    return async () => {
      await flushPromises();
      return read.splice(0);
    };
  }

  test("reaches each subscription when its process detects it, and each session once, a second later", async () => {
    const contents = ["a", "a", "a"];
    const running = versioned(contents);
    const { nodes, clock, client } = running;
    const streams = await Promise.all(nodes.map(async (node) => reader(await listen(node, "a"))));
    const session = await open(client);
    await request(client, session, "resources/subscribe", { params: { uri: "note://one" } });
    const stream = await getStream(nodes[1]!.client, session);
    const legacy = reader(stream);
    await legacy();
    for (const version of ["b", "c", "b"]) {
      for (const node of [0, 1, 2]) {
        change(running, contents, [node, version]);
        expect((await streams[node]!()).toSorted(byName)).toEqual(both);
        expect(await legacy()).toEqual([]);
        await clock.advance(100);
      }
      await clock.advance(900);
      expect((await legacy()).toSorted(byName)).toEqual(both);
      await clock.advance(10_000);
      for (const one of [...streams, legacy]) expect(await one()).toEqual([]);
    }
    await stream.leave();
    await flushPromises();
    expect(await methods(await getStream(nodes[2]!.client, session))).toEqual([]);
  });

  test("is sent once to a session without an open stream, also if two processes send it at the same time", async () => {
    const contents = ["a", "a", "a"];
    const running = versioned(contents);
    const { nodes, clock, client } = running;
    const session = await open(client);
    const first = await getStream(nodes[0]!.client, session);
    await flushPromises();
    await first.leave();
    await flushPromises();
    for (const node of [0, 1, 2]) change(running, contents, [node, "b"]);
    await clock.advance(10_000);
    const stream = await getStream(nodes[1]!.client, session);
    expect(await methods(stream)).toEqual([toolsChanged]);
  });

  test("is sent by a process that closes before the second has elapsed", async () => {
    const contents = ["a", "a", "a"];
    const running = versioned(contents);
    const { nodes, clock, client } = running;
    const session = await open(client);
    const stream = await getStream(nodes[1]!.client, session);
    await flushPromises();
    change(running, contents, [0, "b"]);
    await flushPromises();
    await nodes[0]!.http.close();
    await clock.advance(100);
    expect(await methods(stream)).toEqual([toolsChanged]);
  });
});

describe("while the store is unavailable", () => {
  test("a change is sent on its own node, and on the others when the store is available again", async () => {
    const stores: ReturnType<typeof failing>[] = [];
    const { nodes, clock } = servers({
      store: (time: FakeClock) => {
        stores.push(failing(memoryStore({ clock: time })));
        return stores[0];
      },
    });
    const [store] = stores;
    const own = await listen(nodes[0]!, "a");
    const other = await listen(nodes[1]!, "a");
    const session = await open(nodes[2]!.client);
    const legacy = await getStream(nodes[2]!.client, session);
    await flushPromises();
    store!.isAway = true;
    await changeTools(nodes[0]!);
    await changeTools(nodes[0]!);
    await clock.advance(10_000);
    expect(await own.next()).toMatchObject({ method: toolsChanged });
    expect((await listenAgain(nodes[1]!)).status).toBe(200);
    store!.isAway = false;
    await clock.advance(10_000);
    expect(await methods(other)).toEqual([toolsChanged]);
    expect(await methods(legacy)).toEqual([toolsChanged]);
    // Each failing operation is reported once, and not for each retry.
    expect(nodes[0]!.errors.length).toBeLessThan(6);
  });

  test("a first subscription is answered with 503, because it would miss changes of other nodes", async () => {
    const store = failing(memoryStore());
    store.isAway = true;
    const { nodes } = servers({ store: () => store });
    const refused = await listenAgain(nodes[0]!);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    store.isAway = false;
    await listen(nodes[0]!, "a");
  });
});

const listenAgain = ({ client }: Node): Promise<RawAnswer> =>
  client.modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "z" });

test("a subscription on one node applies to the session's stream on another, for later changes", async () => {
  const { nodes } = servers();
  const [a, b, c] = nodes;
  const session = await open(a!.client);
  const stream = await getStream(a!.client, session);
  await flushPromises();
  b!.server.resources.updated("note://one");
  await request(b!.client, session, "resources/subscribe", { params: { uri: "note://one" } });
  c!.server.resources.updated("note://one");
  await flushPromises();
  await request(c!.client, session, "resources/unsubscribe", { params: { uri: "note://one" } });
  b!.server.resources.updated("note://one");
  await flushPromises();
  expect(await methods(stream)).toEqual([updated]);
});

/** Returns a store with some operations replaced. */
function altered(store: Store, make: (store: Store) => Partial<Store>): Store {
  const own = make(store);
  return new Proxy(store, { get: (target, member: keyof Store) => own[member] ?? target[member].bind(target) });
}

test("a subscription on one node applies although the store fails while another node reads it", async () => {
  let isToFail = false;
  const { nodes, clock } = servers({
    store: (time: FakeClock) =>
      altered(memoryStore({ clock: time }), (store) => ({
        append: async (log, value, options) => {
          const position = await store.append(log, value, options);
          isToFail ||= log.endsWith(":changes") && value.includes('"session"');
          return position;
        },
        get: async (key) => {
          if (!isToFail || !key.includes(":session:")) return store.get(key);
          isToFail = false;
          throw new Error("no route to the store");
        },
      })),
  });
  const [a, b, c] = nodes;
  const session = await open(a!.client);
  const stream = await getStream(a!.client, session);
  await flushPromises();
  await request(b!.client, session, "resources/subscribe", { params: { uri: "note://one" } });
  c!.server.resources.updated("note://one");
  await flushPromises();
  expect(a!.errors).toHaveLength(1);
  await clock.advance(1_000);
  expect(await methods(stream)).toEqual([updated]);
});

describe("while messages between nodes are delayed", () => {
  const late = (): Cluster =>
    servers({
      store: (time: FakeClock) =>
        altered(memoryStore({ clock: time }), (store) => ({
          publish: async (channel, message) => {
            if (!channel.includes(":mail:")) await store.publish(channel, message);
          },
        })),
    });

  test("a stream receives changes again after a newer one has ended", async () => {
    const { nodes, clock } = late();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const older = await getStream(a!.client, session);
    await flushPromises();
    const newer = await getStream(b!.client, session);
    await flushPromises();
    await newer.leave();
    // The node receives both messages at once: another node became the owner, and then released the stream.
    await clock.advance(5_000);
    await changeTools(c!);
    expect(await methods(older)).toEqual([toolsChanged]);
  });

  test("the newest stream receives changes, also if its node does not know that another node was the owner", async () => {
    const { nodes, clock } = late();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const first = await getStream(a!.client, session);
    await flushPromises();
    const second = await getStream(b!.client, session);
    await flushPromises();
    const third = await getStream(a!.client, session);
    await clock.advance(5_000);
    await changeTools(c!);
    expect(await methods(third)).toEqual([toolsChanged]);
    expect(await methods(second)).toEqual([]);
    expect(await methods(first)).toEqual([]);
  });
});

describe("a change that a call makes", () => {
  /** A cluster whose store calls a function before it stores the change of the tool. */
  const changing = (first: () => Promise<void>): Cluster => {
    const all: Cluster = cluster({
      definition: (node) => ({
        tools: {
          change: tool({ call: async () => (all.nodes[node]!.server.resources.updated("note://one"), "changed") }),
        },
      }),
      store: (time) =>
        altered(memoryStore({ clock: time }), (store) => ({
          append: async (name, value, options) => {
            if (value.includes('"change"')) await first();
            return store.append(name, value, options);
          },
        })),
    });
    return all;
  };

  /** Returns the text of the response to a call. */
  async function call(client: Node["client"], session: Record<string, string> | undefined): Promise<string> {
    const params = { name: "change", arguments: {} };
    const answer = session
      ? await request(client, session, "tools/call", { params })
      : await client.modern("tools/call", params);
    return answer.text();
  }

  /** Starts a call, and records whether it has been answered. */
  async function beginCall(
    client: Node["client"],
    revisionKind: string,
  ): Promise<{ answer: Promise<string>; isAnswered: boolean }> {
    const session = revisionKind === "legacy" ? await open(client) : undefined;
    const begun = { isAnswered: false, answer: Promise.resolve("") };
    begun.answer = call(client, session).finally(() => (begun.isAnswered = true));
    await flushPromises();
    return begun;
  }

  test.each(["legacy", "modern"])("is in the log before the reply (%s)", async (revisionKind) => {
    let release = (): void => {};
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const { nodes } = changing(() => isReleased);
    const begun = await beginCall(nodes[0]!.client, revisionKind);
    expect(begun.isAnswered).toBe(false);
    release();
    expect(await begun.answer).toContain("changed");
  });

  test.each([
    ["modern", "at once", 0],
    ["legacy", "after half a minute", 30_000],
  ])("does not block a %s call if the store stays unavailable: the reply is sent %s", async (revisionKind, _, ms) => {
    const { nodes, clock } = changing(() => Promise.reject(new Error("no route to the store")));
    const begun = await beginCall(nodes[0]!.client, revisionKind);
    if (ms > 0) await clock.advance(ms - 1_000);
    expect(begun.isAnswered).toBe(ms === 0);
    if (ms > 0) await clock.advance(2_000);
    expect(await begun.answer).toContain("changed");
  });
});
