import type { JsonObject } from "mcparley";
import type { HttpOptions } from "mcparley/http";
import { listen } from "mcparley/node";
import { type Server, createServer, memoryStore, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { afterEach, describe, expect, test } from "vitest";
import { type RawAnswer, type RawHttp, type RawMessage, rawHttp } from "../support/raw-http.ts";
import { openSession, rawPeer } from "../support/raw-peer.ts";

type Headers = Record<string, string>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Serves over HTTP. The `Authorization` header is the subject of the principal; without it the caller is anonymous. */
async function serve(server: Server<any, any, any>, options: HttpOptions = {}): Promise<RawHttp> {
  const auth: HttpOptions["auth"] = (request) => {
    const subject = request.header("authorization");
    return subject === undefined ? undefined : { issuer: "https://as.example", subject, scopes: [] };
  };
  const { url, close } = await listen(server, { port: 0, closeTimeout: 0, auth, ...options });
  closers.push(close);
  return rawHttp(url, fetch);
}

const request = (method: string, params: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id: 1, method, params });

/** Opens a session of 2025-11-25, and returns the headers of its further requests. */
async function open(client: RawHttp, caller: Headers = {}, capabilities: JsonObject = {}): Promise<Headers> {
  const clientInfo = { name: "raw", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
  const opened = await client.post(request("initialize", params), caller);
  const session = { ...caller, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return session;
}

/** One event of a stream. */
interface Event {
  id: string | undefined;
  message: RawMessage | undefined;
}

async function nextEvent(answer: RawAnswer): Promise<Event | undefined> {
  const block = await answer.block();
  if (block === undefined) return undefined;
  const data = /^data: ?(\S.*)$/m.exec(block)?.[1];
  return {
    id: /^id: ?(.+)$/m.exec(block)?.[1],
    message: data === undefined ? undefined : (JSON.parse(data) as RawMessage),
  };
}

/** All messages of an answer, whether it is JSON or a stream. `onRequest` answers requests of the server. */
async function messagesOf(answer: RawAnswer, onRequest?: (asked: RawMessage) => void): Promise<RawMessage[]> {
  if (answer.type === "application/json") return [await answer.json()];
  const messages: RawMessage[] = [];
  for (let event = await nextEvent(answer); event; event = await nextEvent(answer)) {
    if (!event.message) continue;
    messages.push(event.message);
    if (event.message.method !== undefined && "id" in event.message) onRequest?.(event.message);
  }
  return messages;
}

/** A tool whose calls wait until `count` of them are in flight, and are answered in the reverse order. */
function meeting(count: number): ReturnType<typeof tool> {
  const waiting: (() => void)[] = [];
  return tool({
    input: { type: "object", properties: { secret: { type: "string" } } },
    call: async ({ secret }, ctx) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length < count) return;
        for (const answer of waiting.splice(0).toReversed()) answer();
      });
      ctx.progress(1, 1, `progress of ${String(secret)}`);
      const [root] = await ctx.roots();
      return `result of ${String(secret)} with ${root?.uri}`;
    },
  });
}

