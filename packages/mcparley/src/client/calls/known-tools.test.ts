import { describe, expect, test } from "vitest";
import type { JsonObject, JsonRpcRequest } from "../../rpc/messages.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { ScriptedPeer } from "../../testing/scripted-peer.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";
import type { Client } from "../client.ts";
import { headersOf } from "./known-tools.ts";

const inputSchema = { type: "object" };
const result: JsonObject = { content: [{ type: "text", text: "x" }] };

interface Catalogue {
  clock: FakeClock;
  peer: ScriptedPeer;
  client: Client;
  errors: Error[];
  /** The cursors of the requests for the list so far; `undefined` is the first page. */
  listed: () => unknown[];
}

/** A client over HTTP of a server with a paged list of tools, which answers calls by itself. */
async function catalogue(
  pages: (cursor: string | undefined, request: number) => JsonObject,
  options: ConnectOptions = {},
  call: (request: JsonRpcRequest) => JsonObject = () => result,
): Promise<Catalogue> {
  const clock = fakeClock();
  const errors: Error[] = [];
  let count = 0;
  const peer = modernPeer({
    answers: {
      "tools/list": ({ params }) => pages(params?.cursor as string | undefined, ++count),
      "tools/call": call,
    },
  });
  const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
  const client = await openClient(transports, { clock, onError: (error) => errors.push(error), ...options });
  return { clock, peer, client, errors, listed: () => cursorsOf(peer) };
}

function cursorsOf(peer: ScriptedPeer): unknown[] {
  const requests = peer.arrived.map(({ message }) => message as JsonRpcRequest);
  return requests.filter(({ method }) => method === "tools/list").map(({ params }) => params?.cursor);
}

const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name, inputSchema }));
/** Five pages of ten tools: t0 to t49. */
const fivePages = (cursor = "0"): JsonObject => ({
  tools: named(...Array.from({ length: 10 }, (_, index) => `t${Number(cursor) * 10 + index}`)),
  ...(cursor !== "4" && { nextCursor: String(Number(cursor) + 1) }),
});
const onePage = { tools: named("a", "b") };

