import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ProtocolError } from "../../../rpc/errors.ts";
import { ToolError } from "../../../mcp/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import type { Principal } from "../../../server/core/context.ts";
import { tool } from "../../../server/definition.ts";
import { inputRequired } from "../../../server/core/input-required.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { type RawPeer, modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { taskProgress, tasksId } from "../task.ts";
import { asTask, continueAsTask, tasks } from "./tasks.ts";
import type { TasksOptions } from "./settings.ts";

/** The timer that each server has: it looks for tasks of dead processes. */
const sweeping = 1;

const modern = "2026-07-28";
const declared = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };
const meta = modernMeta(modern, declared);
const undeclared = modernMeta(modern, { elicitation: { form: {} } });
const start = Date.parse("2026-11-20T10:00:00Z");

let clock: FakeClock;
let store: Store;
const onError = vi.fn();

// These modules are loaded on the first input request. Loaded here, so that no test waits for them.
beforeAll(() =>
  Promise.all([
    import("../../../server/input/elicit.ts"),
    import("../../../server/input/elicit.ts"),
    import("../../../server/features/subscriptions.ts"),
  ]),
);

beforeEach(() => {
  clock = fakeClock(start);
  store = memoryStore({ clock });
  onError.mockReset();
});

/** Makes a promise that a test settles. */
function gate<T = void>() {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}

function serve(tools: Record<string, ReturnType<typeof tool>>, options: Partial<TasksOptions> = {}): Server {
  const extensions = [tasks(options)];
  return createServer({ name: "x", version: "1", tools, clock, onError, store, extensions });
}

async function peerOf(server: Server, principal?: Principal): Promise<RawPeer> {
  const attach: Server["attach"] = (transport) => server.attach(transport, principal ? { principal } : {});
  return rawPeer({ attach }, { meta });
}

const principalOf = (subject: string): Principal => ({ issuer: "https://i", subject, scopes: [] });
const call = async (peer: RawPeer, name = "t", args: JsonObject = {}): Promise<JsonObject> =>
  (await peer.request("tools/call", { name, arguments: args })).result;
const get = async (peer: RawPeer, taskId: unknown): Promise<JsonObject> => {
  await flushPromises();
  return (await peer.request("tasks/get", { taskId })).result;
};

