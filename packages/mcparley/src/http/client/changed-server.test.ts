import { afterEach, describe, expect, test } from "vitest";
import { type EventFeed, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";
import { forgetRevisions } from "../../client/connect/remembered-revisions.ts";
import { openClient } from "../../client/open-client.ts";
import type { Client } from "../../client/client.ts";
import type { ConnectOptions } from "../../client/options.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { discoverResult, initializeResult } from "../../testing/peer-transports.ts";
import { httpTransports } from "./transport.ts";

afterEach(forgetRevisions);

type Answer = (request: SentRequest) => void;

const refuse =
  (status: number, code: number, data?: JsonObject): Answer =>
  (request) =>
    request.json(
      { jsonrpc: "2.0", id: request.body.id, error: { code, message: "refused", ...(data && { data }) } },
      { status, headers: { "content-type": "application/json" } },
    );
const status =
  (code: number): Answer =>
  (request) =>
    request.status(code);

const results: Record<string, JsonObject> = {
  "server/discover": discoverResult(),
  initialize: initializeResult(),
  ping: {},
  "tools/list": { tools: [{ name: "a", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};
const methodOf = ({ method, body }: SentRequest): string => (typeof body.method === "string" ? body.method : method);
const isModern = ({ headers }: SentRequest): boolean => headers.get("mcp-protocol-version") === "2026-07-28";

function answer(request: SentRequest, headers: Record<string, string> = {}): void {
  const value = results[methodOf(request)];
  if (!value) return request.status(request.method === "POST" ? 202 : 405);
  request.json(
    { jsonrpc: "2.0", id: request.body.id, result: value },
    { headers: { "content-type": "application/json", ...headers } },
  );
}

/** A modern server, which answers legacy requests in one way. */
const modern =
  (refusal: Answer): Answer =>
  (request) =>
    isModern(request) ? answer(request) : refusal(request);

/** A legacy server, which answers requests outside of a session in one way. */
const legacy =
  (refusal: Answer, session: string | null = "s-1"): Answer =>
  (request) => {
    if (methodOf(request) === "initialize")
      return answer(request, session === null ? {} : { "mcp-session-id": session });
    const isInSession = session === null ? !isModern(request) : request.headers.get("mcp-session-id") === session;
    return isInSession ? answer(request) : refusal(request);
  };

interface Deployed {
  /** The methods of the requests that were sent, in order. */
  sent: string[];
  /** Replaces the server behind the URL. */
  deploy: (server: Answer) => void;
  client: Client;
}

async function connectTo(first: Answer, options: ConnectOptions = {}): Promise<Deployed> {
  let server = first;
  const stub = fetchStub();
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const sending = stub.fetch(input, init);
    void stub.next().then((request) => {
      if (request.method === "POST") sent.push(methodOf(request));
      server(request);
    });
    return sending;
  };
  const client = await openClient(httpTransports({ url: "https://example.com/mcp", fetch }), options);
  await client.listTools().all();
  sent.length = 0;
  return { sent, deploy: (next) => void (server = next), client };
}

const countOf = (sent: readonly string[], method: string): number => sent.filter((one) => one === method).length;

describe("a modern server that is rolled back to a legacy one", () => {
  test.each<[string, Answer]>([
    ["400 and -32000", refuse(400, -32_000)],
    ["400 and -32600", refuse(400, -32_600)],
    ["400 and -32022 with a modern version", refuse(400, -32_022, { supported: ["2026-07-28", "2025-11-25"] })],
    ["400 and -32022 without versions", refuse(400, -32_022)],
    ["400 without a body", status(400)],
    ["404 without a body", status(404)],
    ["404 and -32601", refuse(404, -32_601)],
    ["405 without a body", status(405)],
    ["200 and -32601", refuse(200, -32_601)],
  ])("and refuses modern requests with %s is called again in its revision", async (_, refusal) => {
    const { client, deploy, sent } = await connectTo(modern(status(400)));
    // A legacy server does not answer server/discover with a modern version.
    deploy(legacy((request) => (methodOf(request) === "server/discover" ? status(400) : refusal)(request)));
    expect(await client.callTool("a")).toBe("done");
    expect(client.server.revisionKind).toBe("legacy");
    expect(sent[0]).toBe("tools/call");
    expect(sent.at(-1)).toBe("tools/call");
    expect(countOf(sent, "tools/call")).toBe(2);
    expect(countOf(sent, "initialize")).toBe(1);
    expect(await client.callTool("a")).toBe("done");
    expect(countOf(sent, "initialize")).toBe(1);
  });

  test("receives one request to find its revision for all calls that it refuses together", async () => {
    const { client, deploy, sent } = await connectTo(modern(status(400)));
    deploy(legacy(refuse(400, -32_000)));
    const calls = Array.from({ length: 10 }, () => client.callTool("a"));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 10 }, () => "done"));
    expect(countOf(sent, "initialize")).toBe(1);
    // The check of the session, and the negotiation of the next one.
    expect(countOf(sent, "server/discover")).toBe(2);
  });

  test("fails its calls if the revision is pinned", async () => {
    const { client, deploy, sent } = await connectTo(modern(status(400)), { revision: "2026-07-28" });
    deploy(legacy(refuse(400, -32_000)));
    await expect(client.callTool("a")).rejects.toMatchObject({ code: -32_000 });
    expect(sent).toEqual(["tools/call"]);
  });
});