describe("over HTTP with a modern revision", () => {
  test("calls of 50 tools of a paged catalogue list each page once", async () => {
    const { client, listed } = await catalogue(fivePages);
    for (let index = 49; index >= 0; index--) await client.callTool(`t${index}`);
    await client.callTool("unknown");
    expect(listed()).toEqual([undefined, "1", "2", "3", "4"]);
  });

  test("20 concurrent first calls list the tools once", async () => {
    const { client, listed } = await catalogue(fivePages);
    await Promise.all(Array.from({ length: 20 }, (_, index) => client.callTool(`t${index * 2}`)));
    expect(listed()).toEqual([undefined, "1", "2", "3", "4"]);
  });

  test("a call is sent as soon as the page of its tool is read", async () => {
    const peer = modernPeer();
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }));
    const calling = client.callTool("a");
    peer.answer(await peer.request("tools/list"), { ...onePage, nextCursor: "2" });
    await peer.request("tools/list");
    peer.answer(await peer.request("tools/call"), result);
    expect(await calling).toBe("x");
    await client.close();
  });

  test("calls use the pages that an iteration of listTools has read, also if it stopped early", async () => {
    const { client, listed } = await catalogue(fivePages);
    for await (const { name } of client.listTools()) if (name === "t3") break;
    await client.callTool("t9");
    expect(listed()).toEqual([undefined]);
    await client.listTools().all();
    await client.callTool("t49");
    await client.callTool("unknown");
    expect(listed()).toEqual([undefined, undefined, "1", "2", "3", "4"]);
  });

  test("a change of the list leads to one further listing", async () => {
    const { client, peer, listed } = await catalogue(() => onePage);
    for (let changes = 0; changes < 3; changes++) {
      for (const name of ["a", "b", "a"]) await client.callTool(name);
      peer.notify("notifications/tools/list_changed");
    }
    expect(listed().length).toBe(3);
  });

  test("the tools are listed again when the ttl of the list ends", async () => {
    const { client, clock, listed } = await catalogue(() => ({ ...onePage, ttlMs: 1000 }));
    await client.callTool("a");
    await clock.advance(999);
    await client.callTool("b");
    expect(listed().length).toBe(1);
    await clock.advance(1);
    await client.callTool("a");
    expect(listed().length).toBe(2);
  });

  test("a cached page is used only for the rest of its ttl", async () => {
    const { client, clock, listed } = await catalogue(() => ({ ...onePage, ttlMs: 1000 }));
    await client.listTools().all();
    await clock.advance(600);
    await client.listTools().all();
    await clock.advance(400);
    await client.callTool("a");
    expect(listed().length).toBe(2);
  });

  test("a list without a ttl is used until it changes", async () => {
    const { client, clock, listed } = await catalogue(() => ({ ...onePage, ttlMs: 0 }));
    await client.callTool("a");
    await clock.advance(86_400_000);
    await client.callTool("b");
    expect(listed().length).toBe(1);
  });

  test("a list that changes while it is read is read again by the next call", async () => {
    const peer = modernPeer({ answers: { "tools/call": () => result } });
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }));
    const reading = client.listTools().all();
    const request = await peer.request("tools/list");
    peer.notify("notifications/tools/list_changed");
    peer.answer(request, { ...onePage, ttlMs: 60_000 });
    expect((await reading).map(({ name }) => name)).toEqual(["a", "b"]);
    const calling = client.callTool("a");
    // A client that used the cache would send the call at once.
    const again = await Promise.race([peer.request("tools/list"), calling.then(() => undefined)]);
    expect(again?.method).toBe("tools/list");
    if (again) peer.answer(again, onePage);
    expect(await calling).toBe("x");
  });

  test("a server that reports a change during each listing does not block a call", async () => {
    const { client, peer, listed } = await catalogue(() => {
      peer.notify("notifications/tools/list_changed");
      return onePage;
    });
    expect(await client.callTool("a")).toBe("x");
    expect(listed().length).toBe(1);
  });

  test("a list that the server refuses is not requested again, and the refusal is reported once", async () => {
    const peer = modernPeer({ answers: { "tools/call": () => result } });
    const errors: Error[] = [];
    const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(transports, { onError: (error) => errors.push(error) });
    const calls = ["a", "b"].map((name) => client.callTool(name));
    peer.refuse(await peer.request("tools/list"), { code: -32601, message: "no list" });
    await Promise.all(calls);
    await client.callTool("c");
    expect(errors.map(({ message }) => message)).toEqual(["no list"]);
    expect(cursorsOf(peer).length).toBe(1);
  });

  test("a list that is temporarily unavailable is requested again by the next call", async () => {
    const peer = modernPeer({ answers: { "tools/call": () => result } });
    const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(transports);
    const first = client.callTool("a");
    peer.fail(await peer.request("tools/list"), new LocalError("http", "503"));
    expect(await first).toBe("x");
    const second = client.callTool("a");
    peer.answer(await peer.request("tools/list"), onePage);
    expect(await second).toBe("x");
  });

  test("a call whose connection is lost during its listing is sent on the next connection", async () => {
    const [first, second] = [modernPeer(), modernPeer({ answers: { "tools/call": () => result } })];
    const client = await openClient(Object.assign(peerTransports(first, second), { kind: "http" as const }));
    const calling = client.callTool("a");
    await first.request("tools/list");
    first.close();
    expect(await calling).toBe("x");
  });

  test("the tools are listed again in a new session", async () => {
    const lists = { "tools/list": () => onePage, "tools/call": () => result };
    const [first, second] = [modernPeer({ answers: lists }), modernPeer({ answers: lists })];
    const client = await openClient(Object.assign(peerTransports(first, second), { kind: "http" as const }));
    await client.callTool("a");
    first.close();
    await flushPromises();
    await client.callTool("a");
    expect(cursorsOf(first).length).toBe(1);
    expect(cursorsOf(second).length).toBe(1);
  });
});

