import { expect, test, vi } from "vitest";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { ServerObserver } from "../../packages/mcparley/src/server/core/observer.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Cluster, callTool, cluster, getStream, open } from "./cluster.ts";

type SessionEnded = NonNullable<ServerObserver["sessionEnded"]>;

/** A cluster whose observers record the ends of sessions together. */
function observed(): Cluster & { ended: ReturnType<typeof vi.fn<SessionEnded>> } {
  const ended = vi.fn<SessionEnded>();
  const made = cluster({
    definition: () => ({
      tools: { hello: tool({ call: () => "Hello." }) },
      observers: [{ sessionEnded: ended }],
    }),
    options: { sessions: { idle: 60_000 } },
  });
  return { ...made, ended };
}

test("the end of a session is reported once, with the duration of the whole session", async () => {
  const { nodes, clock, ended } = observed();
  const session = await open(nodes[0]!.client);
  await clock.advance(10_000);
  for (const { client } of nodes) expect((await callTool(client, session, "hello")).status).toBe(200);
  expect((await nodes[2]!.client.send({ method: "DELETE", headers: session })).status).toBe(204);
  await vi.waitFor(() => expect(ended).toHaveBeenCalled());
  await clock.advance(60_000);
  await flushPromises();
  expect(ended.mock.calls).toEqual([
    [{ durationMs: 10_000, revision: "2025-11-25", reason: "The client ended its session." }],
  ]);
});

test("a session that has expired is reported once, by one of the processes that use it", async () => {
  const { nodes, clock, store, ended } = observed();
  const session = await open(nodes[0]!.client);
  await getStream(nodes[0]!.client, session);
  await getStream(nodes[1]!.client, session);
  expect(await store.delete(`mcparley:test:session:${session["mcp-session-id"]}`)).toBe(true);
  await clock.advance(60_000);
  await vi.waitFor(() => expect(ended).toHaveBeenCalled());
  for (const { client } of nodes) expect((await callTool(client, session, "hello")).status).toBe(404);
  await flushPromises();
  expect(ended).toHaveBeenCalledTimes(1);
  expect(ended).toHaveBeenCalledWith(expect.objectContaining({ reason: "The session has ended." }));
});

test("a session whose process ends is not reported, because another process continues it", async () => {
  const { nodes, ended } = observed();
  const session = await open(nodes[0]!.client);
  await callTool(nodes[0]!.client, session, "hello");
  await nodes[0]!.http.close();
  expect((await callTool(nodes[1]!.client, session, "hello")).status).toBe(200);
  await flushPromises();
  expect(ended).not.toHaveBeenCalled();
});
