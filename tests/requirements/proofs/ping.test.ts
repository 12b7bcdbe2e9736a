import { expect } from "vitest";
import { gate, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { isRequest } from "../world/inbox.ts";
import { textOf } from "../world/subjects.ts";

proves("ping.answer.empty", {
  async server(world) {
    const peer = await world.serve();
    expect((await peer.request("ping")).result).toEqual({});
    expect((await peer.request("ping", { _meta: { a: 1 } })).result).toEqual({});
  },
  async client(world) {
    const { server } = await world.connect();
    expect((await server.ask("p", "ping")).result).toEqual({});
  },
});

proves("ping.answer.while-busy", async (world) => {
  const slow = gate();
  const peer = await world.serve({ tools: { slow: tool(slow) } });
  const id = peer.start("tools/call", { name: "slow" });
  await slow.entered;
  expect((await peer.request("ping")).result).toEqual({});
  slow.open("done");
  expect(textOf(await peer.response(id))).toBe("done");
});

proves("ping.sent", async (world) => {
  const { client, server } = await world.connect();
  const pinged = client.ping();
  const request = await server.request("ping");
  const { _meta: _, ...params } = request.params ?? {};
  expect(params).toEqual({});
  server.answer(request, {});
  await pinged;
});

proves("ping.timeout", async (world) => {
  const { client, server } = await world.connect();
  const pinged = client.ping({ timeout: { idle: 500 } });
  pinged.catch(() => {});
  await server.request("ping");
  await world.clock.advance(500);
  await expect(pinged).rejects.toMatchObject({ code: "timeout" });
});

proves("ping.failure.reported", async (world) => {
  const calls: unknown[] = [];
  const { client, server } = await world.connect({ onCall: ({ method, outcome }) => calls.push([method, outcome]) });
  const pinged = client.ping({ timeout: { idle: 500 } });
  pinged.catch(() => {});
  await server.request("ping");
  await world.clock.advance(500);
  await expect(pinged).rejects.toThrow();
  expect(calls).toEqual([["ping", "timeout"]]);
});

const hour = 3_600_000;

proves("ping.not-excessive", {
  async server(world) {
    // Streams over HTTP are kept open by comments, which are no messages.
    const peer = await world.serve({}, { http: { keepAlive: hour } });
    await world.clock.advance(hour / 4);
    expect(peer.received.filter(isRequest)).toEqual([]);
  },
  async client(world) {
    const { server } = await world.connect();
    await world.clock.advance(hour / 4);
    expect(server.received.filter(({ method }) => method === "ping")).toEqual([]);
  },
});
