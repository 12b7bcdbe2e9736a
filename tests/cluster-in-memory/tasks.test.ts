import { beforeAll, describe, expect, test } from "vitest";
import { asTask, tasks } from "../../packages/mcparley/src/extensions/tasks/server/tasks.ts";
import { tasksId } from "../../packages/mcparley/src/extensions/tasks/task.ts";
import { type Context } from "../../packages/mcparley/src/server/core/context.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { gate } from "../support/gate.ts";
import { type Cluster, type Node, cluster, failing } from "./cluster.ts";

const lease = 30_000;

// Loads lazy modules first, so that no test waits for them.
beforeAll(() =>
  Promise.all([
    import("../../packages/mcparley/src/server/input/elicit.ts"),
    import("../../packages/mcparley/src/server/input/elicit.ts"),
    import("../../packages/mcparley/src/schema/json-schema/compile.ts"),
  ]),
);
const capabilities = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };

type Handler = (node: number, ctx: Context) => Promise<string>;

/** A cluster with a task that fails with its process, and one that runs again. The store can be made to fail. */
function servers(call: Handler): Cluster & { shared: ReturnType<typeof failing> } {
  let shared!: ReturnType<typeof failing>;
  const made = cluster({
    store: (clock) => (shared = failing(memoryStore({ clock }))),
    definition: (node) => ({
      extensions: [tasks({ lease })],
      tools: {
        once: tool({ extensions: [asTask()], call: (_, ctx) => call(node, ctx) }),
        again: tool({ extensions: [asTask({ runAgain: true })], call: (_, ctx) => call(node, ctx) }),
        plain: tool({ call: () => "plain" }),
      },
    }),
  });
  return { ...made, shared };
}

async function ask({ client }: Node, method: string, params: object): Promise<Record<string, any>> {
  const answer = await client.modern(method, { ...params }, { capabilities, headers: nameOf(params) });
  const { result, error } = await answer.json();
  return result ?? { error };
}

const nameOf = (params: { taskId?: string }): Record<string, string> =>
  params.taskId ? { "mcp-name": params.taskId } : {};
const begin = async (node: Node, name: string): Promise<string> =>
  (await ask(node, "tools/call", { name, arguments: {} })).taskId as string;

/** Reads the record of a task from the store, without a takeover. */
const kept = async (store: { get(key: string): Promise<string | undefined> }, taskId: string) =>
  JSON.parse((await store.get(`mcparley:test:task:${taskId}`)) ?? "{}") as { status: string; result?: unknown };

describe("a task", () => {
  test("can be read, answered and cancelled through any node", async () => {
    const signals: AbortSignal[] = [];
    const { nodes } = servers(async (node, ctx) => {
      signals.push(ctx.signal);
      const answer = await ctx.elicit({
        message: "Who?",
        schema: { type: "object", properties: { name: { type: "string" } } },
      });
      await new Promise((resolve) => setTimeout(resolve, 0));
      return `${node} ${JSON.stringify(answer)}`;
    });
    const [a, b, c] = nodes;
    const [first, second] = [await begin(a!, "once"), await begin(a!, "once")];
    await flushPromises();
    const shown = await ask(b!, "tasks/get", { taskId: first });
    expect(shown.status).toBe("input_required");
    const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
    await ask(c!, "tasks/update", { taskId: first, inputResponses });
    await ask(b!, "tasks/cancel", { taskId: second });
    await flushPromises();
    expect(await ask(b!, "tasks/get", { taskId: first })).toMatchObject({
      status: "completed",
      result: { content: [{ text: '0 {"name":"Ann"}' }] },
    });
    expect((await ask(c!, "tasks/get", { taskId: second })).status).toBe("cancelled");
    expect(signals[1]!.aborted).toBe(true);
  });

  test("whose node died runs again on another node or fails, as its tool declares, without a request", async () => {
    const ran: string[] = [];
    const { nodes, clock, store } = servers(async (node) => {
      ran.push(`${node}`);
      return node === 0 ? new Promise(() => {}) : `done by ${node > 0 ? "another" : "the same"}`;
    });
    const [a, b] = nodes;
    // After its first request of any kind, a node takes over the tasks of dead nodes.
    await ask(b!, "tools/list", {});
    const [once, again] = [await begin(a!, "once"), await begin(a!, "again")];
    await flushPromises();
    a!.kill();
    await clock.advance(3 * lease);
    expect(await kept(store, once)).toMatchObject({ status: "failed" });
    expect(await kept(store, again)).toMatchObject({
      status: "completed",
      result: { content: [{ text: "done by another" }] },
    });
    expect(ran).toEqual(["0", "0", "1"]);
  });

  test("runs on one node only, although several nodes check for it", async () => {
    const ran: number[] = [];
    const { nodes, clock } = servers(async (node) => {
      ran.push(node);
      return new Promise(() => {});
    });
    for (const node of nodes) await ask(node, "tools/list", {});
    const taskId = await begin(nodes[0]!, "again");
    nodes[0]!.kill();
    await clock.advance(2 * lease);
    await Promise.all(nodes.slice(1).map((node) => ask(node, "tasks/get", { taskId })));
    await clock.advance(3 * lease);
    expect(ran).toHaveLength(2);
  });

  test("of a closed node continues on another at once", async () => {
    const { nodes, clock, store } = servers(async (node) => (node === 0 ? new Promise(() => {}) : "done"));
    await ask(nodes[1]!, "tools/list", {});
    const taskId = await begin(nodes[0]!, "again");
    await flushPromises();
    await nodes[0]!.server.close();
    await clock.advance(lease + 1);
    expect(await kept(store, taskId)).toMatchObject({ status: "completed" });
  });
});

describe("while the store is unavailable", () => {
  test("a task continues, its result is not lost, and no node takes it over afterwards", async () => {
    const slow = gate();
    const ran: number[] = [];
    const { nodes, clock, shared } = servers(async (node) => {
      ran.push(node);
      return slow.call(undefined, {} as Context) as Promise<string>;
    });
    for (const node of nodes) await ask(node, "tools/list", {});
    const taskId = await begin(nodes[0]!, "again");
    await flushPromises();
    shared.isAway = true;
    await clock.advance(2 * lease);
    slow.open("done");
    await clock.advance(2 * lease);
    shared.isAway = false;
    expect((await ask(nodes[1]!, "tasks/get", { taskId })).status).toBe("working");
    await clock.advance(lease);
    expect(await ask(nodes[2]!, "tasks/get", { taskId })).toMatchObject({ status: "completed" });
    expect(ran).toEqual([0]);
  });

  test("no task is created, and the call is answered with 503", async () => {
    const { nodes, shared } = servers(async () => "done");
    shared.isAway = true;
    const params = { name: "once", arguments: {} };
    const refused = await nodes[0]!.client.modern("tools/call", params, { capabilities });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    const plain = await nodes[0]!.client.modern("tools/call", { name: "plain", arguments: {} }, { capabilities });
    expect(plain.status).toBe(200);
  });
});
