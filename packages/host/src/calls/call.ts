import { toError } from "../values/errors.ts";
import { LocalError } from "mcparley";
import type { Client, RequestOptions, Timeouts, CompletionReference } from "mcparley/client";
import type { ActiveCall, ActiveCalls, CallActivity } from "../activity/active-calls.ts";
import type { WithoutSecrets } from "../values/types.ts";

/** A request to a server, and the steps of its call. */
export interface CallSteps<T> {
  /** The name of the server in the host. */
  readonly server: string;
  readonly method: string;
  /** The name of the tool or prompt, or the URI. */
  readonly name: string;
  /** The outcome if the server was removed or is disabled. Default: the call rejects. */
  readonly outcomeIfRemoved?: T;
  /** Checks the request, and asks for consent. Returns the outcome of a request that is not sent. Default: each request is sent. */
  readonly admit?: (call: ActiveCall) => Promise<T | undefined>;
  /** `originalOf` returns the name or URI that the server has sent for one of the catalogue. */
  readonly send: (client: Client, options: RequestOptions, originalOf: (name: string) => string) => Promise<T>;
  /** Returns the outcome for an error. Default: the call rejects with it. */
  readonly outcomeOfError?: (error: Error) => T;
}

/** The caller of a call. */
export interface Caller {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each event of the call. */
  readonly onActivity?: ((activity: CallActivity) => void) | undefined;
}

/** A server, as calls need it. */
export interface CalledServer {
  /** Removes the secrets of the server, and returns the original of a name from which they were removed. */
  readonly secrets: { readonly withoutSecrets: WithoutSecrets; originalOf(this: void, name: string): string };
  readonly calls: ActiveCalls;
  readonly timeout: Timeouts | undefined;
  /** Runs `work` with an open connection. Connects if none is open. */
  use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Makes a call: check, consent, connection, request. Neither its outcome nor its error or events contain a secret. */
export type Call = <T>(steps: CallSteps<T>, caller?: Caller) => Promise<T>;

interface CallParts {
  /** Returns a server that is not disabled. Throws if the host is closed. */
  readonly serverOf: (name: string) => CalledServer | undefined;
  /** Applied to the outcomes of requests that were not sent, which can have texts of the user. */
  readonly userTextWithoutSecrets: WithoutSecrets;
}

/** Returns the function that makes all calls of a host. */
export function createCall({ serverOf, userTextWithoutSecrets }: CallParts): Call {
  return async (steps, { signal, onActivity } = {}) => {
    signal?.throwIfAborted();
    const server = serverOf(steps.server);
    if (!server) {
      if (steps.outcomeIfRemoved) return steps.outcomeIfRemoved;
      throw new LocalError("invalid_target", missingServer(steps.server));
    }
    const { withoutSecrets } = server.secrets;
    const report = onActivity && ((activity: CallActivity) => onActivity(withoutSecrets(activity)));
    const start = { method: steps.method, name: steps.name, signal, onActivity: report };
    return server.calls.run(start, async (call) => {
      try {
        const refusal = await steps.admit?.(call);
        return refusal ? userTextWithoutSecrets(refusal) : withoutSecrets(await sendTo(server, steps, call));
      } catch (cause) {
        call.throwIfAborted();
        const error = withoutSecrets(toError(cause));
        if (steps.outcomeOfError) return withoutSecrets(steps.outcomeOfError(error));
        throw error;
      }
    });
  };
}

/** Sends the request of an allowed call, and reports its start and its progress. */
function sendTo<T>(server: CalledServer, { send }: CallSteps<T>, call: ActiveCall): Promise<T> {
  const { signal } = call;
  call.isAllowed = true;
  const options: RequestOptions = {
    signal,
    timeout: server.timeout,
    // The minimum level of log messages. Servers of 2026-07-28 send none about a call without a level.
    logLevel: "info",
    onProgress: (progress) => call.report({ type: "progress", progress }),
  };
  return server.use((client) => {
    call.report({ type: "sent" });
    return send(client, options, server.secrets.originalOf);
  }, signal);
}

/** Returns the message about a server that cannot be called. */
export function missingServer(name: string): string {
  return `The host has no server ${JSON.stringify(name)}, or it is disabled.`;
}

/** A request for suggestions. */
export interface HostCompletion {
  /** The prompt or the template at the server. */
  readonly ref: CompletionReference;
  /** The argument, and the text that the user has typed. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The arguments that are known already. */
  readonly context?: Record<string, string>;
}
