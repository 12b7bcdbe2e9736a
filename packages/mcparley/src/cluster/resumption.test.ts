import { describe, expect, test } from "vitest";
import { openClient } from "../client/open-client.ts";
import type { Context, Principal } from "../server/core/context.ts";
import { tool } from "../server/definition.ts";
import { createServer, type Server } from "../server/create-server.ts";
import { memoryStore } from "../store/memory-store.ts";
import type { Store } from "../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../testing/fake-clock.ts";
import { type Gate, gate } from "mcparley-tests/support/gate.ts";
import {
  type RawAnswer,
  type RawHttp,
  type RawMessage,
  openHttpSession,
  rawHttp,
} from "mcparley-tests/support/raw-http.ts";
import { httpTransports } from "../http/client/transport.ts";
import type { HttpOptions } from "../http/server/options.ts";
import { toFetch } from "../http/fetch/to-fetch.ts";

interface Served {
  client: RawHttp;
  server: Server;
  clock: FakeClock;
  slow: Gate;
  store: Store;
  errors: unknown[];
  close: () => Promise<void>;
}

const known: Record<string, Principal> = {
  "Bearer alice": { issuer: "https://as.example", subject: "alice", scopes: [] },
  "Bearer bob": { issuer: "https://as.example", subject: "bob", scopes: [] },
};

/** A server whose tool `work` reports progress, waits for the gate, reports again and returns. */
function serve(options: HttpOptions = {}, store?: Store): Served {
  const clock = fakeClock();
  const slow = gate();
  const errors: unknown[] = [];
  const work = tool({
    call: async (_, ctx) => {
      ctx.progress(1);
      await slow.call(undefined, ctx);
      ctx.progress(2);
      return "done";
    },
  });
  const ask = tool({
    call: async (_, ctx) => {
      const answer = await ctx.elicit({ message: "Sure?", schema: { type: "object", properties: {} } });
      return JSON.stringify(answer);
    },
  });
  const onError = (error: unknown): unknown => errors.push(error);
  const tools = { work, ask, quick: tool({ call: () => "quick" }), slow: tool({ call: slow.call }) };
  const used = store ?? memoryStore({ clock });
  const server = createServer({ name: "test", version: "1.0.0", clock, tools, onError, store: used });
  const { fetch, close } = toFetch(server, options);
  return { client: rawHttp("http://localhost/mcp", fetch), server, clock, slow, store: used, errors, close };
}

/** Returns true for the log of the events of a stream. Sessions have other logs as well. */
const ofEvents = (log: string): boolean => log.startsWith("mcparley:test:events:");

/** Delays the callers of `pass` until it is opened. */
function latch(): { entered: Promise<unknown>; pass: () => Promise<unknown>; open: () => void } {
  const { entered, call: pass, open: release } = gate();
  return { entered, pass: () => pass(undefined, {} as Context) as Promise<unknown>, open: () => release(undefined) };
}

type Headers = Record<string, string>;

const open = (client: RawHttp, version = "2025-11-25", headers: Headers = {}): Promise<Headers> =>
  openHttpSession(client, { version, capabilities: { elicitation: {} }, headers });

function call(client: RawHttp, session: Headers, name: string, id = 1): Promise<RawAnswer> {
  const params = { name, arguments: {}, _meta: { progressToken: `t${id}` } };
  return client.post({ jsonrpc: "2.0", id, method: "tools/call", params }, session);
}

function get(client: RawHttp, session: Headers, lastEventId?: string): Promise<RawAnswer> {
  const headers: Headers = { ...session, accept: "text/event-stream" };
  if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
  return client.send({ method: "GET", headers });
}

interface Event {
  id?: string;
  retry?: string;
  /** The text of its data. Undefined for a block without data. */
  data?: string;
}

async function event(answer: RawAnswer): Promise<Event | undefined> {
  const block = await answer.block();
  return block === undefined
    ? undefined
    : Object.fromEntries(block.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]));
}

const message = ({ data = "" }: Event = {}): RawMessage => JSON.parse(data) as RawMessage;

/** Reads all events up to the end of the stream, without comments. */
async function rest(answer: RawAnswer): Promise<Event[]> {
  const events: Event[] = [];
  for (let next = await event(answer); next; next = await event(answer)) if (!(":" in next)) events.push(next);
  return events;
}

