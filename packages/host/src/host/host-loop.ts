import { readArguments } from "../catalogue/arguments.ts";
import { createConversation } from "../context/create-conversation.ts";
import type { Conversation } from "../context/conversation-context.ts";
import { createResultStore } from "../loop/result-handles.ts";
import { startRun } from "../loop/run.ts";
import type { Run, RunOptions } from "../loop/run-events.ts";
import { chooseModel } from "../model/choose-model.ts";
import { streamModel } from "../model/stream-model.ts";
import type { Host } from "./host.ts";
import type { HostCalls } from "./host-calls.ts";
import type { HostContext } from "./host-context.ts";
import type { HostParts } from "./host-server.ts";
import type { HostServers } from "./host-servers.ts";

/** The runs and the conversations of a host. */
export interface HostLoop extends Pick<Host, "run" | "conversation"> {
  /** Cancels all runs, and ends the updates of all conversations. */
  close(this: void): Promise<void>;
}

interface LoopParts {
  readonly servers: HostServers;
  readonly calls: HostCalls;
  readonly context: HostContext;
}

/** Returns the functions that run the model and make conversations. */
export function hostLoop(parts: HostParts, { servers, calls, context }: LoopParts): HostLoop {
  const results = createResultStore();
  const runs = new Set<Run>();
  const conversations = new Set<Conversation>();
  const catalogue = (): HostParts["catalogue"]["current"] => parts.catalogue.current;
  const { hide } = parts.secrets;

  function run(options: RunOptions): Run {
    const { model } = parts.options;
    if (!model) throw new TypeError("The host has no model. Pass `model` to createHost.");
    const used = chooseModel(model);
    const started = startRun(
      {
        stream: (request) => streamModel(used, request),
        catalogue,
        callTool: calls.callTool,
        readArguments: (text, tool) => readArguments(text, tool.tool.inputSchema),
        instructions: () => instructionsOf(servers),
        results,
        hideSecrets: hide,
        clock: parts.clock,
        ready: (signal) => servers.ready({ signal }),
      },
      options,
    );
    const forget = options.messages ? context.add({ messages: options.messages }) : () => {};
    runs.add(started);
    void started.finished.then(() => {
      forget();
      runs.delete(started);
    });
    return started;
  }

  function conversation(stored?: unknown): Conversation {
    let forget = (): void => {};
    const made = createConversation(
      {
        catalogue,
        readResource: ({ server, uri }, options) => calls.public.readResource(server, uri, options),
        watch: async (resource, onUpdated) => calls.public.watch(resource, onUpdated),
        getPrompt: (name, args, options) => calls.public.getPrompt(name, { ...args }, options),
        complete: ({ server, context: known, ...request }, options) =>
          calls.public.complete(server, { ...request, ...(known && { context: { ...known } }) }, options),
        results,
        hideSecrets: hide,
        onClosed() {
          forget();
          conversations.delete(made);
        },
      },
      stored,
    );
    forget = context.add(made);
    conversations.add(made);
    return made;
  }

  return {
    run,
    conversation,
    async close() {
      for (const running of runs) running.cancel();
      calls.close();
      await Promise.all([...runs].map(({ finished }) => finished));
      await Promise.all([...conversations].map((open) => open.close()));
    },
  };
}

function instructionsOf(servers: HostServers): { server: string; text: string }[] {
  return servers.all().flatMap(({ supervised, reviewed }) => {
    const text = reviewed.instructions;
    return text === undefined || supervised.state === "disabled" ? [] : [{ server: supervised.name, text }];
  });
}
