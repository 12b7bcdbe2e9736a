import { expect, test } from "vitest";
import { urlRequired } from "../../packages/mcparley/src/server/input/url-required.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Node, authenticated, cluster, getStream, message, request, soFar } from "./cluster.ts";
import { type RawHttp, openHttpSession } from "../support/raw-http.ts";

const url = "https://example.com/pay";

function servers() {
  const tools = {
    need: tool({
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } as const,
      call: ({ id }): string => {
        throw urlRequired({ message: "Pay.", url, elicitationId: id });
      },
    }),
  };
  const made = cluster({ definition: () => ({ tools }), options: authenticated });
  const [a, b, c] = made.nodes as [Node, Node, Node];
  return { a, b, c, close: () => made.close() };
}

/** Opens a session whose client can send its user to a URL. */
const openFor = (client: RawHttp, user: string): Promise<Record<string, string>> =>
  openHttpSession(client, { capabilities: { elicitation: { url: {} } }, headers: { authorization: `Bearer ${user}` } });

async function need(client: RawHttp, session: Record<string, string>, id: string): Promise<void> {
  const answer = await request(client, session, "tools/call", { params: { name: "need", arguments: { id } } });
  expect(await answer.json()).toMatchObject({ error: { code: -32042 } });
}

test("a visit that another process completes is announced once, to the client of the elicitation", async () => {
  const { a, b, c, close } = servers();
  const [alice, bob] = [await openFor(a.client, "alice"), await openFor(a.client, "bob")];
  const streams = { alice: await getStream(b.client, alice), bob: await getStream(b.client, bob) };
  await need(a.client, alice, "visit-1");
  await flushPromises();
  const outcomes = await Promise.all([
    c.server.elicitationComplete("visit-1"),
    a.server.elicitationComplete("visit-1"),
  ]);
  expect(outcomes.filter(Boolean).length).toBe(1);
  expect(await message(streams.alice)).toMatchObject({
    method: "notifications/elicitation/complete",
    params: { elicitationId: "visit-1" },
  });
  await flushPromises();
  expect(await c.server.elicitationComplete("visit-1")).toBe(false);
  expect(await soFar(streams.alice)).toEqual([]);
  expect(await soFar(streams.bob)).toEqual([]);
  await close();
});

test("an announcement waits for the client's next stream", async () => {
  const { a, b, c, close } = servers();
  const alice = await openFor(a.client, "alice");
  await need(b.client, alice, "visit-2");
  expect(await c.server.elicitationComplete("visit-2")).toBe(true);
  expect(await message(await getStream(a.client, alice))).toMatchObject({ params: { elicitationId: "visit-2" } });
  await close();
});

test("a visit of an ended session is not announced", async () => {
  const { a, c, close } = servers();
  const alice = await openFor(a.client, "alice");
  await need(a.client, alice, "visit-3");
  await a.client.send({ method: "DELETE", headers: alice });
  expect(await c.server.elicitationComplete("visit-3")).toBe(false);
  expect(await c.server.elicitationComplete("never-asked")).toBe(false);
  await close();
});
