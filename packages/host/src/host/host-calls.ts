import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import type { Client, RequestOptions } from "mcparley/client";
import { createCallTool } from "../calls/call-tool.ts";
import type { CallTool } from "../calls/tool-call.ts";
import type { CallActivity } from "../events.ts";
import type { Host, HostCallOptions } from "./host.ts";
import type { HostParts, HostedServer } from "./host-server.ts";
import type { HostServers } from "./host-servers.ts";

/** The calls of a host. */
export interface HostCalls {
  /** Calls a tool for the model or for the program. */
  readonly callTool: CallTool;
  readonly public: Pick<Host, "callTool" | "getPrompt" | "readResource" | "complete" | "watch">;
  /** Cancels all calls, and refuses new ones. */
  close(this: void): void;
}

/** Returns the calls of a host: tools, prompts, resources, completion. */
export function hostCalls(parts: HostParts, servers: HostServers): HostCalls {
  const { consent, secrets } = parts;
  const closing = new AbortController();
  const linked = (signal: AbortSignal | undefined): AbortSignal =>
    signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
  const call = createCallTool({
    consent,
    secrets,
    serverOf(name) {
      const server = servers.usable(name);
      return server && { ...server, timeout: server.settings.timeout };
    },
  });
  const callTool: CallTool = ({ onActivity, ...request }) =>
    call({
      ...request,
      signal: linked(request.signal),
      ...(onActivity && { onActivity: (activity) => onActivity(secrets.hideIn(activity)) }),
    });

  /** Sends a request other than a tool call. Its result contains no known secret. */
  async function send<T>(name: string, request: OtherRequest<T>, options: HostCallOptions): Promise<T> {
    const server = requireServer(servers, name);
    const signal = linked(options.signal);
    const onActivity = (activity: CallActivity): void => options.onActivity?.(secrets.hideIn(activity));
    const ending = new AbortController();
    const end = server.calls.begin(request, { onActivity, cancel: (reason) => ending.abort(reason) });
    const sent: RequestOptions = {
      signal: AbortSignal.any([signal, ending.signal]),
      timeout: server.settings.timeout,
      onProgress: (progress) => onActivity({ type: "progress", progress }),
    };
    try {
      return secrets.hideIn(await server.supervised.use((client) => request.send(client, sent), { signal }));
    } catch (error) {
      throw error instanceof Error ? secrets.hideInError(error) : error;
    } finally {
      end();
    }
  }

  return {
    callTool,
    close: () => closing.abort(new LocalError("closed", "The host was closed.")),
    public: {
      async callTool(name, args, options = {}) {
        const tool = parts.catalogue.current.tool(name);
        if (tool)
          return callTool({ tool, arguments: args, origin: { callId: randomUUID(), by: "program" }, ...options });
        throw new LocalError(
          "invalid_target",
          `The host has no tool ${JSON.stringify(name)}. host.catalogue lists the tools.`,
        );
      },
      async getPrompt(name, args = {}, options = {}) {
        const found = parts.catalogue.current.prompt(name);
        if (!found)
          throw new LocalError(
            "invalid_target",
            `The host has no prompt ${JSON.stringify(name)}. host.catalogue lists the prompts.`,
          );
        const { server, prompt } = found;
        const send_ = (client: Client, sent: RequestOptions) => client.getPrompt(prompt.name, args, sent);
        return send(server, { method: "prompts/get", name: prompt.name, send: send_ }, options);
      },
      readResource: (server, uri, options = {}) =>
        send(
          server,
          { method: "resources/read", name: uri, send: (client, sent) => client.readResource(uri, sent) },
          options,
        ),
      complete: (server, { ref, argument, context }, options = {}) =>
        send(
          server,
          {
            method: "completion/complete",
            name: argument.name,
            send: (client, sent) => client.complete(ref, { ...argument }, { ...sent, ...(context && { context }) }),
          },
          options,
        ),
      watch: ({ server, uri }, listener) => requireServer(servers, server).supervised.watch(uri, listener),
    },
  };
}

interface OtherRequest<T> {
  readonly method: string;
  /** The name of the prompt, or the URI. */
  readonly name: string;
  readonly send: (client: Client, options: RequestOptions) => Promise<T>;
}

function requireServer(servers: HostServers, name: string): HostedServer {
  const server = servers.usable(name);
  if (server) return server;
  throw new LocalError("invalid_target", `The host has no server ${JSON.stringify(name)}, or it is disabled.`);
}