describe("one server for many clients", () => {
  const names = Array.from({ length: 16 }, (_, index) => `client-${index}`);
  const expected = (name: string): string => `result of ${name} with file:///${name}`;
  const paramsOf = (secret: string): JsonObject => ({
    name: "meet",
    arguments: { secret },
    _meta: { progressToken: 1 },
  });

  test("CVE-2026-111770: sends results, progress and requests to their own client although all use the same ids", async () => {
    const client = await serve(createServer({ name: "t", version: "1.0.0", tools: { meet: meeting(names.length) } }));
    const seen = await Promise.all(
      names.map(async (name) => {
        const session = await open(client, {}, { roots: {} });
        const answer = await client.post(request("tools/call", paramsOf(name)), session);
        const roots = { roots: [{ uri: `file:///${name}` }] };
        return messagesOf(answer, ({ id }) => void client.post({ jsonrpc: "2.0", id, result: roots }, session));
      }),
    );
    for (const [index, name] of names.entries()) {
      const messages = seen[index]!;
      expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: expected(name) }] } });
      const progress = messages.filter(({ method }) => method === "notifications/progress");
      expect(progress.map(({ params }) => params?.message)).toEqual([`progress of ${name}`]);
    }
  });

  test("CVE-2026-111770: answers modern requests with the same id with their own results", async () => {
    const server = createServer({ name: "t", version: "1.0.0", tools: { meet: meeting(names.length) } });
    const client = await serve(server);
    const answers = await Promise.all(
      names.map(async (name) => {
        const params = { name: "meet", arguments: { secret: name } };
        const first = await client.modern("tools/call", params, { capabilities: { roots: {} } });
        const { requestState, inputRequests } = (await messagesOf(first)).at(-1)!.result as Record<string, JsonObject>;
        const [key = ""] = Object.keys(inputRequests ?? {});
        const inputResponses = { [key]: { roots: [{ uri: `file:///${name}` }] } };
        const retry = { ...params, inputResponses, requestState };
        return (await messagesOf(await client.modern("tools/call", retry, { capabilities: { roots: {} } }))).at(-1);
      }),
    );
    const texts = answers.map((answer) => (answer!.result.content as { text: string }[])[0]?.text);
    expect(texts).toEqual(names.map(expected));
  });

  test("CVE-2026-111770: serves several transports from one definition without mixing their messages", async () => {
    const server = createServer({ name: "t", version: "1.0.0", tools: { meet: meeting(names.length) } });
    const peers = await Promise.all(names.map(() => rawPeer(server)));
    await Promise.all(peers.map((peer) => openSession(peer, "2025-11-25", { roots: {} })));
    await Promise.all(
      peers.map(async (peer, index) => {
        const name = names[index]!;
        peer.send({ ...request("tools/call", paramsOf(name)), id: "same" });
        peer.answer(await peer.nextRequest("roots/list"), { roots: [{ uri: `file:///${name}` }] });
        const answer = await peer.response("same");
        expect(answer).toMatchObject({ result: { content: [{ text: expected(name) }] } });
        const progress = await peer.nextNotification("notifications/progress");
        expect(progress.params).toMatchObject({ message: `progress of ${name}` });
      }),
    );
    await Promise.all(peers.map((peer) => peer.close()));
  });
});

