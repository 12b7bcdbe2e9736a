import { afterEach, describe, expect, test } from "vitest";
import { type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { forgetRevisions } from "../../client/connect/remembered-revisions.ts";
import type { Client } from "../../client/client.ts";
import type { ConnectOptions } from "../../client/options.ts";
import { openClient } from "../../client/open-client.ts";
import type { ServerChange } from "../../client/subscriptions/subscription.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { initializeResult } from "../../testing/peer-transports.ts";
import { httpTransports } from "./transport.ts";

afterEach(forgetRevisions);

type Answer = (request: SentRequest) => void;

const json =
  (status: number, value: unknown): Answer =>
  (request) =>
    request.json(value, { status, headers: { "content-type": "application/json" } });
/** A JSON-RPC error with the id of the request, or with another one. */
const rpc =
  (status: number, code: number, message: string, id?: unknown): Answer =>
  (request) =>
    json(status, { jsonrpc: "2.0", id: id === undefined ? request.body.id : id, error: { code, message } })(request);
const text =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (request) =>
    request.text(body, { status, headers: { "content-type": "text/plain", ...headers } });
const stream =
  (...values: unknown[]): Answer =>
  (request) => {
    if (request.method === "GET") return request.status(405);
    const feed = request.stream();
    for (const value of values) feed.event({ ...(value as object), id: request.body.id });
    feed.end();
  };

const streamed = stream({ jsonrpc: "2.0", error: { code: -32_001, message: "Session not found" } });

/** Forms in which released servers refuse a session that they do not know. */
const forms: readonly (readonly [description: string, refusal: Answer])[] = [
  ["404 without a body", (request) => request.status(404)],
  ["404 and an error of the protocol", rpc(404, -32_001, "Session not found", null)],
  ["404 and the id of the request", rpc(404, -32_600, "Session not found")],
  ["404 and a foreign id", rpc(404, -32_600, "Session not found", "server-error")],
  ["404 and text", text(404, "session not found")],
  ["410 without a body", (request) => request.status(410)],
  ["410 and JSON", json(410, { error: "gone" })],
  ["400 as examples of the TypeScript SDK do", rpc(400, -32_000, "Bad Request: No valid session ID provided", null)],
  ["400 as examples of the TypeScript SDK answer a GET", text(400, "Invalid or missing session ID")],
  ["400 as its transport does before initialize", rpc(400, -32_000, "Bad Request: Server not initialized", null)],
  ["400 as the Python SDK did", text(400, "Bad Request: No valid session ID provided")],
  ["400 as a Go library did", text(400, "Invalid session ID\n")],
  ["400 with a foreign id", rpc(400, -32_600, "Bad Request: Missing session ID", "server-error")],
  ["400 without an id", json(400, { jsonrpc: "2.0", error: { code: -32_000, message: "Unknown session" } })],
  ["400 and the id of the request", rpc(400, -32_602, "Invalid session ID: s-1")],
  ["400 and JSON of a framework", json(400, { detail: "Session not found or expired. Please reinitialize." })],
  ["400 and a text about nothing", text(400, "Bad Request")],
  ["400 and an error about nothing", rpc(400, -32_000, "Bad Request", null)],
  ["401 as the Rust SDK did", text(401, "Unauthorized: Session not found")],
  ["409 and text", text(409, "unknown client")],
  ["422 and JSON", json(422, { message: "session s-1 expired" })],
  ["500 and text", text(500, "Session s-1 does not exist")],
  ["200 and -32001", rpc(200, -32_001, "Session not found")],
  ["200, -32001 and null as the id", rpc(200, -32_001, "Session not found", null)],
  ["200 and -32000", rpc(200, -32_000, "Server not initialized")],
  ["200 and -32600", rpc(200, -32_600, "Session expired")],
  ["200 and -32603", rpc(200, -32_603, "No session with this ID")],
  ["200 and a stream", streamed],
];

interface Restarted {
  client: Client;
  /** The methods of the requests since the restart, in order. GET and DELETE as well. */
  sent: string[];
  errors: Error[];
  /** Forgets all sessions. */
  restart: () => void;
  /** Sends a notification on each stream that is open. */
  notify: (method: string) => void;
}

/** A legacy server whose sessions end when it restarts, and a client of it. */
async function restartable(
  refusal: Answer,
  {
    isLost = (sessions) => sessions,
    ...options
  }: ConnectOptions & { isLost?: (isKnown: boolean, request: SentRequest) => boolean } = {},
): Promise<Restarted> {
  const stub = fetchStub();
  const sent: string[] = [];
  const errors: Error[] = [];
  let sessions = 0;
  let known = "";
  let feeds: { session: string; notify: (method: string) => void }[] = [];
  const results: Record<string, JsonObject> = {
    ping: {},
    "tools/list": { tools: [{ name: "a", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "done" }] },
    "resources/subscribe": {},
  };
  const answer = (request: SentRequest): void => {
    const { method } = request.body;
    if (method === "server/discover") return request.status(400);
    if (method === "initialize") {
      known = `s-${++sessions}`;
      return request.json(
        { jsonrpc: "2.0", id: request.body.id, result: initializeResult(versionOf(request)) },
        { headers: { "content-type": "application/json", "mcp-session-id": known } },
      );
    }
    if (!isLost(request.headers.get("mcp-session-id") === known, request)) return refusal(request);
    if (request.method === "GET") {
      const feed = request.stream();
      feeds.push({ session: known, notify: (name) => feed.event({ jsonrpc: "2.0", method: name }) });
      return;
    }
    const result = results[String(method)];
    if (result) request.json({ jsonrpc: "2.0", id: request.body.id, result });
    else request.status(202);
  };
  const fetch: typeof globalThis.fetch = (input, init) => {
    const sending = stub.fetch(input, init);
    void stub.next().then((request) => {
      sent.push(typeof request.body.method === "string" ? request.body.method : request.method);
      answer(request);
    });
    return sending;
  };
  const clock = fakeClock();
  const url = `https://${crypto.randomUUID()}.example/mcp`;
  const client = await openClient(httpTransports({ url, fetch, clock }), {
    clock,
    onError: (error) => errors.push(error),
    ...options,
  });
  await flushPromises();
  sent.length = 0;
  return {
    client,
    sent,
    errors,
    restart: () => {
      known = "";
      feeds = [];
    },
    notify: (method) => feeds.forEach((feed) => feed.notify(method)),
  };
}

const versionOf = ({ body }: SentRequest): string => String((body.params as JsonObject).protocolVersion);
const countOf = (sent: readonly string[], method: string): number => sent.filter((one) => one === method).length;

describe.each(["auto", "2025-03-26", "2025-11-25"])(
  "a server of revision %s that has lost its sessions",
  (revision) => {
    test.each(forms)("and answers %s gets one new session for all calls", async (_, refusal) => {
      const { client, sent, restart } = await restartable(refusal, { revision });
      restart();
      expect(await Promise.all([client.callTool("a"), client.callTool("a"), client.ping()])).toEqual([
        "done",
        "done",
        undefined,
      ]);
      expect(countOf(sent, "initialize")).toBe(1);
      expect(countOf(sent, "tools/call")).toBe(4);
      expect(client.state).toBe("open");
      expect(await client.callTool("a")).toBe("done");
      expect(countOf(sent, "initialize")).toBe(1);
    });
  },
);

/** Refusals that have nothing to do with the session. */
const others: readonly (readonly [description: string, refusal: Answer])[] = [
  ["400 and -32602", rpc(400, -32_602, "Invalid arguments")],
  ["400 and -32602 about a session of the tool", rpc(400, -32_602, "Unknown session: 7")],
  ["400, -32602 and no id", rpc(400, -32_602, "Invalid params: name is required", null)],
  ["400 and -32000", rpc(400, -32_000, "Bad Request: Unsupported protocol version", null)],
  ["400 and text", text(400, "The browser session expired")],
  ["400 and JSON", json(400, { error: "Invalid session type" })],
  ["401", text(401, "Session expired", { "www-authenticate": "Bearer" })],
  ["403", text(403, "forbidden")],
  ["413", text(413, "too large")],
  ["200 and -32001", rpc(200, -32_001, "Request timed out")],
  ["200 and -32001 about a session of the tool", rpc(200, -32_001, "Session not found")],
  ["200 and -32603", rpc(200, -32_603, "initialization of the database failed")],
  ["404 and -32601", rpc(404, -32_601, "Method not found")],
];

test.each(others)("a call that is refused with %s keeps its session and is sent once", async (_, refusal) => {
  for (const revision of ["auto", "2025-11-25"]) {
    const { client, sent } = await restartable(refusal, {
      revision,
      isLost: (isKnown, { body }) => isKnown && body.method !== "tools/call",
    });
    await expect(client.callTool("a")).rejects.toThrow();
    expect(countOf(sent, "tools/call")).toBe(1);
    expect(countOf(sent, "initialize")).toBe(0);
    expect(client.state).toBe("open");
  }
});

test.each<[string, Answer]>([
  ["-32600", rpc(200, -32_600, "Unsupported method")],
  ["400", text(400, "Unsupported method")],
])("a failed call of a server that has no ping and answers it with %s is sent once", async (_, refusePing) => {
  const failCall = rpc(200, -32_000, "The tool has failed");
  const { client, sent } = await restartable(
    (request) => (request.body.method === "ping" ? refusePing : failCall)(request),
    { isLost: (isKnown, { body }) => isKnown && body.method !== "tools/call" && body.method !== "ping" },
  );
  await expect(client.callTool("a")).rejects.toThrow("The tool has failed");
  expect(sent).toEqual(["tools/call", "ping"]);
  expect(client.state).toBe("open");
});

test.each(forms)(
  "a server that never knows a session and answers %s fails the call after one new session",
  async (_, refusal) => {
    let isBroken = false;
    const { client, sent } = await restartable(refusal, {
      isLost: (isKnown) => isKnown && !isBroken,
    });
    isBroken = true;
    await expect(client.callTool("a")).rejects.toThrow();
    expect(countOf(sent, "initialize")).toBe(1);
    expect(countOf(sent, "tools/call")).toBeLessThanOrEqual(2);
  },
);

test.each([408, 429, 503])("a call that is refused with %i sends no ping", async (status) => {
  const { client, sent } = await restartable(text(status, "later"), {
    revision: "2025-11-25",
    isLost: (isKnown, { body }) => isKnown && body.method !== "tools/call",
  });
  await expect(client.callTool("a")).rejects.toMatchObject({ code: "http", data: { status } });
  expect(sent).toEqual(["tools/call"]);
});

test("a session that is lost is not ended with DELETE", async () => {
  const { client, sent, restart } = await restartable(rpc(400, -32_000, "No valid session ID provided", null));
  restart();
  await client.callTool("a");
  await flushPromises();
  expect(sent).not.toContain("DELETE");
  await client.close();
  expect(countOf(sent, "DELETE")).toBe(1);
});

describe("a client that only listens", () => {
  // The reply to a notification is not read as a stream.
  const readable = forms.filter(([, refusal]) => refusal !== streamed);
  test.each(readable)(
    "opens a new session if the server answers notifications/initialized with %s",
    async (_, refusal) => {
      for (const revision of ["auto", "2025-11-25"]) {
        let refusals = 1;
        const changes: ServerChange[] = [];
        const { client, sent, notify, errors } = await restartable(refusal, {
          revision,
          // A rolling update: another process with the old state answers until the next session is opened.
          isLost: (isKnown, { headers }) => isKnown && !(headers.get("mcp-session-id") === "s-1" && refusals > 0),
        });
        refusals = 1;
        await client.listen({ tools: true }, (change) => changes.push(change));
        await flushPromises();
        expect(client.state).toBe("open");
        notify("notifications/tools/list_changed");
        await flushPromises();
        expect(changes).toContainEqual({ kind: "tools" });
        expect(countOf(sent, "initialize")).toBeLessThanOrEqual(1);
        expect(errors.length).toBeGreaterThan(0);
        await client.close();
      }
    },
  );
});

const isPost = ({ method }: SentRequest): boolean => method === "POST";

test.each(forms.filter(([description]) => /^4(04|10)|SDK|Go library/.test(description)))(
  "a refusal that names the loss, %s, needs no ping",
  async (_, refusal) => {
    const { client, sent, restart } = await restartable(refusal, { revision: "2025-11-25" });
    restart();
    await client.callTool("a");
    expect(sent).not.toContain("ping");
  },
);

test.each(forms)(
  "a server that accepts notifications and refuses each call with %s fails with session_lost",
  async (_, refusal) => {
    let isBroken = false;
    const { client, sent } = await restartable(refusal, {
      isLost: (isKnown, { body }) => isKnown && !(isBroken && (body.method === "tools/call" || body.method === "ping")),
    });
    isBroken = true;
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "session_lost" });
    expect(countOf(sent, "initialize")).toBe(1);
    expect(countOf(sent, "tools/call")).toBe(2);
    expect(client.state).toBe("reconnecting");
  },
);

