import { describe, expect, test } from "vitest";
import { connect } from "../../packages/mcparley/src/client.ts";
import { hasCode } from "../../packages/mcparley/src/rpc/errors.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { urlRequired } from "../../packages/mcparley/src/server/input/url-required.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { openHttpSession } from "../support/raw-http.ts";
import { type Cluster, type Node, callTool, cluster, getStream, message, open, request, soFar } from "./cluster.ts";

/** A death: the number of an operation on the store, and whether the operation has its effect. Its node dies. */
interface Death {
  operation: number;
  step: "before" | "done";
}

/** The outcome of a call, which is undefined if the call hangs, and the operations on the store during the call. */
interface Ending {
  outcome: unknown;
  operations: string[];
}

/** Calls a tool that needs sampling, with the library's client behind a load balancer. A node dies during the call. */
async function callWithDeath(revision: string, death: Death | undefined): Promise<Ending> {
  const think = tool({
    call: async (_, ctx) => {
      const { content } = await ctx.sample({ messages: [], maxTokens: 1 });
      return JSON.stringify(content);
    },
  });
  const operations: string[] = [];
  let isCounting = false;
  const world: Cluster = cluster({
    definition: () => ({ tools: { think } }),
    onOperation: (node, step, name) => {
      if (!isCounting) return;
      if (step === "before") operations.push(name.replaceAll(/[0-9a-f-]{16,}|\d{2,}/g, "…"));
      if (death?.step === step && death.operation === operations.length - 1) node.kill();
    },
  });
  const { clock, fetch, nodes } = world;
  const connecting = connect("http://localhost/mcp", {
    fetch,
    clock,
    revision,
    cache: false,
    sample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "a thought" } }),
  });
  await clock.advance(0);
  const client = await connecting;
  // All nodes have joined, so that the operations are only those of the call.
  for (const _ of nodes) await client.ping();
  await flushPromises();
  isCounting = true;
  const ending: Ending = { outcome: undefined, operations };
  const settle = (outcome: unknown): void => void (ending.outcome = outcome);
  client.callTool("think", {}).then(settle, settle);
  // The client's own limit is 60 s.
  for (let waited = 0; ending.outcome === undefined && waited < 59_000; waited += 500) await clock.advance(500);
  isCounting = false;
  const { outcome } = ending;
  void client.close();
  for (const node of nodes) node.kill();
  return { outcome, operations };
}

test.each(["2025-03-26", "2025-06-18", "2025-11-25"])(
  "a call of %s with an input request ends although a node dies at any operation on the store",
  async (revision) => {
    const { operations, outcome } = await callWithDeath(revision, undefined);
    expect(outcome).toBe('{"type":"text","text":"a thought"}');
    expect(operations).toContain("append mcparley:test:mail:…");
    const unclear: string[] = [];
    for (const operation of operations.keys()) {
      for (const step of ["before", "done"] as const) {
        const ending = await callWithDeath(revision, { operation, step });
        const isError = ending.outcome instanceof Error && !hasCode(ending.outcome, "timeout");
        const isClear = isError || ending.outcome === outcome;
        if (!isClear) unclear.push(`${step} ${ending.operations[operation]}: ${String(ending.outcome)}`);
      }
    }
    expect(unclear).toEqual([]);
  },
);

describe("a message of a process that dies between its append and its notification", () => {
  /** Makes a cluster. `killAfter` kills the second node when it has appended to a log with this name. */
  function servers(): Cluster & { killAfter: (log: RegExp) => void } {
    let deadly: RegExp | undefined;
    const schema = { type: "object", properties: { name: { type: "string" } } };
    const ask = tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "Who?", schema })) });
    const pay = tool({
      call: (): string => {
        throw urlRequired({ message: "Pay.", url: "https://example.com/pay", elicitationId: "visit" });
      },
    });
    const world: Cluster = cluster({
      definition: () => ({ tools: { ask, pay } }),
      onOperation: (node, step, name) => {
        if (node === world.nodes[1] && step === "done" && deadly?.test(name)) node.kill();
      },
    });
    return { ...world, killAfter: (log) => (deadly = log) };
  }

  test("in an inbox is delayed by at most five seconds", async () => {
    const { nodes, clock, killAfter } = servers();
    const [a, b] = nodes as [Node, Node];
    const session = await open(a.client);
    await (await request(b.client, session, "ping")).text();
    const answer = await callTool(a.client, session, "ask");
    const { id } = (await message(answer))!;
    killAfter(/^append .*:mail:/);
    const result = { action: "accept", content: { name: "Ann" } };
    void b.client.post({ jsonrpc: "2.0", id, result }, session);
    await flushPromises();
    expect(b.death.aborted).toBe(true);
    await clock.advance(5_000);
    expect(await soFar(answer)).toMatchObject([{ result: { content: [{ text: '{"name":"Ann"}' }] } }]);
  });

  test("in the outbox of a session is delayed by at most a thirtieth of the idle timeout", async () => {
    const { nodes, clock, killAfter } = servers();
    const [a, b] = nodes as [Node, Node];
    const session = await openHttpSession(a.client, { capabilities: { elicitation: { url: {} } } });
    const stream = await getStream(a.client, session);
    await (await callTool(a.client, session, "pay")).text();
    await flushPromises();
    const next = message(stream);
    let isDelivered = false;
    void next.then(() => (isDelivered = true));
    killAfter(/^append .*:outbox:/);
    void b.server.elicitationComplete("visit");
    await flushPromises();
    expect(b.death.aborted).toBe(true);
    await clock.advance(59_999);
    expect(isDelivered).toBe(false);
    await clock.advance(1);
    expect(isDelivered).toBe(true);
    expect(await next).toMatchObject({ method: "notifications/elicitation/complete" });
  });
});