test("the tools are listed again after a subscription is reopened", async () => {
  const { client, peer, clock, listed } = await catalogue(() => onePage);
  const listening = client.listen({ tools: true }, () => {});
  const acknowledge = async (): Promise<JsonRpcRequest> => {
    const request = await peer.request("subscriptions/listen");
    const _meta = { "io.modelcontextprotocol/subscriptionId": request.id };
    peer.notify("notifications/subscriptions/acknowledged", { notifications: { toolsListChanged: true }, _meta });
    return request;
  };
  const request = await acknowledge();
  await listening;
  await client.callTool("a");
  peer.fail(request, new LocalError("closed", "The stream broke."));
  await clock.advance(60_000);
  await acknowledge();
  await flushPromises();
  await client.callTool("a");
  expect(listed().length).toBe(2);
  await client.close();
});

describe("aborted calls that wait for the list", () => {
  const hanging = async (): Promise<{ peer: ScriptedPeer; client: Client }> => {
    const peer = modernPeer({ answers: { "tools/call": () => result } });
    return { peer, client: await openClient(Object.assign(peerTransports(peer), { kind: "http" as const })) };
  };

  test("an aborted call does not abort the listing for another call", async () => {
    const { peer, client } = await hanging();
    const controller = new AbortController();
    const aborted = client.callTool("a", {}, { signal: controller.signal });
    const other = client.callTool("b");
    const request = await peer.request("tools/list");
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    peer.answer(request, onePage);
    expect(await other).toBe("x");
    expect(cursorsOf(peer).length).toBe(1);
  });

  test("the listing is cancelled when its last call is aborted, and the next call starts another", async () => {
    const { peer, client } = await hanging();
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => client.callTool("a", {}, { signal }));
    const request = await peer.request("tools/list");
    for (const controller of controllers) controller.abort();
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "aborted" });
    expect((await peer.notification("notifications/cancelled")).params).toMatchObject({ requestId: request.id });
    const next = client.callTool("a");
    peer.answer(await peer.request("tools/list"), onePage);
    expect(await next).toBe("x");
  });

  test("closing the client rejects calls that wait for the list", async () => {
    const { peer, client } = await hanging();
    const calling = client.callTool("a");
    await peer.request("tools/list");
    await client.close();
    await expect(calling).rejects.toMatchObject({ code: "closed" });
    expect(client.inFlight).toBe(0);
  });
});

test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
  "calls on %s do not list the tools",
  async (version) => {
    const peer = legacyPeer({ version, answers: { "tools/call": () => result } });
    const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(transports, { revision: version });
    for (let index = 0; index < 50; index++) await client.callTool(`t${index}`);
    expect(cursorsOf(peer)).toEqual([]);
  },
);