test.each<[string, Answer, string]>([
  ["a text", text(404, "Route not found in pool blue"), " Its reason: Route not found in pool blue"],
  ["an error of the protocol", rpc(404, -32_001, "Session s-1 expired", null), " Its reason: Session s-1 expired"],
  ["an error with the id of the request", rpc(404, -32_600, "No such session"), " Its reason: No such session"],
  ["JSON of a framework", json(410, { detail: "Gone for good" }), " Its reason: Gone for good"],
  ["a text that names the loss", text(400, "Invalid session ID"), " Its reason: Invalid session ID"],
  ["a secret", text(404, "no route for Bearer abcdefghijklmnop1234"), " Its reason: no route for Bearer [redacted]"],
  ["nothing", (request) => request.status(404), ""],
])("the error of a lost session has the reason of the server: %s", async (_, refusal, reason) => {
  let isBroken = false;
  const { client } = await restartable(refusal, {
    isLost: (isKnown, { body }) => isKnown && !(isBroken && (body.method === "tools/call" || body.method === "ping")),
  });
  isBroken = true;
  const error: unknown = await client.callTool("a").catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: "session_lost" });
  expect((error as Error).message.split(" Open a new one.")[1]).toBe(reason);
});

describe("a server without a stream for notifications", () => {
  const notOffered: Answer = (request) => request.status(405);
  test.each([
    ["404", (request: SentRequest) => request.status(404)],
    ["200 and an error", rpc(200, -32_001, "Session not found", null)],
  ])("loses the session if it answers notifications/initialized with %s", async (_, refusal) => {
    const { client } = await restartable((request) => (isPost(request) ? refusal : notOffered)(request), {
      isLost: (isKnown, request) => isKnown && isPost(request) && request.body.method !== "notifications/initialized",
    });
    expect(client.state).toBe("reconnecting");
  });

  /** Connects to a server that refuses the GET, and answers a ping in one way. */
  const refusing = async (get: Answer, ping?: Answer): Promise<Restarted & { pings: () => number }> => {
    let pings = 0;
    const server = await restartable(
      (request) => {
        if (request.method === "GET") return get(request);
        pings++;
        ping?.(request);
      },
      { isLost: (isKnown, request) => isKnown && isPost(request) && !(ping && request.body.method === "ping") },
    );
    return { ...server, pings: () => pings };
  };
  test.each<[string, Answer]>([
    ["200", rpc(200, -32_601, "Method not found")],
    ["401", text(401, "Sign in", { "www-authenticate": "Bearer" })],
    ["429", text(429, "later")],
    ["503", text(503, "later")],
  ])("keeps the session if it answers the ping after a refused GET with %s", async (_, ping) => {
    const { client, pings, errors } = await refusing(text(400, "no streams"), ping);
    expect(pings()).toBe(1);
    expect(client.state).toBe("open");
    expect(errors).toMatchObject([{ code: "http" }]);
  });

  test("receives no ping if it answers the GET with 401", async () => {
    const { client, pings, errors } = await refusing(text(401, "Sign in", { "www-authenticate": "Bearer" }), () => {});
    expect(pings()).toBe(0);
    expect(client.state).toBe("open");
    expect(errors).toMatchObject([{ code: "unauthorized" }]);
  });
});
