import { connect } from "mcparley/client";
import { followTasks, tasksOf } from "mcparley/tasks";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { deploy } from "../servers/deployment.mjs";
import { type RedisServer, startRedis } from "../servers/redis.mjs";

let redis: RedisServer;
let deployment: Awaited<ReturnType<typeof deploy>>;

beforeAll(async () => {
  redis = await startRedis();
  deployment = await deploy({ env: () => ({ REDIS_URL: redis.url, WHO: "1" }) });
});
afterAll(async () => {
  await deployment.end();
  await redis.end();
});

type Name = "alice" | "bob";
const version = "2025-11-25";
/** Enough requests for every process to receive one. */
const everywhere = [1, 2, 3, 4, 5, 6];
const authorized = (name: Name): Record<string, string> => ({ authorization: `Bearer ${name}` });

async function client(name: Name, revision: string) {
  const opened = await connect(
    { url: deployment.url, headers: authorized(name) },
    { revision, extensions: [followTasks()], cache: false },
  );
  onTestFinished(() => opened.close());
  return opened;
}

interface Sent {
  method?: "POST" | "GET" | "DELETE";
  session?: string;
  body?: object;
  headers?: Record<string, string>;
}

function send(name: Name, { method = "POST", session, body, headers = {} }: Sent): Promise<Response> {
  const accept = method === "GET" ? "text/event-stream" : "application/json, text/event-stream";
  return fetch(deployment.url, {
    method,
    headers: {
      ...authorized(name),
      accept,
      "content-type": "application/json",
      ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": version }),
      ...headers,
    },
    ...(body && { body: JSON.stringify({ jsonrpc: "2.0", ...body }) }),
  });
}

async function openSession(name: Name): Promise<string> {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name, version: "1" } };
  const answer = await send(name, { body: { id: 1, method: "initialize", params } });
  await answer.body?.cancel();
  const session = answer.headers.get("mcp-session-id") ?? "";
  await send(name, { session, body: { method: "notifications/initialized" } });
  return session;
}

const callOf = (tool: string, args: object): object => ({
  id: 2,
  method: "tools/call",
  params: { name: tool, arguments: args, _meta: { progressToken: "p" } },
});

/** Returns the text of a stream until it ends or is cut off. */
async function read(answer: Response, ms = 2_000): Promise<string> {
  let text = "";
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => void reader.cancel(), ms);
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  clearTimeout(timer);
  return text;
}

test("a session exists only for its owner, in every process", async () => {
  const session = await openSession("alice");
  for (const _ of everywhere) {
    const stolen = await send("bob", { session, body: { id: 3, method: "tools/list" } });
    expect(stolen.status).toBe(404);
    expect(await stolen.text()).not.toContain("inputSchema");
    expect((await send("bob", { method: "GET", session })).status).toBe(404);
    expect((await send("bob", { method: "DELETE", session })).status).toBe(404);
  }
  const own = await send("alice", { session, body: { id: 4, method: "ping" } });
  expect([own.status, await own.json()]).toMatchObject([200, { id: 4, result: {} }]);
});

test("events are replayed only to their owner, whatever event id is sent", async () => {
  const [alice, bob] = [await openSession("alice"), await openSession("bob")];
  const events = await read(await send("alice", { session: alice, body: callOf("count", { to: 5, pause: 5 }) }));
  expect(events).toContain("counted to 5");
  const id = /^id: (.+)$/m.exec(events)?.[1] ?? "";
  expect(id).not.toBe("");
  const headers = { "last-event-id": id };
  const again = await read(await send("alice", { method: "GET", session: alice, headers }));
  expect(again).toContain("counted to 5");
  for (const _ of everywhere) {
    for (const session of [alice, bob]) {
      const answer = await send("bob", { method: "GET", session, headers });
      if (session === alice) expect(answer.status).toBe(404);
      expect(await read(answer, 200)).not.toContain("count");
    }
  }
});

test.each(["2025-11-25", "2026-07-28"])(
  "in %s a task exists only for its owner, in every process",
  async (revision) => {
    const [alice, bob] = [await client("alice", revision), await client("bob", revision)];
    const { task } = await tasksOf(alice).start("job", { tag: "mine", steps: 1, pause: 10 });
    const taskId = task?.taskId ?? "";
    for (const _ of everywhere) {
      await expect(tasksOf(bob).get(taskId)).rejects.toThrow(/task does not exist/);
      await expect(tasksOf(bob).result(taskId)).rejects.toThrow(/task does not exist/);
      await expect(tasksOf(bob).cancel(taskId)).rejects.toThrow(/task does not exist/);
    }
    expect((await tasksOf(alice).result(taskId)).content).toEqual([{ type: "text", text: "mine is done" }]);
    if (revision !== "2025-11-25") return;
    const listed = async (of: typeof alice): Promise<string> => JSON.stringify(await of.request("tasks/list", {}));
    expect(await listed(alice)).toContain(taskId);
    expect(await listed(bob)).not.toContain(taskId);
  },
);

test("two callers with simultaneous calls receive their own results, which no proxy may cache", async () => {
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    const [alice, bob] = [await client("alice", revision), await client("bob", revision)];
    const names = await Promise.all(
      Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? alice : bob).callTool("who").then(String)),
    );
    expect(names.map((name) => name.split(" ")[0])).toEqual(names.map((_, n) => (n % 2 === 0 ? "alice" : "bob")));
  }
  const session = await openSession("alice");
  const answer = await send("alice", { session, body: callOf("who", {}) });
  expect(await answer.text()).toContain("alice");
  // A response to a POST is cached only if it states a lifetime (RFC 9110, 9.3.3).
  expect(answer.headers.get("cache-control") ?? "").not.toMatch(/public|max-age=[1-9]/);
  expect(answer.headers.get("expires")).toBeNull();
});