describe("a task", () => {
  test("is declared as an extension, without the capability of 2025-11-25", async () => {
    const peer = await peerOf(serve({}));
    const { capabilities } = (await peer.request("server/discover")).result as { capabilities: JsonObject };
    expect(capabilities.extensions).toEqual({ [tasksId]: {} });
    expect(capabilities).not.toHaveProperty("tasks");
  });

  test("is returned when it is created, and contains the result when it is completed", async () => {
    const { opened, open } = gate<string>();
    const peer = await peerOf(serve({ t: tool({ extensions: [asTask()], call: () => opened }) }));
    const created = await call(peer);
    expect(created).toEqual({
      resultType: "task",
      taskId: expect.stringMatching(/^[\w-]{36}$/) as string,
      status: "working",
      createdAt: "2026-11-20T10:00:00.000Z",
      lastUpdatedAt: "2026-11-20T10:00:00.000Z",
      ttlMs: 86_400_000,
      pollIntervalMs: 1000,
      _meta: expect.anything() as object,
    });
    const { resultType: _, ...task } = created;
    expect(await get(peer, created.taskId)).toEqual({ ...task, resultType: "complete" });
    await clock.advance(5000);
    open("done");
    expect(await get(peer, created.taskId)).toEqual({
      ...task,
      resultType: "complete",
      status: "completed",
      lastUpdatedAt: "2026-11-20T10:00:05.000Z",
      result: { content: [{ type: "text", text: "done" }] },
    });
    expect(clock.pending).toBe(sweeping);
  });

  test("is completed after a tool error, and failed after a protocol error", async () => {
    const peer = await peerOf(
      serve({
        tool: tool({
          extensions: [asTask()],
          call: () => {
            throw new ToolError("no luck");
          },
        }),
        protocol: tool({
          extensions: [asTask()],
          call: () => {
            throw new ProtocolError(-32000, "no disk", { data: { free: 0 } });
          },
        }),
        defect: tool({
          extensions: [asTask()],
          call: () => {
            throw new Error("postgres://user:secret@db");
          },
        }),
        cyclic: tool({
          extensions: [asTask()],
          call: () => {
            const content: unknown[] = [];
            content.push({ type: "text", text: "x", annotations: content });
            return { content } as never;
          },
        }),
      }),
    );
    expect(await get(peer, (await call(peer, "tool")).taskId)).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ text: "no luck" }] },
    });
    expect(await get(peer, (await call(peer, "protocol")).taskId)).toMatchObject({
      status: "failed",
      statusMessage: "no disk",
      error: { code: -32000, message: "no disk", data: { free: 0 } },
    });
    expect(onError).not.toHaveBeenCalled();
    for (const name of ["defect", "cyclic"]) {
      expect(await get(peer, (await call(peer, name)).taskId)).toMatchObject({
        status: "failed",
        error: { code: -32603, message: "Internal error" },
      });
    }
    expect(onError).toHaveBeenCalledTimes(2);
  });

  test("is not created for invalid arguments, an unknown tool, or missing scopes", async () => {
    const ran = vi.fn(() => "x");
    const peer = await peerOf(
      serve({
        t: tool({ input: z.object({ n: z.number() }), extensions: [asTask()], call: ran }),
        shut: tool({ scopes: ["admin"], extensions: [asTask()], call: ran }),
      }),
    );
    expect(await call(peer, "t", { n: "x" })).toMatchObject({ isError: true, resultType: "complete" });
    expect((await peer.request("tools/call", { name: "none" })).error.code).toBe(-32602);
    expect((await peer.request("tools/call", { name: "shut" })).error.code).toBe(403);
    expect(ran).not.toHaveBeenCalled();
  });

  test("stores progress as its status message, at most once per poll interval", async () => {
    const { opened, open } = gate();
    let report!: (done: number, total?: number, message?: string) => void;
    const server = serve({
      t: tool({
        extensions: [asTask({ pollIntervalMs: 500 })],
        call: async (_, { progress }) => {
          report = progress;
          await opened;
        },
      }),
    });
    const peer = await peerOf(server);
    const { taskId } = await call(peer);
    report(1, 4);
    expect(await get(peer, taskId)).toMatchObject({ statusMessage: "1/4" });
    report(2, 4);
    report(3, 4, "nearly there");
    expect(await get(peer, taskId)).toMatchObject({ statusMessage: "1/4" });
    await clock.advance(500);
    expect(await get(peer, taskId)).toMatchObject({ statusMessage: "nearly there", status: "working" });
    report(3.5, 4);
    open();
    const ended = await get(peer, taskId);
    expect(ended).not.toHaveProperty("statusMessage");
    // A client that polls has not read it yet.
    expect(ended).toMatchObject({ status: "completed", _meta: { [taskProgress]: { progress: 3.5, total: 4 } } });
    report(4, 4);
    await clock.advance(1000);
    expect(peer.received.filter((message) => "method" in message)).toEqual([]);
  });

  test("is deleted when its ttl has passed, and the signal of its handler is aborted", async () => {
    let signal!: AbortSignal;
    const server = serve({
      t: tool({
        extensions: [asTask({ ttlMs: 60_000 })],
        call: (_, ctx) => {
          ({ signal } = ctx);
          return new Promise(() => {});
        },
      }),
    });
    const peer = await peerOf(server);
    const { taskId, ttlMs } = await call(peer);
    expect(ttlMs).toBe(60_000);
    await clock.advance(59_999);
    expect(await get(peer, taskId)).toMatchObject({ status: "working" });
    expect(signal.aborted).toBe(false);
    await clock.advance(10_001);
    expect((await peer.request("tasks/get", { taskId })).error.code).toBe(-32602);
    expect(signal.reason).toMatchObject({ message: expect.stringContaining("ttl") as string });
    expect(clock.pending).toBe(sweeping);
  });
});

