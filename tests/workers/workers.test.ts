import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { tasksId } from "../../packages/mcparley/src/extensions/tasks/task.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { callTool, event, getStream, message, open, request } from "../cluster-in-memory/cluster.ts";
import { oneConnection } from "../support/one-connection.ts";
import { type RawHttp, rawHttp } from "../support/raw-http.ts";
import { type StartedWorker, exists, startProgram, startWorkers } from "./started-workers.ts";

const textOf = ({ result }: { result?: JsonObject }): unknown => (result as any)?.content?.[0]?.text;

/** Calls a tool in a session, and returns its text. */
const called = async (client: RawHttp, session: Record<string, string>, name: string): Promise<unknown> => {
  const answer = await callTool(client, session, name, crypto.randomUUID());
  if (answer.type === "application/json") return textOf(await answer.json());
  for (;;) {
    const next = await message(answer);
    if (!next || next.result) return textOf(next ?? {});
  }
};

const subscribe = (client: RawHttp, session: Record<string, string>) =>
  request(client, session, "resources/subscribe", { params: { uri: "note://1" }, id: "subscribe" });

test("all workers serve one port and one session, which a worker that ends does not lose", async () => {
  const { url, workers, replacement } = await startWorkers();
  const [first, second] = workers;
  const session = await open(rawHttp(url, fetch));
  expect([await called(first.client, session, "who"), await called(second.client, session, "who")]).toEqual(["1", "2"]);
  // The workers take new connections in turn. Each request has its own.
  const answers = new Set<unknown>();
  await expect
    .poll(async () => {
      answers.add(await called(rawHttp(url, oneConnection()), session, "who"));
      return answers.size;
    })
    .toBe(2);
  const sessions = await Promise.all(Array.from({ length: 40 }, () => open(rawHttp(url, oneConnection()))));
  const whoAnswers = async ({ client }: StartedWorker): Promise<unknown[]> => [
    ...new Set(await Promise.all([session, ...sessions].map((each) => called(client, each, "who")))),
  ];
  expect(await whoAnswers(first)).toEqual(["1"]);
  process.kill(first.pid, "SIGKILL");
  expect(await whoAnswers(second)).toEqual(["2"]);
  expect(await whoAnswers(await replacement(1))).toEqual(["1"]);
});

test("a change in one worker reaches the standalone stream in another, which the client resumes after a kill", async () => {
  const { workers, replacement } = await startWorkers();
  const [first, second] = workers;
  const session = await open(first.client);
  expect((await (await subscribe(second.client, session)).json()).result).toEqual({});
  const stream = await getStream(first.client, session);
  await called(second.client, session, "change");
  let last = await event(stream);
  while (!last?.message) last = await event(stream);
  expect(last.message).toMatchObject({ method: "notifications/resources/updated", params: { uri: "note://1" } });
  process.kill(first.pid, "SIGKILL");
  await expect(message(stream)).rejects.toThrow();
  await called(second.client, session, "change");
  const resumed = await getStream(second.client, session, last.id);
  expect(await message(resumed)).toMatchObject({ method: "notifications/resources/updated" });
  await resumed.leave();
  const again = await getStream((await replacement(1)).client, session, last.id);
  await called(second.client, session, "change");
  expect(await message(again)).toMatchObject({ method: "notifications/resources/updated" });
  await again.leave();
});

test("a change in one worker reaches subscriptions/listen in another", async () => {
  const { workers } = await startWorkers();
  const [first, second] = workers;
  const filter = { notifications: { resourceSubscriptions: ["note://1"] } };
  const stream = await first.client.modern("subscriptions/listen", filter);
  expect(await message(stream)).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  await (await second.client.modern("tools/call", { name: "change", arguments: {} })).text();
  expect(await message(stream)).toMatchObject({ method: "notifications/resources/updated" });
  await stream.leave();
});

test("a task of one worker is read from another", async () => {
  const { workers } = await startWorkers();
  const [first, second] = workers;
  const capabilities = { extensions: { [tasksId]: {} } };
  const ask = async ({ client }: StartedWorker, method: string, params: JsonObject): Promise<JsonObject> => {
    const headers = typeof params.taskId === "string" ? { "mcp-name": params.taskId } : {};
    return (await (await client.modern(method, params, { capabilities, headers })).json()).result;
  };
  const { taskId } = await ask(first, "tools/call", { name: "work", arguments: {} });
  expect(await ask(second, "tasks/get", { taskId: taskId! })).toMatchObject({ status: "working" });
  await ask(first, "tools/call", { name: "release", arguments: {} });
  await expect
    .poll(() => ask(second, "tasks/get", { taskId: taskId! }))
    .toMatchObject({ status: "completed", result: { content: [{ text: "done by 1" }] } });
});

