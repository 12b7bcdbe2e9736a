import { z } from "zod";
import { asTask, tasks } from "../../packages/mcparley/src/extensions/tasks/server/tasks.ts";
import type { TasksOptions, ToolTasks } from "../../packages/mcparley/src/extensions/tasks/server/settings.ts";
import { tasksId } from "../../packages/mcparley/src/extensions/tasks/task.ts";
import type { Clock } from "../../packages/mcparley/src/rpc/clock.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { Context, Principal } from "../../packages/mcparley/src/server/core/context.ts";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type RawPeer, modernMeta, rawPeer } from "./raw-peer.ts";
import type { RawMessage } from "./raw-message.ts";

/** The capabilities of a client that supports tasks and forms. */
export const taskCapabilities: JsonObject = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };

const input = z.object({ secret: z.string().optional() });

/** A simulated process of the server "x". */
export interface TaskProcess {
  readonly server: Server;
  readonly peer: RawPeer;
  /** The errors that its `onError` received. */
  readonly errors: unknown[];
  /** Number of handlers that are running. */
  readonly running: number;
  /** Number of handlers that have started. */
  readonly started: number;
  /** After this, none of its actions reach the store. */
  die(): void;
  /** Calls a tool as a task and returns the whole response. */
  call(name?: string): Promise<RawMessage>;
  /** Calls a tool as a task and returns the id of the task. */
  begin(name?: string): Promise<string>;
  /** Returns the result of `tasks/get`, or its error. */
  get(taskId: string): Promise<JsonObject>;
}

export interface TaskProcessInit {
  clock: Clock;
  store: Store;
  /** The handler of both tools: `once`, and `again`, which may run again. */
  call: (ctx: Context) => string | Promise<string>;
  options?: TasksOptions;
  settings?: ToolTasks;
  principal?: Principal;
}

/** Starts a process with the tools `once`, `again` and `plain`. */
export async function startTaskProcess(init: TaskProcessInit): Promise<TaskProcess> {
  const { clock, store, options = {}, settings = {}, principal } = init;
  const errors: unknown[] = [];
  let isDead = false;
  let running = 0;
  let started = 0;
  const call = async (_: unknown, ctx: Context): Promise<string> => {
    running++;
    started++;
    try {
      return await init.call(ctx);
    } finally {
      running--;
    }
  };
  const server = createServer({
    name: "x",
    version: "1.0.0",
    clock: { ...clock, setTimeout: (fn, ms) => clock.setTimeout(() => isDead || fn(), ms) },
    onError: (error: unknown) => errors.push(error),
    store: mortal(store, () => isDead),
    extensions: [tasks(options)],
    tools: {
      once: tool({ input, extensions: [asTask(settings)], call }),
      again: tool({ input, extensions: [asTask({ ...settings, runAgain: true })], call }),
      plain: tool({ call: () => "plain" }),
    },
  });
  const attach: Server["attach"] = (transport) => server.attach(transport, principal ? { principal } : {});
  const peer = await rawPeer({ attach }, { meta: modernMeta("2026-07-28", taskCapabilities) });
  const request = (name: string): Promise<RawMessage> => peer.request("tools/call", { name, arguments: {} });
  return {
    server,
    peer,
    errors,
    get running() {
      return running;
    },
    get started() {
      return started;
    },
    die: () => void (isDead = true),
    call: (name = "once") => request(name),
    begin: async (name = "once") => (await request(name)).result.taskId as string,
    async get(taskId) {
      await flushPromises();
      const { result, error } = await peer.request("tasks/get", { taskId });
      return result ?? error;
    },
  };
}

/** A store whose operations are neither done nor answered after the process has died. */
function mortal(store: Store, isDead: () => boolean): Store {
  return new Proxy(store, {
    get: (target, member: keyof Store) =>
      member === "close"
        ? async () => {}
        : member === "subscribe"
          ? (channel: string, listener: (message: string) => void, missed?: () => void) =>
              isDead() ? new Promise(() => {}) : target.subscribe(channel, (text) => isDead() || listener(text), missed)
          : (...given: never[]) =>
              isDead() ? new Promise(() => {}) : (target[member] as (...all: never[]) => unknown)(...given),
  });
}

/** One operation of a store. `name` is the key, log or channel without the server's prefix. */
export interface Operation {
  readonly number: number;
  readonly member: keyof Store;
  readonly name: string;
}

/**
 * How an operation fails: before it was done, or after it was done and its reply was lost. An operation that hangs is neither
 * done nor answered.
 */
export type StoreFault = "before" | "after" | "hangs";

/** A store that records its operations, and fails those for which `faultOf` returns a fault. */
export function faultyStore(
  store: Store,
  faultOf: (operation: Operation) => StoreFault | undefined,
): Store & { readonly operations: readonly Operation[] } {
  const operations: Operation[] = [];
  const lost = (): Error => new Error("connection reset");
  const run = async (member: keyof Store, given: readonly [name: string, ...rest: never[]]): Promise<unknown> => {
    const operation = { number: operations.length + 1, member, name: given[0].replace(/^mcparley:x:/, "") };
    operations.push(operation);
    const fault = faultOf(operation);
    if (fault === "before") throw lost();
    if (fault === "hangs") return new Promise(() => {});
    const done = await (store[member] as (...all: readonly unknown[]) => Promise<unknown>)(...given);
    if (fault !== "after") return done;
    // A client that loses the reply of a subscription does not have the subscription.
    if (member === "subscribe") await (done as () => Promise<void>)();
    throw lost();
  };
  return new Proxy(store, {
    get: (_, member: keyof Store | "operations") =>
      member === "operations"
        ? operations
        : member === "close"
          ? async () => {}
          : (...given: [name: string, ...rest: never[]]) => run(member, given),
  }) as Store & { operations: Operation[] };
}

/** A clock that shows another time than the given one, and whose timers run as fast. */
export function skewed(clock: Clock, ms: number): Clock {
  return { ...clock, now: () => clock.now() + ms };
}

/** The stored record of a task. */
export async function storedTask(store: Store, taskId: string): Promise<JsonObject | undefined> {
  const text = await store.get(`mcparley:x:task:${taskId}`);
  return text === undefined ? undefined : JSON.parse(text);
}
