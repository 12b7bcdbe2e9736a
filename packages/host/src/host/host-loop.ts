import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import { readArguments } from "../catalogue/arguments.ts";
import { type ConversationParts, createConversation } from "../context/create-conversation.ts";
import type { Conversation } from "../context/conversation-context.ts";
import { createResultStore } from "../conversation/result-handles.ts";
import { type RunParts, startRun } from "../loop/run.ts";
import type { Run } from "../loop/run-events.ts";
import { createToolSearch } from "../search/tool-search.ts";
import { chooseModel } from "../model/choose-model.ts";
import type { Host } from "./host.ts";
import type { HostCalls } from "./host-calls.ts";
import type { HostContext } from "./host-context.ts";
import type { HostParts } from "./host-parts.ts";
import { modelStream } from "./model-stream.ts";
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
  const search = createToolSearch();
  const runs = new Set<Run>();
  const conversations = new Set<Conversation>();
  let isClosed = false;
  const checkOpen = (): void => {
    if (isClosed) throw new LocalError("closed", "The host is closed. Create a new one.");
  };
  return {
    run(options) {
      checkOpen();
      const started = startRun({ ...runParts(parts, { servers, calls, context }), results, search }, options);
      const forget = options.messages && context.add({ messages: options.messages });
      runs.add(started);
      void started.finished.then(() => {
        forget?.();
        runs.delete(started);
      });
      return started;
    },
    conversation(stored) {
      checkOpen();
      const onClosed = (): void => {
        forget();
        conversations.delete(made);
      };
      const made = createConversation({ ...conversationParts(parts, calls), results, onClosed }, stored);
      const forget = context.add(made);
      conversations.add(made);
      return made;
    },
    async close() {
      isClosed = true;
      for (const running of runs) running.cancel();
      calls.close();
      await Promise.all([...runs].map(({ finished }) => finished));
      await Promise.all([...conversations].map((open) => open.close()));
    },
  };
}

/** Returns the parts of a run. Throws if the host has no model. */
function runParts(parts: HostParts, { servers, calls }: LoopParts): Omit<RunParts, "results" | "search"> {
  const { model } = parts.options;
  if (!model) throw new TypeError("The host has no model. Pass `model` to createHost.");
  const used = chooseModel(model);
  const stream = modelStream(parts, undefined);
  return {
    stream: (request) => stream(used, request),
    catalogue: () => parts.catalogue.current,
    callTool: calls.callTool,
    readArguments: (text, { tool }) => readArguments(text, tool.inputSchema),
    instructions: () => instructionsOf(servers),
    secrets: parts.secrets,
    clock: parts.clock,
    ready: (signal) => servers.ready({ signal }),
  };
}

function conversationParts(parts: HostParts, calls: HostCalls): Omit<ConversationParts, "results"> {
  const { readResource, getPrompt, complete, watch } = calls.public;
  return {
    catalogue: () => parts.catalogue.current,
    secrets: parts.secrets,
    readResource: ({ server, uri }, options) => readResource(server, uri, options),
    watch,
    callTool: (call, options) => calls.callTool({ ...call, origin: { callId: randomUUID(), by: "user" }, ...options }),
    getPrompt: (name, args, options) => getPrompt(name, { ...args }, options),
    complete: ({ server, context, ...request }, options) =>
      complete(server, { ...request, ...(context && { context: { ...context } }) }, options),
  };
}

function instructionsOf(servers: HostServers): { server: string; text: string }[] {
  return servers
    .all()
    .flatMap(({ name, instructions }) => (instructions === undefined ? [] : [{ server: name, text: instructions }]));
}
