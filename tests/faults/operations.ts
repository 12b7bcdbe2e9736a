import type { Client } from "../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
import type { ServerChange, Subscription } from "../../packages/mcparley/src/client/subscriptions/subscription.ts";
import { followTasks } from "../../packages/mcparley/src/extensions/tasks/client/follow-tasks.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Cell, type Operation, type RevisionName, modern, nameOf, revisionBefore } from "./dimensions.ts";
import { HttpWorld } from "./peers/http-world.ts";
import { ScriptedServer, note } from "./peers/scripted-server.ts";
import { StdioWorld } from "./peers/stdio-world.ts";
import { type RequestFault, type World, serverOf } from "./peers/world.ts";
import { type SteppedClock, drive } from "./stepped-clock.ts";

/** How long a fault that lasts strikes an operation that does not settle before it. */
const longMs = 60_000;
/** The same for a task, whose polls are repeated for about a minute. */
const longForTaskMs = 300_000;
/** How long the user takes to answer. */
const answerMs = 1_000;

let stages = 0;

/** The client of one cell and its peer. */
export class Stage {
  readonly cell: Cell;
  readonly clock: SteppedClock;
  readonly world: World;
  /** The signal that the caller passes to every operation. */
  readonly caller = new AbortController();
  /** The errors that were reported to `onError`. */
  readonly reported: Error[] = [];
  client: Client | undefined;
  subscription: Subscription | undefined;
  /** Called with each change. */
  onChange: (change: ServerChange) => void = () => {};
  /** Runs when the user is asked. */
  whenAsked: () => void = () => {};
  /** Runs when a call becomes a task, and with each poll of it. */
  whenTaskIsSeen: () => void = () => {};
  /** The number of requests before the fault. */
  before = 0;
  #lifting: unknown;

  constructor(cell: Cell, clock: SteppedClock) {
    this.cell = cell;
    this.clock = clock;
    const server = serverOf(cell.revision, clock);
    // The client remembers the revisions of targets, so each stage has its own.
    const name = `${nameOf(cell)}/${++stages}`;
    this.world =
      cell.transport === "stdio"
        ? new StdioWorld(server, { name, clock })
        : new HttpWorld(server, {
            url: `https://faults.example/${name}`,
            clock,
            isHttpSse: cell.transport === "http-sse",
          });
  }

  get isModern(): boolean {
    return this.cell.revision === modern;
  }

  /** Connects a client. All clients of a cell have the same target. */
  connect(options: ConnectOptions = {}): Promise<Client> {
    return openClient(this.world.transports, {
      clock: this.clock,
      onError: (error) => void this.reported.push(error),
      extensions: [followTasks({ onTask: () => this.whenTaskIsSeen() })],
      elicit: async () => {
        await this.#ask();
        return { action: "accept", content: { name: "Ada" } };
      },
      roots: async () => {
        await this.#ask();
        return [{ uri: "file:///project" }];
      },
      ...options,
    });
  }

  /** Runs a step that no fault strikes. */
  async prepare<T>(step: Promise<T>): Promise<T> {
    const end = await drive(this.clock, "The preparation", step);
    if ("error" in end) throw new Error("The preparation failed.", { cause: end.error });
    return end.value;
  }

  async openClient(): Promise<Client> {
    this.client = await this.prepare(this.connect());
    return this.client;
  }

  /** Applies the fault. `strikes` chooses the request, if the fault affects a request. */
  strike(strikes: (request: string) => boolean): void {
    const { fault } = this.cell;
    this.before = this.world.faults.attempts.length;
    if (fault === "process-exit") this.world.exit(1);
    else if (fault === "redefined") this.world.server.definitions = 2;
    else if (fault === "upgraded") this.#replace(modern);
    else if (fault === "rolled-back") this.#replace(revisionBefore(this.cell.revision) as RevisionName);
    else this.#arm(fault, strikes);
  }

