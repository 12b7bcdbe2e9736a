import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { CompleteResult, CompletionReference } from "../../mcp/completion.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { GetPromptResult, Prompt } from "../../mcp/prompts.ts";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../../mcp/resources.ts";
import type { CallToolResult, Tool } from "../../mcp/tools.ts";
import type { ServerInfo } from "../connect/session.ts";
import type { ClientCore } from "./call.ts";
import { listPrompts, listResourceTemplates, listResources } from "./list-sources.ts";
import type { List } from "./lists.ts";
import type { RequestOptions } from "../options.ts";
import { perform, sendWithin } from "./perform.ts";
import type { Change, ListenFilter, Subscription } from "../subscriptions/subscription.ts";
import { readToolResult, valueOf } from "./tool-value.ts";
import { byName } from "../typed-client.ts";

/** The parts of a client that `openClient` makes. */
export interface ClientParts {
  core: ClientCore;
  server: ServerInfo;
  close: () => Promise<void>;
}

/**
 * A client of one server: made by `connect`, and to be closed when it is not needed any more.
 *
 * Every method that asks the server rejects with `ProtocolError` where the server refuses, and with `LocalError` for
 * what went wrong on this side: `timeout`, `aborted`, `closed`, `not_capable` and the rest of its codes.
 */
