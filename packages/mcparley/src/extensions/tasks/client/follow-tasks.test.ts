import { beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import { serverTransports } from "../../../client/connect/transports.ts";
import { openClient } from "../../../client/open-client.ts";
import type { ConnectOptions } from "../../../client/options.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import { Declined, ToolError } from "../../../mcp/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../../rpc/messages.ts";
import { tool } from "../../../server/definition.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { initializeResult, modernPeer, peerTransports } from "../../../testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../../testing/scripted-peer.ts";
import { asTask, continueAsTask, tasks } from "../server/tasks.ts";
import type { Task } from "../task.ts";
import { followTasks } from "./follow-tasks.ts";
import { tasksOf } from "./tasks-of.ts";

let clock: FakeClock;
const onTask = vi.fn<(task: Task) => void>();
const onError = vi.fn();
const onCall = vi.fn();
const aborted = vi.fn();

beforeEach(() => {
  clock = fakeClock(1_000_000);
  for (const mock of [onTask, onError, onCall, aborted]) mock.mockReset();
});

const name = z.object({ name: z.string() });

function serve(): Server {
  return createServer({
    name: "x",
    version: "1",
    clock,
    extensions: [tasks({ pollIntervalMs: 2000 })],
    tools: {
      slow: tool({
        extensions: [asTask()],
        call: async (_, ctx) => {
          ctx.signal.addEventListener("abort", aborted);
          await new Promise<void>((resolve) => clock.setTimeout(resolve, 9000));
          return "done";
        },
      }),
      must: tool({ output: name, extensions: [asTask({ support: "required" })], call: () => ({ name: "must" }) }),
      ask: tool({
        extensions: [asTask()],
        call: async (_, { elicit }) => {
          const [a, b] = await Promise.all([
            elicit({ message: "A?", schema: name, key: "a" }),
            elicit({ message: "B?", schema: name, key: "b" }),
          ]);
          const c = await elicit({ message: "C?", schema: name, key: "c" });
          return `${a.name}${b.name}${c.name}`;
        },
      }),
      both: tool({
        call: async (_, ctx) => {
          const first = await ctx.elicit({ message: "Before?", schema: name });
          await continueAsTask(ctx);
          const second = await ctx.elicit({ message: "After?", schema: name });
          return first.name + second.name;
        },
      }),
      fails: tool({
        extensions: [asTask()],
        call: () => {
          throw new ToolError("no luck");
        },
      }),
      breaks: tool({
        extensions: [asTask()],
        call: () => {
          throw new ProtocolError(-32000, "no disk");
        },
      }),
      steps: tool({
        extensions: [asTask()],
        call: async (_, { progress }) => {
          progress(1, 3, "Reading");
          progress(2, 3);
          progress(2.5);
          await new Promise<void>((resolve) => clock.setTimeout(resolve, 5000));
          progress(3, 3, "Writing");
          return "done";
        },
      }),
      quick: tool({ call: () => "quick" }),
      list: tool({ output: z.array(z.number()), extensions: [asTask()], call: () => [1, 2] }),
      quickList: tool({ output: z.array(z.number()), call: () => [1, 2] }),
    },
  });
}

async function connected(server: Server, options: ConnectOptions = {}): Promise<Client> {
  const extensions = [followTasks({ onTask })];
  return openClient(serverTransports(server), { clock, onError, onCall, extensions, ...options });
}

/** Advances the clock until a promise settles. */
async function eventually<T>(promise: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const done = (): void => void (state.isSettled = true);
  promise.then(done, done);
  for (let turn = 0; turn < 200 && !state.isSettled; turn++) await clock.advance(500);
  return promise;
}

describe.each([
  ["the extension's form", undefined],
  ["the form of 2025-11-25", "2025-11-25"],
])("a call that becomes a task, in %s", (_, revision) => {
  const pinned = revision === undefined ? {} : { revision };
  const isLegacy = revision !== undefined;
  const result = async (client: Client, called: string, options = {}): Promise<unknown> =>
    (await client.callToolResult(called, {}, options)).content;

  test("returns its result, and is polled at the suggested interval", async () => {
    const client = await connected(serve(), pinned);
    const content = await eventually(result(client, "slow"));
    expect(content).toEqual([{ type: "text", text: "done" }]);
    const seen = onTask.mock.calls.map(([task]) => task.status);
    expect(seen.at(-1)).toBe("completed");
    expect(seen.length).toBeGreaterThanOrEqual(6);
    expect(seen.length).toBeLessThanOrEqual(8);
    expect(client.inFlight).toBe(0);
    expect(onError).not.toHaveBeenCalled();
    // Polls of the task are not calls of the user.
    expect(onCall.mock.calls.flat().filter(({ method }: { method: string }) => method.startsWith("tasks/"))).toEqual(
      [],
    );
  });

  test("passes its progress to the caller: each number once, and the last one before the result", async () => {
    const client = await connected(serve(), pinned);
    const onProgress = vi.fn();
    const content = await eventually(result(client, "steps", { onProgress }));
    expect(content).toEqual([{ type: "text", text: "done" }]);
    const reported = onProgress.mock.calls.map(([{ progress, total, message }]) => [progress, total, message]);
    // A poll reads the newest progress. Notifications contain each step.
    const notified = isLegacy
      ? [
          [1, 3, "Reading"],
          [2, 3, undefined],
        ]
      : [];
    expect(reported).toEqual([...notified, [2.5, undefined, undefined], [3, 3, "Writing"]]);
  });

  test("passes its progress to a later caller that knows its id", async () => {
    const server = serve();
    const { task } = await tasksOf(await connected(server, pinned)).start("steps");
    const onProgress = vi.fn();
    const later = tasksOf(await connected(server, pinned)).result(task?.taskId ?? "", { onProgress });
    await eventually(later);
    expect(onProgress).toHaveBeenLastCalledWith({ progress: 3, total: 3, message: "Writing" });
  });

  test("is created for tools that require one, and its output is validated", async () => {
    const client = await connected(serve(), pinned);
    for await (const _tool of client.listTools());
    expect(await eventually(client.callTool("must"))).toEqual({ name: "must" });
    expect(onTask).toHaveBeenCalled();
    const bare = await openClient(serverTransports(serve()), { clock, ...pinned });
    await expect(bare.callTool("must")).rejects.toMatchObject({ code: isLegacy ? -32601 : -32021 });
  });

  test("sends its input requests to the handlers of the client, each once", async () => {
    const elicit = vi.fn(({ message }: { message: string }) => ({
      action: "accept" as const,
      content: { name: message[0] ?? "" },
    }));
    const client = await connected(serve(), { ...pinned, elicit });
    expect(await eventually(result(client, "ask"))).toEqual([{ type: "text", text: "ABC" }]);
    expect(elicit.mock.calls.map(([question]) => question.message)).toEqual(["A?", "B?", "C?"]);
  });

  test("that ends with a tool error or protocol error fails with this error", async () => {
    const client = await connected(serve(), pinned);
    const own = tasksOf(client);
    const failed = (await own.start("fails")).task?.taskId ?? "";
    expect(await eventually(own.result(failed))).toMatchObject({ isError: true, content: [{ text: "no luck" }] });
    const broken = (await own.start("breaks")).task?.taskId ?? "";
    await expect(eventually(own.result(broken))).rejects.toMatchObject({ code: -32000, message: "no disk" });
  });

  test("is cancelled when the caller aborts", async () => {
    const client = await connected(serve(), pinned);
    const controller = new AbortController();
    const running = result(client, "slow", { signal: controller.signal });
    running.catch(() => {});
    await clock.advance(3000);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    await flushPromises();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(onError).not.toHaveBeenCalled();
  });

  test("is cancelled at its time limit, which is unlimited by default", async () => {
    const client = await connected(serve(), pinned);
    const late = result(client, "slow", { timeout: { total: 5000 } });
    late.catch(() => {});
    await expect(eventually(late)).rejects.toMatchObject({
      code: "timeout",
      data: { taskId: expect.any(String) as string },
    });
    await flushPromises();
    expect(aborted).toHaveBeenCalledTimes(1);
  });

  test("has its structured content of any type, also if it is started and read in steps", async () => {
    const own = tasksOf(await connected(serve(), pinned));
    const { task } = await own.start("list");
    const { result } = await own.start("quickList");
    const read = await eventually(own.result(task?.taskId ?? ""));
    for (const { structuredContent, content } of [read, result!]) {
      expect([structuredContent, content]).toEqual([[1, 2], [{ type: "text", text: "[1,2]" }]]);
    }
  });

  test("can be started, read, cancelled, and followed by another client", async () => {
    const server = serve();
    const client = await connected(server, pinned);
    const started = await tasksOf(client).start("slow");
    const taskId = started.task?.taskId ?? "";
    expect(started.task).toMatchObject({ status: "working", ttlMs: 86_400_000, pollIntervalMs: 2000 });
    expect(await tasksOf(client).get(taskId)).toMatchObject({ taskId, status: "working", ttlMs: 86_400_000 });
    await client.close();
    const later = await connected(server, pinned);
    expect(await eventually(tasksOf(later).result(taskId))).toEqual(
      expect.objectContaining({ content: [{ type: "text", text: "done" }] }),
    );
    const other = (await tasksOf(later).start("slow")).task?.taskId ?? "";
    await tasksOf(later).cancel(other);
    expect(await tasksOf(later).get(other)).toMatchObject({ status: "cancelled" });
    await expect(eventually(tasksOf(later).result(other))).rejects.toThrow("cancelled");
    await expect(tasksOf(later).get("none")).rejects.toMatchObject({ code: -32602 });
    await expect(eventually(tasksOf(later).result("none"))).rejects.toMatchObject({ code: -32602 });
    expect((await tasksOf(later).start("quick")).result).toMatchObject({ content: [{ text: "quick" }] });
  });
});

describe("in the form of the extension", () => {
  test("input requests before the task are answered by the same handlers", async () => {
    const asked: string[] = [];
    const client = await connected(serve(), {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: { name: message } };
      },
    });
    expect(await eventually(client.callTool("both"))).toBe("Before?After?");
    expect(asked).toEqual(["Before?", "After?"]);
  });

  test("a user may answer at any time, and the task receives a declined request", async () => {
    let answer!: (value: { action: "decline" }) => void;
    const elicit = (): Promise<{ action: "decline" }> => new Promise((resolve) => (answer = resolve));
    const client = await connected(serve(), { elicit });
    const running = client.callTool("ask", {}, { timeout: { total: 10_000 } });
    running.catch(() => {});
    await clock.advance(60_000);
    answer({ action: "decline" });
    await clock.advance(1);
    answer({ action: "decline" });
    await expect(eventually(running)).rejects.toBeInstanceOf(ToolError);
  });

  test("a handler that fails cancels the task", async () => {
    const client = await connected(serve(), {
      elicit: () => {
        throw new Error("no screen");
      },
    });
    const running = client.callTool("ask");
    running.catch(() => {});
    await expect(eventually(running)).rejects.toThrow("no screen");
    await flushPromises();
    const { taskId } = onTask.mock.lastCall?.[0] ?? { taskId: "" };
    expect(await tasksOf(client).get(taskId)).toMatchObject({ status: "cancelled" });
  });

  test("the confirmation is requested once for the call", async () => {
    const confirm = vi.fn(() => true);
    const client = await connected(serve(), { confirm });
    await eventually(client.callTool("slow"));
    expect(confirm).toHaveBeenCalledTimes(1);
    const no = await connected(serve(), { confirm: () => false });
    await expect(no.callTool("slow")).rejects.toBeInstanceOf(Declined);
  });
});