  /** Ends the fault, and the time that it lasts. */
  lift(): void {
    this.world.faults.lift();
    this.clock.peer.clearTimeout(this.#lifting);
  }

  /** Waits for simulated time to pass. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.peer.setTimeout(resolve, ms));
  }

  #ask(): Promise<void> {
    this.whenAsked();
    return this.wait(answerMs);
  }

  #arm(fault: RequestFault, strikes: (request: string) => boolean): void {
    const isStart = fault.startsWith("refused") && this.cell.transport === "stdio";
    const lasts = fault.endsWith("-for-long");
    this.world.faults.arm({ fault, lasts, strikes: isStart ? (request) => request === "start" : strikes });
    const ms = this.cell.operation === "task" ? longForTaskMs : longMs;
    if (lasts) this.#lifting = this.clock.peer.setTimeout(() => this.world.faults.lift(), ms);
    // A program is started again only if its process has ended.
    if (isStart) this.world.exit(0);
  }

  #replace(revision: RevisionName): void {
    const { transport } = this.cell;
    const isHttpSse =
      transport === "http-sse" ? revision !== modern : transport === "http" && revision === "2024-11-05";
    this.world.replace(new ScriptedServer({ revision, clock: this.clock }), isHttpSse);
  }
}

interface Script {
  /** Brings the client into the state for the fault, and applies the fault. */
  begin(stage: Stage): Promise<void>;
  /** The operation. */
  run(stage: Stage): Promise<unknown>;
}

/** Whether a fault changes the server, and strikes no request. */
export function changesServer({ fault }: Cell): boolean {
  return ["process-exit", "upgraded", "rolled-back", "redefined"].includes(fault);
}

const only =
  (...names: string[]) =>
  (request: string): boolean =>
    names.includes(request);

/** A call of a listed tool. */
function callOf(tool: string): Script {
  return {
    async begin(stage) {
      const client = await stage.openClient();
      await stage.prepare(client.listTools().all());
      stage.strike(only("tools/call"));
    },
    run: ({ client, caller: { signal } }) => client!.callTool(tool, { text: "hello" }, { signal }),
  };
}

/** A call that requests input of the user. Faults of a request affect the message with the answer. */
const callWithInput: Script = {
  async begin(stage) {
    const client = await stage.openClient();
    await stage.prepare(client.listTools().all());
    if (changesServer(stage.cell)) return stage.strike(() => false);
    stage.whenAsked = () => {
      stage.whenAsked = () => {};
      stage.strike(only(stage.isModern ? "tools/call" : "response"));
    };
  },
  run: ({ client, caller: { signal } }) => client!.callTool("ask", { text: "hello" }, { signal }),
};

/** A call that becomes a task. Faults of a request strike the first poll. */
const task: Script = {
  async begin(stage) {
    const client = await stage.openClient();
    await stage.prepare(client.listTools().all());
    if (changesServer(stage.cell)) return stage.strike(() => false);
    stage.whenTaskIsSeen = () => {
      stage.whenTaskIsSeen = () => {};
      stage.strike(only("tasks/get"));
    };
  },
  run: ({ client, caller: { signal } }) => client!.callTool("task", { text: "hello" }, { signal }),
};

/** An open subscription that breaks, and its reopening. */
const reopened: Script = {
  async begin(stage) {
    await listen(stage);
    const { world, cell } = stage;
    if (cell.fault === "redefined") {
      return stage.strike(() => false);
    }
    if (!changesServer(cell)) world.breakStreams(cell.fault === "graceful-end" ? "end" : "reset");
    stage.strike(only("subscriptions/listen", "resources/subscribe"));
  },
  run: untilGapReported,
};

/** The request of a session for updates of a resource. */
const subscribed: Script = {
  async begin(stage) {
    await stage.openClient();
    stage.strike(only("resources/subscribe"));
  },
  run: (stage) => listening(stage),
};

const standalone: Script = {
  async begin(stage) {
    await listen(stage);
    const { world, cell } = stage;
    if (!changesServer(cell)) world.breakStreams(cell.fault === "graceful-end" ? "end" : "reset");
    stage.strike(only("GET"));
  },
  run: untilGapReported,
};

async function listen(stage: Stage): Promise<void> {
  await stage.openClient();
  await stage.prepare(listening(stage));
  await flushPromises();
}

async function listening(stage: Stage): Promise<void> {
  const filter = { tools: true, uris: [note] };
  stage.subscription = await stage.client!.listen(filter, (change) => stage.onChange(change), {
    signal: stage.caller.signal,
  });
}

/** The end of a subscription that was not opened again. */
export const subscriptionEnded: Error = new Error("The subscription has ended.");

/** Settles when the list and the resource were reported as changed. Rejects if the subscription ends. */
function untilGapReported(stage: Stage): Promise<void> {
  const missing = new Set(["tools", "updated"]);
  const { fault } = stage.cell;
  return new Promise((resolve, reject) => {
    stage.onChange = ({ kind }) => {
      missing.delete(kind);
      if (missing.size === 0) resolve();
    };
    stage.subscription?.closed.then(() => reject(subscriptionEnded), reject);
    if (fault === "redefined") stage.world.server.change();
  });
}

const connecting: Script = {
  async begin(stage) {
    const { cell, isModern, world } = stage;
    if (changesServer(cell)) {
      // The revision of the target is remembered.
      const earlier = await stage.prepare(stage.connect());
      await stage.prepare(earlier.close());
      await flushPromises();
    }
    const isHttpSse = world instanceof HttpWorld && world.isHttpSse;
    const opening = isModern ? "server/discover" : "initialize";
    stage.strike(only(isHttpSse ? "GET (open)" : opening));
  },
  async run(stage) {
    stage.client = await stage.connect({ signal: stage.caller.signal });
  },
};

const listing: Script = {
  async begin(stage) {
    await stage.openClient();
    stage.strike(only("tools/list"));
  },
  run: ({ client, caller: { signal } }) => client!.listTools({ signal, fresh: true }).all(),
};

/** The steps of an operation, for a cell. */
export function scriptOf({ operation, transport, revision }: Cell): Script {
  const scripts: Record<Operation, Script> = {
    connect: connecting,
    list: listing,
    call: callOf("echo"),
    "read-only-call": callOf("look"),
    "call-with-input": callWithInput,
    "call-with-progress": callOf("progress"),
    subscription: transport === "http" && revision !== modern ? subscribed : reopened,
    "standalone-stream": standalone,
    task,
  };
  return scripts[operation];
}
