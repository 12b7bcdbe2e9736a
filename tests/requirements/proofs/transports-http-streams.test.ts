import { expect } from "vitest";
import { type RawMessage, type SentRequest, gate, memoryStore, tool } from "../library.ts";
import { proves } from "../proves.ts";
import { type Event, eventsOf } from "../../support/events.ts";
import { accept, httpSession, initializeRequest, openSession } from "../world/http-session.ts";
import { turns } from "../../support/raw-message.ts";
import { echo, gotPrompt, requested, rooted, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const reporting = tool({
  call: (_, ctx) => {
    ctx.progress(1);
    return "done";
  },
});
const token = (progressToken: string): { meta: object } => ({ meta: { progressToken } });

proves("http.stream.notifications", async (world) => {
  const peer = await world.serve({ tools: { reporting } });
  const { id } = await peer.request("tools/call", { name: "reporting" }, { meta: { progressToken: "p" } });
  expect(peer.carried(id)?.type).toBe("text/event-stream");
  const [first, second] = peer.received.slice(-2);
  expect(first?.method).toBe("notifications/progress");
  expect(second?.id).toEqual(id);
});

proves("http.stream.related", async (world) => {
  const one = gate();
  const two = gate();
  const http = world.serveHttp({ tools: { one: tool(one), two: tool(two) } });
  const session = world.isModern ? undefined : await openSession(world, http);
  const call = (name: string) => {
    const params = { name, _meta: { progressToken: name } };
    if (!session) return http.modern("tools/call", { name }, { id: name, ...token(name) } as object);
    return session.request("tools/call", params, name);
  };
  const answers = [call("one"), call("two")];
  const contexts = [await one.entered, await two.entered];
  contexts[1]!.progress(2);
  contexts[0]!.progress(1);
  one.open("1");
  two.open("2");
  for (const [index, name] of ["one", "two"].entries()) {
    const answer = await answers[index]!;
    expect(await answer.next()).toMatchObject({ params: { progressToken: name, progress: index + 1 } });
    expect(await answer.next()).toMatchObject({ id: name });
    expect(await answer.next()).toBeUndefined();
  }
});

proves("http.stream.requests", async (world) => {
  const peer = await world.serve({ tools: { rooted } }, { capabilities: { roots: {} } });
  const id = peer.start("tools/call", { name: "rooted" });
  peer.answer(await peer.nextRequest("roots/list"), { roots: [{ uri: "file:///a" }] });
  expect(textOf(await peer.response(id))).toBe("file:///a");
  expect(peer.carried(id)?.type).toBe("text/event-stream");
});

proves("http.stream.response", async (world) => {
  const peer = await world.serve({ tools: { reporting } });
  expect(textOf(await peer.request("tools/call", { name: "reporting" }))).toBe("done");
});

proves("http.stream.batch-responses", async (world) => {
  const session = await httpSession(world);
  const batch = ["a", "b"].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  const answer = await session.http.post(batch, { ...session.headers, accept: "text/event-stream" });
  const answered = [await answer.next(), await answer.next()] as RawMessage[];
  expect(answered.map(({ id }) => String(id)).toSorted()).toEqual(["a", "b"]);
  expect(await answer.next()).toBeUndefined();
});

/** A call whose answer is a stream. */
async function streamed(world: World, definition: Parameters<World["serveHttp"]>[0], params: object) {
  const http = world.serveHttp(definition);
  const only = { accept: "text/event-stream" };
  if (world.isModern) return http.modern("tools/call", params as never, { headers: only });
  const session = await openSession(world, http);
  return http.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { ...session.headers, ...only });
}

proves("http.stream.terminated", async (world) => {
  const answer = await streamed(world, { tools: { echo } }, { name: "echo" });
  expect(await answer.next()).toHaveProperty("result");
  expect(await answer.next()).toBeUndefined();
});

proves("http.stream.kept-open", async (world) => {
  const slow = gate();
  const answering = streamed(world, { tools: { slow: tool(slow) } }, { name: "slow" });
  await slow.entered;
  for (let minute = 0; minute < 10; minute++) await world.clock.advance(60_000);
  const answer = await answering;
  slow.open("late");
  let message = await answer.next();
  while (typeof message === "string") message = await answer.next();
  expect(message).toMatchObject({ result: { content: [{ text: "late" }] } });
});

