import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openClient } from "../../../client/open-client.ts";
import { httpTransports } from "../../../http/client/transport.ts";
import { toFetch } from "../../../http/fetch/to-fetch.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { type RunningHttpServer, listen } from "../../../node/listen.ts";
import { tool } from "../../../server/definition.ts";
import { createServer } from "../../../server/create-server.ts";
import { modernMeta } from "mcparley-tests/support/raw-peer.ts";
import { followTasks } from "../client/follow-tasks.ts";
import { tasksOf } from "../client/tasks-of.ts";
import { tasksId } from "../task.ts";
import { asTask, tasks } from "./tasks.ts";

const version = "2026-07-28";
const tools = { t: tool({ extensions: [asTask({ support: "required" })], call: () => "x" }) };
const server = createServer({ name: "x", version: "1", tools, extensions: [tasks()] });
const handler = toFetch(server);

async function post(method: string, params: JsonObject, name: string | undefined, capabilities: JsonObject) {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    host: "localhost",
  };
  if (name !== undefined) headers["mcp-name"] = name;
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method,
    params: { ...params, _meta: modernMeta(version, capabilities) },
  });
  const response = await handler.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
  return { status: response.status, ...((await response.json()) as { result: JsonObject; error: { code: number } }) };
}

test("names the task in the header of each request, and rejects a header that names another task", async () => {
  const declared = { extensions: { [tasksId]: {} } };
  const { result } = await post("tools/call", { name: "t", arguments: {} }, "t", declared);
  const taskId = result.taskId as string;
  const found = await post("tasks/get", { taskId }, taskId, declared);
  expect(found).toMatchObject({ status: 200, result: { taskId } });
  for (const [method, more] of [
    ["tasks/get", {}],
    ["tasks/update", { inputResponses: {} }],
    ["tasks/cancel", {}],
  ] as const) {
    for (const header of [crypto.randomUUID(), undefined]) {
      const { status, error } = await post(method, { taskId, ...more }, header, declared);
      expect(status).toBe(400);
      expect(error.code).toBe(-32020);
    }
  }
  const refused = await post("tools/call", { name: "t", arguments: {} }, "t", {});
  expect(refused.status).toBe(400);
  expect(refused.error.code).toBe(-32021);
});

const ask = tool({
  extensions: [asTask()],
  call: async (_, ctx) => (await ctx.elicit({ message: "Who?", schema: z.object({ name: z.string() }) })).name,
});
const extensions = [tasks({ pollIntervalMs: 50 })];
let listening: RunningHttpServer;

beforeAll(async () => {
  listening = await listen(createServer({ name: "x", version: "1", tools: { ask }, extensions }), { port: 0 });
});
afterAll(() => listening.close());

test.each([undefined, "2025-11-25"])("a client follows a task over HTTP on revision %s", async (revision) => {
  const client = await openClient(httpTransports({ url: new URL(listening.url) }), {
    extensions: [followTasks()],
    elicit: () => ({ action: "accept", content: { name: "Ann" } }),
    ...(revision !== undefined && { revision }),
  });
  const { task } = await tasksOf(client).start("ask");
  expect(await tasksOf(client).result(task?.taskId ?? "")).toMatchObject({ content: [{ text: "Ann" }] });
  const other = await tasksOf(client).start("ask");
  const { taskId } = other.task ?? { taskId: "" };
  await tasksOf(client).cancel(taskId);
  expect((await tasksOf(client).get(taskId)).status).toBe("cancelled");
  await client.close();
});
