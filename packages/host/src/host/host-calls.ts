import { randomUUID } from "node:crypto";
import { LocalError } from "mcparley";
import type { Client, RequestOptions } from "mcparley/client";
import { withAnySignal } from "../async/timing.ts";
import { callLogLevel, createCallTool } from "../calls/call-tool.ts";
import type { CallTool } from "../calls/tool-call.ts";
import type { CallActivity } from "../activity/call-activity.ts";
import { ignoreErrors } from "../values/ignore-errors.ts";
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
  const closing = new AbortController();
  const callTool = toolCalls(parts, { servers, closing: closing.signal });
  const send = otherCalls(parts, { servers, closing: closing.signal });
  const close = (): void => closing.abort(new LocalError("closed", "The host was closed."));
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
        const { supervised } = requireServer(servers, server);
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

interface Calling {
  readonly servers: HostServers;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}

/** Returns the function that calls tools. Neither its outcome nor its events contain a known secret. */
function toolCalls({ consent, secrets }: HostParts, { servers, closing }: Calling): CallTool {
  const call = createCallTool({
    consent,
    secrets,
    serverOf(name) {
      const server = servers.usable(name);
      return server && { ...server, timeout: server.settings.timeout };
    },
  });
  return ({ onActivity, signal, ...request }) =>
    withAnySignal([signal, closing], (either) =>
      call({
        ...request,
        signal: either,
        ...(onActivity && { onActivity: (activity) => ignoreErrors(() => onActivity(secrets.hideIn(activity))) }),
      }),
    );
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
function otherCalls({ secrets }: HostParts, { servers, closing }: Calling): Send {
  return async ({ server: name, options, ...call }, work) => {
    const server = requireServer(servers, name);
    const onActivity = (activity: CallActivity): void =>
      ignoreErrors(() => options.onActivity?.(secrets.hideIn(activity)));
    const ending = new AbortController();
    const end = server.calls.begin(call, { onActivity, cancel: (reason) => ending.abort(reason) });
    const sent: RequestOptions = {
      timeout: server.settings.timeout,
      logLevel: callLogLevel,
      onProgress: (progress) => onActivity({ type: "progress", progress }),
    };
    try {
      const result = await withAnySignal([closing, ending.signal, options.signal], (signal) =>
        server.supervised.use((client) => work(client, { ...sent, signal }), { signal }),
      );
      return secrets.hideIn(result);
    } catch (error) {
      throw error instanceof Error ? secrets.hideInError(error) : error;
    } finally {
      end();
    }
  };
}

function requireServer(servers: HostServers, name: string): HostedServer {
  const server = servers.usable(name);
  if (server) return server;
  throw new LocalError("invalid_target", `The host has no server ${JSON.stringify(name)}, or it is disabled.`);
}

function missing(kind: "tool" | "prompt", name: string): LocalError {
  const message = `The host has no ${kind} ${JSON.stringify(name)}. \`host.catalogue\` lists the ${kind}s.`;
  return new LocalError("invalid_target", message);
}
