import type { JsonObject, GetPromptResult, ReadResourceResult, Clock, Implementation } from "mcparley";
import type { CompleteResult, Root, LoggingMessage } from "mcparley/client";
import type { CredentialStorage } from "mcparley/node";
import type { OAuthOptions, SignIn } from "mcparley/auth";
import type { Catalogue, CatalogueChange, SchemaLoss } from "../catalogue/catalogue.ts";
import type { ToolOutcome } from "../conversation/messages.ts";
import type { Conversation } from "../context/conversation-context.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { HostCompletion } from "../calls/call.ts";
import type { Run, RunOptions } from "../loop/run-events.ts";
import type { ServerEntry, HostServer } from "../servers/server-entry.ts";
import type { Policy, DecisionRecord } from "../consent/policy.ts";
import type { InputLimits } from "../input/input-context.ts";
import type { ModelSetting } from "../model/language-model.ts";
import type { ProviderName } from "../catalogue/providers.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { OriginUsage } from "../values/usage.ts";
import type { ModelRetry } from "../model/stream-model.ts";
import type { ServerEvent } from "../supervision/server-state.ts";

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

/** Options of `createHost`. */
export interface HostOptions {
  /** The servers by name. A name has 1 to 64 characters, and is shown to the user and to the model. */
  readonly servers?: Readonly<Record<string, ServerEntry>>;
  /** The name and version that the host sends to servers. Default: those of this library. */
  readonly info?: Implementation;
  /** The model for `run` and for sampling. If omitted, servers cannot request sampling, and `run` throws. */
  readonly model?: ModelSetting;
  /**
   * Maximum tries of a request to a model, of `run` and of sampling. A try is repeated after the HTTP statuses 408, 429 and 5xx, and
   * after connections that failed or ended before a part of the answer has arrived. 1 repeats nothing. Default: 4.
   */
  readonly modelTries?: number;
  /** The model provider whose rules the schemas of tools follow. Names follow the rules of all. Default: `common`. */
  readonly provider?: ProviderName;
  /** Asks the user. If omitted, everything that needs a question is denied. */
  readonly renderer?: Renderer;
  /** The rules of consent, in addition to those in the user's folder. */
  readonly policy?: Policy;
  /**
   * The folder of the user's rules, trust, pins and cached catalogues. `false` keeps all of it in memory, for tests. Default:
   * the folder `mcparley/host` in the user's configuration folder.
   */
  readonly folder?: string | false;
  /** The folders to share with servers. Default: none, and servers cannot request them. */
  readonly roots?: readonly Root[];
  /** Limits on the input requests of each server. */
  readonly inputLimits?: Partial<InputLimits>;
  /** Signs the user in at servers over HTTP, after `server.signIn()`. Default: none, and such servers stay in `needs-sign-in`. */
  readonly signIn?: SignIn;
  /** Whether sign-ins request `offline_access`, and bind tokens to a key (DPoP). Default: as in `oauth` of `mcparley/auth`. */
  readonly authorization?: Pick<OAuthOptions, "offlineAccess" | "dpop">;
  /** Stores the tokens of this user. Default: in memory. */
  readonly credentials?: CredentialStorage;
  /** Called with each event of the host. Its errors are ignored. */
  readonly onEvent?: (event: HostEvent) => void;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  readonly clock?: Clock;
}

/** An event of a host. Texts of servers are not escaped, and no event contains arguments, results or secrets. */
export type HostEvent =
  | ServerEvent
  | {
      readonly type: "catalogue";
      /** The entries that changed. */
      readonly change: CatalogueChange;
    }
  | {
      readonly type: "loss";
      /** The lost part of the schema. */
      readonly loss: SchemaLoss;
    }
  | {
      readonly type: "decision";
      /** The record for an audit. */
      readonly decision: DecisionRecord;
    }
  | {
      readonly type: "retry";
      /** The name of the server that requested sampling. Undefined for a run. */
      readonly server: string | undefined;
      /** The failed try of a request to a model, and the next one. */
      readonly retry: ModelRetry;
    }
  | {
      readonly type: "usage";
      /** The tokens of a request to a model, of a run or for a server that requested sampling. */
      readonly usage: OriginUsage;
    }
  | {
      readonly type: "log";
      /** The name of the server in the host. */
      readonly server: string;
      /** The message of the server. */
      readonly message: LoggingMessage;
    }
  | {
      readonly type: "updated";
      /** The name of the server in the host. */
      readonly server: string;
      /** The URI of the resource. */
      readonly uri: string;
    }
  | {
      readonly type: "sign-in";
      /** The name of the server in the host. */
      readonly server: string;
      /** A step of a sign-in or of the renewal of a token, as a line of text. */
      readonly step: string;
    }
  | {
      readonly type: "error";
      /** The name of the server in the host. */
      readonly server: string | undefined;
      /** The error, without known secrets. */
      readonly error: Error;
    };
