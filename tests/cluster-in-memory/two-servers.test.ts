import { describe, expect, test } from "vitest";
import { asTask, tasks } from "../../packages/mcparley/src/extensions/tasks/server/tasks.ts";
import { tasksId } from "../../packages/mcparley/src/extensions/tasks/task.ts";
import { type FetchHandler, toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import type { HttpOptions } from "../../packages/mcparley/src/http/server/options.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { resource, tool } from "../../packages/mcparley/src/server/definition.ts";
import { rateLimit } from "../../packages/mcparley/src/server/observe/rate-limit.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { rawHttp } from "../support/raw-http.ts";
import { type Node, authenticated, cluster, getStream, open, recording, request, soFar } from "./cluster.ts";

const lease = 30_000;
const url = "http://localhost/mcp";
const alice = { authorization: "Bearer alice" };
const capabilities = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };

/** Two servers with two processes each, on one store. */
function world(more: (name: string) => Partial<AnyServerDefinition> = () => ({})) {
  const clock = fakeClock(1_000_000);
  const store = recording(memoryStore({ clock }));
  const start = (name: string) =>
    cluster({
      nodes: 2,
      clock,
      store: () => store,
      options: authenticated,
      definition: () => ({ name, resources: { note: resource("note://one", { read: () => "one" }) }, ...more(name) }),
    });
  return { clock, store, sandbox: start("sandbox"), production: start("production") };
}

/** Sends a modern request, and returns its result or error. */
async function ask({ client }: Node, method: string, params: JsonObject): Promise<Record<string, any>> {
  const named = typeof params.taskId === "string" ? { "mcp-name": params.taskId } : {};
  const answer = await client.modern(method, params, { capabilities, headers: { ...alice, ...named } });
  const { result, error } = await answer.json();
  return result ?? { error };
}

