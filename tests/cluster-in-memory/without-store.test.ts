import { describe, expect, test, vi } from "vitest";
import { asTask, tasks } from "../../packages/mcparley/src/extensions/tasks/server/tasks.ts";
import { tasksId } from "../../packages/mcparley/src/extensions/tasks/task.ts";
import { toFetch } from "../../packages/mcparley/src/http/fetch/to-fetch.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { createServer } from "../../packages/mcparley/src/server/create-server.ts";
import type { AnyServerDefinition } from "../../packages/mcparley/src/server/core/options.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { type FakeClock, fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type RawHttp, openHttpSession, rawHttp } from "../support/raw-http.ts";

const capabilities = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };
const schema = { type: "object", properties: { name: { type: "string" } } } as const;

/** A process without a store, behind the same address as the others. */
function startProcess(clock: FakeClock, more: Partial<AnyServerDefinition> = {}) {
  const onWarning = vi.fn();
  const definitions = {
    ask: tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema })) }),
    long: tool({ extensions: [asTask()], call: () => new Promise<string>(() => {}) }),
  };
  const extensions = [tasks({ listForAnyone: true })];
  const server = createServer({ name: "x", version: "1", clock, onWarning, extensions, tools: definitions, ...more });
  return { client: rawHttp("http://localhost/mcp", toFetch(server, { legacySse: true }).fetch), onWarning };
}

type Process = ReturnType<typeof startProcess>;

/** Lets a session, a task, a sealed state or an HTTP+SSE session of one process reach another one. Returns the error. */
const uses: [what: string, use: (one: Process, other: Process) => Promise<string>][] = [
  [
    "a session",
    async (one, other) => {
      const headers = await openHttpSession(one.client);
      const answer = await other.client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, headers);
      expect(answer.status).toBe(404);
      return (await answer.json()).error.message;
    },
  ],
  [
    "the answer to a question",
    async (one, other) => {
      const headers = await openHttpSession(one.client);
      const answer = await other.client.post({ jsonrpc: "2.0", id: 0, result: { action: "cancel" } }, headers);
      expect(answer.status).toBe(404);
      return (await answer.json()).error.message;
    },
  ],
  [
    "an HTTP+SSE session",
    async (one, other) => {
      const stream = await one.client.send({ method: "GET", path: "/sse", headers: { accept: "text/event-stream" } });
      const path = (await stream.block())!.split("data: ")[1]!.trim();
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      const answer = await other.client.send({ path, body, headers: { "content-type": "application/json" } });
      expect(answer.status).toBe(404);
      return (await answer.json()).error.message;
    },
  ],
  [
    "a requestState",
    async (one, other) => {
      const call = (process: Process, params: JsonObject = {}) =>
        process.client.modern("tools/call", { name: "ask", ...params }, { capabilities });
      const { requestState } = (await (await call(one)).json()).result;
      return (await (await call(other, { requestState })).json()).error.message;
    },
  ],
  [
    "a task",
    async (one, other) => {
      const called = await one.client.modern("tools/call", { name: "long" }, { capabilities });
      const { taskId } = (await called.json()).result as { taskId: string };
      const headers = { "mcp-name": taskId };
      const answer = await other.client.modern("tasks/get", { taskId }, { capabilities, headers });
      return (await answer.json()).error.message;
    },
  ],
];

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe.each(uses)("%s that reaches another process", (_, use) => {
  test("is refused with the reason, and the other process warns once", async () => {
    const clock = fakeClock(1_000_000);
    const [one, other] = [startProcess(clock), startProcess(clock)];
    await clock.advance(60_000);
    const message = await use(one, other);
    expect(message).toMatch(/by another process/);
    expect(message).toContain("Processes behind one address need the same store");
    await use(one, other);
    await vi.waitFor(() => expect(other.onWarning).toHaveBeenCalled());
    await settled();
    expect(other.onWarning.mock.calls).toEqual([
      [expect.stringMatching(/another process has made\. Processes behind one address need the same store/)],
    ]);
    expect(one.onWarning).not.toHaveBeenCalled();
  });
});

test.each(uses.filter(([what]) => what !== "a requestState"))(
  "%s of the time before a restart is refused without a warning",
  async (_, use) => {
    const clock = fakeClock(1_000_000);
    const one = startProcess(clock);
    const restarted: { current?: Process } = {};
    const later: Process = {
      get client() {
        return restarted.current!.client;
      },
      onWarning: vi.fn(),
    };
    // The restart is later than the last request to the first process.
    const client = new Proxy(one.client, {
      get: (target, member: keyof RawHttp) =>
        typeof target[member] === "function"
          ? async (...args: never[]) => {
              const answer = await (target[member] as (...all: never[]) => Promise<unknown>)(...args);
              await clock.advance(10_001);
              restarted.current = startProcess(clock);
              return answer;
            }
          : target[member],
    });
    const message = await use({ ...one, client }, later);
    expect(message).toContain("was made before this process started.");
    await settled();
    expect(restarted.current!.onWarning).not.toHaveBeenCalled();
  },
);

test("a server that is created for each request warns, and names the cure", async () => {
  const clock = fakeClock(1_000_000);
  const headers = await openHttpSession(startProcess(clock).client);
  await clock.advance(9_000);
  const next = startProcess(clock);
  const answer = await next.client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, headers);
  expect((await answer.json()).error.message).toContain("Create the server once.");
  await vi.waitFor(() => expect(next.onWarning).toHaveBeenCalledTimes(1));
});

test("an expired session, and an id of another form, are refused without a warning", async () => {
  const clock = fakeClock(1_000_000);
  const one = startProcess(clock);
  const headers = await openHttpSession(one.client);
  await clock.advance(31 * 60_000);
  for (const id of [headers["mcp-session-id"]!, crypto.randomUUID(), `${crypto.randomUUID()}.x.y`, "x"]) {
    const answer = await one.client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": id });
    expect((await answer.json()).error.message).toContain("does not exist or has expired.");
  }
  await settled();
  expect(one.onWarning).not.toHaveBeenCalled();
});

test.each<[Partial<AnyServerDefinition>, Partial<AnyServerDefinition>, string]>([
  [{ stateKeys: [new Uint8Array(32).fill(1)] }, { stateKeys: [new Uint8Array(32).fill(2)] }, "the same stateKeys."],
  [{ store: memoryStore() }, { store: memoryStore() }, "the same store."],
])("the error of a state names what the processes have differently", async (first, second, cure) => {
  const clock = fakeClock(1_000_000);
  const [one, other] = [startProcess(clock, first), startProcess(clock, second)];
  const [, use] = uses.find(([what]) => what === "a requestState")!;
  expect(await use(one, other)).toContain(`Processes behind one address need ${cure}`);
});

test("ids of a process with a store have no tag", async () => {
  const clock = fakeClock(1_000_000);
  const headers = await openHttpSession(startProcess(clock, { store: memoryStore({ clock }) }).client);
  expect(headers["mcp-session-id"]).toMatch(/^[0-9a-f-]{36}$/);
});
