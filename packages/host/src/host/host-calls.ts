import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import type { CompleteResult } from "mcparley/client";
import { type CallSteps, type HostCompletion, createCall, missingServer } from "../calls/call.ts";
import { type CallTool, toolCall } from "../calls/tool-call.ts";
import type { Host } from "./host.ts";
import type { HostParts } from "./host-parts.ts";
import type { HostServers } from "./host-servers.ts";

/** The calls of a host. */
export interface HostCalls {
  /** Calls a tool for the model or for the program. */
  readonly callTool: CallTool;
  /** The methods of the host that send requests. */
  readonly public: Pick<Host, "callTool" | "getPrompt" | "readResource" | "complete" | "watch">;
  /** Cancels all calls, and refuses new ones. */
  close(this: void): void;
}

/** Returns the calls of a host: tools, prompts, resources, completion. */
export function hostCalls({ consent, catalogue, secrets }: HostParts, servers: HostServers): HostCalls {
  let closedBy: LocalError | undefined;
  const call = createCall({
    userTextWithoutSecrets: secrets.userTextWithoutSecrets,
    serverOf(name) {
      if (closedBy) throw closedBy;
      return servers.usable(name);
    },
  });
  const callTool: CallTool = (request) => call(toolCall(request, consent), request);
  return {
    callTool,
    close() {
      closedBy = new LocalError("closed", "The host was closed.");
      for (const { calls } of servers.all()) calls.abort(closedBy);
    },
    public: {
      async callTool(name, args, options = {}) {
        const tool = catalogue.current.tool(name);
        if (!tool) throw missing("tool", name);
        return callTool({ tool, arguments: args, origin: { callId: randomUUID(), by: "program" }, ...options });
      },
      async getPrompt(name, args = {}, options = {}) {
        const prompt = catalogue.current.prompt(name);
        if (!prompt) throw missing("prompt", name);
        const { server, prompt: definition } = prompt;
        return call(
          {
            server,
            method: "prompts/get",
            name: definition.name,
            send: (client, request, originalOf) => client.getPrompt(originalOf(definition.name), args, request),
          },
          options,
        );
      },
      readResource: (server, uri, options) =>
        call(
          {
            server,
            method: "resources/read",
            name: uri,
            send: (client, request, originalOf) => client.readResource(originalOf(uri), request),
          },
          options,
        ),
      complete: (server, completion, options) => call(completionCall(server, completion), options),
      watch: (resource, listener) => watch(servers, resource, listener),
    },
  };
}

/** Follows the updates of a resource. Needs no consent, and sends no request of its own. */
async function watch(
  servers: HostServers,
  { server: name, uri }: { server: string; uri: string },
  listener: (uri: string) => void,
): Promise<() => void> {
  const server = servers.usable(name);
  if (!server) throw new LocalError("invalid_target", missingServer(name));
  if (server.public.info && !server.public.info.capabilities.resources?.subscribe) {
    const message = `The server ${JSON.stringify(name)} does not send updates of resources.`;
    throw new LocalError("not_capable", message);
  }
  const { stop, acknowledgment } = server.watch(uri, listener);
  await acknowledgment;
  return stop;
}

/** Returns the steps of a request for suggestions. */
function completionCall(
  server: string,
  { ref, argument, context }: HostCompletion,
): CallSteps<CompleteResult["completion"]> {
  return {
    server,
    method: "completion/complete",
    name: argument.name,
    send(client, request, originalOf) {
      const original =
        ref.type === "ref/prompt" ? { ...ref, name: originalOf(ref.name) } : { ...ref, uri: originalOf(ref.uri) };
      return client.complete(original, { ...argument }, { ...request, ...(context && { context }) });
    },
  };
}

function missing(kind: "tool" | "prompt", name: string): LocalError {
  const message = `The host has no ${kind} ${JSON.stringify(name)}. \`host.catalogue\` lists the ${kind}s.`;
  return new LocalError("invalid_target", message);
}
