import { expect } from "vitest";
import { gate, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { isRequest } from "../../support/raw-message.ts";
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

proves("ping.sent-by-server", async (world) => {
  const peer = await world.serve({ pingInterval: 1000 });
  await world.clock.advance(1000);
  const request = await peer.nextRequest("ping");
  expect(request.params).toEqual({});
  peer.answer(request, {});
});

proves("ping.periodic", {
  async server(world) {
    const peer = await world.serve({ pingInterval: 1000 });
    for (let count = 0; count < 5; count++) {
      await world.clock.advance(999);
      expect(peer.received.filter(isRequest)).toHaveLength(count);
      await world.clock.advance(1);
      const request = await peer.nextRequest("ping");
      // An error is an answer as well.
      if (count % 2) peer.answer(request, {});
      else peer.refuse(request, { code: -32601, message: "Method not found" });
      await peer.settled();
    }
    expect(world.errors).toEqual([]);
  },
  async client(world) {
    const { client, server } = await world.connect({ pingInterval: 1000 });
    const pings = () => server.received.filter(({ method }) => method === "ping");
    for (let count = 0; count < 5; count++) {
      await world.clock.advance(999);
      expect(pings()).toHaveLength(count);
      await world.clock.advance(1);
      const request = await server.request("ping");
      if (count % 2) server.answer(request, {});
      else server.refuse(request, { code: -32601, message: "Method not found" });
    }
    await client.close();
    await world.clock.advance(10_000);
    expect(pings()).toHaveLength(5);
  },
});

proves("ping.failure.reset", async (world) => {
  const lost: Error[] = [];
  const { client, server } = await world.connect({ pingInterval: 1000, onError: (error) => lost.push(error) });
  const waiting = client.listTools().all();
  waiting.catch(() => {});
  await server.request("tools/list");
  await world.clock.advance(1000);
  await server.request("ping");
  await world.clock.advance(1999);
  expect(lost).toEqual([]);
  await world.clock.advance(1);
  await expect(waiting).rejects.toMatchObject({ code: "closed" });
  expect(lost[0]?.message).toContain("answered none of 2 pings");
});
