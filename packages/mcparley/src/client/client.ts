/// <reference lib="esnext.disposable" preserve="true" />
import { LocalError } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import { checkCustom } from "../mcp/custom-notifications.ts";
import type { CompleteResult, CompletionReference } from "../mcp/completion.ts";
import type { LoggingLevel } from "../mcp/logging.ts";
import { Method, Notification } from "../mcp/methods.ts";
import type { GetPromptResult, Prompt } from "../mcp/prompts.ts";
import { findRevision } from "../mcp/revisions/index.ts";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../mcp/resources.ts";
import type { CallToolResult, Tool } from "../mcp/tools.ts";
import { requireSendable } from "./calls/check-request.ts";
import type { ServerInfo } from "./connect/session.ts";
import { type RequestOptions, checkTimeouts } from "./options.ts";
import type { ServerChange, ListenFilter, Subscription } from "./subscriptions/subscription.ts";
import { type ToolCallArguments, type ToolCallValue, byName } from "./typed-client.ts";
import type { CallOptions, CallRequest, ClientCore } from "./core.ts";
import type { PagedList } from "./lists/list-pages.ts";
import { listEntries, listTools } from "./lists/lists.ts";
import { perform } from "./calls/perform.ts";
import { readToolResult, valueOf } from "./calls/tool-results.ts";

interface ClientParts {
  core: ClientCore;
  server: ServerInfo;
  close: () => Promise<void>;
}

/**
 * A connection to one server. `connect` opens it, and `close` ends it.
 *
 * Every method that sends a request rejects with `ProtocolError` if the server refuses it, and with `LocalError` for errors
 * of this side: `timeout`, `aborted`, `closed`, `not_capable` and other codes. A lost connection is opened again by the
 * next request.
 */
export class Client {
  readonly #core: ClientCore;
  readonly #close: () => Promise<void>;
  #server: ServerInfo;

  constructor(parts: ClientParts) {
    this.#core = parts.core;
    this.#close = parts.close;
    this.#server = parts.server;
    // They are no members of the class, because only the type of a server defines their names.
    Object.defineProperties(this, {
      tools: { value: byName((name, args, options) => (this as Client).callTool(name, args, options)) },
      prompts: {
        value: byName((name, args, options) => this.getPrompt(name, args as Record<string, string>, options)),
      },
    });
  }

  /** The server's description of itself from the last handshake. */
  get server(): ServerInfo {
    this.#server = this.#core.sessions.current?.server ?? this.#server;
    return this.#server;
  }

  /** The target that the client is connected to, without secrets. */
  get target(): string {
    return this.#core.transports.target;
  }

  /** Number of calls that have no result yet. */
  get inFlight(): number {
    return this.#core.running.size;
  }

  /** State of the connection. `reconnecting`: it is lost; the next request, or an open subscription, opens it again. */
  get state(): "open" | "reconnecting" | "closed" {
    const { sessions } = this.#core;
    if (sessions.isClosed) return "closed";
    return sessions.current && !this.#core.subscriptions?.isReopening ? "open" : "reconnecting";
  }

  /** Settles when the client is closed: by `close`, or because its connection was lost and cannot be opened again. */
  get closed(): Promise<void> {
    return this.#core.sessions.closed;
  }