const messages = (events: Event[]): RawMessage[] => events.filter(({ data }) => data).map(message);

async function changeTools({ server }: Served): Promise<void> {
  server.tools.set("another", tool({ call: () => "" }));
  server.tools.delete("another");
  await flushPromises();
}

describe("the response to a POST", () => {
  test("is a stream that starts with an id to resume from, and its events have ids", async () => {
    const { client, slow } = serve({ events: { retry: 250 } });
    const answer = await call(client, await open(client), "work");
    expect(answer.type).toBe("text/event-stream");
    const first = await event(answer);
    expect(first).toEqual({ id: expect.stringMatching(/^p[0-9a-f.-]+_$/) as string, retry: "250", data: "" });
    slow.open(undefined);
    const events = await rest(answer);
    const ids = events.map(({ id }) => id);
    expect(new Set([first?.id, ...ids]).size).toBe(4);
    expect(messages(events)).toMatchObject([
      { params: { progress: 1 } },
      { params: { progress: 2 } },
      { id: 1, result: { content: [{ text: "done" }] } },
    ]);
  });

  test("is JSON if no message precedes the reply", async () => {
    const { client } = serve();
    const answer = await call(client, await open(client), "quick");
    expect(answer.type).toBe("application/json");
    expect(await answer.json()).toMatchObject({ id: 1, result: { content: [{ text: "quick" }] } });
  });

  test.each(["2025-06-18", "2025-03-26"])("in %s has ids, but no event without a message", async (version) => {
    const { client, slow } = serve({ events: { maxStream: 50 } });
    const answer = await call(client, await open(client, version), "work");
    expect(await event(answer)).toEqual({ retry: "1000" });
    const first = await event(answer);
    expect(first?.id).toBeDefined();
    expect(message(first)).toMatchObject({ params: { progress: 1 } });
    slow.open(undefined);
    expect(messages(await rest(answer))).toMatchObject([{ params: { progress: 2 } }, { id: 1 }]);
  });

  test.each(["2024-11-05"])("in %s, whose streams cannot be resumed, has no ids", async (version) => {
    const { client, slow } = serve();
    const answer = await call(client, await open(client, version), "work");
    slow.open(undefined);
    for (const one of await rest(answer)) expect(one).not.toHaveProperty("id");
  });

  test("to a modern client has no ids", async () => {
    const { client, slow } = serve();
    const answer = await client.modern("tools/call", { name: "work" }, { meta: { progressToken: "t" } });
    slow.open(undefined);
    const events = await rest(answer);
    expect(events).toHaveLength(3);
    for (const one of events) expect(one).not.toHaveProperty("id");
  });

  test("continues after a broken connection: replays the missed events, then sends new ones", async () => {
    const { client, slow } = serve();
    const session = await open(client);
    const answer = await call(client, session, "work");
    const primed = await event(answer);
    await answer.leave();
    const again = await get(client, session, primed?.id);
    expect(again.status).toBe(200);
    expect(await event(again)).toEqual({ id: primed?.id, retry: "1000", data: "" });
    const progress = await event(again);
    expect(message(progress)).toMatchObject({ params: { progress: 1 } });
    await again.leave();
    slow.open(undefined);
    await flushPromises();
    const last = await get(client, session, progress?.id);
    expect(messages(await rest(last))).toMatchObject([{ params: { progress: 2 } }, { id: 1, result: {} }]);
  });

  test("is replayed after it has ended, from any of its events", async () => {
    const { client, slow } = serve();
    const session = await open(client);
    slow.open(undefined);
    const answer = await call(client, session, "work");
    const ids = (await rest(answer)).map(({ id }) => id);
    const counts = [];
    for (const id of ids) counts.push(messages(await rest(await get(client, session, id))).length);
    expect(counts).toEqual([3, 2, 1, 0]);
  });

  test("repeats a pending input request to a client that resumes", async () => {
    const { client } = serve();
    const session = await open(client);
    const answer = await call(client, session, "ask");
    const primed = await event(answer);
    await answer.leave();
    const again = await get(client, session, primed?.id);
    await event(again);
    const question = message(await event(again));
    expect(question).toMatchObject({ method: "elicitation/create" });
    await client.post({ jsonrpc: "2.0", id: question.id, result: { action: "accept", content: {} } }, session);
    expect(messages(await rest(again))).toMatchObject([{ id: 1, result: { content: [{ text: "{}" }] } }]);
  });

  test("is sent on one connection only: a resumed connection replaces the previous one", async () => {
    const { client, slow } = serve();
    const session = await open(client);
    const answer = await call(client, session, "work");
    const primed = await event(answer);
    const again = await get(client, session, primed?.id);
    expect(messages(await rest(answer))).toMatchObject([{ params: { progress: 1 } }]);
    slow.open(undefined);
    expect(messages(await rest(again))).toHaveLength(3);
  });

  test("keeps the order of replayed and new events", async () => {
    const { client, slow } = serve();
    const session = await open(client);
    const answer = await call(client, session, "work");
    const primed = await event(answer);
    const again = get(client, session, primed?.id);
    slow.open(undefined);
    expect(messages(await rest(await again)).map((one) => one.params?.progress ?? one.id)).toEqual([1, 2, 1]);
  });
});

