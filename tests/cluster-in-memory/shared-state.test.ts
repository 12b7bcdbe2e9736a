import { describe, expect, test } from "vitest";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { rateLimit } from "../../packages/mcparley/src/server/observe/rate-limit.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { type FakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { type Cluster, type Node, authenticated, cluster, failing } from "./cluster.ts";

const hour = 3_600_000;

/** A cluster whose tool elicits input twice, and records its side effect. */
function servers(more: Partial<AnyServerDefinition> = {}, options: object = {}): Cluster {
  const book = tool({
    call: async (_, ctx) => {
      const schema = { type: "object", properties: { seat: { type: "string" } } };
      const first = await ctx.elicit({ message: "Where?", schema });
      const number = await ctx.once("number", () => 42);
      const second = await ctx.elicit({ message: "And then?", schema });
      return `${first.seat as string} ${second.seat as string} ${number}`;
    },
  });
  return cluster({ definition: () => ({ tools: { book }, ...more }), ...options });
}

/** Calls the tool, or continues a call with answers. */
async function call({ client }: Node, before?: { state: unknown; seat: string; key: string }): Promise<RawAnswer> {
  const more = before && {
    requestState: before.state,
    inputResponses: { [before.key]: { action: "accept", content: { seat: before.seat } } },
  };
  const params = { name: "book", arguments: {}, ...more };
  return client.modern("tools/call", params, { capabilities: { elicitation: { form: {} } } });
}

const stateOf = async (answer: RawAnswer): Promise<unknown> => (await answer.json()).result.requestState;

describe("the sealed state of a call", () => {
  test("is opened by every node, without configured keys", async () => {
    const { nodes } = servers();
    const [a, b, c] = nodes;
    const one = await stateOf(await call(a!));
    const two = await stateOf(await call(b!, { state: one, seat: "1A", key: "elicitation-1" }));
    const last = await call(c!, { state: two, seat: "2B", key: "elicitation-2" });
    expect((await last.json()).result.content).toMatchObject([{ text: "1A 2B 42" }]);
  });

  test("is valid after the key was replaced, until it expires", async () => {
    const { nodes, clock } = servers();
    const [a, b, c] = nodes;
    for (const node of nodes) await call(node);
    await clock.advance(24 * hour - 60_000);
    const one = await stateOf(await call(a!));
    await clock.advance(120_000);
    // Replaces the key. The other nodes still have the old keys.
    const fresh = await stateOf(await call(b!));
    const two = await stateOf(await call(c!, { state: one, seat: "1A", key: "elicitation-1" }));
    expect((await call(a!, { state: fresh, seat: "9Z", key: "elicitation-1" })).status).toBe(200);
    const last = await call(b!, { state: two, seat: "2B", key: "elicitation-2" });
    expect((await last.json()).result.content).toMatchObject([{ text: "1A 2B 42" }]);
    await clock.advance(hour);
    expect((await (await call(a!, { state: one, seat: "1A", key: "elicitation-1" })).json()).error?.code).toBe(-32602);
  });

  test("uses configured keys, which can be rotated in steps, without the store", async () => {
    const [old, fresh] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const store = failing(memoryStore());
    const rings = [[old], [old, fresh], [fresh, old]];
    let made = 0;
    const { nodes } = cluster({
      store: () => store,
      definition: () => ({
        stateKeys: rings[made++] ?? [],
        tools: {
          book: tool({
            call: async (_, ctx) =>
              JSON.stringify(
                await ctx.elicit({
                  message: "?",
                  schema: { type: "object", properties: { seat: { type: "string" } } },
                }),
              ),
          }),
        },
      }),
    });
    const [before, between, after] = nodes;
    for (const [from, to] of [
      [before, between],
      [between, before],
      [between, after],
      [after, between],
    ]) {
      const state = await stateOf(await call(from!));
      const answer = await call(to!, { state, seat: "1A", key: "elicitation-1" });
      expect((await answer.json()).result?.content).toMatchObject([{ text: '{"seat":"1A"}' }]);
    }
    expect(store.operations).toEqual([]);
  });

  test("reads the store at most once a second for unknown keys", async () => {
    const stores: ReturnType<typeof failing>[] = [];
    const { nodes, clock } = servers(
      {},
      {
        store: (time: FakeClock) => {
          stores.push(failing(memoryStore({ clock: time })));
          return stores[0];
        },
      },
    );
    const state = await stateOf(await call(nodes[0]!));
    await clock.advance(10_000);
    const before = stores[0]!.operations.length;
    const forged = `AAAA${String(state).slice(4)}`;
    for (let tries = 0; tries < 20; tries++) {
      const answer = await call(nodes[0]!, { state: forged, seat: "1A", key: "elicitation-1" });
      expect((await answer.json()).error?.code).toBe(-32602);
    }
    expect(stores[0]!.operations.length - before).toBe(1);
  });

  test("causes a 503 if a key is needed while the store is unavailable, and is opened with known keys", async () => {
    const store = failing(memoryStore());
    const { nodes } = servers({}, { store: () => store });
    store.isAway = true;
    const refused = await call(nodes[0]!);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    store.isAway = false;
    const one = await stateOf(await call(nodes[0]!));
    store.isAway = true;
    expect((await call(nodes[0]!, { state: one, seat: "1A", key: "elicitation-1" })).status).toBe(200);
  });
});

describe("a shared rate limit", () => {
  const bearer = (who: string): object => ({ headers: { authorization: `Bearer ${who}` } });

  function limited(store: ReturnType<typeof failing>, clock: FakeClock): Cluster["nodes"] {
    const { nodes } = cluster({
      definition: () => ({ clock, tools: { hello: tool({ call: () => "Hello" }) } }),
      options: authenticated,
      store: () => store,
    });
    for (const { server } of nodes) server.use(rateLimit({ perSecond: 1, burst: 3, clock }));
    return nodes;
  }

  const statuses = async (nodes: readonly Node[], count: number, who = "alice"): Promise<number[]> => {
    const all: number[] = [];
    for (let made = 0; made < count; made++) {
      const { client } = nodes[made % nodes.length]!;
      all.push((await client.modern("tools/call", { name: "hello", arguments: {} }, bearer(who))).status);
    }
    return all;
  };

  test("counts the calls of each caller on all nodes together", async () => {
    const { clock } = cluster({ definition: () => ({}) });
    const nodes = limited(failing(memoryStore({ clock })), clock);
    expect(await statuses(nodes, 5)).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(nodes, 1, "bob")).toEqual([200]);
    await clock.advance(2_000);
    expect(await statuses(nodes, 3)).toEqual([200, 200, 429]);
  });

  test("applies to concurrent calls", async () => {
    const { clock } = cluster({ definition: () => ({}) });
    const nodes = limited(failing(memoryStore({ clock })), clock);
    const all = await Promise.all(
      nodes.flatMap((node) => [statuses([node], 1), statuses([node], 1), statuses([node], 1)]),
    );
    await flushPromises();
    expect(all.flat().filter((status) => status === 200)).toHaveLength(3);
  });

  test("applies to each node separately while the store is unavailable", async () => {
    const { clock } = cluster({ definition: () => ({}) });
    const store = failing(memoryStore({ clock }));
    const nodes = limited(store, clock);
    store.isAway = true;
    expect(await statuses([nodes[0]!], 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses([nodes[1]!], 1)).toEqual([200]);
    store.isAway = false;
    expect(await statuses(nodes, 4)).toEqual([200, 200, 200, 429]);
  });
});
