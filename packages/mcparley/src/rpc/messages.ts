import { notJson } from "./json-values.ts";
import { repairJson } from "./well-formed.ts";

/** A JSON object with unknown members. */
export type JsonObject = Record<string, unknown>;

/** Identifies a request: a string or an integer, never null. `1` and `"1"` are two different ids. */
export type RequestId = string | number;

/** A JSON-RPC request. */
export interface JsonRpcRequest {
  jsonrpc: "2.0";
  /** The id that the response repeats. Unique among open requests of the sender. */
  id: RequestId;
  /** The method, such as `tools/call`. */
  method: string;
  /** The params of the request. Default: none. */
  params?: JsonObject;
}

/** A JSON-RPC notification, which has no response. */
export interface JsonRpcNotification {
  jsonrpc: "2.0";
  /** The method, such as `notifications/progress`. */
  method: string;
  /** The params of the notification. Default: none. */
  params?: JsonObject;
}

/** A JSON-RPC response with a result. */
export interface JsonRpcSuccess {
  jsonrpc: "2.0";
  /** The id of the request. */
  id: RequestId;
  /** The result, an object. A server may send one that it has serialized in advance. */
  result: JsonObject | Prepared;
}

/** The `error` member of a JSON-RPC response. */
export interface JsonRpcErrorBody {
  /** The error code, such as -32602. */
  code: number;
  /** A description for people. */
  message: string;
  /** Any JSON value. Default: none. */
  data?: unknown;
}

/** An error response. It has no `id` if the id of the request could not be read. */
export interface JsonRpcFailure {
  jsonrpc: "2.0";
  /** The id of the request. Missing if the request could not be read. */
  id?: RequestId;
  /** The code, message and data of the error. */
  error: JsonRpcErrorBody;
}

/** A JSON-RPC response. */
export type JsonRpcResponse = JsonRpcSuccess | JsonRpcFailure;

/** Any JSON-RPC message. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/**
 * A result that was serialized in advance, such as a page of a list.
 *
 * Several responses share it, so the value must be frozen.
 */
export class Prepared {
  readonly value: JsonObject;
  readonly json: string;
  /** The parsed text. Undefined until the value is sent in memory. */
  parsed: JsonObject | undefined;

  constructor(value: JsonObject) {
    this.value = value;
    this.json = repairJson(JSON.stringify(value));
  }

  /** Returns the parsed text, so that a copy in memory reads no getters of the value. */
  toJSON(): JsonObject {
    return (this.parsed ??= JSON.parse(this.json) as JsonObject);
  }
}

/**
 * Returns whether a value can be the id of a request (JSON-RPC 2.0 section 4): a string or a safe integer. JSON.parse rounds
 * other integers, and a lone surrogate cannot be sent, so the response would have another id.
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" ? value.isWellFormed() : Number.isSafeInteger(value);
}

/** Returns whether a value is an object, and neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an empty array. */
export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Returns whether a value is a list of strings. */
export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

/** Returns whether a value is an array. Unlike `Array.isArray`, it also recognizes the type of a read-only array. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** A parsed value with the kind of message that it is. */
export type Classified =
  | { kind: "request"; message: JsonRpcRequest }
  | { kind: "notification"; message: JsonRpcNotification }
  | { kind: "response"; message: JsonRpcResponse }
  | { kind: "invalid"; reason: string; id: RequestId | undefined };

/**
 * Returns the kind of message that a parsed value is, or the reason why it is invalid.
 *
 * Unknown members are ignored. Keys are compared exactly, because a case-insensitive reader accepts messages that a filter
 * in front of it did not recognize. A member that is null is absent, except the id. An empty array, which PHP writes for an empty
 * object, is an empty object. `maxIdLength` is in characters; the result never contains a longer id.
 */