describe("the choice between a task and a result", () => {
  const tools = () => ({
    optional: tool({ extensions: [asTask()], call: () => "at once" }),
    required: tool({ extensions: [asTask({ support: "required" })], call: () => "never" }),
    decides: tool({
      input: z.object({ long: z.boolean() }),
      call: async ({ long }, ctx) => `in the background: ${long && (await continueAsTask(ctx, { ttlMs: 1000 }))}`,
    }) as ReturnType<typeof tool>,
    insists: tool({ call: async (_, ctx) => `${await continueAsTask(ctx, { required: true })}` }),
    plain: tool({ call: () => "plain" }),
  });

  test("a client without the extension receives the result, or an error that names the extension", async () => {
    const peer = await rawPeer(serve(tools()), { meta: undeclared });
    expect(await call(peer, "optional")).toMatchObject({ resultType: "complete", content: [{ text: "at once" }] });
    expect(await call(peer, "decides", { long: true })).toMatchObject({
      content: [{ text: "in the background: false" }],
    });
    for (const name of ["required", "insists"]) {
      expect((await peer.request("tools/call", { name })).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [tasksId]: {} } } },
      });
    }
  });

  test("ignores declarations of earlier requests and invalid declarations", async () => {
    const server = serve(tools());
    const peer = await peerOf(server);
    expect((await call(peer, "optional")).resultType).toBe("task");
    for (const capabilities of [{}, { extensions: null }, { extensions: { [tasksId]: true } }, { tasks: {} }]) {
      const request = { name: "optional", _meta: modernMeta(modern, capabilities) };
      expect((await peer.request("tools/call", request)).result.resultType).toBe("complete");
    }
  });

  test("a handler can make its call a task, and continues", async () => {
    const peer = await peerOf(serve(tools()));
    expect(await call(peer, "decides", { long: false })).toMatchObject({
      content: [{ text: "in the background: false" }],
    });
    const { taskId, ttlMs } = await call(peer, "decides", { long: true });
    expect(ttlMs).toBe(1000);
    expect(await get(peer, taskId)).toMatchObject({ result: { content: [{ text: "in the background: true" }] } });
    expect((await call(peer, "insists")).resultType).toBe("task");
    expect((await call(peer, "plain")).resultType).toBe("complete");
  });

  test("ignores the param task of 2025-11-25", async () => {
    const peer = await peerOf(serve(tools()));
    const { result } = await peer.request("tools/call", { name: "plain", task: { ttl: 5 } });
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "plain" }] });
    for (const method of ["tasks/result", "tasks/list"]) {
      expect((await peer.request(method, { taskId: "x" })).error.code).toBe(-32601);
    }
  });

  test("a server without the extension reports a tool that must be a task", async () => {
    const server = createServer({ name: "x", version: "1", tools: tools(), onError });
    const peer = await peerOf(server);
    expect(await call(peer, "optional")).toMatchObject({ content: [{ text: "at once" }] });
    expect(await call(peer, "decides", { long: true })).toMatchObject({
      content: [{ text: "in the background: false" }],
    });
    for (const name of ["required", "insists"]) {
      expect((await peer.request("tools/call", { name })).error.code).toBe(-32603);
      expect(onError.mock.lastCall?.[0]).toMatchObject({
        message: expect.stringContaining("tasks()") as string,
      });
    }
  });

  test("limits the number of running tasks, per caller and in total", async () => {
    const { opened, open } = gate();
    const forever = { t: tool({ extensions: [asTask()], call: () => opened }) };
    const server = serve(forever, { maxRunningPerCaller: 1, maxRunning: 2 });
    const ann = await peerOf(server, principalOf("ann"));
    const bob = await peerOf(server, principalOf("bob"));
    expect((await call(ann)).resultType).toBe("task");
    expect((await ann.request("tools/call", { name: "t" })).error).toMatchObject({
      message: expect.stringContaining("Too many") as string,
    });
    expect((await call(bob)).resultType).toBe("task");
    const anyone = await peerOf(server);
    expect((await anyone.request("tools/call", { name: "t" })).error.code).toBe(-32603);
    open();
    await flushPromises();
    expect((await call(ann)).resultType).toBe("task");
  });

  test.each([
    [() => tasks({ ttlMs: 0 }), "ttlMs must be a positive integer; got 0"],
    [() => asTask({ support: "forbidden" as never }), '"forbidden"'],
    [() => asTask({ start: "later" as never }), '"later"'],
    [() => asTask({ pollIntervalMs: 1.5 }), "pollIntervalMs"],
  ])("rejects invalid settings: %s", (make, named) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(named);
  });
});

