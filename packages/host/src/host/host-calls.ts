import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import type { Client, RequestOptions } from "mcparley/client";
import { createCallTool } from "../calls/call-tool.ts";
import { sendRequest } from "../calls/called-server.ts";
import type { CallTool } from "../calls/tool-call.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import type { Host, HostCallOptions } from "./host.ts";
import type { HostParts, HostedServer } from "./host-server.ts";
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
export function hostCalls(parts: HostParts, servers: HostServers): HostCalls {
  let closedBy: LocalError | undefined;
  const serverOf = (name: string): HostedServer | undefined => {
    if (closedBy) throw closedBy;
    return servers.usable(name);
  };
  const callTool = createCallTool({ consent: parts.consent, secrets: parts.secrets, serverOf });
  const send = otherCalls(parts.secrets, serverOf);
  const close = (): void => {
    closedBy = new LocalError("closed", "The host was closed.");
    for (const { calls } of servers.all()) calls.abort(closedBy);
  };
  const { catalogue } = parts;
  return {
    callTool,
    close,
    public: {
      async callTool(name, args, options = {}) {
        const tool = catalogue.current.tool(name);
        if (!tool) throw missing("tool", name);
        const origin = { callId: randomUUID(), by: "program" } as const;
        return callTool({ tool, arguments: args, origin, ...options });
      },
      async getPrompt(name, args = {}, options = {}) {
        const found = catalogue.current.prompt(name);
        if (!found) throw missing("prompt", name);
        const { server, prompt } = found;
        const request = { server, method: "prompts/get", name: prompt.name, options };
        return send(request, (client, sent) => client.getPrompt(prompt.name, args, sent));
      },
      readResource: (server, uri, options = {}) =>
        send({ server, method: "resources/read", name: uri, options }, (client, sent) =>
          client.readResource(uri, sent),
        ),
      complete(server, { ref, argument, context }, options = {}) {
        const request = { server, method: "completion/complete", name: argument.name, options };
        const known = context && { context };
        return send(request, (client, sent) => client.complete(ref, { ...argument }, { ...sent, ...known }));
      },
      async watch({ server, uri }, listener) {
        const { supervised } = requireServer(servers.usable(server), server);
        if (supervised.info && !supervised.info.capabilities.resources?.subscribe) {
          const message = `The server ${JSON.stringify(server)} does not send updates of resources.`;
          throw new LocalError("not_capable", message);
        }
        const { stop, opened } = supervised.watch(uri, (updated) => listener(parts.secrets.hide(updated)));
        await opened.catch((error: unknown) => {
          throw error instanceof Error ? parts.secrets.hideInError(error) : error;
        });
        return stop;
      },
    },
  };
}

/** A request other than a tool call. */
interface OtherRequest {
  readonly server: string;
  readonly method: string;
  /** The name of the prompt, or the URI. */
  readonly name: string;
  readonly options: HostCallOptions;
}

type Send = <T>(request: OtherRequest, work: (client: Client, options: RequestOptions) => Promise<T>) => Promise<T>;

/** Returns the function that sends other requests. Neither a result nor an error contains a known secret. */
function otherCalls(secrets: KnownSecrets, serverOf: (name: string) => HostedServer | undefined): Send {
  return async ({ server: serverName, method, name, options: { signal, onActivity } }, work) => {
    const server = requireServer(serverOf(serverName), serverName);
    try {
      const result = await server.calls.run({ method, name, signal, onActivity }, (call) => {
        // These requests need no consent.
        call.isAllowed = true;
        return sendRequest(server, call, work);
      });
      return secrets.hideIn(result);
    } catch (error) {
      throw error instanceof Error ? secrets.hideInError(error) : error;
    }
  };
}

function requireServer(server: HostedServer | undefined, name: string): HostedServer {
  if (server) return server;
  throw new LocalError("invalid_target", `The host has no server ${JSON.stringify(name)}, or it is disabled.`);
}

function missing(kind: "tool" | "prompt", name: string): LocalError {
  const message = `The host has no ${kind} ${JSON.stringify(name)}. \`host.catalogue\` lists the ${kind}s.`;
  return new LocalError("invalid_target", message);
}