proves("http.stream.disconnect-is-no-cancel", async (world) => {
  const slow = gate();
  const answering = streamed(world, { tools: { slow: tool(slow) } }, { name: "slow" });
  const { signal } = await slow.entered;
  // A stream starts with its first message or keep-alive.
  await world.clock.advance(5_000);
  await (await answering).leave();
  await turns();
  expect(signal.aborted).toBe(false);
  slow.open("done");
});

proves("http.stream.disconnect-reported", async (world) => {
  const { client, server } = await world.connect({ timeout: { idle: 600_000 } });
  const { request, outcome } = await requested(client, server);
  server.httpOf(request).stream().break();
  await expect(outcome).rejects.toMatchObject({ code: "closed" });
});

proves("http.get.stream", async (world) => {
  const session = await httpSession(world);
  expect((await session.get()).type).toBe("text/event-stream");
  const stateless = world.serveHttp({}, { sessions: false });
  expect((await stateless.send({ method: "GET", headers: { accept: "text/event-stream" } })).status).toBe(405);
});

/** The GET of a client, once it has sent it. */
async function gotten(sent: readonly SentRequest[]): Promise<SentRequest> {
  for (;;) {
    const found = sent.find(({ method }) => method === "GET");
    if (found) return found;
    await turns(1);
  }
}

proves("http.get.client-accept", async (world) => {
  const { server } = await world.connect();
  expect((await gotten(server.sent)).headers.get("accept")).toContain("text/event-stream");
});

proves("http.get.client", async (world) => {
  const logged: unknown[] = [];
  const { server } = await world.connect({ onLog: ({ data }) => logged.push(data) });
  await gotten(server.sent);
  server.notify("notifications/message", { level: "info", data: "said unasked" });
  await turns();
  expect(logged).toEqual(["said unasked"]);
});

proves("http.get.client-without", async (world) => {
  const errors: Error[] = [];
  const play = { http: { standalone: false } };
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) }, play);
  await gotten(server.sent);
  const { request, outcome } = await requested(client, server);
  server.answer(request, gotPrompt);
  await outcome;
  expect(errors).toEqual([]);
});

proves("http.get.messages", async (world) => {
  const peer = await world.serve({ tools: { echo } });
  await peer.settled();
  world.server.tools.set("more", echo);
  await peer.nextNotification("notifications/tools/list_changed");
});

proves("http.get.unrelated", async (world) => {
  const session = await httpSession(world, { tools: { reporting, echo } });
  const get = await session.get();
  const answer = await session.request("tools/call", { name: "reporting", _meta: { progressToken: "p" } });
  expect(await answer.next()).toMatchObject({ method: "notifications/progress" });
  expect(await answer.next()).toHaveProperty("result");
  world.server.tools.set("more", echo);
  expect(await get.next()).toMatchObject({ method: "notifications/tools/list_changed" });
  await get.leave();
});

proves("http.get.no-responses", async (world) => {
  const session = await httpSession(world, { tools: { echo } });
  const get = await session.get();
  await (await session.request("tools/list")).text();
  await (await session.request("no/such/method")).text();
  world.server.tools.set("more", echo);
  expect(await get.next()).toMatchObject({ method: "notifications/tools/list_changed" });
  await get.leave();
});

proves("http.get.closed-by-server", async (world) => {
  const { server } = await world.connect();
  await gotten(server.sent);
  await turns();
  server.close();
  await turns();
  await world.clock.advance(60_000);
  await turns();
  expect(server.sent.filter(({ method }) => method === "GET").length).toBe(2);
});

proves("http.get.closed-by-client", async (world) => {
  const session = await httpSession(world, { tools: { echo } });
  await (await session.get()).leave();
  expect((await session.request("tools/list")).status).toBe(200);
  const again = await session.get();
  expect(again.status).toBe(200);
  await again.leave();
});

proves("http.multiple.streams", async (world) => {
  const session = await httpSession(world, { tools: { reporting } });
  const streams = [await session.get(), await session.get()];
  for (const { status } of streams) expect(status).toBe(200);
  expect((await session.request("tools/call", { name: "reporting" })).status).toBe(200);
  for (const stream of streams) await stream.leave();
});

