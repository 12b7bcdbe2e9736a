import { ProtocolError, type JsonObject } from "mcparley";
import { flushPromises, legacyPeer, modernPeer } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { recordedServer } from "./testing/recorded-server.ts";
import { scriptedServer, toolNamed, toolsPeer } from "./testing/scripted-server.ts";

/** Returns a server that answers each list with the result of a function, and declares them all. */
function listsServer(
  answers: Record<string, () => JsonObject>,
  capabilities: JsonObject = { tools: {}, prompts: {}, resources: {} },
) {
  return scriptedServer(() => modernPeer({ capabilities, answers }));
}

const noTools = () => ({ tools: [] });
const noPrompts = () => ({ prompts: [] });
const noResources = () => ({ resources: [] });
const noTemplates = () => ({ resourceTemplates: [] });
const all = {
  "tools/list": noTools,
  "prompts/list": noPrompts,
  "resources/list": noResources,
  "resources/templates/list": noTemplates,
};

function methodsOf(target: ReturnType<typeof scriptedServer>): string[] {
  return target.peer.arrived.flatMap(({ message }) => ("method" in message ? [message.method] : []));
}

describe("reading the lists", () => {
  test("only lists of declared capabilities are requested", async () => {
    const target = listsServer({ "prompts/list": () => ({ prompts: [{ name: "review" }] }) }, { prompts: {} });
    const { server } = recordedServer({ entry: target });
    await server.connect();
    expect(methodsOf(target).filter((method) => method.endsWith("/list"))).toEqual(["prompts/list"]);
    expect(server.lists).toMatchObject({ tools: [], prompts: [{ name: "review" }], resources: [], templates: [] });
    await server.close();
  });

  test("all lists are requested before the first answer", async () => {
    const target = listsServer({});
    const { server } = recordedServer({ entry: target });
    const connecting = server.connect();
    const requests = new Map<string, { id: string | number }>();
    while (requests.size < 4) {
      const message = await nextRequest(target);
      requests.set(message.method, message);
    }
    for (const [method, answer] of Object.entries(all)) target.peer.answer(requests.get(method)!, answer());
    await connecting;
    await server.close();
  });

  test("one list that fails does not affect the others, and its error is reported", async () => {
    const target = listsServer({
      ...all,
      "tools/list": () => ({ tools: [toolNamed("add")] }),
      "prompts/list": () => ({}),
    });
    const { server, errors } = recordedServer({ entry: target });
    await server.connect();
    expect(server.state).toBe("ready");
    expect(server.lists?.tools).toHaveLength(1);
    expect(errors.map(String).join()).toContain("prompts");
    await server.close();
  });

  test("a list that fails keeps its value of the connection before", async () => {
    const target = scriptedServer((connection) =>
      modernPeer({
        capabilities: { tools: {}, prompts: {} },
        answers: {
          "tools/list": () => (connection === 0 ? { tools: [toolNamed("add")] } : {}),
          "prompts/list": noPrompts,
        },
      }),
    );
    const { server } = recordedServer({ entry: target });
    await server.connect();
    await server.reconnect();
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["add"]);
    await server.close();
  });

  test("a list that failed is requested again after a minute", async () => {
    let requests = 0;
    const target = listsServer({
      ...all,
      "tools/list": () => (requests++ === 0 ? {} : { tools: [toolNamed("add")] }),
    });
    const { server, clock } = recordedServer({ entry: target });
    await server.connect();
    expect(server.lists?.tools).toEqual([]);
    await clock.advance(60_000);
    expect(server.lists?.tools).toHaveLength(1);
    await clock.advance(120_000);
    expect(requests).toBe(2);
    await server.close();
  });

  test("a server without any readable list fails", async () => {
    const target = listsServer({ "tools/list": () => ({ tools: 5 }) }, { tools: {} });
    const { server } = recordedServer({ entry: target });
    await expect(server.connect()).rejects.toThrow("tools");
    expect(server.state).toBe("failed");
    expect(target.peer.isClosed).toBe(true);
    await server.close();
  });

  test("a server that does not know templates has none", async () => {
    const target = scriptedServer(() =>
      modernPeer({ capabilities: { resources: {} }, answers: { "resources/list": noResources } }),
    );
    const { server, errors } = recordedServer({ entry: target });
    const connecting = server.connect();
    const request = await nextRequest(target);
    expect(request.method).toBe("resources/templates/list");
    target.peer.refuse(request, new ProtocolError(-32601, "Method not found").toBody());
    await connecting;
    expect(server.lists?.templates).toEqual([]);
    expect(errors).toEqual([]);
    await server.close();
  });

  test("a list that a server sends slowly ends at the time limit with the tools that were read", async () => {
    let page = 0;
    const target = listsServer({
      ...all,
      "tools/list": () => ({ tools: [toolNamed(`t${page}`)], nextCursor: `${++page}` }),
    });
    const slow = scriptedServer(() =>
      modernPeer({ capabilities: { tools: {}, prompts: {} }, answers: { "prompts/list": noPrompts } }),
    );
    const { server, clock, errors } = recordedServer({ entry: slow });
    const connecting = server.connect();
    for (let second = 0; second < 30; second++) {
      const request = await nextRequest(slow);
      slow.peer.answer(request, { tools: [toolNamed(`t${second}`)], nextCursor: `${second}` });
      await clock.advance(1_000);
    }
    await connecting;
    expect(server.state).toBe("ready");
    expect(server.lists?.tools).toHaveLength(30);
    expect(errors.map(String).join()).toContain("The list of tools/list is incomplete");
    expect(errors.map(String).join()).toContain("within 30000 ms in total");
    await server.close();
    expect(target.peers).toHaveLength(0);
  });
});

