import type { JsonObject, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import { latestModern } from "../../packages/mcparley/src/mcp/revisions/index.ts";
import { type Blocks, type Event, blocksOf, eventsIn, parseEvent } from "./events.ts";
import type { RawMessage } from "./raw-message.ts";
import { modernMeta } from "./raw-peer.ts";

export type { RawMessage } from "./raw-message.ts";

/** Answers web requests: `fetch`, or a server in this process. */
export type Fetch = (request: Request) => Promise<Response>;

export interface RawInit {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

/** The response to one HTTP request. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** `application/json`, or undefined without a body. */
  readonly type: string | undefined;
  text(): Promise<string>;
  /** The body as one message. */
  json(): Promise<RawMessage>;
  /** The next event of a stream, as a message, or the text of the next comment; undefined at the end. */
  next(): Promise<RawMessage | string | undefined>;
  /** The next event or comment of a stream as it was sent, without the empty line after it; undefined at the end. */
  block(): Promise<string | undefined>;
  /** The events of a stream, without comments, until it ends or breaks. */
  events(): AsyncIterable<Event>;
  /** Cancels the body without reading it to the end. */
  leave(): Promise<void>;
}

/**
 * The part of the harness for tests of HTTP itself: a client that sends one HTTP request at a time, with any method, headers
 * and body. `raw-peer.ts` is for tests of messages.
 */
export interface RawHttp {
  send(init: RawInit): Promise<RawAnswer>;
  /** Posts a value as JSON. */
  post(body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<RawAnswer>;
  /** Posts a modern request with its `_meta` and its headers. */
  modern(method: string, params?: JsonObject, more?: ModernInit): Promise<RawAnswer>;
}

export interface ModernInit {
  id?: RequestId;
  /** Headers to replace or add. Undefined removes a header. */
  headers?: Record<string, string | undefined>;
  capabilities?: JsonObject;
  meta?: JsonObject;
  signal?: AbortSignal;
}

/** The `_meta` of a modern request. */
export function metaOf({ capabilities, meta }: ModernInit = {}): JsonObject {
  return modernMeta(latestModern.version, capabilities, meta);
}

/** The headers that mirror the method and the name or URI of a modern message. */
export function mirroredHeaders(method: string, params: JsonObject = {}): Record<string, string> {
  const name = method === "resources/read" ? params.uri : params.name;
  return { "mcp-method": method, ...(typeof name === "string" && { "mcp-name": encodeName(name) }) };
}

function encodeName(name: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name)) return name;
  return `=?base64?${Buffer.from(name, "utf8").toString("base64")}?=`;
}

/** Makes a raw client of the server at `url`. */
export function rawHttp(url: string, fetch: Fetch): RawHttp {
  const send = async ({ method = "POST", path, headers = {}, body, signal }: RawInit): Promise<RawAnswer> => {
    const init: RequestInit = { method, headers, redirect: "manual" };
    if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
    if (signal) init.signal = signal;
    return answerOf(await fetch(new Request(path === undefined ? url : new URL(path, url), init)));
  };
  const post: RawHttp["post"] = (body, headers = {}, signal) =>
    send({ body, headers: { "content-type": "application/json", ...headers }, ...(signal && { signal }) });
  return {
    send,
    post,
    modern(method, params = {}, init = {}) {
      const { id = 1, signal } = init;
      const version = { "mcp-protocol-version": latestModern.version };
      const headers = Object.entries({ ...version, ...mirroredHeaders(method, params), ...init.headers });
      const given = headers.filter((entry): entry is [string, string] => entry[1] !== undefined);
      const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: metaOf(init) } };
      return post(message, Object.fromEntries(given), signal);
    },
  };
}

interface SessionInit {
  /** Default: 2025-11-25. */
  version?: string;
  /** The client's capabilities. Default: none. */
  capabilities?: JsonObject;
  /** Headers of each request. */
  headers?: Record<string, string>;
}

/** Opens a session of a legacy revision. Returns the headers of its further requests. */
export async function openHttpSession(client: RawHttp, init: SessionInit = {}): Promise<Record<string, string>> {
  const { version: protocolVersion = "2025-11-25", capabilities = {}, headers = {} } = init;
  const params = { protocolVersion, capabilities, clientInfo: { name: "raw", version: "1.0.0" } };
  const answer = await client.post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, headers);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`initialize was answered with ${answer.status}: ${text}`);
  const session = { ...headers, "mcp-session-id": answer.headers.get("mcp-session-id")! };
  await (await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session)).text();
  return session;
}

function answerOf(response: Response): RawAnswer {
  const { status, headers } = response;
  let blocks: Blocks | undefined;
  const reading = (): Blocks | undefined => (blocks ??= response.body ? blocksOf(response.body) : undefined);
  return {
    status,
    headers,
    type: headers.get("content-type") ?? undefined,
    text: () => response.text(),
    json: async () => JSON.parse(await response.text()) as RawMessage,
    async next() {
      const block = await reading()?.next();
      return block === undefined ? undefined : messageOf(block);
    },
    block: async () => reading()?.next(),
    async *events() {
      const stream = reading();
      if (stream) yield* eventsIn(stream);
    },
    leave: async () => reading()?.leave(),
  };
}

function messageOf(block: string): RawMessage | string {
  if (block.startsWith(":")) return block;
  return JSON.parse(parseEvent(block.split("\n")).data ?? "") as RawMessage;
}
