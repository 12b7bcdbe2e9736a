import { describe, expect, test } from "vitest";
import type { Context } from "../../packages/mcparley/src/server/core/context.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { type FakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Gate, gate } from "../support/gate.ts";
import {
  type Cluster,
  authenticated,
  callTool,
  cluster,
  event,
  failing,
  getStream,
  message,
  messages,
  open,
  recording,
  request,
  soFar,
} from "./cluster.ts";

const resumable = ["2025-06-18", "2025-11-25"];

/** A cluster whose tool `work` reports progress, waits for a signal, reports again and returns. */
function servers(more: object = {}): Cluster & { slow: Gate } {
  const slow = gate();
  const call = async (_: unknown, ctx: Context): Promise<string> => {
    ctx.progress(1);
    await slow.call(undefined, ctx);
    ctx.progress(2);
    return "done";
  };
  const ask = tool({
    call: async (_, ctx) => {
      ctx.progress(1);
      await slow.call(undefined, ctx);
      const answer = await ctx.elicit({
        message: "Sure?",
        schema: { type: "object", properties: { sure: { type: "boolean" } } },
      });
      return JSON.stringify(answer);
    },
  });
  const quick = tool({ call: () => "quick" });
  const tools = { quick, work: tool({ call }), again: tool({ annotations: { idempotentHint: true }, call }), ask };
  return { ...cluster({ definition: () => ({ tools }), ...more }), slow };
}