describe("two servers on one store", () => {
  test("do not share sessions, or messages about them", async () => {
    const { sandbox, production } = world();
    const session = await open(sandbox.client, "2025-11-25", alice);
    expect((await request(sandbox.nodes[1]!.client, session, "ping")).status).toBe(200);
    for (const { client } of production.nodes) expect((await request(client, session, "ping")).status).toBe(404);
    expect((await request(sandbox.nodes[0]!.client, session, "ping")).status).toBe(200);
  });

  test("do not share changes", async () => {
    const { sandbox, production } = world();
    const [session, other] = await Promise.all(
      [sandbox, production].map(({ client }) => open(client, "2025-11-25", alice)),
    );
    for (const [of, headers] of [
      [sandbox, session],
      [production, other],
    ] as const) {
      await request(of.client, headers!, "resources/subscribe", { params: { uri: "note://one" } });
    }
    const streams = [
      await getStream(sandbox.nodes[0]!.client, session!),
      await getStream(production.nodes[0]!.client, other!),
    ];
    await flushPromises();
    sandbox.nodes[1]!.server.resources.updated("note://one");
    await flushPromises();
    const [ours, theirs] = await Promise.all(streams.map((stream) => soFar(stream)));
    expect(ours).toMatchObject([{ method: "notifications/resources/updated" }]);
    expect(theirs).toEqual([]);
  });

  test("do not share the limit of sessions", async () => {
    const clock = fakeClock(1_000_000);
    const store = memoryStore({ clock });
    const options = { sessions: { max: 2 } };
    const [one, two] = ["sandbox", "production"].map((name) =>
      cluster({ nodes: 1, clock, store: () => store, options, definition: () => ({ name }) }),
    );
    const kept = [await open(two!.client), await open(two!.client)];
    for (let count = 0; count < 10; count++) await open(one!.client);
    for (const session of kept) expect((await request(two!.client, session, "ping")).status).toBe(200);
  });

  test("do not show each other's tasks", async () => {
    const call = (): Promise<never> => new Promise(() => {});
    const { sandbox, production } = world(() => ({
      extensions: [tasks({ lease })],
      tools: { t: tool({ extensions: [asTask()], call }) },
    }));
    const { taskId } = await ask(sandbox.nodes[0]!, "tools/call", { name: "t", arguments: {} });
    expect(await ask(sandbox.nodes[1]!, "tasks/get", { taskId })).toMatchObject({ status: "working" });
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const { error } = await ask(production.nodes[0]!, method, { taskId, inputResponses: {} });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("task does not exist") as string });
    }
    const list = async (of: typeof sandbox) => {
      const session = await open(of.client, "2025-11-25", alice);
      return (await (await request(of.client, session, "tasks/list")).json()).result.tasks as unknown[];
    };
    expect(await list(sandbox)).toHaveLength(1);
    expect(await list(production)).toEqual([]);
  });

  test("do not run each other's tasks when all processes of one have died", async () => {
    const ran: string[] = [];
    const { sandbox, production, clock } = world((name) => ({
      extensions: [tasks({ lease })],
      tools: {
        deploy: tool({
          extensions: [asTask({ runAgain: true })],
          call: (_, ctx) => {
            ran.push(`${name} for ${ctx.principal?.subject}`);
            return name === "sandbox" ? new Promise<string>(() => {}) : "deployed";
          },
        }),
      },
    }));
    // From its first call on, a process looks after the tasks of dead ones.
    for (const node of production.nodes) await ask(node, "tools/list", {});
    const { taskId } = await ask(sandbox.nodes[0]!, "tools/call", { name: "deploy", arguments: {} });
    await flushPromises();
    for (const node of sandbox.nodes) node.kill();
    await clock.advance(4 * lease);
    expect(await ask(production.nodes[0]!, "tasks/get", { taskId })).toMatchObject({ error: { code: -32602 } });
    expect(ran).toEqual(["sandbox for alice"]);
  });

  test.each([
    ["keys from the store", {}],
    ["configured keys", { stateKeys: [new Uint8Array(32).fill(7)] }],
  ])("do not accept each other's sealed state (%s)", async (_, keys) => {
    const schema = { type: "object", properties: {} };
    const pay = tool({ call: async (_input, ctx) => JSON.stringify(await ctx.elicit({ message: "Pay?", schema })) });
    const { sandbox, production } = world(() => ({ tools: { pay }, ...keys }));
    const { requestState } = await ask(sandbox.nodes[0]!, "tools/call", { name: "pay", arguments: {} });
    const consent = {
      name: "pay",
      arguments: {},
      requestState,
      inputResponses: { "elicitation-1": { action: "accept", content: {} } },
    };
    const { error } = await ask(production.nodes[0]!, "tools/call", consent);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("params.requestState ") as string });
    expect(await ask(sandbox.nodes[1]!, "tools/call", consent)).toMatchObject({ content: [{ text: "{}" }] });
  });

  test("do not share rate limits", async () => {
    const { sandbox, production, clock } = world(() => ({ tools: { t: tool({ call: () => "done" }) } }));
    for (const { server } of [...sandbox.nodes, ...production.nodes]) {
      server.use(rateLimit({ perSecond: 1, burst: 2, clock }));
    }
    const status = async ({ client }: Node): Promise<number> =>
      (await client.modern("tools/call", { name: "t", arguments: {} }, { headers: alice })).status;
    const [a, b] = sandbox.nodes;
    expect(await status(a!)).toBe(200);
    expect(await status(b!)).toBe(200);
    expect(await status(a!)).toBe(429);
    expect(await status(production.nodes[0]!)).toBe(200);
  });

  test("use only names that start with the name of the server", async () => {
    const schema = { type: "object", properties: {} };
    const { sandbox, store, clock } = world(() => ({
      extensions: [tasks({ lease })],
      tools: {
        t: tool({ extensions: [asTask()], call: () => "done" }),
        pay: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "Pay?", schema })) }),
      },
    }));
    for (const { server } of sandbox.nodes) server.use(rateLimit({ clock }));
    const session = await open(sandbox.client, "2025-11-25", alice);
    await (await getStream(sandbox.client, session)).leave();
    await request(sandbox.client, session, "tools/call", { params: { name: "pay", arguments: {} } });
    await ask(sandbox.nodes[0]!, "tools/call", { name: "t", arguments: {} });
    await ask(sandbox.nodes[0]!, "tools/call", { name: "pay", arguments: {} });
    await clock.advance(2 * lease);
    const names = store.writes.map((write) => write.split(" ")[1]);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !name?.startsWith("mcparley:sandbox:"))).toEqual([]);
  });
});