  /**
   * Lists the tools of the server. Iterate over them, or read all of them with `all()`; the pages are requested as needed.
   *
   * Malformed tools are left out and reported to `onError`. So are icons whose URI is not https, data, or http on this
   * machine. The same holds for the other lists.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * for await (const { name, description } of client.listTools()) console.log(name, description);
   * ```
   */
  listTools(options: RequestOptions = {}): PagedList<Tool> {
    return listTools(this.#core, options);
  }

  /** Lists the prompts of the server. See `listTools`. */
  listPrompts(options: RequestOptions = {}): PagedList<Prompt> {
    return listEntries(this.#core, Method.listPrompts, options);
  }

  /** Lists the resources of the server, without templates. See `listTools`. */
  listResources(options: RequestOptions = {}): PagedList<Resource> {
    return listEntries(this.#core, Method.listResources, options);
  }

  /** Lists the resource templates of the server. See `listTools`. */
  listResourceTemplates(options: RequestOptions = {}): PagedList<ResourceTemplate> {
    return listEntries(this.#core, Method.listResourceTemplates, options);
  }

  /**
   * Calls a tool and returns its value: `structuredContent`, or its text if all of its content is text, or its content
   * blocks. Throws `ToolError`, with the whole result, if the tool fails.
   *
   * If the tool was listed before, its result is checked against its output schema. If it does not fit, the tools are listed
   * once more, since the server may have changed the schema; then the call rejects with `invalid_result`. Over HTTP with a
   * modern revision, an unknown tool is first looked up in the list, since its parameters may have to be sent as headers.
   *
   * Arguments and value have the types of the tool if the client was connected with the type of its server.
   *
   * @example
   * ```ts
   * import { ToolError, connect } from "mcparley/client";
   *
   * await using client = await connect({ command: "node", args: ["server.js"] });
   * try {
   *   console.log(await client.callTool("forecast", { city: "Oslo" }, { timeout: { total: 10_000 } }));
   * } catch (error) {
   *   if (!(error instanceof ToolError)) throw error;
   *   console.log("The tool failed:", error.message);
   * }
   * ```
   */
  callTool<N extends string>(name: N, ...parameters: ToolCallArguments<this, N>): Promise<ToolCallValue<this, N>>;
  async callTool(name: string, args: object = {}, options?: RequestOptions): Promise<unknown> {
    const result = await perform(this.#core, toolCall(name, args), options);
    return valueOf(name, readToolResult(result, this.#hasSchema(name)));
  }

  /**
   * Calls a tool and returns the whole result, also if the tool fails. Otherwise it is like `callTool`.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * const { content, isError } = await client.callToolResult("forecast", { city: "Oslo" });
   * console.log(isError ? "failed" : "succeeded", content);
   * ```
   */
  callToolResult<N extends string>(name: N, ...parameters: ToolCallArguments<this, N>): Promise<CallToolResult>;
  async callToolResult(name: string, args: object = {}, options?: RequestOptions): Promise<CallToolResult> {
    const result = await perform(this.#core, toolCall(name, args), options);
    return readToolResult(result, this.#hasSchema(name));
  }

  #hasSchema(name: string): boolean {
    return this.#core.tools.get(name)?.tool.outputSchema !== undefined;
  }

  /**
   * Returns the messages of a prompt. All arguments of prompts are strings.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * const { messages } = await client.getPrompt("review", { language: "TypeScript" });
   * for (const { role, content } of messages) console.log(role, content);
   * ```
   */
  async getPrompt(name: string, args: Record<string, string> = {}, options?: RequestOptions): Promise<GetPromptResult> {
    const result = await perform(this.#core, { method: Method.getPrompt, params: { name, arguments: args } }, options);
    return withList<GetPromptResult>(Method.getPrompt, result, "messages");
  }

  /**
   * Reads a resource. Rejects with a `ProtocolError` if the resource does not exist; check it with
   * `isResourceNotFound` of `mcparley`. Over HTTP the reply may have up to
   * 24 MiB, unless the target has another limit.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * const { contents } = await client.readResource("file:///readme.md");
   * for (const part of contents) console.log(part.uri, "text" in part ? part.text : part.blob.length);
   * ```
   */
  async readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    // A file of 16 MiB in base64, with its envelope: the largest file of a skill that hosts support.
    const callOptions: CallOptions = { maxReply: 25_165_824, ...options };
    const result = await perform(this.#core, { method: Method.readResource, params: { uri } }, callOptions);
    return withList<ReadResourceResult>(Method.readResource, result, "contents");
  }

  /**
   * Returns suggestions for an argument of a prompt or a variable of a resource template. `context` has the values of other
   * arguments; revisions before 2025-06-18 do not define it, and it is then omitted.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * const prompt = { type: "ref/prompt", name: "review" } as const;
   * const { values } = await client.complete(prompt, { name: "language", value: "ty" });
   * console.log(values);
   * ```
   */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    options: RequestOptions & { context?: Record<string, string> } = {},
  ): Promise<CompleteResult["completion"]> {
    const { context, ...request } = options;
    const params: JsonObject = { ref, argument };
    if (context && findRevision(this.server.revision)?.completionContext) params.context = { arguments: context };
    const { completion } = await perform(this.#core, { method: Method.complete, params }, request);
    if (isObject(completion) && Array.isArray(completion.values)) {
      return { ...completion, values: completion.values.filter((value) => typeof value === "string") };
    }
    throw malformedResult(Method.complete, 'an object "completion" with an array "values"');
  }

  /** Sends a request that has no effect, to check that the server answers. */
  async ping(options?: RequestOptions): Promise<void> {
    const method = this.server.revisionKind === "modern" ? Method.discover : Method.ping;
    await perform(this.#core, { method, params: {} }, options);
  }

  /** Sets the minimum level of log messages: of the session in legacy revisions, of later requests in modern ones. */
  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#core.logLevel = level;
    if (this.server.revisionKind === "legacy")
      await perform(this.#core, { method: Method.setLevel, params: { level } });
  }

  /** Notifies the server that the roots have changed. Does nothing on modern revisions: the server requests them when needed. */
  async rootsChanged(): Promise<void> {
    const { sessions, options } = this.#core;
    if (this.server.revisionKind !== "legacy" || !options.roots) return;
    (await sessions.ensure()).connection.sendNotification(Notification.rootsChanged);
  }

  /**
   * Sends a request with any method, also of an extension, and returns its result unchanged.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * await using client = await connect("https://example.com/mcp");
   * console.log(await client.request("com.example/status", { verbose: true }));
   * ```
   */
  request(method: string, params: JsonObject = {}, options?: RequestOptions): Promise<JsonObject> {
    return perform(this.#core, { method, params }, options);
  }

  /**
   * Follows an intermediate result of an extension, such as a task, to the final result, and returns that. The
   * intermediate result may come from an earlier process. `method` is the method of the request that it answered.
   */
  async follow(method: string, result: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const final = await this.#core.extensions?.followStored(this.#core, method, { result, options });
    if (final) return final;
    throw new LocalError("not_capable", `No extension of this client can handle this result of ${method}.`);
  }

  /**
   * Sends a notification that MCP does not define. The promise resolves when it is sent, whether or not it arrives. Rejects
   * with `TypeError` for a name that MCP reserves, such as `notifications/progress`.
   */
  async notify(method: string, params?: JsonObject): Promise<void> {
    checkCustom(method, params);
    requireSendable({ what: method, params: params ?? {} });
    (await this.#core.sessions.ensure()).connection.sendNotification(method, params);
  }

  /**
   * Subscribes to changes. Resolves when the server has acknowledged the subscription.
   *
   * A subscription that breaks, or that the server ends, is opened again, with growing pauses. Then each part of it is
   * reported as changed once, since changes may have been missed. `closed` of the subscription resolves when it has ended.
   *
   * @example
   * ```ts
   * import { connect } from "mcparley/client";
   *
   * const client = await connect("https://example.com/mcp");
   * const subscription = await client.listen({ tools: true, uris: ["file:///log.txt"] }, (change) => {
   *   console.log(change.kind === "updated" ? `${change.uri} has changed` : `The list of ${change.kind} has changed`);
   * });
   * await subscription.closed;
   * ```
   */
  async listen(
    filter: ListenFilter,
    onChange: (change: ServerChange) => void,
    options: RequestOptions = {},
  ): Promise<Subscription> {
    checkTimeouts(options.timeout);
    // Many clients have no subscription, and its code is too large for the start.
    const { Subscriptions } = await import("./subscriptions/subscriptions.ts");
    this.#core.subscriptions ??= new Subscriptions(this.#core);
    return this.#core.subscriptions.listen(filter, onChange, options);
  }

  /**
   * Closes the connection. Calls in flight fail with `closed`. A second call does nothing.
   *
   * If calls were aborted whose tasks are not cancelled yet, waits up to two seconds for the cancellations.
   */
  close(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function toolCall(name: string, args: object): CallRequest {
  return { method: Method.callTool, params: { name, arguments: args }, checksResult: true };
}

/** Returns a result whose member is a list. A text or an object in place of the list is its only entry. */
function withList<T>(method: string, result: JsonObject, member: string): T {
  const value = result[member];
  if (Array.isArray(value)) return result as T;
  if (isObject(value) || typeof value === "string") return { ...result, [member]: [value] } as T;
  throw malformedResult(method, `an array "${member}"`);
}

function malformedResult(method: string, what: string): LocalError {
  return new LocalError("invalid_message", `The result of ${method} must contain ${what}.`);
}