describe("events are replayed only to the stream's own client", () => {
  async function answered(client: RawHttp, session: Headers): Promise<string> {
    const [first] = await rest(await call(client, session, "work"));
    return first?.id ?? "";
  }

  test("not to another session of the same caller", async () => {
    const { client, slow } = serve();
    slow.open(undefined);
    const id = await answered(client, await open(client));
    const refused = await get(client, await open(client), id);
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.message).toContain(id);
  });

  test("not to another principal, in a session of that principal or of the first one", async () => {
    const { client, slow } = serve({ auth: (head) => known[head.header("authorization") ?? ""] });
    slow.open(undefined);
    const alice = await open(client, undefined, { authorization: "Bearer alice" });
    const id = await answered(client, alice);
    const bob = await open(client, undefined, { authorization: "Bearer bob" });
    expect((await get(client, bob, id)).status).toBe(400);
    expect((await get(client, { ...alice, authorization: "Bearer bob" }, id)).status).toBe(404);
    expect((await get(client, alice, id)).status).toBe(200);
  });

  test("not on another stream of the same session", async () => {
    const served = serve();
    const { client, slow } = served;
    const session = await open(client);
    const standing = await get(client, session);
    const primed = await event(standing);
    slow.open(undefined);
    await answered(client, session);
    await changeTools(served);
    await standing.leave();
    const again = await get(client, session, primed?.id);
    await event(again);
    expect(message(await event(again))).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("not after the session has ended", async () => {
    const { client, slow } = serve();
    slow.open(undefined);
    const session = await open(client);
    const id = await answered(client, session);
    await client.send({ method: "DELETE", headers: session });
    expect((await get(client, session, id)).status).toBe(404);
  });

  test("an event is in the log before it is sent", async () => {
    const store = memoryStore();
    const held = latch();
    const slowStore: Store = {
      ...store,
      append: async (...given) => {
        if (ofEvents(given[0])) await held.pass();
        return store.append(...given);
      },
    };
    const { client } = serve({}, slowStore);
    const answer = await call(client, await open(client), "work");
    await event(answer);
    let sent = false;
    const next = event(answer).then(() => (sent = true));
    await held.entered;
    await flushPromises();
    expect(sent).toBe(false);
    held.open();
    await next;
  });

  test.each(["nonsense", "p00000000-0000-4000_", "g00000000-0000-4000_0000000000000000", "_", "p/../x_1"])(
    "an unknown event id (%s) is answered with 400",
    async (id) => {
      const { client } = serve();
      expect((await get(client, await open(client), id)).status).toBe(400);
    },
  );
});

describe("a standalone stream", () => {
  test("resumes after the interruption, with the missed and the later messages", async () => {
    const served = serve();
    const { client } = served;
    const session = await open(client);
    const standing = await get(client, session);
    const primed = await event(standing);
    expect(primed).toMatchObject({ retry: "1000", data: "" });
    await changeTools(served);
    await standing.leave();
    await changeTools(served);
    const again = await get(client, session, primed?.id);
    const replayed = [await event(again), await event(again), await event(again)];
    expect(messages(replayed as Event[]).map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/tools/list_changed",
    ]);
    await changeTools(served);
    expect(message(await event(again))).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("carries no reply to a request, also after it is resumed", async () => {
    const { client, slow } = serve();
    const session = await open(client);
    const standing = await get(client, session);
    const primed = await event(standing);
    slow.open(undefined);
    await rest(await call(client, session, "work"));
    await standing.leave();
    const again = await get(client, session, primed?.id);
    await event(again);
    let isReceived = false;
    void again.block().then(() => (isReceived = true));
    await flushPromises();
    expect(isReceived).toBe(false);
  });

  test("can be resumed after many later streams, and continues", async () => {
    const served = serve();
    const { client } = served;
    const session = await open(client);
    const first = await get(client, session);
    await event(first);
    await changeTools(served);
    const received = await event(first);
    await first.leave();
    for (let i = 0; i < 20; i++) await (await get(client, session)).leave();
    const again = await get(client, session, received?.id);
    expect(again.status).toBe(200);
    await event(again);
    await changeTools(served);
    expect(message(await event(again))).toMatchObject({ method: "notifications/tools/list_changed" });
  });
});

describe("maxStream", () => {
  test("ends the connection of a long call but not the call; the client resumes for the rest", async () => {
    const { client, clock, slow } = serve({ events: { maxStream: 1_000, retry: 100 } });
    const session = await open(client);
    const answering = call(client, session, "slow");
    await slow.entered;
    await clock.advance(999);
    await clock.advance(1);
    const answer = await answering;
    const [primed, ...others] = await rest(answer);
    expect(primed).toMatchObject({ retry: "100", data: "" });
    expect(others).toEqual([]);
    const again = await get(client, session, primed?.id);
    await clock.advance(1_000);
    expect(messages(await rest(again))).toEqual([]);
    const last = await get(client, session, primed?.id);
    slow.open("at last");
    expect(messages(await rest(last))).toMatchObject([{ id: 1, result: { content: [{ text: "at last" }] } }]);
    await clock.advance(5_000);
  });

  test("does not affect a reply within the limit", async () => {
    const { client, clock, slow } = serve({ events: { maxStream: 1_000 } });
    const answering = call(client, await open(client), "slow");
    await slow.entered;
    await clock.advance(999);
    slow.open("in time");
    const answer = await answering;
    expect(answer.type).toBe("application/json");
    await clock.advance(1);
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "in time" }] } });
  });

  test("ends the connection of a standalone stream as well", async () => {
    const served = serve({ events: { maxStream: 1_000 } });
    const { client, clock } = served;
    const session = await open(client);
    const standing = await get(client, session);
    await clock.advance(1_000);
    const [primed] = await rest(standing);
    await changeTools(served);
    const again = await get(client, session, primed?.id);
    await event(again);
    expect(message(await event(again))).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  test("replies with JSON after the limit to a client that accepts no streams", async () => {
    const { client, clock, slow } = serve({ events: { maxStream: 1_000 } });
    const session = { ...(await open(client)), accept: "application/json" };
    const answering = call(client, session, "slow");
    await slow.entered;
    await clock.advance(5_000);
    slow.open("as JSON");
    expect(await (await answering).json()).toMatchObject({ result: { content: [{ text: "as JSON" }] } });
  });
});