proves("http.multiple.no-broadcast", async (world) => {
  const session = await httpSession(world, { tools: { echo } });
  const streams = [await session.get(), await session.get()];
  let arrived = 0;
  for (const stream of streams) {
    void stream.next().then((message) => {
      if (message !== undefined) arrived++;
    });
  }
  world.server.tools.set("more", echo);
  await turns();
  expect(arrived).toBe(1);
  for (const stream of streams) await stream.leave();
});

/** A session at an endpoint that stores its events, and the events as they were written. */
async function kept(world: World, maxStream?: number) {
  const slow = gate();
  const fetch = world.serveFetch(
    { store: memoryStore({ clock: world.clock }), tools: { slow: tool(slow), reporting, echo } },
    { events: { retry: 700, ...(maxStream && { maxStream }) } },
  );
  const send = (init: { method: string; headers?: Record<string, string>; body?: string }): Promise<Response> =>
    fetch(new Request("http://localhost/mcp", init));
  const post = (message: object, headers: Record<string, string>): Promise<Response> => {
    const all = { "content-type": "application/json", accept, ...headers };
    return send({ method: "POST", headers: all, body: JSON.stringify(message) });
  };
  const opened = await post(initializeRequest(world.version), {});
  const headers: Record<string, string> = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
  if (world.revision.versionHeader) headers["mcp-protocol-version"] = world.version;
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  const call = (name: string, id: string, more: Record<string, string> = {}): Promise<Response> => {
    const params = { name, arguments: {}, _meta: { progressToken: id } };
    return post({ jsonrpc: "2.0", id, method: "tools/call", params }, { ...headers, ...more });
  };
  const get = (lastEventId?: string): Promise<Response> => {
    const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return send({ method: "GET", headers: { ...headers, accept: "text/event-stream", ...last } });
  };
  return { slow, call, get };
}

async function all(response: Response): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of eventsOf(response.body!)) events.push(event);
  return events;
}

/** Reads a response up to the first event that fits. */
async function first(response: Response, fits: (event: Event) => boolean): Promise<Event> {
  for await (const event of eventsOf(response.body!)) if (fits(event)) return event;
  throw new Error("The stream ended before that.");
}

const said = ({ data }: Event): RawMessage => JSON.parse(data ?? "null") as RawMessage;
const withData = (events: Event[]): Event[] => events.filter(({ data }) => data);

proves("http.resume.ids", async (world) => {
  const { call } = await kept(world);
  const events = withData(await all(await call("reporting", "r")));
  expect(events.length).toBe(2);
  for (const { id } of events) expect(id).toMatch(/./);
});

proves("http.resume.ids-unique", async (world) => {
  const { call } = await kept(world);
  const events = [...(await all(await call("reporting", "a"))), ...(await all(await call("reporting", "b")))];
  const ids = events.flatMap(({ id }) => id ?? []);
  expect(ids.length).toBeGreaterThan(3);
  expect(new Set(ids).size).toBe(ids.length);
});

/** A call that continues after its connection broke behind the first message. */
async function interrupted(world: World) {
  const session = await kept(world);
  const calling = session.call("slow", "s");
  const ctx = await session.slow.entered;
  ctx.progress(1);
  const response = await calling;
  return { ...session, ctx, response, last: await first(response, ({ data }) => Boolean(data)) };
}

proves("http.resume.ids-name-stream", async (world) => {
  const { get, slow, last } = await interrupted(world);
  slow.open("done");
  const resumed = withData(await all(await get(last.id)));
  expect(resumed.map(said)).toMatchObject([{ id: "s", result: { content: [{ text: "done" }] } }]);
});