describe("input requests of a task", () => {
  const name = { message: "Who are you?", schema: z.object({ name: z.string() }) };
  const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });

  test("contains the input request, receives the response, and continues", async () => {
    const runs = vi.fn();
    const peer = await peerOf(
      serve({
        t: tool({
          extensions: [asTask()],
          call: async (_, ctx) => {
            runs();
            return `Hello, ${(await ctx.elicit(name)).name}!`;
          },
        }),
      }),
    );
    const { taskId } = await call(peer);
    const asked = await get(peer, taskId);
    expect(asked).toMatchObject({
      status: "input_required",
      resultType: "complete",
      inputRequests: {
        "elicitation-1": { method: "elicitation/create", params: { mode: "form", message: "Who are you?" } },
      },
    });
    expect(await get(peer, taskId)).toEqual(asked);
    const update = { taskId, inputResponses: { "elicitation-1": accept({ name: "Luca" }), unknown: accept({}) } };
    const { result: ack } = await peer.request("tasks/update", update);
    expect(ack).toEqual({ resultType: "complete", _meta: expect.anything() as object });
    expect(await get(peer, taskId)).toMatchObject({
      status: "completed",
      result: { content: [{ text: "Hello, Luca!" }] },
    });
    expect(runs).toHaveBeenCalledTimes(1);
    // The members that only a run needs are deleted with it.
    const kept = JSON.parse((await store.get(`mcparley:x:task:${String(taskId)}`)) ?? "") as JsonObject;
    expect(kept).toMatchObject({ inputRequests: [], responses: [], once: [] });
    // Late responses are ignored.
    expect((await peer.request("tasks/update", update)).result.resultType).toBe("complete");
    expect(await get(peer, taskId)).not.toHaveProperty("inputRequests");
  });

  test("concurrent input requests appear together, and can be answered one by one", async () => {
    const peer = await peerOf(
      serve({
        t: tool({
          extensions: [asTask()],
          call: async (_, { elicit }) => {
            const both = await Promise.all([elicit({ ...name, key: "a" }), elicit({ ...name, key: "b" })]);
            return both.map((one) => one.name).join(" and ");
          },
        }),
      }),
    );
    const { taskId } = await call(peer);
    const keys = async () => Object.keys((await get(peer, taskId)).inputRequests ?? {});
    expect(await keys()).toEqual(["a", "b"]);
    await peer.request("tasks/update", { taskId, inputResponses: { b: accept({ name: "Bob" }) } });
    expect(await keys()).toEqual(["a"]);
    // The first response counts.
    await peer.request("tasks/update", { taskId, inputResponses: { b: accept({ name: "Eve" }) } });
    await peer.request("tasks/update", { taskId, inputResponses: { a: accept({ name: "Ann" }) } });
    expect(await get(peer, taskId)).toMatchObject({ result: { content: [{ text: "Ann and Bob" }] } });
  });

  test("repeats an input request after an invalid response, with a new id", async () => {
    const peer = await peerOf(
      serve({
        t: tool({ extensions: [asTask()], call: async (_, ctx) => (await ctx.elicit({ ...name, key: "who" })).name }),
      }),
    );
    const { taskId } = await call(peer);
    await flushPromises();
    for (const [key, answer] of [
      ["who", accept({ name: 5 })],
      ["who-2", { action: "perhaps" }],
      ["who-3", "nonsense"],
    ] as const) {
      expect(Object.keys((await get(peer, taskId)).inputRequests as object)).toEqual([key]);
      await peer.request("tasks/update", { taskId, inputResponses: { [key]: answer } });
    }
    expect(Object.keys((await get(peer, taskId)).inputRequests as object)).toEqual(["who-4"]);
    await peer.request("tasks/update", { taskId, inputResponses: { "who-4": accept({ name: "Ann" }) } });
    expect(await get(peer, taskId)).toMatchObject({ result: { content: [{ text: "Ann" }] } });
  });

  test("passes a declined request to the handler, and rejects an impossible request before it is stored", async () => {
    const server = serve({
      t: tool({ extensions: [asTask()], call: async (_, ctx) => (await ctx.elicit(name)).name }),
      sample: tool({
        extensions: [asTask()],
        call: async (_, ctx) => (await ctx.sample({ messages: [], maxTokens: 1 })).model,
      }),
      twice: tool({
        extensions: [asTask()],
        call: async (_, ctx) =>
          JSON.stringify(await Promise.all([ctx.elicit({ ...name, key: "k" }), ctx.elicit({ ...name, key: "k" })])),
      }),
    });
    const peer = await peerOf(server);
    const { taskId } = await call(peer);
    await flushPromises();
    await peer.request("tasks/update", { taskId, inputResponses: { "elicitation-1": { action: "decline" } } });
    expect(await get(peer, taskId)).toMatchObject({ status: "completed", result: { isError: true } });
    expect(await get(peer, (await call(peer, "sample")).taskId)).toMatchObject({
      status: "failed",
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    expect(await get(peer, (await call(peer, "twice")).taskId)).toMatchObject({
      status: "failed",
      error: { code: -32603 },
    });
    expect(onError.mock.lastCall?.[0]).toMatchObject({ message: expect.stringContaining('the key "k"') as string });
  });

  test("rejects malformed responses", async () => {
    const peer = await peerOf(
      serve({ t: tool({ extensions: [asTask()], call: async (_, ctx) => (await ctx.elicit(name)).name }) }),
    );
    const { taskId } = await call(peer);
    await flushPromises();
    for (const inputResponses of [undefined, null, [], "x"]) {
      expect((await peer.request("tasks/update", { taskId, inputResponses })).error.code).toBe(-32602);
    }
    expect((await peer.request("tasks/get", { taskId: 5 })).error.code).toBe(-32602);
  });

  test("input requests before the creation of the task use the rounds of the call", async () => {
    const steps: string[] = [];
    const peer = await peerOf(
      serve({
        t: tool({
          call: async (_, ctx) => {
            const first = await ctx.elicit(name);
            await ctx.once("step", () => steps.push("once"));
            await continueAsTask(ctx);
            const second = await ctx.elicit(name);
            await ctx.once("step", () => steps.push("twice"));
            return `${first.name} ${second.name}`;
          },
        }),
      }),
    );
    const { requestState, inputRequests } = await call(peer);
    expect(Object.keys(inputRequests as object)).toEqual(["elicitation-1"]);
    const inputResponses = { "elicitation-1": accept({ name: "Ann" }) };
    const { result } = await peer.request("tools/call", { name: "t", arguments: {}, requestState, inputResponses });
    expect(result.resultType).toBe("task");
    expect(result).not.toHaveProperty("requestState");
    const { taskId } = result;
    expect(Object.keys((await get(peer, taskId)).inputRequests as object)).toEqual(["elicitation-2"]);
    await peer.request("tasks/update", { taskId, inputResponses: { "elicitation-2": accept({ name: "Bob" }) } });
    expect(await get(peer, taskId)).toMatchObject({ result: { content: [{ text: "Ann Bob" }] } });
    expect(steps).toEqual(["once"]);
  });

  test("inputRequired uses the task too, with new ids in each round", async () => {
    const ask = {
      method: "elicitation/create",
      params: { message: "?", requestedSchema: { type: "object", properties: { n: { type: "integer" } } } },
    };
    const peer = await peerOf(
      serve({
        t: tool({
          extensions: [asTask()],
          call: (_, ctx) => {
            const round = Number(ctx.requestState ?? 0);
            if (round < 2) return inputRequired({ inputRequests: { q: ask }, requestState: `${round + 1}` });
            return JSON.stringify(ctx.inputResponses);
          },
        }),
      }),
    );
    const { taskId } = await call(peer);
    for (const [key, n] of [
      ["q", 1],
      ["q-2", 2],
    ] as const) {
      expect(Object.keys((await get(peer, taskId)).inputRequests as object)).toEqual([key]);
      await peer.request("tasks/update", { taskId, inputResponses: { [key]: accept({ n, other: 1 }) } });
    }
    const { result } = (await get(peer, taskId)) as { result: { content: { text: string }[] } };
    expect(JSON.parse(result.content[0]?.text ?? "")).toEqual({ q: accept({ n: 2 }) });
  });
});