/** A server in this process, with a tool that changes a resource. */
function makeServer(name: string, store: Store, clock: FakeClock): Server {
  const server: Server = createServer({
    name,
    version: "1.0.0",
    clock,
    store,
    tools: { change: tool({ call: () => (server.resources.updated("note://one"), "changed") }) },
    resources: { note: resource("note://one", { read: () => "one" }) },
  });
  return server;
}

const clientOf = ({ fetch }: FetchHandler) => rawHttp(url, fetch);

/** Subscribes a session, and opens its stream. */
async function subscribe(http: FetchHandler) {
  const client = clientOf(http);
  const session = await open(client);
  await request(client, session, "resources/subscribe", { params: { uri: "note://one" } });
  const stream = await getStream(client, session);
  await flushPromises();
  return { client, session, stream };
}

const change = ({ fetch }: FetchHandler) =>
  clientOf({ fetch } as FetchHandler).modern("tools/call", { name: "change", arguments: {} });
const updated = { method: "notifications/resources/updated" };

describe("two servers with two stores in one process", () => {
  test("share nothing", async () => {
    const clock = fakeClock(1_000_000);
    const stores = [recording(memoryStore({ clock })), recording(memoryStore({ clock }))] as const;
    // The servers have the same name.
    const [one, two] = stores.map((store) => toFetch(makeServer("same", store, clock)));
    const [first, second] = [await subscribe(one!), await subscribe(two!)];
    expect((await request(second.client, first.session, "ping")).status).toBe(404);
    for (const { writes } of stores) writes.length = 0;
    await change(one!);
    await flushPromises();
    expect(stores[0].writes.some((write) => write.endsWith(":changes"))).toBe(true);
    expect(stores[1].writes.some((write) => write.endsWith(":changes"))).toBe(false);
    expect(await soFar(first.stream)).toMatchObject([updated]);
    expect(await soFar(second.stream)).toEqual([]);
  });
});

describe("two endpoints of one server", () => {
  function endpoints(...options: [HttpOptions, HttpOptions]) {
    const clock = fakeClock(1_000_000);
    const store = recording(memoryStore({ clock }));
    const server = makeServer("test", store, clock);
    const [one, two] = options.map((of) => toFetch(server, of)) as [FetchHandler, FetchHandler];
    return { clock, store, server, one, two };
  }

  test("relay each change once", async () => {
    const { one, two, store } = endpoints({}, {});
    const [first, second] = [await subscribe(one), await subscribe(two)];
    store.writes.length = 0;
    await change(one);
    await flushPromises();
    expect(store.writes.filter((write) => /^append .*:changes$/.test(write))).toHaveLength(1);
    expect(await soFar(first.stream)).toMatchObject([updated]);
    expect(await soFar(second.stream)).toMatchObject([updated]);
  });

  test("keep their own settings", async () => {
    const { one, two, clock } = endpoints({ sessions: { idle: 10_000 } }, { sessions: false });
    const session = await open(clientOf(one));
    expect((await request(clientOf(one), session, "ping")).status).toBe(200);
    // The other endpoint has no sessions, and serves the request by itself.
    expect((await clientOf(two).send({ method: "GET", headers: session })).status).toBe(405);
    await clock.advance(12_000);
    expect((await request(clientOf(one), session, "ping")).status).toBe(404);
  });

  test("are independent: one continues after the other has closed", async () => {
    const { one, two, server, store } = endpoints({}, {});
    await subscribe(one);
    const second = await subscribe(two);
    await one.close();
    await one.close();
    const other = toFetch(makeServer("test", store, fakeClock(1_000_000)));
    await change(other);
    await flushPromises();
    expect(await soFar(second.stream)).toMatchObject([updated]);
    await two.close();
    // The last endpoint has closed, so changes are no longer relayed.
    store.writes.length = 0;
    server.resources.updated("note://one");
    await flushPromises();
    expect(store.writes).toEqual([]);
    const again = await subscribe(toFetch(server));
    server.resources.updated("note://one");
    await flushPromises();
    expect(await soFar(again.stream)).toMatchObject([updated]);
  });
});