describe("lies about lists", () => {
  test("entries with wrong types and duplicates are left out and reported", async () => {
    const tools = [
      toolNamed("add", "first"),
      toolNamed("add", "second"),
      { name: 5, inputSchema: {} },
      { name: "x" },
      { ...toolNamed("y"), description: { a: 1 } },
      "z",
    ];
    const target = listsServer({ ...all, "tools/list": () => ({ tools }) });
    const { server, errors } = recordedServer({ entry: target });
    await server.connect();
    expect(server.lists?.tools.map(({ name, description }) => [name, description])).toEqual([
      ["add", "first"],
      ["y", undefined],
    ]);
    const reports = errors.map(({ message }) => message).join("\n");
    expect(reports).toContain('"add": it occurs twice');
    expect(reports).toContain('A member "description" of tools/list was left out');
    await server.close();
  });

  test("a list of 10,000 entries is used, and of one with 10,001 the first 10,000", async () => {
    let count = 10_000;
    const target = listsServer({
      ...all,
      "tools/list": () => ({ tools: Array.from({ length: count }, (_, index) => toolNamed(`t${index}`, "")) }),
    });
    const { server, errors } = recordedServer({ entry: target });
    await server.connect();
    expect(server.lists?.tools).toHaveLength(10_000);
    expect(errors).toEqual([]);
    count = 10_001;
    await server.reconnect();
    expect(errors.map(String).join()).toContain("10000 of its 10001 entries are used. The limit is 10000 entries.");
    expect(server.lists?.tools).toHaveLength(10_000);
    await server.close();
  });

  test("of a list over 8 MiB the first entries are used", async () => {
    const tools = [toolNamed("small", ""), toolNamed("a", "x".repeat(8 * 2 ** 20)), toolNamed("last", "")];
    const { server, errors } = recordedServer({ entry: listsServer({ ...all, "tools/list": () => ({ tools }) }) });
    await server.connect();
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["small"]);
    expect(errors.map(String).join()).toContain("8388608 bytes");
    await server.close();
  });

  test("a list with pages without an end has the tools that were read", async () => {
    let page = 0;
    const tools = [toolNamed("a", "")];
    const target = listsServer({ ...all, "tools/list": () => ({ tools, nextCursor: `${page++}` }) });
    const { server, errors } = recordedServer({ entry: target });
    await server.connect();
    expect(server.state).toBe("ready");
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["a"]);
    expect(page).toBeLessThanOrEqual(1_000);
    expect(errors.map(String).join()).toContain("pages");
    await server.close();
  });

  test("a tool with a schema of more than 149 levels is left out, and the other tools stay", async () => {
    const schema = (levels: number): JsonObject =>
      JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as JsonObject;
    const tools = [149, 150, 900].map((levels) => ({ name: `t${levels}`, inputSchema: schema(levels) }));
    const target = listsServer({
      ...all,
      "tools/list": () => ({ tools }),
      "prompts/list": () => ({ prompts: [{ name: "review" }] }),
    });
    const { server, errors } = recordedServer({ entry: target });
    await server.connect();
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["t149"]);
    expect(server.lists?.prompts).toHaveLength(1);
    expect(errors.map(String).join()).toContain('2 entries of the list of tools were left out. "t150"');
    await server.close();
  });
});