describe("tasks", () => {
  const declared = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const long = { name: "long", arguments: {} };
  const strangers: Headers[] = [{ authorization: "bob" }, {}];

  function taskServer(): Server<any, any, any> {
    const call = (_: unknown, ctx: { signal: AbortSignal }): Promise<string> =>
      new Promise((resolve) => {
        ctx.signal.addEventListener("abort", () => resolve("cancelled"));
      });
    return createServer({
      name: "tasks",
      version: "1.0.0",
      tools: { long: tool({ extensions: [asTask()], call }) },
      extensions: [tasks()],
    });
  }

  test("CVE-2026-111767: a task of 2026-07-28 does not exist for callers who did not create it", async () => {
    const client = await serve(taskServer());
    const send = async (caller: Headers, method: string, params: JsonObject): Promise<RawMessage> => {
      const headers = { ...caller, ...(typeof params.taskId === "string" && { "mcp-name": params.taskId }) };
      return (await client.modern(method, params, { capabilities: declared, headers })).json();
    };
    const alice = { authorization: "alice" };
    const taskId = (await send(alice, "tools/call", long)).result.taskId as string;
    for (const stranger of strangers) {
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const refused = await send(stranger, method, { taskId, inputResponses: {} });
        expect(refused.error.code).toBe(-32602);
        expect(refused).toEqual(await send(stranger, method, { taskId: "never", inputResponses: {} }));
      }
    }
    expect((await send(alice, "tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
  });

  test("CVE-2026-111767: a task of 2025-11-25 is not listed, read or cancelled from another caller's session", async () => {
    const client = await serve(taskServer());
    const send = async (session: Headers, method: string, params: JsonObject = {}): Promise<RawMessage> =>
      (await messagesOf(await client.post(request(method, params), session))).at(-1)!;
    const alice = await open(client, { authorization: "alice" }, { tasks: {} });
    const begun = await send(alice, "tools/call", { ...long, task: {} });
    const { taskId } = begun.result.task as { taskId: string };
    for (const stranger of strangers) {
      const session = await open(client, stranger, { tasks: {} });
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        expect(await send(session, method, { taskId })).toHaveProperty("error");
      }
      expect(JSON.stringify(await send(session, "tasks/list"))).not.toContain(taskId);
    }
    expect((await send(alice, "tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
  });

  test("CVE-2026-111767: an anonymous caller cannot list the tasks of other anonymous callers", async () => {
    const client = await serve(taskServer());
    const session = await open(client, {}, { tasks: {} });
    const call = await client.post(request("tools/call", { ...long, task: {} }), session);
    const { taskId } = (await messagesOf(call)).at(-1)!.result.task as { taskId: string };
    // The id is the only protection if the server does not authenticate its callers, so it starts with a random UUID.
    expect(taskId).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\./);
    const other = await open(client, {}, { tasks: {} });
    const listed = await messagesOf(await client.post(request("tasks/list"), other));
    expect(listed).toMatchObject([{ error: { code: -32601 } }]);
  });
});

describe("resumed streams", () => {
  const talk = { name: "talk", arguments: {}, _meta: { progressToken: 1 } };

  function talkingServer(store = memoryStore()): Server<any, any, any> {
    const call = (_: unknown, ctx: { progress(done: number, total: number, message: string): void }): string => {
      ctx.progress(1, 1, "secret progress");
      return "secret result";
    };
    return createServer({ name: "talking", version: "1.0.0", store, tools: { talk: tool({ call }) } });
  }

  /** Calls the tool in a session, and returns the ids of the events that were sent. */
  async function eventsOf(client: RawHttp, session: Headers): Promise<string[]> {
    const answer = await client.post(request("tools/call", talk), session);
    const ids: string[] = [];
    for (let event = await nextEvent(answer); event; event = await nextEvent(answer)) ids.push(event.id ?? "");
    return ids.filter((id) => id !== "");
  }

  const resume = (client: RawHttp, headers: Headers, id: string): Promise<RawAnswer> =>
    client.send({ method: "GET", headers: { ...headers, accept: "text/event-stream", "last-event-id": id } });

  test("GHSA-84j6-jc92-77jm: replays events to no other session, principal or anonymous caller", async () => {
    const client = await serve(talkingServer());
    const alice = await open(client, { authorization: "alice" });
    const bob = await open(client, { authorization: "bob" });
    const second = await open(client, { authorization: "alice" });
    const nobody = await open(client);
    const ids = await eventsOf(client, alice);
    expect(ids.length).toBeGreaterThan(1);
    for (const id of ids) {
      for (const thief of [bob, second, nobody, { ...alice, authorization: "bob" }, { authorization: "bob" }]) {
        const answer = await resume(client, thief, id);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(await answer.text()).not.toContain("secret");
      }
    }
    const own = await messagesOf(await resume(client, alice, ids[0]!));
    expect(JSON.stringify(own)).toContain("secret result");
  });

  test("GHSA-84j6-jc92-77jm: replays nothing for guessed event ids of standalone streams", async () => {
    const server = talkingServer();
    const client = await serve(server);
    const alice = await open(client, { authorization: "alice" });
    const stream = await client.send({ method: "GET", headers: { ...alice, accept: "text/event-stream" } });
    const first = await nextEvent(stream);
    server.tools.set("added", tool({ call: () => "" }));
    let changed = await nextEvent(stream);
    while (!changed?.message) changed = await nextEvent(stream);
    expect(changed.message.method).toBe("notifications/tools/list_changed");
    const bob = await open(client, { authorization: "bob" });
    const guesses = ["_GET_stream:1", "_GET_stream_0", "1", "0", "-", "*", `${first?.id}`, `${changed.id}`];
    for (const id of guesses) {
      const answer = await resume(client, bob, id);
      // A stream that is not resumed is refused; it does not start at the beginning instead.
      expect(id).toEqual(id);
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain("list_changed");
    }
    await stream.leave();
  });

  test("GHSA-84j6-jc92-77jm: processes that share a store replay events to their session only", async () => {
    const store = memoryStore();
    const [one, other] = [await serve(talkingServer(store)), await serve(talkingServer(store))];
    const alice = await open(one, { authorization: "alice" });
    const ids = await eventsOf(one, alice);
    const bob = await open(other, { authorization: "bob" });
    for (const headers of [bob, { ...alice, authorization: "bob" }]) {
      const answer = await resume(other, headers, ids[0]!);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(await answer.text()).not.toContain("secret");
    }
    const own = await messagesOf(await resume(other, alice, ids[0]!));
    expect(JSON.stringify(own)).toContain("secret result");
  });
});
