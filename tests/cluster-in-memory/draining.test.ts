import { describe, expect, test } from "vitest";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Gate, gate } from "../support/gate.ts";
import { type Cluster, callTool, cluster, event, getStream, messages, open, soFar } from "./cluster.ts";

function servers(options: object = {}): Cluster & { slow: Gate } {
  const slow = gate();
  const tools = {
    slow: tool({
      call: async (_, ctx) => {
        ctx.progress(1);
        return slow.call(undefined, ctx);
      },
    }),
    polite: tool({
      call: (_, ctx) => {
        ctx.progress(1);
        return new Promise<string>((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("aborted")));
        });
      },
    }),
    hello: tool({ call: () => "Hello" }),
  };
  return { ...cluster({ definition: () => ({ tools }), options }), slow };
}

describe("a node that is closed", () => {
  test("ends its streams, and the other nodes continue its sessions", async () => {
    const { nodes } = servers();
    const [a, b, c] = nodes;
    const session = await open(a!.client);
    const standing = await getStream(a!.client, session);
    await event(standing);
    await flushPromises();
    await a!.http.close();
    expect(await messages(standing)).toEqual([]);
    expect((await callTool(b!.client, session, "hello")).status).toBe(200);
    c!.server.tools.set("another", tool({ call: () => "" }));
    await flushPromises();
    const again = await getStream(b!.client, session);
    expect((await soFar(again)).map(({ method }) => method)).toEqual(["notifications/tools/list_changed"]);
    expect((await callTool(a!.client, session, "hello")).status).toBe(503);
  });

  test("leaves no timer behind", async () => {
    const { nodes, clock, slow } = servers({ path: "/mcp", legacySse: true, events: { maxStream: 10_000 } });
    const [a] = nodes;
    const session = await open(a!.client);
    await getStream(a!.client, session);
    await a!.client.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } });
    await event(await callTool(a!.client, session, "slow"));
    slow.open("done");
    await flushPromises();
    expect(clock.pending).toBeGreaterThan(0);
    await a!.http.close();
    await flushPromises();
    expect(clock.pending).toBe(0);
  });

  test("answers a call before it ends, also to a client that resumed on another node", async () => {
    const { nodes, slow } = servers();
    const [a, b] = nodes;
    const session = await open(a!.client);
    const answer = await callTool(a!.client, session, "slow");
    const primed = await event(answer);
    await answer.leave();
    const rest = await getStream(b!.client, session, primed?.id);
    await flushPromises();
    const closing = a!.http.close();
    slow.open("in time");
    await closing;
    expect((await messages(rest)).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: "in time" }] } });
  });

  test.each(["slow", "polite"])(
    "cancels a %s call after closeTimeout, and a resuming client gets an error at once",
    async (name) => {
      const { nodes, clock } = servers({ closeTimeout: 1_000 });
      const [a, b] = nodes;
      const session = await open(a!.client);
      // A node that has just joined ignores missing leases for nine seconds.
      await (await callTool(b!.client, session, "hello")).text();
      await clock.advance(9_000);
      const answer = await callTool(a!.client, session, name);
      const primed = await event(answer);
      const closing = a!.http.close();
      await clock.advance(1_000);
      await closing;
      const rest = await getStream(b!.client, session, primed?.id);
      // The lease is gone, so no check has to wait until it expires.
      expect((await soFar(rest)).at(-1)).toMatchObject({ id: 1, error: { data: { repeatable: false } } });
    },
  );
});
