import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type RequestId,
} from "../../packages/mcparley/src/rpc/messages.ts";
import { MetaKey } from "../../packages/mcparley/src/mcp/methods.ts";
import { latestModern } from "../../packages/mcparley/src/mcp/revisions/index.ts";
import type { RawResponse } from "./raw-peer.ts";

/** What answers web requests: `fetch`, or a server that is not on the network. */
export type Fetch = (request: Request) => Promise<Response>;

export interface RawInit {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown;
  signal?: AbortSignal;
}

/** A message as a test reads it. */
export type RawMessage = RawResponse & Pick<JsonRpcRequest & JsonRpcNotification, "method" | "params">;

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
  /** Goes away without reading to the end. */
  leave(): Promise<void>;
}

/** A client that sends any request of a test over HTTP, so that a test can misbehave. */
export interface RawHttp {
  send(init: RawInit): Promise<RawAnswer>;
  /** Posts a value as JSON. */
  post(body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<RawAnswer>;
  /** Posts a modern request with all that belongs to it. */
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
export function metaOf({ capabilities = {}, meta = {} }: ModernInit = {}): JsonObject {
  return {
    [MetaKey.protocolVersion]: latestModern.version,
    [MetaKey.clientInfo]: { name: "raw-http", version: "1.0.0" },
    [MetaKey.clientCapabilities]: capabilities,
    ...meta,
  };
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
    modern(method, params = {}, more = {}) {
      const named = params.name ?? params.uri;
      const headers: Record<string, string | undefined> = {
        "mcp-protocol-version": latestModern.version,
        "mcp-method": method,
        ...(typeof named === "string" && { "mcp-name": named }),
        ...more.headers,
      };
      const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const message = { jsonrpc: "2.0", id: more.id ?? 1, method, params: { ...params, _meta: metaOf(more) } };
      return post(message, Object.fromEntries(given), more.signal);
    },
  };
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
    leave: async () => reading()?.leave(),
  };
}

interface Blocks {
  next(): Promise<string | undefined>;
  leave(): Promise<void>;
}

/** The blocks of an event stream, which end with an empty line. */
function blocksOf(body: ReadableStream<Uint8Array>): Blocks {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  return { next, leave: () => reader.cancel() };
}

function messageOf(block: string): RawMessage | string {
  if (block.startsWith(":")) return block;
  const data = block.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  return JSON.parse(data.join("\n")) as RawMessage;
}