describe("replies of a server", () => {
  const created = {
    resultType: "task",
    taskId: "t1",
    status: "working",
    createdAt: "x",
    lastUpdatedAt: "x",
    ttlMs: null,
  };
  const open = (peer: ScriptedPeer, options: ConnectOptions = {}): Promise<Client> =>
    openClient(peerTransports(peer), { clock, onError, extensions: [followTasks({ onTask })], ...options });
  const working = { ...created, resultType: "complete" };

  test("declares the extension in each request", async () => {
    const peer = modernPeer();
    const client = await open(peer);
    void client.callTool("t").catch(() => {});
    const { params } = await peer.request("tools/call");
    expect(params?._meta).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
    });
    await client.close();
  });

  test("the suggested interval is used within limits, and can change", async () => {
    const peer = modernPeer();
    const client = await open(peer);
    const running = client.callTool("t");
    peer.answer(await peer.request("tools/call"), { ...created, pollIntervalMs: 0 });
    for (const [pollIntervalMs, wait] of [
      [0, 50],
      [7000, 50],
      [undefined, 7000],
      [9e12, 1000],
      [1, 300_000],
    ] as const) {
      await clock.advance(wait - 1);
      await flushPromises();
      expect(peer.arrived.filter(({ message }) => "method" in message && message.method === "tasks/get")).toHaveLength(
        [0, 7000, undefined, 9e12, 1].indexOf(pollIntervalMs),
      );
      await clock.advance(1);
      peer.answer(await peer.request("tasks/get"), {
        ...working,
        ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      });
      await flushPromises();
    }
    await clock.advance(50);
    peer.answer(await peer.request("tasks/get"), { ...working, status: "completed", result: { content: [] } });
    expect(await running).toEqual([]);
    await client.close();
  });

  test("each new status message of a server that sends no numbers counts as progress", async () => {
    const peer = modernPeer();
    const client = await open(peer);
    const onProgress = vi.fn();
    const running = client.callTool("t", {}, { onProgress });
    peer.answer(await peer.request("tools/call"), created);
    for (const state of [
      { statusMessage: "Queued" },
      { statusMessage: "Queued" },
      {},
      { statusMessage: "Running" },
      { statusMessage: 7 },
      { statusMessage: "Finished", status: "completed", result: { content: [] } },
    ]) {
      await clock.advance(1000);
      peer.answer(await peer.request("tasks/get"), { ...working, ...state });
    }
    expect(await running).toEqual([]);
    expect(onProgress.mock.calls.flat()).toEqual([
      { progress: 1, message: "Queued" },
      { progress: 2, message: "Running" },
    ]);
    await client.close();
  });

  test.each<[value: unknown, reported: object[]]>([
    [null, []],
    [1, []],
    [{}, []],
    [{ progress: "1" }, []],
    [{ progress: 1, total: "2", message: 3 }, [{ progress: 1 }]],
  ])("malformed progress of a task is ignored: %j", async (value, reported) => {
    const peer = modernPeer();
    const client = await open(peer);
    const onProgress = vi.fn();
    const running = client.callTool("t", {}, { onProgress });
    peer.answer(await peer.request("tools/call"), created);
    await clock.advance(1000);
    const _meta = { "mcparley/progress": value };
    peer.answer(await peer.request("tasks/get"), { ...working, _meta, status: "completed", result: { content: [] } });
    expect(await running).toEqual([]);
    expect(onProgress.mock.calls.flat()).toEqual(reported);
    await client.close();
  });

  test("a repeated input request is not answered again, and a new one is", async () => {
    const asked: string[] = [];
    const peer = modernPeer();
    const client = await open(peer, {
      elicit: ({ message }) => {
        asked.push(message);
        return { action: "accept", content: {} };
      },
    });
    const running = client.callTool("t");
    peer.answer(await peer.request("tools/call"), created);
    const requestFor = (message: string): JsonObject => ({
      method: "elicitation/create",
      params: { message, requestedSchema: { type: "object", properties: {} } },
    });
    const rounds: JsonObject[] = [
      { a: requestFor("A") },
      { a: requestFor("A") },
      { a: requestFor("A"), b: requestFor("B") },
    ];
    const updates: unknown[] = [];
    for (const inputRequests of rounds) {
      await clock.advance(1000);
      peer.answer(await peer.request("tasks/get"), { ...working, status: "input_required", inputRequests });
      await flushPromises();
      const last = peer.arrived.at(-1)?.message as JsonRpcRequest;
      if (last.method !== "tasks/update") continue;
      const update = await peer.request("tasks/update");
      updates.push(update.params?.inputResponses);
      peer.answer(update, { resultType: "complete" });
    }
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...working, status: "completed", result: { content: [] } });
    await running;
    expect(asked).toEqual(["A", "B"]);
    expect(updates).toEqual([{ a: { action: "accept", content: {} } }, { b: { action: "accept", content: {} } }]);
    await client.close();
  });

  test.each([
    [{ resultType: "task" }, "no taskId"],
    [{ ...created, status: "sleeping" }, '"sleeping"'],
  ])("rejects an invalid task: %j", async (result, why) => {
    const peer = modernPeer();
    const client = await open(peer);
    const running = client.callTool("t");
    peer.answer(await peer.request("tools/call"), result);
    await expect(running).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining(why) as string,
    });
    await client.close();
  });

  test.each([
    [{ status: "completed" }, "sent no result"],
    [{ status: "failed" }, "sent no error"],
    [{ status: "input_required" }, "has no input requests"],
    [{ status: "nonsense" }, '"nonsense"'],
  ])("checks each later state of a task: %j", async (change, why) => {
    const peer = modernPeer();
    const client = await open(peer);
    const running = client.callTool("t");
    running.catch(() => {});
    peer.answer(await peer.request("tools/call"), created);
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...working, ...change });
    await expect(running).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining(why) as string,
    });
    await client.close();
  });

  test("rejects a task as the reply to another request", async () => {
    const peer = modernPeer();
    const client = await open(peer);
    const running = client.getPrompt("p");
    peer.answer(await peer.request("prompts/get"), created);
    await expect(running).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining('"task"') as string,
    });
    await client.close();
    const bare = modernPeer();
    const without = await openClient(peerTransports(bare), { clock });
    const unasked = without.callTool("t");
    bare.answer(await bare.request("tools/call"), created);
    await expect(unasked).rejects.toMatchObject({ code: "invalid_message" });
    await without.close();
  });

  test("a broken connection is opened again, and the task is followed", async () => {
    const first = modernPeer();
    const second = modernPeer();
    const client = await openClient(peerTransports(first, second), { clock, onError, extensions: [followTasks()] });
    const running = client.callTool("t");
    first.answer(await first.request("tools/call"), created);
    await clock.advance(1000);
    await first.request("tasks/get");
    first.close(new Error("reset"));
    await clock.advance(500);
    second.answer(await second.request("tasks/get"), { ...working, status: "completed", result: { content: [] } });
    expect(await running).toEqual([]);
    await client.close();
  });

  test("a server that stays unavailable fails the call, and the error names the task", async () => {
    const peers = Array.from({ length: 9 }, () => modernPeer());
    const client = await openClient(peerTransports(...peers), { clock, onError, extensions: [followTasks()] });
    const running = client.callTool("t");
    running.catch(() => {});
    const [first] = peers as [ScriptedPeer];
    first.answer(await first.request("tools/call"), created);
    await clock.advance(1000);
    for (const [index, peer] of peers.entries()) {
      if (index === 8) break;
      await peer.request("tasks/get");
      peer.close(new Error("reset"));
      await clock.advance(30_000);
    }
    await expect(running).rejects.toMatchObject({
      code: "closed",
      data: { taskId: "t1" },
      message: expect.stringContaining("t1") as string,
    });
    await client.close();
  });

  test("a result that no extension supports is rejected", async () => {
    const peer = modernPeer();
    const client = await open(peer);
    await expect(client.follow("tools/call", { resultType: "other" })).rejects.toMatchObject({ code: "not_capable" });
    await client.close();
  });

  test("a listener that throws does not affect the call", async () => {
    onTask.mockImplementation(() => {
      throw new Error("disk full");
    });
    const client = await connected(serve());
    expect(await eventually(client.callTool("slow"))).toBe("done");
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: "disk full" }));
  });
});