export class Client {
  readonly #parts: ClientParts;
  #server: ServerInfo;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#server = parts.server;
    // No members of the class: only the type of a server says which names they have.
    Object.defineProperties(this, {
      tools: { value: byName((name, args, options) => this.callTool(name, args, options)) },
      prompts: {
        value: byName((name, args, options) => this.getPrompt(name, args as Record<string, string>, options)),
      },
    });
  }

  /** What the server said of itself when it was connected to last. */
  get server(): ServerInfo {
    this.#server = this.#core.line.current?.server ?? this.#server;
    return this.#server;
  }

  /** What was connected to, without any secret. */
  get target(): string {
    return this.#core.dialer.target;
  }

  /** The requests that have no result yet, those included for which somebody is being asked. */
  get inFlight(): number {
    return this.#core.running.size;
  }

  /** `reconnecting` while the connection is gone; the next request, or an open subscription, opens it again. */
  get state(): "open" | "reconnecting" | "closed" {
    const { line } = this.#core;
    if (line.isClosed) return "closed";
    return line.current && !this.#core.subscriptions?.isReopening ? "open" : "reconnecting";
  }

  /** Settles when the client is closed: by `close`, or because its transport ended and cannot be opened again. */
  get closed(): Promise<void> {
    return this.#core.line.closed;
  }

  /**
   * The tools of the server. Those that are malformed are left out and reported to `onError`, and so are icons that are
   * neither at https nor in data URIs, but for http on this machine. The same holds for the other lists.
   */
  listTools(options: RequestOptions = {}): List<Tool> {
    return this.#core.listTools(options);
  }

  listPrompts(options: RequestOptions = {}): List<Prompt> {
    return listPrompts(this.#core, options);
  }

  listResources(options: RequestOptions = {}): List<Resource> {
    return listResources(this.#core, options);
  }

  listResourceTemplates(options: RequestOptions = {}): List<ResourceTemplate> {
    return listResourceTemplates(this.#core, options);
  }

  /**
   * Calls a tool and gives its value: `structuredContent` where it has any, else its text where all of it is text, else
   * its content blocks. Throws `ToolError`, with the whole result, where the tool says that it failed.
   *
   * A tool that was listed before has its result checked against its output schema (`invalid_result`). Over HTTP, with a
   * modern revision, a tool that is not known is looked up in the list first, since its parameters may have to be sent
   * as headers as well; elsewhere nothing is listed.
   */
  async callTool(name: string, args: JsonObject = {}, options?: RequestOptions): Promise<any> {
    return valueOf(name, await this.callToolResult(name, args, options));
  }

  /** Calls a tool and gives the whole result, that of a failure as well. */
  async callToolResult(name: string, args: JsonObject = {}, options?: RequestOptions): Promise<CallToolResult> {
    const answer = await perform(this.#core, Method.callTool, { name, arguments: args }, options);
    const result = readToolResult(name, answer);
    await this.#core.tools.checkResult(name, result);
    return result;
  }

  /** Gets a prompt. Its arguments are all strings. */
  async getPrompt(name: string, args: Record<string, string> = {}, options?: RequestOptions): Promise<GetPromptResult> {
    const result = await perform(this.#core, Method.getPrompt, { name, arguments: args }, options);
    return requireArray<GetPromptResult>(Method.getPrompt, result, "messages");
  }

  async readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    const result = await perform(this.#core, Method.readResource, { uri }, options);
    return requireArray<ReadResourceResult>(Method.readResource, result, "contents");
  }

  /** Asks for suggestions for an argument of a prompt or a variable of a resource template. */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    options: RequestOptions & { context?: Record<string, string> } = {},
  ): Promise<CompleteResult["completion"]> {
    const { context, ...request } = options;
    const params: JsonObject = { ref, argument };
    if (context) params.context = { arguments: context };
    const { completion } = await perform(this.#core, Method.complete, params, request);
    if (isObject(completion) && Array.isArray(completion.values)) return completion as never;
    throw malformed(Method.complete, 'an object "completion" with an array "values"');
  }

  /** Asks the server for a sign of life. */
  async ping(options?: RequestOptions): Promise<void> {
    await perform(this.#core, this.server.era === "modern" ? Method.discover : Method.ping, {}, options);
  }

  /** Says from which level on log messages are wanted: in the session where there is one, else for later requests. */
  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#core.logLevel = level;
    if (this.server.era === "legacy") await perform(this.#core, Method.setLevel, { level });
  }

  /** Says that the roots have changed. Modern servers need not be told: they ask when they need them. */
  async rootsChanged(): Promise<void> {
    if (this.server.era === "legacy" && this.#core.options.roots) await this.notify(Notification.rootsChanged);
  }

  /** Sends a request of any method, those of extensions included, and gives its result as it is. */
  request(method: string, params: JsonObject = {}, options?: RequestOptions): Promise<JsonObject> {
    return perform(this.#core, method, params, options);
  }

  /**
   * Goes on from a result of a type that an extension brings, which `method` was answered with before, to the final
   * result: as when it was kept over a restart.
   */
  async follow(method: string, result: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { followKept } = await import("./extensions.ts");
    return followKept(this.#core, method, { result, options, send: sendWithin });
  }

  /** Sends a notification. That it was sent does not say that it arrived. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    (await this.#core.line.get()).channel.notify(method, params);
  }

  /**
   * Listens to changes. Settles once the server has acknowledged what it will tell of.
   *
   * A subscription that breaks is opened again, with growing pauses; then each thing that is listened to is reported as
   * changed once, since changes may have been missed.
   */
  async listen(
    filter: ListenFilter,
    onChange: (change: Change) => void,
    options: RequestOptions = {},
  ): Promise<Subscription> {
    const { Subscriptions } = await import("../subscriptions/subscriptions.ts");
    this.#core.subscriptions ??= new Subscriptions(this.#core);
    return this.#core.subscriptions.listen(filter, onChange, options);
  }

  /** Closes the client. What is in flight fails with `closed`. A second call does nothing. */
  close(): Promise<void> {
    return this.#parts.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #core(): ClientCore {
    return this.#parts.core;
  }
}

function requireArray<T>(method: string, result: JsonObject, member: string): T {
  if (Array.isArray(result[member])) return result as T;
  throw malformed(method, `an array "${member}"`);
}

function malformed(method: string, what: string): LocalError {
  return new LocalError("invalid_message", `${method} was answered without ${what}.`);
}