proves("http.resume.client", async (world) => {
  let resumed: SentRequest | undefined;
  const intercept = (request: SentRequest): boolean => {
    if (request.method !== "GET" || !request.headers.has("last-event-id")) return false;
    resumed = request;
    return true;
  };
  const { client, server } = await world.connect({ timeout: { idle: 600_000 } }, { http: { intercept } });
  const { request, outcome } = await requested(client, server);
  const feed = server.httpOf(request).stream();
  feed.event({ jsonrpc: "2.0", method: "notifications/unheard-of" }, "event-7");
  await turns();
  feed.break();
  await turns();
  await world.clock.advance(60_000);
  await turns();
  expect(resumed?.headers.get("last-event-id")).toBe("event-7");
  const again = resumed!.stream();
  again.event({ jsonrpc: "2.0", id: request.id, result: gotPrompt }, "event-8");
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("http.resume.replay", async (world) => {
  const { get, ctx, slow, response, last } = await interrupted(world);
  await response.body!.cancel().catch(() => {});
  ctx.progress(2);
  slow.open("done");
  await turns();
  const resumed = withData(await all(await get(last.id))).map(said);
  expect(resumed).toMatchObject([{ params: { progress: 2 } }, { id: "s" }]);
});

proves("http.resume.own-stream", async (world) => {
  const { call, get, slow, last } = await interrupted(world);
  await all(await call("reporting", "other"));
  slow.open("done");
  const resumed = withData(await all(await get(last.id))).map(said);
  expect(resumed.map(({ id, params }) => id ?? params?.progressToken)).toEqual(["s"]);
});

proves("http.resume.by-get", async (world) => {
  const { get, slow, last } = await interrupted(world);
  slow.open("done");
  const response = await get(last.id);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(withData(await all(response)).map(said)).toMatchObject([{ id: "s" }]);
});

proves("http.poll.priming", async (world) => {
  const { call, get } = await kept(world);
  for (const response of [await call("reporting", "r"), await get()]) {
    const priming = await first(response, () => true);
    expect(priming.id).toMatch(/./);
    expect(priming.data).toBe("");
  }
});

proves("http.poll.priming-harmless", async (world) => {
  const errors: Error[] = [];
  const { client, server } = await world.connect({ onError: (error) => errors.push(error) });
  const { request, outcome } = await requested(client, server);
  const feed = server.httpOf(request).stream();
  feed.raw("id: 1\ndata: \n\n");
  feed.raw("id: 2\nretry: 100\ndata:\n\n");
  feed.event({ jsonrpc: "2.0", id: request.id, result: gotPrompt });
  feed.end();
  expect(await outcome).toMatchObject(gotPrompt);
  expect(errors).toEqual([]);
});

/** A connection that the server closes during its call. */
async function polled(world: World) {
  const session = await kept(world, 20_000);
  const calling = session.call("slow", "s", { accept: "text/event-stream" });
  const ctx = await session.slow.entered;
  ctx.progress(1);
  const response = await calling;
  const reading = all(response);
  for (let second = 0; second < 30; second++) await world.clock.advance(1_000);
  return { ...session, ctx, events: await reading };
}

proves("http.poll.closed", async (world) => {
  const { events, ctx, get, slow } = await polled(world);
  expect(withData(events).map(said)).toMatchObject([{ params: { progress: 1 } }]);
  expect(ctx.signal.aborted).toBe(false);
  slow.open("done");
  const ids = events.flatMap(({ id }) => id ?? []);
  expect(withData(await all(await get(ids.at(-1)))).map(said)).toMatchObject([{ id: "s" }]);
});

proves("http.poll.retry", async (world) => {
  const { events, slow } = await polled(world);
  expect(events.some(({ retry }) => retry === "700")).toBe(true);
  slow.open("done");
});

/** A client whose server closed the connection of a request that it has not answered. */
async function closedEarly(world: World) {
  const resumed: SentRequest[] = [];
  const intercept = (request: SentRequest): boolean => {
    if (request.method !== "GET" || !request.headers.has("last-event-id")) return false;
    resumed.push(request);
    return true;
  };
  const { client, server } = await world.connect({ timeout: { idle: 600_000 } }, { http: { intercept } });
  const { request, outcome } = await requested(client, server);
  const feed = server.httpOf(request).stream();
  feed.raw("id: event-1\nretry: 2000\ndata: \n\n");
  await turns();
  feed.end();
  await turns();
  return { request, outcome, resumed };
}

proves("http.poll.client", async (world) => {
  const { request, outcome, resumed } = await closedEarly(world);
  await world.clock.advance(10_000);
  await turns();
  expect(resumed[0]?.headers.get("last-event-id")).toBe("event-1");
  resumed[0]!.stream().event({ jsonrpc: "2.0", id: request.id, result: gotPrompt });
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("http.poll.client-waits", async (world) => {
  const { resumed } = await closedEarly(world);
  await world.clock.advance(1_999);
  await turns();
  expect(resumed).toEqual([]);
  await world.clock.advance(1_000);
  await turns();
  expect(resumed.length).toBe(1);
});