test("the library's client receives its result although its connection ends repeatedly", async () => {
  const clock = fakeClock();
  const slow = gate();
  const store = memoryStore({ clock });
  const server = createServer({ name: "test", version: "1.0.0", clock, store, tools: { slow: tool(slow) } });
  const handler = toFetch(server, { events: { maxStream: 1_000, retry: 700 } });
  const sent: (string | null)[] = [];
  const counted = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (request.method === "GET") sent.push(request.headers.get("last-event-id"));
    return handler.fetch(request);
  };
  const dialer = httpTransports({ url: "http://localhost/mcp", fetch: counted, clock });
  const client = await openClient(dialer, { clock, revision: "2025-11-25" });
  const results: unknown[] = [];
  void client.callTool("slow", {}, { timeout: { idle: 1e9, total: 1e9 } }).then((value) => results.push(value));
  await slow.entered;
  const polls = (kind: string): number => sent.filter((id) => id?.startsWith(kind)).length;
  // More often than the client reopens a failing stream.
  while (polls("p") < 10 || polls("g") < 10) await clock.advance(1_000);
  slow.open("at last");
  while (results.length === 0) await clock.advance(1_000);
  expect(results).toEqual(["at last"]);
  await client.close();
});

describe("limits", () => {
  test("`ttl`: events can be replayed for this time after the last event", async () => {
    const { client, clock, slow } = serve({ events: { ttl: 60_000 } });
    const session = await open(client);
    slow.open(undefined);
    const [primed] = await rest(await call(client, session, "work"));
    await clock.advance(59_999);
    expect((await get(client, session, primed?.id)).status).toBe(200);
    await clock.advance(1);
    expect((await get(client, session, primed?.id)).status).toBe(400);
  });

  test("`maxLength`: only the newest events, up to this number, can be replayed", async () => {
    const { client, slow } = serve({ events: { maxLength: 2 } });
    const session = await open(client);
    slow.open(undefined);
    const [primed] = await rest(await call(client, session, "work"));
    const replayed = messages(await rest(await get(client, session, primed?.id)));
    expect(replayed).toMatchObject([{ params: { progress: 2 } }, { id: 1 }]);
  });

  test("replays more events than one read returns", async () => {
    const clock = fakeClock();
    const many = tool({
      call: (_, ctx) => {
        for (let done = 1; done <= 250; done++) ctx.progress(done);
        return "done";
      },
    });
    const server = createServer({ name: "test", version: "1.0.0", clock, store: memoryStore(), tools: { many } });
    const client = rawHttp("http://localhost/mcp", toFetch(server).fetch);
    const session = await open(client);
    const [primed] = await rest(await call(client, session, "many"));
    expect(messages(await rest(await get(client, session, primed?.id)))).toHaveLength(251);
  });
});

