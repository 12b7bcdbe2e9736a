import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type RequestId,
  isObject,
  isRequest,
} from "../../../packages/mcparley/src/rpc/messages.ts";
import type { RevisionName } from "../dimensions.ts";
import type { SteppedClock } from "../stepped-clock.ts";

/** Sends the messages that belong to one request. The response is the last one. */
export type Reply = (message: JsonObject) => void;

const subscriptionId = "io.modelcontextprotocol/subscriptionId";
export const note = "note://1";

interface Init {
  revision: RevisionName;
  clock: SteppedClock;
  /** Also answers `initialize`, as most servers of 2026-07-28 do. */
  isDual?: boolean;
}

/**
 * A small server of one revision, written by hand so that it shares no code with the library's server. It knows messages
 * and no transport.
 */
export class ScriptedServer {
  readonly revision: RevisionName;
  readonly isModern: boolean;
  readonly isDual: boolean;
  /** The version of the tools' schemas. */
  definitions = 1;
  /** More tools, and the number of tools on each page of the list. */
  catalogue: { size: number; pageSize: number } | undefined;
  /** How long the note stays fresh, in milliseconds. */
  noteTtlMs = 0;
  /** Sends a message that belongs to no request, to the client of a legacy session. */
  standalone: Reply | undefined;
  readonly #clock: SteppedClock;
  readonly #listening = new Map<RequestId, { reply: Reply; filter: JsonObject }>();
  readonly #subscribed = new Set<unknown>();
  readonly #waitingForInput = new Map<unknown, () => void>();
  #polls = 0;
  #asked = 0;

  constructor({ revision, clock, isDual = false }: Init) {
    this.revision = revision;
    this.isModern = revision === "2026-07-28";
    this.isDual = isDual;
    this.#clock = clock;
  }