describe("changes of lists", () => {
  /** A legacy server whose tools have a number that increases with each request. */
  function changing() {
    const counter = { requests: 0, inFlight: 0 };
    const target = scriptedServer(() =>
      legacyPeer({
        capabilities: { tools: { listChanged: true } },
        answers: {
          "tools/list": () => {
            counter.requests++;
            return { tools: [toolNamed(`t${counter.requests}`)] };
          },
        },
      }),
    );
    return { target, counter };
  }
  const changed = "notifications/tools/list_changed";
  const legacy = { revision: "2025-11-25" };

  test("a change leads to a new list and one event", async () => {
    const { target } = changing();
    const { server, clock, lists } = recordedServer({ entry: target, connectOptions: legacy });
    await server.connect();
    await clock.advance(5_000);
    target.peer.notify(changed);
    await clock.advance(0);
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["t2"]);
    expect(lists).toHaveLength(2);
    await server.close();
  });

  test("a change that leads to the same list has no event", async () => {
    const target = scriptedServer(() =>
      legacyPeer({
        capabilities: { tools: { listChanged: true } },
        answers: { "tools/list": () => ({ tools: [toolNamed("same")] }) },
      }),
    );
    const { server, clock, lists } = recordedServer({ entry: target, connectOptions: legacy });
    await server.connect();
    await clock.advance(5_000);
    target.peer.notify(changed);
    await clock.advance(1);
    expect(server.lists?.listedAt).toBeGreaterThan(1_000_000);
    expect(lists).toHaveLength(1);
    await server.close();
  });

  test("a flood of changes leads to at most one request in a second, and later in 30 seconds", async () => {
    const { target, counter } = changing();
    const { server, clock } = recordedServer({ entry: target, connectOptions: legacy });
    await server.connect();
    const before = counter.requests;
    for (let tenths = 0; tenths < 30; tenths++) {
      for (let index = 0; index < 20; index++) target.peer.notify(changed);
      await clock.advance(100);
    }
    const first = counter.requests - before;
    expect(first).toBeGreaterThanOrEqual(3);
    expect(first).toBeLessThanOrEqual(4);
    for (let second = 0; second < 600; second++) {
      target.peer.notify(changed);
      await clock.advance(1_000);
    }
    const later = counter.requests;
    for (let second = 0; second < 300; second++) {
      target.peer.notify(changed);
      await clock.advance(1_000);
    }
    expect(counter.requests - later).toBeLessThanOrEqual(11);
    expect(counter.requests - later).toBeGreaterThanOrEqual(9);
    await server.close();
    expect(clock.pending).toBe(0);
  }, 30_000);

  test("changes during a request lead to one more request", async () => {
    const peerList = legacyPeer({ capabilities: { tools: { listChanged: true } } });
    const target = scriptedServer(() => peerList);
    const { server, clock } = recordedServer({ entry: target, connectOptions: legacy });
    const connecting = server.connect();
    const answer = async (name: string) => {
      const request = await nextRequest(target);
      target.peer.answer(request, { tools: [toolNamed(name)] });
    };
    await answer("a");
    await connecting;
    await clock.advance(5_000);
    target.peer.notify(changed);
    const request = await nextRequest(target);
    for (let index = 0; index < 10; index++) target.peer.notify(changed);
    target.peer.answer(request, { tools: [toolNamed("b")] });
    await clock.advance(999);
    const requests = () => methodsOf(target).filter((method) => method === "tools/list").length;
    expect(requests()).toBe(2);
    await clock.advance(1);
    expect(requests()).toBe(3);
    await answer("c");
    await clock.advance(60_000 - 1);
    expect(server.lists?.tools.map(({ name }) => name)).toEqual(["c"]);
    expect(requests()).toBe(3);
    await server.close();
  });

  test("a list that changes while a modern server has not acknowledged the subscription is read again", async () => {
    let description = "before";
    const target = scriptedServer(() => toolsPeer(() => [toolNamed("add", description)], { listChanged: true }));
    const { server, clock } = recordedServer({ entry: target });
    const connecting = server.connect();
    const listen = await nextRequest(target);
    expect(listen.method).toBe("subscriptions/listen");
    await clock.advance(2_000);
    await connecting;
    expect(server.lists?.tools[0]?.description).toBe("before");
    description = "after";
    const meta = { "io.modelcontextprotocol/subscriptionId": listen.id };
    target.peer.notify("notifications/subscriptions/acknowledged", {
      notifications: { toolsListChanged: true },
      _meta: meta,
    });
    await clock.advance(1_000);
    expect(server.lists?.tools[0]?.description).toBe("after");
    await server.close();
    expect(clock.pending).toBe(0);
  });
});

/** Returns the next request that the peer of the newest connection does not answer itself. */
async function nextRequest(target: ReturnType<typeof scriptedServer>) {
  while (target.peers.length === 0) await flushPromises();
  for (;;) {
    const message = await target.peer.next();
    if ("method" in message && "id" in message) return message;
  }
}