describe("a legacy server that is upgraded to a modern one", () => {
  test.each<[string, Answer]>([
    ["400 and -32022", refuse(400, -32_022, { supported: ["2026-07-28"] })],
    ["400 and -32020", refuse(400, -32_020)],
    ["400 and -32021", refuse(400, -32_021)],
    ["400 and -32600", refuse(400, -32_600)],
    ["400 without a body", status(400)],
    ["404 without a body", status(404)],
    ["404 and -32601", refuse(404, -32_601)],
  ])("and refuses legacy requests with %s is called again in its revision", async (_, refusal) => {
    for (const session of ["s-1", null]) {
      forgetRevisions();
      const { client, deploy, sent } = await connectTo(legacy(status(400), session));
      expect(client.server.revisionKind).toBe("legacy");
      deploy(modern(refusal));
      expect(await client.callTool("a")).toBe("done");
      expect(client.server.revisionKind).toBe("modern");
      expect(countOf(sent, "tools/call")).toBe(2);
      await client.close();
    }
  });
});

test("a legacy server that loses its transport is called again over HTTP+SSE", async () => {
  const { client, deploy, sent } = await connectTo(legacy(status(400), null));
  let feed: EventFeed | undefined;
  deploy((request) => {
    if (request.method === "GET") {
      feed = request.stream();
      return feed.raw("event: endpoint\ndata: /messages\n\n");
    }
    if (new URL(request.url).pathname !== "/messages") return request.status(405);
    request.status(202);
    const value = results[methodOf(request)];
    if (value) feed?.event({ jsonrpc: "2.0", id: request.body.id, result: value });
  });
  expect(await client.callTool("a")).toBe("done");
  // The last call is the one in the new session.
  expect(sent.filter((method) => method === "tools/call").length).toBe(2);
});

describe("a server that has not changed", () => {
  const failing =
    (server: Answer, failure: Answer): Answer =>
    (request) =>
      (methodOf(request) === "tools/call" ? failure : server)(request);

  test.each<[string, Answer]>([
    ["-32600", refuse(400, -32_600)],
    ["-32000", refuse(200, -32_000)],
    ["-32601", refuse(404, -32_601)],
    ["404", status(404)],
  ])("receives a call that it refused with %s once, and keeps its session", async (_, failure) => {
    for (const server of [modern(status(400)), legacy(status(400), null)]) {
      forgetRevisions();
      const { client, deploy, sent } = await connectTo(server);
      const { revisionKind } = client.server;
      deploy(failing(server, failure));
      await expect(client.callTool("a")).rejects.toThrow();
      expect(countOf(sent, "tools/call")).toBe(1);
      expect(countOf(sent, "initialize")).toBe(0);
      expect(client.server.revisionKind).toBe(revisionKind);
      expect(client.state).toBe("open");
    }
  });

  test("and supports both kinds of revisions keeps its legacy session", async () => {
    const { client, deploy, sent } = await connectTo(legacy(status(400)));
    const both: Answer = (request) => (isModern(request) ? answer : legacy(status(400)))(request);
    deploy(failing(both, refuse(400, -32_600)));
    await expect(client.callTool("a")).rejects.toMatchObject({ code: -32_600 });
    expect(sent).toEqual(["tools/call", "ping"]);
    expect(client.server.revisionKind).toBe("legacy");
  });

  test.each<[string, Answer]>([
    ["invalid params", refuse(400, -32_602)],
    ["an internal error", refuse(500, -32_603)],
    ["a status of a busy server", status(503)],
  ])("receives no request to find its revision after %s", async (_, failure) => {
    const server = modern(status(400));
    const { client, deploy, sent } = await connectTo(server);
    deploy(failing(server, failure));
    await expect(client.callTool("a")).rejects.toThrow();
    expect(sent).toEqual(["tools/call"]);
  });

  test("that is busy during the request to find its revision keeps its session", async () => {
    const { client, deploy, sent } = await connectTo(modern(status(400)));
    deploy((request) => (methodOf(request) === "tools/call" ? refuse(400, -32_600) : status(503))(request));
    await expect(client.callTool("a")).rejects.toMatchObject({ code: -32_600 });
    expect(sent).toEqual(["tools/call", "server/discover"]);
    expect(client.state).toBe("open");
  });
});