describe("the reply to a call whose connection broke", () => {
  test.each(resumable)("in %s reaches the client on the node where it resumes, each event once", async (version) => {
    const { nodes, slow } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client, version);
    const answer = await callTool(a!.client, session, "work");
    let first = await event(answer);
    if (!first?.message) first = await event(answer);
    expect(first?.message?.params).toMatchObject({ progress: 1 });
    await answer.leave();
    const rest = await getStream(b!.client, session, first?.id);
    await flushPromises();
    slow.open(undefined);
    expect(await messages(rest)).toMatchObject([
      { params: { progress: 2 } },
      { id: 1, result: { content: [{ text: "done" }] } },
    ]);
  });

  test("moves each time the client resumes, also back to the node of the call", async () => {
    const { nodes, slow } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "work");
    const primed = await event(answer);
    await answer.leave();
    for (const node of [b, c, a, c]) {
      const part = await getStream(node!.client, session, primed?.id);
      expect((await message(part))?.params).toMatchObject({ progress: 1 });
      await part.leave();
      await flushPromises();
    }
    const last = await getStream(b!.client, session, primed?.id);
    slow.open(undefined);
    expect((await messages(last)).map(({ id }) => id)).toEqual([undefined, undefined, 1]);
  });

  test("reaches the client although the call ends before its node knows where the client has resumed", async () => {
    const delayed: (() => void)[] = [];
    const { nodes, slow } = servers({
      store: (clock: FakeClock) => {
        const store = memoryStore({ clock });
        const publish = async (channel: string, text: string): Promise<void> => {
          if (channel.includes(":mail:")) delayed.push(() => void store.publish(channel, text));
          else await store.publish(channel, text);
        };
        return { ...store, publish };
      },
    });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "work");
    const primed = await event(answer);
    await answer.leave();
    const last = await getStream(b!.client, session, primed?.id);
    await flushPromises();
    slow.open(undefined);
    await flushPromises();
    for (const send of delayed) send();
    expect((await soFar(last)).map(({ id }) => id)).toEqual([undefined, undefined, 1]);
  });

  test("replaces a broken connection that its node has not noticed", async () => {
    const { nodes, slow } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "work");
    const primed = await event(answer);
    const moved = await getStream(b!.client, session, primed?.id);
    await flushPromises();
    slow.open(undefined);
    expect(await messages(moved)).toHaveLength(3);
    expect(await messages(answer)).toHaveLength(1);
  });

  test("can be resumed on any node until events.ttl after the end of the call", async () => {
    const { nodes, slow, clock } = servers({ options: { events: { ttl: 60_000 } } });
    const session = await open(nodes[0]!.client);
    slow.open(undefined);
    const answer = await callTool(nodes[0]!.client, session, "work");
    const primed = await event(answer);
    expect(await messages(answer)).toHaveLength(3);
    for (const { client } of nodes) {
      expect(await messages(await getStream(client, session, primed?.id))).toHaveLength(3);
    }
    await clock.advance(60_000);
    expect((await getStream(nodes[1]!.client, session, primed?.id)).status).toBe(400);
  });

  test("does not expire while the call runs, also without events", async () => {
    const { nodes, slow, clock } = servers({ options: { events: { ttl: 60_000 } } });
    const session = await open(nodes[0]!.client);
    const answer = await callTool(nodes[0]!.client, session, "work");
    const primed = await event(answer);
    await answer.leave();
    await clock.advance(200_000);
    const rest = await getStream(nodes[1]!.client, session, primed?.id);
    await flushPromises();
    slow.open(undefined);
    expect((await messages(rest)).map(({ id }) => id)).toEqual([undefined, undefined, 1]);
  });

  test("carries an input request, which is answered through a third node", async () => {
    const { nodes, slow } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "ask");
    const primed = await event(answer);
    await answer.leave();
    const rest = await getStream(b!.client, session, primed?.id);
    expect((await message(rest))?.params).toMatchObject({ progress: 1 });
    slow.open(undefined);
    const inputRequest = await message(rest);
    expect(inputRequest?.method).toBe("elicitation/create");
    const result = { action: "accept", content: { sure: true } };
    await c!.client.post({ jsonrpc: "2.0", id: inputRequest?.id, result }, session);
    expect(await messages(rest)).toMatchObject([{ id: 1, result: { content: [{ text: '{"sure":true}' }] } }]);
  });

  test("notifies the node of the call once that its client has resumed elsewhere", async () => {
    let store!: ReturnType<typeof recording>;
    const { nodes, clock } = servers({ store: (time: FakeClock) => (store = recording(memoryStore({ clock: time }))) });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const primed = await event(await callTool(a!.client, session, "work"));
    const rest = await getStream(b!.client, session, primed?.id);
    await event(rest);
    await clock.advance(30_000);
    expect(store.writes.filter((write) => /^append .*:mail:/.test(write))).toHaveLength(1);
  });

  test.each([
    ["2025-11-25", true],
    ["2025-06-18", false],
  ])("in %s on another node ends after events.maxStream: %s", async (version, isEnded) => {
    const { nodes, clock } = servers({ options: { events: { maxStream: 10_000 } } });
    const [a, b] = nodes;
    const session = await open(a!.client, version);
    const first = await event(await callTool(a!.client, session, "work"));
    const rest = await getStream(b!.client, session, first?.id);
    let isOver = false;
    void messages(rest).then(() => (isOver = true));
    await clock.advance(9_000);
    expect(isOver).toBe(false);
    await clock.advance(1_000);
    expect(isOver).toBe(isEnded);
  });

  test("leaves no timer on the node of a connection that has ended", async () => {
    const { nodes, clock } = servers({ options: { events: { maxStream: 10_000 } } });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "work");
    const primed = await event(answer);
    await answer.leave();
    const resumeAndLeave = async (): Promise<void> => {
      const rest = await getStream(b!.client, session, primed?.id);
      await event(rest);
      await flushPromises();
      await rest.leave();
      await flushPromises();
    };
    await resumeAndLeave();
    const timers = clock.pending;
    await resumeAndLeave();
    await clock.advance(20_000);
    expect(clock.pending).toBe(timers);
  });

  test("is sent to no other client, on any node", async () => {
    const { nodes, slow } = servers({ options: authenticated });
    const [a, b] = nodes;
    const alice = await open(a!.client, "2025-11-25", { authorization: "Bearer alice" });
    const other = await open(a!.client, "2025-11-25", { authorization: "Bearer alice" });
    const bob = await open(a!.client, "2025-11-25", { authorization: "Bearer bob" });
    slow.open(undefined);
    const answer = await callTool(a!.client, alice, "work");
    const primed = await event(answer);
    for (const { client } of [a!, b!]) {
      for (const session of [other, bob]) {
        expect((await getStream(client, session, primed?.id)).status).toBe(400);
      }
      expect((await getStream(client, { ...alice, authorization: "Bearer bob" }, primed?.id)).status).toBe(404);
    }
  });
});

