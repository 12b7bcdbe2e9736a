import type { JsonObject, GetPromptResult, ReadResourceResult } from "mcparley";
import type { CompleteResult, Root } from "mcparley/client";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ToolOutcome } from "../conversation/tool-outcome.ts";
import type { Conversation } from "../context/conversation-context.ts";
import type { CallActivity } from "../activity/call-activity.ts";
import type { HostCompletion } from "../calls/read-calls.ts";
import type { HostEvent } from "./host-events.ts";
import type { Run, RunOptions } from "../loop/run-events.ts";
import type { ServerEntry } from "../servers/server-entry.ts";
import type { HostServer } from "../servers/host-server.ts";

/** A host: the servers, the consent and the model of one user. */
export interface Host {
  /** The servers by name. */
  readonly servers: ReadonlyMap<string, HostServer>;
  /** The tools, prompts, resources and templates of all servers that are not disabled. */
  readonly catalogue: Catalogue;
  /**
   * Connects the servers whose lists are not known yet. Resolves when each is ready or has failed, and at the latest after
   * `wait` milliseconds (default: 5,000), without the time in which the user answers questions. Servers that connect later change the catalogue later.
   */
  ready(this: void, options?: { wait?: number; signal?: AbortSignal }): Promise<Catalogue>;
  /**
   * Adds a server, or replaces the one with this name, whose open questions are withdrawn. Rejects for an entry that cannot be used,
   * and then replaces no server.
   */
  add(this: void, name: string, entry: ServerEntry): Promise<HostServer>;
  /** Removes a server, and closes its connection. Its definitions leave the catalogue at once. Resolves when its program has ended. */
  remove(this: void, name: string): Promise<void>;
  /** Replaces the roots, and notifies the servers. */
  setRoots(this: void, roots: readonly Root[]): Promise<void>;
  /** Calls a tool by its name for the model, with the consent of the user. */
  callTool(this: void, name: string, args: JsonObject, options?: HostCallOptions): Promise<ToolOutcome>;
  /** Expands a prompt by its name `server:prompt`. */
  getPrompt(
    this: void,
    name: string,
    args?: Record<string, string>,
    options?: HostCallOptions,
  ): Promise<GetPromptResult>;
  /** Reads a resource of a server. */
  readResource(this: void, server: string, uri: string, options?: HostCallOptions): Promise<ReadResourceResult>;
  /** Returns the server's suggestions for an argument of a prompt or a variable of a template. */
  complete(
    this: void,
    server: string,
    request: HostCompletion,
    options?: HostCallOptions,
  ): Promise<CompleteResult["completion"]>;
  /**
   * Calls the listener with each update of a resource while a connection is open, and once after each time in which updates may have
   * been missed: after a reconnect, and after the server has ended the subscription. Resolves with a function that removes the
   * listener, when the server has acknowledged the subscription or no connection is open. Rejects with `not_capable` if the server is
   * known not to send updates.
   */
  watch(this: void, resource: { server: string; uri: string }, listener: (uri: string) => void): Promise<() => void>;
  /** Runs the model with the tools of all servers until it answers. */
  run(this: void, options: RunOptions): Run;
  /**
   * Returns a conversation to which resources and prompts can be attached: an empty one, or the one that `toJSON` of an earlier
   * conversation returned. Throws a `TypeError` if that is not valid.
   */
  conversation(this: void, stored?: unknown): Conversation;
  /** Calls the listener with each event. Returns a function that removes it. */
  subscribe(this: void, listener: (event: HostEvent) => void): () => void;
  /** Cancels all runs and calls, closes all connections, and ends the processes of the servers. */
  close(this: void): Promise<void>;
  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of one call of a host. */
export interface HostCallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Called with each event of the call, such as progress. */
  readonly onActivity?: (activity: CallActivity) => void;
}