  /** Returns a server with the same definitions and no memory of its client. */
  restarted(): ScriptedServer {
    const { revision, isDual, definitions, catalogue, noteTtlMs } = this;
    const next = new ScriptedServer({ revision, clock: this.#clock, isDual });
    return Object.assign(next, { definitions, catalogue, noteTtlMs });
  }

  /** Whether the reply to a request is an event stream over HTTP. */
  streams({ method, params = {} }: JsonRpcRequest): boolean {
    if (method === "subscriptions/listen") return true;
    if (method !== "tools/call") return false;
    return params.name === "progress" || (params.name === "ask" && !this.isModern);
  }

  receive(message: JsonRpcMessage, reply: Reply): void {
    if (isRequest(message)) return this.#request(message, reply);
    if ("method" in message) {
      if (message.method === "notifications/cancelled") this.#listening.delete(message.params?.requestId as RequestId);
      return;
    }
    this.#waitingForInput.get(message.id)?.();
    this.#waitingForInput.delete(message.id);
  }

  /** Reports that the list of tools and the note have changed. */
  change(): void {
    const tools = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    const updated = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: note } };
    for (const [id, { reply }] of this.#listening) {
      const _meta = { [subscriptionId]: id };
      reply({ ...tools, params: { _meta } });
      reply({ ...updated, params: { uri: note, _meta } });
    }
    this.standalone?.(tools);
    if (this.#subscribed.has(note)) this.standalone?.(updated);
  }

  /** Ends all open subscriptions with their results, as a server does that shuts down. */
  endSubscriptions(): void {
    for (const [id, { reply }] of this.#listening) {
      reply(this.#result(id, { _meta: { [subscriptionId]: id } }));
    }
    this.#listening.clear();
  }

  #request({ id, method, params = {} }: JsonRpcRequest, reply: Reply): void {
    const done = (result: JsonObject): void => reply(this.#result(id, result));
    switch (method) {
      case "server/discover":
        if (this.isModern) return done(this.#discovered());
        break;
      case "initialize":
        if (!this.isModern || this.isDual) return done(this.#initialized(params));
        break;
      case "ping":
        return done({});
      case "tools/list":
        return done({ ...this.#fresh(3_600_000), ...this.#page(params.cursor) });
      case "tools/call":
        return this.#call(id, params, reply);
      case "resources/read":
        return done({ ...this.#fresh(this.noteTtlMs), contents: [{ uri: params.uri, text: "note" }] });
      case "resources/subscribe":
        this.#subscribed.add(params.uri);
        return done({});
      case "resources/unsubscribe":
        this.#subscribed.delete(params.uri);
        return done({});
      case "subscriptions/listen":
        if (this.isModern) return this.#listen(id, params, reply);
        break;
      case "tasks/get":
        return done(this.#task(params.taskId, ++this.#polls > 1));
      case "tasks/result":
        return done(this.#value());
      case "tasks/cancel":
        return done({});
    }
    if (this.isModern && method === "initialize") return reply(unsupportedVersion(id, this.revision));
    reply({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } });
  }

  #result(id: RequestId, result: JsonObject): JsonObject {
    return { jsonrpc: "2.0", id, result: this.isModern ? { resultType: "complete", ...result } : result };
  }

  #capabilities(): JsonObject {
    return {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      ...(this.isModern && { extensions: { "io.modelcontextprotocol/tasks": {} } }),
      ...(this.revision === "2025-11-25" && { tasks: { cancel: {}, requests: { tools: { call: {} } } } }),
    };
  }

  #discovered(): JsonObject {
    const supportedVersions = this.isDual ? [this.revision, "2025-11-25"] : [this.revision];
    const _meta = { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } };
    return { supportedVersions, capabilities: this.#capabilities(), ttlMs: 0, cacheScope: "public", _meta };
  }

  #initialized(_params: JsonObject): JsonObject {
    const protocolVersion = this.isModern ? "2025-11-25" : this.revision;
    return { protocolVersion, capabilities: this.#capabilities(), serverInfo: { name: "scripted", version: "1.0.0" } };
  }

  #fresh(ttlMs: number): JsonObject {
    return this.isModern ? { ttlMs, cacheScope: "public" } : {};
  }

  #page(cursor: unknown): JsonObject {
    const tools = this.#tools();
    if (!this.catalogue) return { tools };
    const { size, pageSize } = this.catalogue;
    for (let at = 0; at < size; at++) tools.push({ ...tools[0], name: `tool-${at}` });
    const start = Number(cursor ?? 0);
    const end = start + pageSize;
    return { tools: tools.slice(start, end), ...(end < tools.length && { nextCursor: String(end) }) };
  }

  #tools(): JsonObject[] {
    const name = this.definitions === 1 ? "text" : "count";
    const type = this.definitions === 1 ? "string" : "number";
    const outputSchema = { type: "object", properties: { [name]: { type } }, required: [name] };
    const mark = this.definitions === 2 && this.isModern ? { "x-mcp-header": "Text" } : {};
    const inputSchema = { type: "object", properties: { text: { type: "string", ...mark } } };
    const hasOutput = this.revision >= "2025-06-18";
    return ["echo", "look", "progress", "ask", "task"].map((name) => ({
      name,
      inputSchema,
      ...(hasOutput && { outputSchema }),
      ...(name === "look" && { annotations: { readOnlyHint: true } }),
      ...(name === "task" && this.revision === "2025-11-25" && { execution: { taskSupport: "required" } }),
    }));
  }

  #value(): JsonObject {
    const structuredContent = this.definitions === 1 ? { text: "done" } : { count: 1 };
    return { content: [{ type: "text", text: "done" }], ...(this.revision >= "2025-06-18" && { structuredContent }) };
  }

  #call(id: RequestId, params: JsonObject, reply: Reply): void {
    const done = (): void => reply(this.#result(id, this.#value()));
    if (params.name === "progress") {
      const progressToken = isObject(params._meta) ? params._meta.progressToken : undefined;
      reply({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
      this.#clock.peer.setTimeout(done, 1_000);
    } else if (params.name === "ask") this.#ask(id, params, reply);
    else if (params.name === "task" && (this.isModern || params.task)) {
      const task = this.#task("task-1", false);
      reply(this.#result(id, this.isModern ? { ...task, resultType: "task" } : { task }));
    } else done();
  }

  /** Asks the user: in the result on 2026-07-28, with a request before. Revisions without elicitation ask for the roots. */
  #ask(id: RequestId, params: JsonObject, reply: Reply): void {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const elicitation = { method: "elicitation/create", params: { message: "Who?", requestedSchema } };
    const request = this.revision >= "2025-06-18" ? elicitation : { method: "roots/list" };
    if (!this.isModern) {
      const asked = `ask-${++this.#asked}`;
      this.#waitingForInput.set(asked, () => reply(this.#result(id, this.#value())));
      return reply({ jsonrpc: "2.0", id: asked, ...request });
    }
    if (params.inputResponses) return reply(this.#result(id, this.#value()));
    reply(this.#result(id, { resultType: "input_required", inputRequests: { who: request }, requestState: "state" }));
  }

  #listen(id: RequestId, params: JsonObject, reply: Reply): void {
    const filter = isObject(params.notifications) ? params.notifications : {};
    this.#listening.set(id, { reply, filter });
    const _meta = { [subscriptionId]: id };
    const method = "notifications/subscriptions/acknowledged";
    reply({ jsonrpc: "2.0", method, params: { _meta, notifications: filter } });
  }

  #task(taskId: unknown, isOver: boolean): JsonObject {
    const at = new Date(this.#clock.now()).toISOString();
    const times = this.isModern ? { ttlMs: 600_000, pollIntervalMs: 1_000 } : { ttl: 600_000, pollInterval: 1_000 };
    const status = isOver ? "completed" : "working";
    const result = isOver && this.isModern && { result: this.#value() };
    return { taskId, status, createdAt: at, lastUpdatedAt: at, ...times, ...result };
  }
}

/** The error for a request of a version that the server does not support (2026-07-28, basic/versioning). */
export function unsupportedVersion(id: RequestId, supported: string): JsonObject {
  const data = { supported: [supported], requested: "another" };
  return { jsonrpc: "2.0", id, error: { code: -32022, message: "Unsupported protocol version", data } };
}
