import type { Client, RequestOptions } from "mcparley/client";
import type { ActiveCall, ActiveCalls } from "../activity/active-calls.ts";
import type { ServerSettings } from "../servers/server-entry.ts";
import type { SupervisedServer } from "../servers/supervised-server.ts";

/** A server, as calls need it. */
export interface CalledServer {
  readonly supervised: Pick<SupervisedServer, "use">;
  readonly calls: ActiveCalls;
  readonly settings: Pick<ServerSettings, "timeout">;
}

/** Sends the request of an allowed call, and reports its progress. Connects if no connection is open. */
export function sendRequest<T>(
  { supervised, settings }: CalledServer,
  call: ActiveCall,
  request: (client: Client, options: RequestOptions) => Promise<T>,
): Promise<T> {
  const { signal } = call;
  const options: RequestOptions = {
    signal,
    timeout: settings.timeout,
    // The minimum level of log messages. Servers of 2026-07-28 send none about a call without a level.
    logLevel: "info",
    onProgress: (progress) => call.report({ type: "progress", progress }),
  };
  return supervised.use((client) => request(client, options), { signal });
}