test("an elicitation of a session is answered through another worker", async () => {
  const { workers } = await startWorkers();
  const [first, second] = workers;
  const session = await open(first.client);
  const answer = await callTool(first.client, session, "ask");
  const { id, method } = (await message(answer))!;
  expect(method).toBe("elicitation/create");
  const result = { action: "accept", content: { word: "tea" } };
  expect((await second.client.post({ jsonrpc: "2.0", id, result }, session)).status).toBe(202);
  expect(textOf((await message(answer))!)).toBe("tea at 1");
});

test("an input_required state that one worker has sealed is opened by another", async () => {
  const { workers } = await startWorkers();
  const [first, second] = workers;
  const capabilities = { elicitation: { form: {} } };
  const params = { name: "ask", arguments: {} };
  const asked = (await (await first.client.modern("tools/call", params, { capabilities })).json()).result as any;
  expect(asked).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const [key = ""] = Object.keys(asked.inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { word: "tea" } } };
  const retry = { ...params, inputResponses, requestState: asked.requestState };
  expect(textOf(await (await second.client.modern("tools/call", retry, { capabilities })).json())).toBe("tea at 2");
});

test("SIGTERM lets a call finish, closes all workers and exits with 0", async () => {
  const { pid, workers, ended } = await startWorkers();
  const session = await open(workers[0].client);
  const answer = await callTool(workers[0].client, session, "untilClosed");
  expect(await message(answer)).toMatchObject({ method: "notifications/progress" });
  process.kill(pid, "SIGTERM");
  expect(textOf((await message(answer))!)).toBe("finished");
  const { code, err, lines } = await ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(lines.filter(({ closed }) => closed !== undefined)).toHaveLength(3);
  expect(workers.map((worker) => exists(worker.pid))).toEqual([false, false]);
});

test("Ctrl-C, which a terminal sends to all processes, closes them gracefully", async () => {
  const { pid, workers, ended } = await startWorkers();
  const session = await open(workers[0].client);
  const answer = await callTool(workers[0].client, session, "untilClosed");
  expect(await message(answer)).toMatchObject({ method: "notifications/progress" });
  process.kill(-pid, "SIGINT");
  expect(textOf((await message(answer))!)).toBe("finished");
  expect(await ended).toMatchObject({ code: 0, err: "" });
});

test("a worker that is killed is reported, and one that receives SIGTERM alone closes and is replaced", async () => {
  const { pid, workers, replacement, ended } = await startWorkers();
  process.kill(workers[0].pid, "SIGKILL");
  process.kill(workers[1].pid, "SIGTERM");
  await Promise.all([replacement(1), replacement(2)]);
  process.kill(pid, "SIGTERM");
  const { code, err } = await ended;
  expect(code).toBe(0);
  expect(err).toContain(
    `Worker 1 (process ${workers[0].pid}) ended with signal SIGKILL. Another one starts in 500 ms.\n`,
  );
  expect(err).toContain(`Worker 2 (process ${workers[1].pid}) ended with exit code 0. Another one starts in 500 ms.\n`);
});

test("the workers end when the primary process is killed", async () => {
  const { pid, ended } = await startWorkers();
  process.kill(pid, "SIGKILL");
  // Resolves when the workers, which write to the same pipes, have ended as well.
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
});

test("an error at the start ends the program, with the error once and its stack", async () => {
  const { code, err, lines } = await startProgram({ FAILS: "1" }).ended;
  expect(code).toBe(1);
  expect(err.match(/Worker 1 could not start: The database is down\./g)).toHaveLength(1);
  expect(err).toMatch(/cause[^]*at start \(.*program\.mjs/);
  expect(err).toContain("ECONNREFUSED");
  expect(lines).toEqual([]);
});

test("the end of a process at the start ends the program and the other worker", async () => {
  const { code, err, lines } = await startProgram({ EXITS: "2" }).ended;
  expect(code).toBe(1);
  expect(err).toMatch(/Worker 2 \(process \d+\) ended with exit code 7 before all workers were ready/);
  expect(lines).toMatchObject([{ worker: 1 }, { closed: expect.any(Number) }]);
});

test("a port in use is reported as one error", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const { code, err } = await startProgram({ PORT: String(port) }).ended;
  expect(code).toBe(1);
  expect(err).toContain(`Worker 1 could not start: Port ${port} of 127.0.0.1 is in use by another process.`);
});

test("a worker of another program is refused", async () => {
  const { code, err } = await startProgram({}, "foreign.mjs").ended;
  expect(code).toBe(1);
  expect(err).toContain("This process is a worker of another program, such as PM2 in cluster mode.");
});