describe("an unavailable store", () => {
  const fail = (): Promise<never> => Promise.reject(new Error("no route to the store"));

  /** A store that fails one operation on the logs of events. */
  const broken = (part: "append" | "readFrom"): Store => {
    const store = memoryStore();
    return {
      ...store,
      append: (log, ...given) => (part === "append" && ofEvents(log) ? fail() : store.append(log, ...given)),
      readFrom: (log, ...given) => (part === "readFrom" && ofEvents(log) ? fail() : store.readFrom(log, ...given)),
    };
  };

  test("for writing: the reply still arrives, and the error is reported", async () => {
    const { client, slow, errors } = serve({}, broken("append"));
    slow.open(undefined);
    const events = await rest(await call(client, await open(client), "work"));
    expect(messages(events)).toHaveLength(3);
    expect(events.slice(1).every(({ id }) => id === undefined)).toBe(true);
    expect(errors).toHaveLength(1);
  });

  test("for reading: resuming is refused with 503 that reveals no details", async () => {
    const { client, errors } = serve({}, broken("readFrom"));
    const session = await open(client);
    const answer = await call(client, session, "work");
    const primed = await event(answer);
    const refused = await get(client, session, primed?.id);
    expect(refused.status).toBe(503);
    expect(await refused.text()).not.toContain("route");
    expect(errors).toHaveLength(1);
  });

  test("for reading: a standalone stream that cannot be resumed receives no message of other streams", async () => {
    const served = serve({}, broken("readFrom"));
    const { client } = served;
    const session = await open(client);
    const standing = await get(client, session);
    const primed = await event(standing);
    await standing.leave();
    expect((await get(client, session, primed?.id)).status).toBe(503);
    const other = await get(client, session);
    await event(other);
    await other.leave();
    await changeTools(served);
    const last = await get(client, session);
    await event(last);
    expect(message(await event(last))).toMatchObject({ method: "notifications/tools/list_changed" });
  });
});

test("closing waits until the last event is in the log and sent", async () => {
  const store = memoryStore();
  const held = latch();
  const { client, slow, close } = serve(
    {},
    { ...store, append: async (...given) => (ofEvents(given[0]) && (await held.pass()), store.append(...given)) },
  );
  slow.open(undefined);
  const answer = await call(client, await open(client), "work");
  await held.entered;
  let closed = false;
  const closing = close().then(() => (closed = true));
  await flushPromises();
  expect(closed).toBe(false);
  held.open();
  await closing;
  expect(messages(await rest(answer))).toHaveLength(3);
});

test("without a store, events have no ids and Last-Event-ID is ignored", async () => {
  const clock = fakeClock();
  const server = createServer({ name: "test", version: "1.0.0", clock });
  const client = rawHttp("http://localhost/mcp", toFetch(server).fetch);
  const session = await open(client);
  const standing = await get(client, session, "p00000000-0000-4000_");
  expect(standing.status).toBe(200);
  await clock.advance(5_000);
  expect(await standing.block()).toBe(":");
});
