import { LocalError } from "../../rpc/errors.ts";
import {
  type JsonRpcMessage,
  type JsonRpcRequest,
  type RequestId,
  encode,
  isObject,
  isRequest,
  isRequestId,
} from "../../rpc/messages.ts";
import { encodeHeaderValue } from "../../mcp/headers/header-values.ts";
import { MetaKey, Method } from "../../mcp/methods.ts";
import { METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER } from "../header-names.ts";

/** Maximum bytes of a reply, unless the target or the request has another limit. */
export const defaultReplyLimit = 16_777_216;

/** One POST and the requests in it that have no response yet. */
export interface Posted {
  readonly waiting: Set<RequestId>;
  /** The methods of the requests, for error messages. */
  readonly what: string;
  readonly isModern: boolean;
  readonly isInitialize: boolean;
  /** The POST waits for authorization or for a connection, so the server has not accepted it. */
  isHeld: boolean;
  /** Maximum bytes of a JSON response, and characters of an event that may answer. */
  limit: number;
  /** Aborts the HTTP request and the stream of its response. */
  readonly controller: AbortController;
}

/** Whether `initialize` declares a capability that allows the server to send requests. */
export function answersRequests({ params }: JsonRpcRequest): boolean {
  const { capabilities } = params ?? {};
  return isObject(capabilities) && Object.keys(capabilities).some((name) => /^(elicit|sampl|root)/.test(name));
}

/** The POSTs of a transport whose responses have not all arrived, by the id of each request. */
export class PostedRequests {
  readonly #byId = new Map<unknown, Posted>();
  readonly #open = new Set<Posted>();

  add(messages: readonly JsonRpcMessage[], controller: AbortController, limit: number = defaultReplyLimit): Posted {
    const requests = messages.filter(isRequest);
    const waiting = new Set<RequestId>();
    let isInitialize = false;
    for (const { id, method } of requests) {
      waiting.add(id);
      isInitialize ||= method === Method.initialize;
    }
    const posted: Posted = {
      waiting,
      what: namesOf(requests),
      isModern: messages.some((message) => modernVersionOf(message) !== undefined),
      isInitialize,
      isHeld: false,
      limit,
      controller,
    };
    for (const id of waiting) this.#byId.set(id, posted);
    this.#open.add(posted);
    return posted;
  }

  postOf(id: unknown): Posted | undefined {
    return this.#byId.get(id);
  }

  /** Removes the requests that a received value answers. Returns whether it answers any. */
  answeredBy(value: unknown): boolean {
    if (Array.isArray(value)) return value.map((one) => this.answeredBy(one)).includes(true);
    if (!isObject(value) || "method" in value) return false;
    return this.remove(value.id);
  }

  /** Stops waiting for one response. Returns whether the request was waiting. */
  remove(id: unknown): boolean {
    const posted = this.postOf(id);
    if (!posted || !isRequestId(id)) return false;
    posted.waiting.delete(id);
    return this.#byId.delete(id);
  }

  /** Removes a POST whose response has ended. Returns the ids that were not answered. */
  finish(posted: Posted): RequestId[] {
    this.#open.delete(posted);
    const unanswered = [...posted.waiting];
    for (const id of unanswered) this.remove(id);
    return unanswered;
  }

  /** Aborts all POSTs and their responses. */
  abortAll(reason: Error): void {
    for (const { controller } of this.#open) controller.abort(reason);
  }
}

function namesOf(requests: readonly JsonRpcRequest[]): string {
  const [first] = requests;
  const names =
    requests.length === 1 && first ? first.method : [...new Set(requests.map(({ method }) => method))].join(", ");
  return names.slice(0, 200);
}

/** Throws `invalid_message` if a response has left requests of its POST without an answer. */
export function requireAnswers({ waiting, what }: Posted): void {
  if (waiting.size === 0) return;
  const ids = [...waiting].map((id) => JSON.stringify(id)).join(", ");
  throw new LocalError("invalid_message", `The reply to ${what} contains no response with the id ${ids}.`);
}

/** Returns the JSON of a message or a batch. */
export function encodeAll(message: JsonRpcMessage | JsonRpcMessage[]): string {
  return Array.isArray(message) ? `[${message.map(encode).join(",")}]` : encode(message);
}

/** Returns the protocol version in the `_meta` of a message. Only modern messages have one. */
export function modernVersionOf(message: JsonRpcMessage): string | undefined {
  const meta = "method" in message ? message.params?._meta : undefined;
  const version = isObject(meta) ? meta[MetaKey.protocolVersion] : undefined;
  return typeof version === "string" ? version : undefined;
}

/**
 * Returns the headers that mirror a modern message (2026-07-28, Streamable HTTP, "Request Metadata").
 *
 * Throws `LocalError` `invalid_message` for a method or version that no header can carry: only names and arguments may
 * be encoded.
 */
export function modernHeaders(message: JsonRpcMessage, version: string): Record<string, string> {
  const headers: Record<string, string> = { [PROTOCOL_VERSION_HEADER]: requirePlain(version) };
  if (!("method" in message)) return headers;
  const { method, params } = message;
  headers[METHOD_HEADER] = requirePlain(method);
  const isNamed = method === Method.callTool || method === Method.getPrompt || method === Method.readResource;
  const name = method === Method.readResource ? params?.uri : params?.name;
  if (isNamed && typeof name === "string") headers[NAME_HEADER] = encodeHeaderValue(name);
  return headers;
}

function requirePlain(value: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return value;
  throw new LocalError(
    "invalid_message",
    `${JSON.stringify(value.slice(0, 100))} cannot be sent in an HTTP header; use printable ASCII.`,
  );
}