describe("servers of 2025-11-25", () => {
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const listed = (taskSupport?: string): JsonObject => ({
    tools: [{ name: "t", inputSchema: { type: "object" }, ...(taskSupport && { execution: { taskSupport } }) }],
  });

  test.each([
    [capabilities, "required", true],
    [capabilities, "optional", true],
    [capabilities, "forbidden", false],
    [capabilities, "unknown", false],
    [capabilities, undefined, false],
    [{ tools: {} }, "required", false],
    [{ tools: {}, tasks: {} }, "optional", false],
  ])("receive a request for a task if the server and the tool support one: %j %s", async (declared, support, asked) => {
    const peer = scriptedPeer({
      initialize: () => initializeResult("2025-11-25", declared),
      "tools/list": () => listed(support),
    });
    const client = await openClient(peerTransports(peer), {
      clock,
      revision: "2025-11-25",
      extensions: [followTasks()],
    });
    await peer.notification("notifications/initialized");
    const running = client.callTool("t");
    const request = await peer.request("tools/call");
    expect("task" in (request.params ?? {})).toBe(asked);
    peer.answer(request, { content: [] });
    expect(await running).toEqual([]);
    await client.close();
  });

  test("status messages are no progress for a caller that receives notifications", async () => {
    const peer = scriptedPeer({
      initialize: () => initializeResult("2025-11-25", capabilities),
      "tools/list": () => listed("optional"),
    });
    const client = await openClient(peerTransports(peer), {
      clock,
      revision: "2025-11-25",
      extensions: [followTasks()],
    });
    await peer.notification("notifications/initialized");
    const onProgress = vi.fn();
    const running = client.callTool("t", {}, { onProgress });
    const request = await peer.request("tools/call");
    const task = { taskId: "t1", status: "working", createdAt: "x", lastUpdatedAt: "x", ttl: null };
    peer.answer(request, { task });
    await flushPromises();
    const { progressToken } = request.params!._meta as JsonObject;
    peer.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 0.5 } });
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, statusMessage: "Half done" });
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, status: "completed" });
    peer.answer(await peer.request("tasks/result"), { content: [] });
    expect(await running).toEqual([]);
    expect(onProgress.mock.calls.flat()).toEqual([{ progress: 0.5 }]);
    await client.close();
  });

  test("the result is requested again after a timeout", async () => {
    const peer = scriptedPeer({
      initialize: () => initializeResult("2025-11-25", capabilities),
      "tools/list": () => listed("required"),
    });
    const client = await openClient(peerTransports(peer), {
      clock,
      revision: "2025-11-25",
      extensions: [followTasks()],
      onError,
    });
    await peer.notification("notifications/initialized");
    const running = client.callTool("t");
    const task = { taskId: "t1", status: "working", createdAt: "x", lastUpdatedAt: "x", ttl: null };
    peer.answer(await peer.request("tools/call"), { task });
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, status: "input_required" });
    await peer.request("tasks/result");
    await clock.advance(60_000);
    await peer.notification("notifications/cancelled");
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, status: "completed" });
    peer.answer(await peer.request("tasks/result"), { content: [{ type: "text", text: "done" }] });
    expect(await running).toBe("done");
    await client.close();
  });
});