describe("the reply to a call whose node died", () => {
  test.each([
    ["work", false, "only if it is safe to repeat"],
    ["again", true, "It is safe to send the request again"],
  ])("is an error that states whether the request may be repeated: %s", async (name, repeatable, said) => {
    const { nodes, clock } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, name);
    const primed = await event(answer);
    a!.kill();
    const rest = await getStream(b!.client, session, primed?.id);
    expect((await message(rest))?.params).toMatchObject({ progress: 1 });
    await clock.advance(20_000);
    const [failed, ...more] = await messages(rest);
    expect(failed).toMatchObject({ id: 1, error: { code: -32603, data: { repeatable } } });
    expect(failed?.error?.message).toContain(said);
    expect(more).toEqual([]);
  });

  test("is the same error for each connection, also for one that resumes later", async () => {
    const { nodes, clock } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const primed = await event(await callTool(a!.client, session, "work"));
    a!.kill();
    await clock.advance(60_000);
    const both = [await getStream(b!.client, session, primed?.id), await getStream(c!.client, session, primed?.id)];
    await clock.advance(20_000);
    for (const stream of both) expect((await messages(stream)).map(({ id }) => id)).toEqual([undefined, 1]);
    const late = await getStream(c!.client, session, primed?.id);
    expect((await messages(late)).map(({ id }) => id)).toEqual([undefined, 1]);
  });

  test("is an error at once if the lease has expired, although each node that follows the stream dies", async () => {
    const { nodes, clock } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    for (const { client } of nodes) await (await request(client, session, "ping")).text();
    await clock.advance(9_000);
    const primed = await event(await callTool(a!.client, session, "work"));
    a!.kill();
    const first = await getStream(b!.client, session, primed?.id);
    await clock.advance(11_999);
    expect((await soFar(first)).map(({ id }) => id)).toEqual([undefined]);
    b!.kill();
    await clock.advance(1);
    const second = await getStream(c!.client, session, primed?.id);
    expect((await messages(second)).map(({ id }) => id)).toEqual([undefined, 1]);
  });

  test("is an error although the record of the stream expires before the lease", async () => {
    const { nodes, clock } = servers({ options: { events: { ttl: 9_000 } } });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const primed = await event(await callTool(a!.client, session, "work"));
    a!.kill();
    const rest = await getStream(b!.client, session, primed?.id);
    await clock.advance(20_000);
    expect((await soFar(rest)).at(-1)).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  test("is the result if the log has it", async () => {
    const { nodes, slow, clock } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client);
    slow.open(undefined);
    const answer = await callTool(a!.client, session, "work");
    const primed = await event(answer);
    expect(await messages(answer)).toHaveLength(3);
    a!.kill();
    await clock.advance(60_000);
    const rest = await getStream(b!.client, session, primed?.id);
    await clock.advance(20_000);
    expect((await messages(rest)).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  });

  test("is an error only for the unanswered requests of a batch", async () => {
    const { nodes, clock } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client, "2025-03-26");
    const batch = ["work", "quick"].map((name, index) => ({
      jsonrpc: "2.0",
      id: index + 1,
      method: "tools/call",
      params: { name, arguments: {}, _meta: { progressToken: name } },
    }));
    const answer = await a!.client.post(batch, session);
    const first = await event(answer);
    await flushPromises();
    a!.kill();
    const rest = await getStream(b!.client, session, first?.id);
    await clock.advance(20_000);
    expect(await messages(rest)).toMatchObject([
      { id: 2, result: { content: [{ text: "quick" }] } },
      { id: 1, error: { data: { repeatable: false } } },
    ]);
  });

  // The owner is checked before or after it can renew its lease.
  test.each([27_700, 28_700, 29_700])(
    "is not an error if the store was unavailable for longer than a lease, and returns after %i ms",
    async (ms) => {
      let store!: ReturnType<typeof failing>;
      const { nodes, slow, clock } = servers({
        store: (time: FakeClock) => (store = failing(memoryStore({ clock: time }))),
      });
      const [a, b] = nodes;
      const session = await open(a!.client);
      const answer = await callTool(a!.client, session, "work");
      const primed = await event(answer);
      await answer.leave();
      await clock.advance(2_500);
      const rest = await getStream(b!.client, session, primed?.id);
      await message(rest);
      store.isAway = true;
      await clock.advance(30_000);
      slow.open(undefined);
      await clock.advance(ms);
      store.isAway = false;
      await clock.advance(30_000);
      expect(await messages(rest)).toMatchObject([{ params: { progress: 2 } }, { id: 1, result: {} }]);
    },
  );

  test.each([0, 1])(
    "is not lost with its connection while the log is unavailable (resumed on node %i)",
    async (number) => {
      let isAway = false;
      const store = (time: FakeClock): Store => {
        const whole = memoryStore({ clock: time });
        const append: Store["append"] = (log, ...entry) =>
          isAway && log.includes("events:") ? Promise.reject(new Error("down")) : whole.append(log, ...entry);
        return { ...whole, append };
      };
      const { nodes, slow, clock } = servers({ store });
      const session = await open(nodes[0]!.client);
      const answer = await callTool(nodes[0]!.client, session, "ask");
      const primed = await event(answer);
      await message(answer);
      isAway = true;
      slow.open(undefined);
      await flushPromises();
      // The node has not noticed that the connection is broken, and has sent the request on it.
      isAway = false;
      const rest = await getStream(nodes[number]!.client, session, primed?.id);
      await clock.advance(3_000);
      expect(await soFar(rest)).toMatchObject([{ params: { progress: 1 } }, { method: "elicitation/create" }]);
    },
  );

  test("is the last event although the store was unavailable when it was sent", async () => {
    let store!: ReturnType<typeof failing>;
    const { nodes, slow, clock } = servers({
      store: (time: FakeClock) => (store = failing(memoryStore({ clock: time }))),
    });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const primed = await event(await callTool(a!.client, session, "work"));
    await flushPromises();
    store.isAway = true;
    slow.open(undefined);
    await clock.advance(2_000);
    store.isAway = false;
    await clock.advance(1_000);
    const rest = await getStream(b!.client, session, primed?.id);
    await clock.advance(3_000);
    expect(await soFar(rest)).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { id: 1, result: { content: [{ text: "done" }] } },
    ]);
  });

  test("is not an error if the client resumes on a node that was started after the store was unavailable", async () => {
    let store!: ReturnType<typeof failing>;
    const { nodes, slow, clock } = servers({
      store: (time: FakeClock) => (store = failing(memoryStore({ clock: time }))),
    });
    const [a, b] = nodes;
    const session = await open(a!.client);
    const primed = await event(await callTool(a!.client, session, "work"));
    store.isAway = true;
    await clock.advance(28_000);
    store.isAway = false;
    const rest = await getStream(b!.client, session, primed?.id);
    await clock.advance(12_000);
    slow.open(undefined);
    expect((await messages(rest)).at(-1)).toMatchObject({ id: 1, result: {} });
  });
});

describe("a standalone stream", () => {
  test("resumes on another node with the lost and the later messages, each once", async () => {
    const { nodes } = servers();
    const [a, b] = nodes;
    const change = async (): Promise<void> => {
      b!.server.tools.set("more", tool({ call: () => "" }));
      await flushPromises();
    };
    const session = await open(a!.client);
    const standing = await getStream(a!.client, session);
    const primed = await event(standing);
    await flushPromises();
    await change();
    const first = await event(standing);
    await change();
    await standing.leave();
    await flushPromises();
    await change();
    await change();
    const again = await getStream(b!.client, session, first?.id);
    expect(await soFar(again)).toHaveLength(2);
    await again.leave();
    await flushPromises();
    await change();
    const whole = await getStream(nodes[2]!.client, session, primed?.id);
    expect(await soFar(whole)).toHaveLength(4);
  });
});