describe("a result that does not match the listed schema", () => {
  const tools = (type: string, ...more: string[]): JsonObject => ({
    tools: [
      { name: "a", inputSchema, outputSchema: { type: "object", properties: { sum: { type } }, required: ["sum"] } },
      ...named(...more),
    ],
    ttlMs: 60_000,
  });
  const sum = (value: unknown) => (): JsonObject => ({ content: [], structuredContent: { sum: value } });

  test.each(["http", "stream"] as const)(
    "is validated against a new listing, without another call (%s)",
    async (kind) => {
      let type = "string";
      const peer = modernPeer({ answers: { "tools/list": () => tools(type), "tools/call": sum(1) } });
      const client = await openClient(Object.assign(peerTransports(peer), { kind }));
      await client.listTools().all();
      type = "number";
      expect(await client.callTool("a")).toEqual({ sum: 1 });
      expect(await client.callTool("a")).toEqual({ sum: 1 });
      const methods = peer.arrived.map(({ message }) => (message as JsonRpcRequest).method);
      expect(methods).toEqual(["server/discover", "tools/list", "tools/call", "tools/list", "tools/call"]);
    },
  );

  test("is invalid if it does not match the new schema either", async () => {
    const { client, listed } = await catalogue(() => tools("string"), {}, sum(1));
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "invalid_result", data: { result: sum(1)() } });
    expect(listed().length).toBe(2);
  });

  test("leads to one listing for all calls that end at the same time", async () => {
    let type = "string";
    const { client, listed } = await catalogue(() => tools(type), {}, sum(1));
    await client.listTools().all();
    type = "number";
    const calls = Array.from({ length: 10 }, () => client.callTool("a"));
    for (const call of calls) expect(await call).toEqual({ sum: 1 });
    expect(listed().length).toBe(2);
  });

  test("is invalid if the list cannot be read again", async () => {
    const peer = modernPeer({ answers: { "tools/call": sum(1) } });
    const client = await openClient(peerTransports(peer), { onError: () => {} });
    const listing = client.listTools().all();
    peer.answer(await peer.request("tools/list"), tools("string"));
    await listing;
    const calling = client.callTool("a");
    peer.refuse(await peer.request("tools/list"), { code: -32603, message: "not now" });
    await expect(calling).rejects.toMatchObject({ code: "invalid_result" });
  });

  test("is recorded as an error of the call", async () => {
    const records: unknown[] = [];
    const options = { onCall: (record: object) => void records.push(record) };
    const { client } = await catalogue(() => tools("string"), options, sum(1));
    await client.listTools().all();
    await client.callTool("a").catch(() => {});
    expect(records.at(-1)).toMatchObject({ method: "tools/call", outcome: "error", code: "invalid_result" });
  });

  test("does not lead to a listing if the schema cannot be used", async () => {
    const unusable = { tools: [{ name: "a", inputSchema, outputSchema: { $ref: "https://x.example/s" } }] };
    const { client, listed } = await catalogue(() => unusable, {}, sum(1));
    expect(await client.callTool("a")).toEqual({ sum: 1 });
    expect(listed().length).toBe(1);
  });
});

test("concurrent calls that are refused for their headers list the tools once more", async () => {
  const header = (name: string): JsonObject => ({
    tools: [
      { name: "a", inputSchema: { type: "object", properties: { r: { type: "string", "x-mcp-header": name } } } },
    ],
  });
  const peer = modernPeer({ answers: { "tools/list": () => header(cursorsOf(peer).length > 1 ? "New" : "Old") } });
  const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }));
  await client.listTools().all();
  const calls = Array.from({ length: 3 }, () => client.callTool("a", { r: "x" }));
  const refused = [];
  for (const _ of calls) refused.push(await peer.request("tools/call"));
  for (const request of refused) peer.refuse(request, { code: -32020, message: "Header mismatch" });
  for (const _ of calls) {
    peer.answer(await peer.request("tools/call"), result);
    expect(peer.arrived.at(-1)?.envelope?.headers).toHaveProperty("Mcp-Param-New");
  }
  await Promise.all(calls);
  expect(cursorsOf(peer).length).toBe(2);
});

describe("marks of parameters for headers", () => {
  const nested = (levels: number): JsonObject =>
    Array.from({ length: levels }).reduce<JsonObject>((a) => ({ properties: { a } }), {
      type: "string",
      "x-mcp-header": "A",
    });
  const headers = (schema: JsonObject): unknown => headersOf({ name: "a", inputSchema: schema });

  test("are read up to 64 nested schemas, as the server reads them", async () => {
    expect(await headers(nested(64))).toMatchObject([{ header: "Mcp-Param-A" }]);
    expect(await headers(nested(65))).toEqual([]);
  });

  test("are refused in a place where they are not allowed, such as an item of an array", async () => {
    await expect(headers({ anyOf: [{ items: nested(1) }] })).rejects.toThrow('"properties" alone');
  });

  test("are not looked for in their names as values", () => {
    expect(headers({ properties: { a: { enum: ["x-mcp-header"], default: null } } })).toEqual([]);
  });
});
