import { expect } from "vitest";
import {
  type AnyServerDefinition,
  type Client,
  type ConnectOptions,
  type JsonObject,
  asTask,
  followTasks,
  gate,
  tasks,
  tool,
} from "../library.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { Answers, ScriptedServer } from "../../support/scripted-server.ts";
import type { World } from "./world.ts";

export const tasksId = "io.modelcontextprotocol/tasks";
export const declared: JsonObject = { extensions: { [tasksId]: {} }, elicitation: {} };

/** The server side of a world with tasks. */
export interface TaskServer {
  peer: RawPeer;
  /** Calls a tool that becomes a task, and returns the created task. */
  begin: (name: string) => Promise<JsonObject>;
  /** Sends a request for a task, once the server has done all that it can. */
  about: (method: string, taskId: unknown, params?: JsonObject) => Promise<RawMessage>;
  /** The task as `tasks/get` shows it. */
  look: (taskId: unknown) => Promise<JsonObject>;
}

/** The code that is loaded on first use. Loading it here keeps the proofs from waiting for it. */
const loaded = Promise.all([
  import("../../../packages/mcparley/src/server/input/elicit.ts"),
  import("../../../packages/mcparley/src/server/input/elicit.ts"),
  import("../../../packages/mcparley/src/server/features/subscriptions.ts"),
]);

/** Serves tools on a server with tasks. By default the client declares the extension. */
export async function serveTasks(
  world: World,
  tools: NonNullable<AnyServerDefinition["tools"]>,
  capabilities: JsonObject = declared,
): Promise<TaskServer> {
  await loaded;
  const extensions = [tasks()];
  const peer = await world.serve({ tools, extensions }, { capabilities });
  const about: TaskServer["about"] = async (method, taskId, params = {}) => {
    await peer.settled();
    return peer.request(method, { taskId, ...params }, { headers: { "mcp-name": String(taskId) } });
  };
  return {
    peer,
    about,
    async begin(name) {
      const { result } = await peer.request("tools/call", { name });
      expect(result.resultType).toBe("task");
      return result;
    },
    look: async (taskId) => (await about("tasks/get", taskId)).result,
  };
}

/** A tool that is a task until the gate is opened with its result. */
export function waiting(): { tool: ReturnType<typeof tool>; open: (text: string) => void } {
  const end = gate();
  return { tool: tool({ extensions: [asTask()], call: end.call }), open: (text) => end.open(text) };
}

/** A task that makes two input requests at once, and then a third. */
export const inquiring = tool({
  extensions: [asTask()],
  call: async (_, { elicit }) => {
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
    const [one, two] = await Promise.all([elicit({ message: "One?", schema }), elicit({ message: "Two?", schema })]);
    const three = await elicit({ message: "Three?", schema });
    return [one, two, three].map(({ name }) => name).join(" ");
  },
});

export const said = (name: string): JsonObject => ({ action: "accept", content: { name } });

const kept = { ttlMs: 0, cacheScope: "public" };
const listing = { resultType: "complete", tools: [{ name: "t", inputSchema: { type: "object" } }], ...kept };

/** Connects a client that follows tasks to a scripted server that has them and a tool named `t`. */
export async function followedTasks(
  world: World,
  options: ConnectOptions = {},
  answers: Answers = {},
): Promise<{ client: Client; server: ScriptedServer }> {
  return world.connect(
    { extensions: [followTasks()], ...options },
    {
      capabilities: { tools: {}, prompts: {}, extensions: { [tasksId]: {} } },
      answers: { "tools/list": () => listing, ...answers },
    },
  );
}

/** A task in the form of a scripted server. */
export function aTask(world: World, more: JsonObject = {}): JsonObject {
  const now = new Date(world.clock.now()).toISOString();
  const times = { createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 2000 };
  return { resultType: "complete", taskId: "task-1", status: "working", ...times, ...more };
}

/** Calls `t` on a client. The scripted server answers with a task. */
export async function callAnsweredWithTask(
  world: World,
  client: Client,
  server: ScriptedServer,
  options: Parameters<Client["callTool"]>[2] = {},
): Promise<{ outcome: Promise<unknown>; request: RawMessage }> {
  const outcome = client.callTool("t", {}, options);
  outcome.catch(() => {});
  const request = await server.request("tools/call");
  server.answer(request, aTask(world, { resultType: "task" }));
  return { outcome, request };
}

/** The next poll of a client, a poll interval later. */
export async function nextLook(world: World, server: ScriptedServer, ms = 2000): Promise<RawMessage> {
  const look = server.request("tasks/get");
  await world.clock.advance(ms);
  return look;
}
