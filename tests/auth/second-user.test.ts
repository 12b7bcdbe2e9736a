import { jwtVerifier } from "mcparley/auth";
import type { JsonObject } from "mcparley";
import { memoryStore, resource, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RawAnswer, type RawHttp, type RawMessage, openHttpSession, rawHttp } from "../support/raw-http.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { makeTokenIssuer } from "./token-issuer.ts";
import { getTokens } from "./tokens.ts";

/*
 * State of one user that another user tries to access: a second user of the same authorization server, and a user whose name is
 * the same at another.
 */

type Headers = Record<string, string>;

let as: AuthorizationServer;
let server: ProtectedServer;
let client: RawHttp;
let alice: Headers;
const others: Record<string, Headers> = {};
let release: (text: string) => void = () => {};
const ended = new Promise<string>((resolve) => {
  release = resolve;
});

const text = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const definition = {
  tools: {
    ask: tool({
      call: async (_, ctx) => {
        const { name } = await ctx.elicit({ message: "Who?", schema: text });
        return `Hello, ${name}`;
      },
    }),
    long: tool({ extensions: [asTask()], call: () => ended }),
    talk: tool({
      call: (_, ctx) => {
        ctx.progress(1, 2, "secret of alice");
        return "done";
      },
    }),
  },
  resources: { note: resource("note://a", { read: (_, { principal }) => `note of ${principal?.subject}` }) },
};

beforeAll(async () => {
  as = await startAuthorizationServer();
  const issuer = await makeTokenIssuer({ issuer: "https://other.example", audience: "", now: () => Date.now() / 1000 });
  const store = memoryStore();
  server = await serveProtected({
    protect(url) {
      as.resources.set(url, { scope: "notes:read" });
      const verifier = [
        jwtVerifier({ issuer: as.issuer, audience: url }),
        jwtVerifier({ issuer: issuer.issuer, audience: url, fetch: issuer.fetch }),
      ];
      return { resource: url, issuers: [as.issuer, issuer.issuer], verifier };
    },
    definition: { ...definition, store, extensions: [tasks()] },
    http: { legacySse: true },
  });
  client = rawHttp(server.url, fetch);
  const signIn = async (user: string): Promise<Headers> => {
    const { access_token: token } = await getTokens(as, { user, resource: server.url, scope: "notes:read" });
    return { authorization: `Bearer ${token}` };
  };
  alice = await signIn("alice");
  others.bob = await signIn("bob");
  const sameName = await issuer.sign({ aud: server.url, sub: "alice", iat: undefined, exp: Date.now() / 1000 + 300 });
  others["alice of another issuer"] = { authorization: `Bearer ${sameName}` };
});
afterAll(async () => {
  release("over");
  await server.close();
  await as.close();
});

const clientInfo = { name: "raw", version: "1.0.0" };
const capabilities = { elicitation: {}, tasks: { requests: {} } };

const openSession = (user: Headers): Promise<Headers> => openHttpSession(client, { capabilities, headers: user });

const request = (method: string, params: JsonObject = {}, id = 1): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** The next message of a stream, whose first event may be empty, or of an answer that is no stream. */
async function message(answer: RawAnswer): Promise<RawMessage> {
  if (answer.type === "application/json") return answer.json();
  for (;;) {
    const block = await answer.block();
    if (block === undefined) throw new Error("The stream has ended.");
    const data = /^data: ?(\S.*)$/m.exec(block)?.[1];
    if (data !== undefined) return JSON.parse(data) as RawMessage;
  }
}

