import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import { readArguments } from "../catalogue/arguments.ts";
import type { Conversation } from "../context/conversation-context.ts";
import { type ConversationParts, createConversation } from "../context/create-conversation.ts";
import { ResultStore } from "../conversation/server-text.ts";
import { type RunParts, ActiveRun } from "../loop/run.ts";
import type { Run } from "../loop/run-events.ts";
import { chooseModel, modelName } from "../model/language-model.ts";
import { createToolSearch } from "../search/tool-search.ts";
import type { Host } from "./host.ts";
import type { HostCalls } from "./host-calls.ts";
import type { HostParts } from "./host-parts.ts";
import type { HostServers } from "./host-servers.ts";

/** The runs and the conversations of a host. */
export interface HostLoop extends Pick<Host, "run" | "conversation"> {
  /** Cancels all runs, and ends the updates of all conversations. */
  close(this: void): Promise<void>;
}

/** Returns the functions that run the model and make conversations. */
export function hostLoop(parts: HostParts, servers: HostServers, calls: HostCalls): HostLoop {
  const { context } = parts;
  const results = new ResultStore();
  const search = createToolSearch();
  const runs = new Set<Run>();
  const conversations = new Set<Conversation>();
  let isClosed = false;
  const checkOpen = (): void => {
    if (isClosed) throw new LocalError("closed", "The host is closed. Create a new one.");
  };
  return {
    run(settings) {
      checkOpen();
      const run = new ActiveRun({ ...runParts(parts, servers, calls), results, search }, settings);
      const forget = settings.messages && context.add({ messages: settings.messages });
      runs.add(run);
      void run.finished.then(() => {
        forget?.();
        runs.delete(run);
      });
      return run;
    },
    conversation(stored) {
      checkOpen();
      const onClosed = (): void => {
        forget();
        conversations.delete(conversation);
      };
      const conversation = createConversation({ ...conversationParts(parts, calls), results, onClosed }, stored);
      const forget = context.add(conversation);
      conversations.add(conversation);
      return conversation;
    },
    async close() {
      isClosed = true;
      for (const run of runs) run.cancel();
      calls.close();
      await Promise.all([...runs].map(({ finished }) => finished));
      await Promise.all([...conversations].map((conversation) => conversation.close()));
    },
  };
}

/** Returns the parts of a run. Throws if the host has no model. */
function runParts(parts: HostParts, servers: HostServers, calls: HostCalls): Omit<RunParts, "results" | "search"> {
  const { options, secrets, clock } = parts;
  if (!options.model) throw new TypeError("The host has no model. Pass `model` to createHost.");
  const model = chooseModel(options.model);
  const stream = parts.streamFor(undefined);
  return {
    model: modelName(model),
    stream: (request) => stream(model, request),
    onUsage: (usage) => parts.events.emit({ type: "usage", usage }),
    catalogue: () => parts.catalogue.current,
    callTool: calls.callTool,
    readArguments: (text, { tool }) => readArguments(text, tool.inputSchema),
    instructions: () =>
      servers.all().flatMap(({ name, instructions: text }) => (text === undefined ? [] : { server: name, text })),
    secrets,
    clock,
    ready: (signal) => servers.ready({ signal }),
    readChanges: (signal) => servers.readChanges(signal),
  };
}

function conversationParts(parts: HostParts, calls: HostCalls): Omit<ConversationParts, "results"> {
  const { readResource, getPrompt, complete, watch } = calls.public;
  return {
    catalogue: () => parts.catalogue.current,
    secrets: {
      messageWithoutSecrets: parts.secrets.messageWithoutSecrets,
      uriWithoutSecrets: (uri, server) => parts.secrets.of(server).uriWithoutSecrets(uri),
    },
    readResource: ({ server, uri }, options) => readResource(server, uri, options),
    watch,
    callTool: (call, options) => calls.callTool({ ...call, origin: { callId: randomUUID(), by: "user" }, ...options }),
    getPrompt: (name, args, options) => getPrompt(name, { ...args }, options),
    complete: ({ server, context, ...request }, options) =>
      complete(server, { ...request, ...(context && { context: { ...context } }) }, options),
  };
}