describe("cancellation", () => {
  test("is acknowledged, aborts the signal, and discards the result of the handler", async () => {
    const { opened, open } = gate<string>();
    let signal!: AbortSignal;
    const server = serve({
      t: tool({
        extensions: [asTask()],
        call: (_, ctx) => {
          ({ signal } = ctx);
          return opened;
        },
      }),
    });
    const peer = await peerOf(server);
    const { taskId } = await call(peer);
    const { result: ack } = await peer.request("tasks/cancel", { taskId });
    expect(ack).toEqual({ resultType: "complete", _meta: expect.anything() as object });
    expect(await get(peer, taskId)).toMatchObject({
      status: "cancelled",
      statusMessage: "The task was cancelled by request.",
    });
    expect(signal.aborted).toBe(true);
    open("too late");
    await flushPromises();
    const after = await get(peer, taskId);
    expect(after.status).toBe("cancelled");
    expect(after).not.toHaveProperty("result");
    expect((await peer.request("tasks/cancel", { taskId })).result.resultType).toBe("complete");
    expect(await get(peer, taskId)).toEqual(after);
    expect(onError).not.toHaveBeenCalled();
    expect(clock.pending).toBe(sweeping);
  });

  test("rejects a pending input request, and reports no error if the handler rethrows it", async () => {
    const peer = await peerOf(
      serve({
        t: tool({
          extensions: [asTask()],
          call: async (_, ctx) => (await ctx.elicit({ message: "?", schema: z.object({ a: z.string() }) })).a,
        }),
      }),
    );
    const { taskId } = await call(peer);
    expect((await get(peer, taskId)).status).toBe("input_required");
    await peer.request("tasks/cancel", { taskId });
    const cancelled = await get(peer, taskId);
    expect(cancelled.status).toBe("cancelled");
    expect(cancelled).not.toHaveProperty("inputRequests");
    expect(onError).not.toHaveBeenCalled();
  });

  test("notifications/cancelled does not cancel a task", async () => {
    const { opened, open } = gate<string>();
    const peer = await peerOf(serve({ t: tool({ extensions: [asTask()], call: () => opened }) }));
    const { id, result } = await peer.request("tools/call", { name: "t" });
    peer.notify("notifications/cancelled", { requestId: id });
    open("done");
    expect((await get(peer, result.taskId)).status).toBe("completed");
  });
});