export function classify(value: unknown, maxIdLength: number = Infinity): Classified {
  if (!isObject(value)) return invalid("a message must be a JSON object", undefined);
  const id = isRequestId(value.id) ? value.id : undefined;
  if (typeof id === "string" && id.length > maxIdLength) {
    return invalid(`"id" must have at most ${maxIdLength} characters`, undefined);
  }
  if (value.jsonrpc !== "2.0") return invalid('"jsonrpc" must be "2.0"', id);
  if (value.method === undefined || value.method === null) return classifyResponse(value, id);
  if (typeof value.method !== "string") return invalid('"method" must be a string', id);
  if (value.params !== undefined && !isObject(value.params)) {
    if (value.params !== null && !isEmptyList(value.params)) return invalid('"params" must be an object', id);
    const { params: _, ...otherMembers } = value;
    return classify(otherMembers, maxIdLength);
  }
  if (!("id" in value)) return { kind: "notification", message: value as unknown as JsonRpcNotification };
  if (id === undefined) return invalid('"id" must be a string or a safe integer, never null', undefined);
  return { kind: "request", message: value as unknown as JsonRpcRequest };
}

function classifyResponse(value: JsonObject, id: RequestId | undefined): Classified {
  const { error, result } = value;
  if (error !== undefined && error !== null) {
    const readable = isObject(error) && Number.isInteger(error.code) && typeof error.message === "string";
    if (!readable) return invalid('"error" must be an object with an integer "code" and a string "message"', id);
    return { kind: "response", message: value as unknown as JsonRpcFailure };
  }
  if (id === undefined && "result" in value && "id" in value) {
    return invalid(
      `the "id" of a response must be that of its request, not ${JSON.stringify(value.id)?.slice(0, 100)}`,
      undefined,
    );
  }
  if (id === undefined || !("result" in value)) {
    return invalid('a message needs a "method", or an "id" with a "result" or an "error"', id);
  }
  if (result === null || isEmptyList(result)) return { kind: "response", message: success(id, {}) };
  if (!isObject(result)) return invalid('"result" must be an object', id);
  if ("error" in value) return { kind: "response", message: success(id, result) };
  return { kind: "response", message: value as unknown as JsonRpcSuccess };
}

function invalid(reason: string, id: RequestId | undefined): Classified {
  return { kind: "invalid", reason, id };
}

/** Returns whether a valid message is a request. */
export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}

/** Returns whether a valid message is a notification. */
export function isNotification(message: JsonRpcMessage): message is JsonRpcNotification {
  return "method" in message && !("id" in message);
}

/** Returns whether a valid message is an error response. */
export function isFailure(message: JsonRpcMessage): message is JsonRpcFailure {
  return "error" in message;
}

/** Makes a successful response. */
export function success(id: RequestId, result: JsonObject | Prepared): JsonRpcSuccess {
  return { jsonrpc: "2.0", id, result };
}

/** Makes an error response. Omits the id if it is undefined, because the request could not be read. */
export function failure(id: RequestId | undefined, error: JsonRpcErrorBody): JsonRpcFailure {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

/** Makes a notification. */
export function notification(method: string, params?: JsonObject): JsonRpcNotification {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

/**
 * Serializes a message as one line of JSON, without a line break. For custom transports.
 *
 * Use it instead of `JSON.stringify`. Some results of a server are serialized in advance, and their text is inserted unchanged.
 * A lone surrogate, such as half of an emoji that `slice` has cut, becomes U+FFFD. Most readers in other languages refuse a
 * message that contains one.
 *
 * @example
 * ```ts
 * import { encode, type JsonRpcMessage } from "mcparley";
 *
 * function send(socket: WebSocket, message: JsonRpcMessage): void {
 *   socket.send(encode(message));
 * }
 * ```
 */
export function encode(message: JsonRpcMessage): string {
  if ("result" in message && message.result instanceof Prepared) {
    return `${beginningOf(message.id)}${message.result.json}}`;
  }
  try {
    return repairJson(JSON.stringify(message));
  } catch (error) {
    throw notJson(message, "", error) ?? error;
  }
}

/** Returns the JSON text of a successful response up to its result. */
export function beginningOf(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}