describe.each(["bob", "alice of another issuer"])("%s", (name) => {
  const other = (): Headers => others[name]!;

  test("is authenticated", async () => {
    const answer = await client.modern("resources/read", { uri: "note://a" }, { headers: other() });
    expect((await answer.json()).result).toMatchObject({ contents: [{ text: expect.stringContaining("note of ") }] });
  });

  test("cannot use, read or end a session", async () => {
    const session = await openSession(alice);
    const stolen = { ...session, ...other() };
    expect((await client.post(request("ping"), stolen)).status).toBe(404);
    expect((await client.send({ method: "GET", headers: { ...stolen, accept: "text/event-stream" } })).status).toBe(
      404,
    );
    expect((await client.send({ method: "DELETE", headers: stolen })).status).toBe(404);
    expect((await client.post(request("ping"), session)).status).toBe(200);
  });

  test("cannot answer an input request", async () => {
    const session = await openSession(alice);
    const asking = await client.post(request("tools/call", { name: "ask", arguments: {} }), session);
    const { id } = await message(asking);
    const answered = (name: string): JsonObject => ({
      jsonrpc: "2.0",
      id,
      result: { action: "accept", content: { name } },
    });
    expect((await client.post(answered("mallory"), { ...session, ...other() })).status).toBe(404);
    const own = await openSession(other());
    expect((await client.post(answered("mallory"), own)).status).toBeLessThan(500);
    expect((await client.post(answered("alice"), session)).status).toBe(202);
    expect((await message(asking)).result).toMatchObject({ content: [{ text: "Hello, alice" }] });
  });

  test("cannot resume a broken stream", async () => {
    const session = await openSession(alice);
    const talk = { name: "talk", arguments: {}, _meta: { progressToken: 1 } };
    const answer = await client.post(request("tools/call", talk), session);
    const first = await answer.block();
    const id = /^id: ?(.+)$/m.exec(first ?? "")?.[1] ?? "";
    expect(id).not.toBe("");
    const resume = { accept: "text/event-stream", "last-event-id": id };
    const own = await openSession(other());
    for (const headers of [{ ...session, ...other() }, own, other()]) {
      const refused = await client.send({ method: "GET", headers: { ...headers, ...resume } });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(await refused.text()).not.toContain("secret of alice");
    }
    expect((await client.send({ method: "GET", headers: { ...session, ...resume } })).status).toBe(200);
  });

  test("cannot post to the stream of a client of 2024-11-05", async () => {
    const stream = await client.send({
      method: "GET",
      path: "/sse",
      headers: { ...alice, accept: "text/event-stream" },
    });
    const path = /^data: (.+)$/m.exec((await stream.block()) ?? "")?.[1] ?? "";
    expect(path).toContain("sessionId=");
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
    const post = (headers: Headers) =>
      client.send({
        path,
        headers: { ...headers, "content-type": "application/json" },
        body: request("initialize", params),
      });
    expect((await post(other())).status).toBe(404);
    expect((await post(alice)).status).toBe(202);
    await stream.leave();
  });

  test("cannot see, answer or cancel a task of the 2026 extension", async () => {
    const declared = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const send = (user: Headers, method: string, params: JsonObject, taskId?: string) =>
      client.modern(method, params, {
        capabilities: declared,
        headers: { ...user, ...(taskId !== undefined && { "mcp-name": taskId }) },
      });
    const begun = (await (await send(alice, "tools/call", { name: "long", arguments: {} })).json()).result;
    const taskId = begun.taskId as string;
    for (const [method, params] of [
      ["tasks/get", {}],
      ["tasks/update", { inputResponses: {} }],
      ["tasks/cancel", {}],
    ] as const) {
      const refused = await (await send(other(), method, { taskId, ...params }, taskId)).json();
      const unknown = await (await send(other(), method, { taskId: "never", ...params }, "never")).json();
      expect(refused).toEqual(unknown);
      expect(refused).toHaveProperty("error");
    }
    const listening = await send(other(), "subscriptions/listen", { notifications: { taskIds: [taskId] } });
    expect(JSON.stringify(await message(listening))).not.toContain(taskId);
    await listening.leave();
    const seen = await (await send(alice, "tasks/get", { taskId }, taskId)).json();
    expect(seen.result).toMatchObject({ taskId, status: "working" });
  });

  test("cannot list, see or cancel a task of 2025-11-25", async () => {
    const [session, own] = [await openSession(alice), await openSession(other())];
    const call = request("tools/call", { name: "long", arguments: {}, task: {} });
    const { task } = (await message(await client.post(call, session))).result as { task: { taskId: string } };
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      const refused = await message(await client.post(request(method, { taskId: task.taskId }), own));
      expect(refused).toHaveProperty("error");
    }
    const listed = await message(await client.post(request("tasks/list"), own));
    expect(JSON.stringify(listed.result)).not.toContain(task.taskId);
    expect(JSON.stringify((await message(await client.post(request("tasks/list"), session))).result)).toContain(
      task.taskId,
    );
  });

  test("cannot continue a call with its sealed state", async () => {
    const send = async (user: Headers, params: JsonObject) =>
      (
        await client.modern(
          "tools/call",
          { name: "ask", arguments: {}, ...params },
          { headers: user, capabilities: { elicitation: {} } },
        )
      ).json();
    const { inputRequests, requestState } = (await send(alice, {})).result as {
      inputRequests: JsonObject;
      requestState: string;
    };
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "accept", content: { name: "alice" } } };
    const refused = await send(other(), { inputResponses, requestState });
    expect(refused.error).toBeDefined();
    expect(refused.result).toBe(undefined);
    expect((await send(alice, { inputResponses, requestState })).result).toMatchObject({
      content: [{ text: "Hello, alice" }],
    });
  });

  test("cannot end a subscription, or a call, by its id", async () => {
    const listening = await client.modern(
      "subscriptions/listen",
      { notifications: { resourceSubscriptions: ["note://a"] } },
      { id: "mine", headers: alice },
    );
    await message(listening);
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "mine" } };
    await client.post(cancel, await openSession(other()));
    await client.modern("ping", {}, { id: "mine", headers: other() });
    server.server.resources.updated("note://a");
    expect(await message(listening)).toMatchObject({ params: { uri: "note://a" } });
    await listening.leave();
  });
});