describe("a task belongs to its creator", () => {
  test("other callers receive the error for an unknown id", async () => {
    const server = serve({ t: tool({ extensions: [asTask()], call: () => "mine" }) });
    const ann = await peerOf(server, principalOf("ann"));
    const { taskId } = await call(ann);
    expect((await get(ann, taskId)).status).toBe("completed");
    const others = [
      await peerOf(server, principalOf("bob")),
      await peerOf(server),
      await peerOf(server, { ...principalOf("ann"), issuer: "https://j" }),
    ];
    for (const other of others) {
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const { error } = await other.request(method, { taskId, inputResponses: {} });
        const { error: never } = await other.request(method, { taskId: crypto.randomUUID(), inputResponses: {} });
        expect(error).toEqual(never);
        expect(error.code).toBe(-32602);
      }
      other.send({
        jsonrpc: "2.0",
        id: "s",
        method: "subscriptions/listen",
        params: { notifications: { taskIds: [taskId] }, _meta: meta },
      });
      const { params } = await other.nextNotification("notifications/subscriptions/acknowledged");
      expect(params?.notifications).toEqual({ taskIds: [] });
    }
    // Another token of the same caller is the same caller.
    const again = await peerOf(server, { ...principalOf("ann"), scopes: ["more"] });
    expect((await get(again, taskId)).status).toBe("completed");
  });

  test("a caller without the extension receives the error about the extension first", async () => {
    const peer = await rawPeer(serve({}), { meta: undeclared });
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect((await peer.request(method, { taskId: "x", inputResponses: {} })).error.code).toBe(-32021);
    }
  });
});
