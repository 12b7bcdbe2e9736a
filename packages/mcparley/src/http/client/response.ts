import type { Clock } from "../../rpc/clock.ts";
import { LocalError, ProtocolError, isTransient } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type JsonObject, type JsonRpcErrorBody, type RequestId, isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";
import type * as Explanations from "./explanations.ts";
import type { PostedRequest } from "./posted.ts";
import type { HttpReply } from "./reply.ts";
import type { SessionRefusal } from "./lost-session.ts";

const EXCERPT_BYTES = 1_024;
/** Maximum size of the beginning of an error body in which its explanation is searched. */
const EXPLAINED_BYTES = 8_192;
const DISCARDED_BYTES = 65_536;
/** Maximum size of an error body that is searched for JSON-RPC errors. */
const ERROR_BYTES = 1_048_576;

/** Reads the JSON value of a successful response. Throws `invalid_message` if it has none, and `too_large`. */
export async function readJson(response: HttpReply, what: string, limit: number): Promise<unknown> {
  if (!isJson(response)) {
    discard(response);
    const { status } = response;
    const type = mediaType(response);
    const content = type === "" ? "no content" : `content of type "${type.slice(0, 100)}"`;
    const message = `The server answered ${what} with ${status} and ${content} instead of JSON. Is this the URL of an MCP endpoint?`;
    throw new LocalError("invalid_message", message, { data: { status, contentType: type } });
  }
  const text = await readText(response, limit);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const excerpt = JSON.stringify(redact(text.slice(0, 200)));
    throw new LocalError("invalid_message", `The reply to ${what} is not valid JSON: ${excerpt}.`, { cause });
  }
}

/** The session that a request named. It recognizes the refusals of a server that does not know it. */
interface NamedSession {
  /** Makes the error of a refusal. */
  refusal(response: HttpReply, what: string): Promise<LocalError>;
  /** Returns the error of the session if a refusal shows that the server does not know it. */
  lossIn(what: string, refusal: SessionRefusal): Promise<LocalError | undefined>;
}

/**
 * Reads a response with an error status. Returns the JSON-RPC errors in it that answer the request of the POST.
 *
 * Throws `LocalError` if the response contains none, or if its status asks for a later request: `session_lost`,
 * `unauthorized` or `http`. `session`: the one that the request named. An error without an id gets the id of the request,
 * since it came in response to it.
 */
export async function readRefusal(
  response: HttpReply,
  { id, what, isInitialize }: PostedRequest,
  { session, clock }: { session: NamedSession | undefined; clock: Clock },
): Promise<Refusal[]> {
  if (asksForAuthorization(response) || !isJson(response)) {
    throw await (session ? session.refusal(response, what) : statusError(response, what, clock));
  }
  const { status } = response;
  // A longer body cannot be parsed without its end. Its error is then made from the status.
  const text = await readStart(response, ERROR_BYTES);
  const { errors, isAddressed } = errorsFor(id, text);
  // In a session 404 means that the session has ended (2025-11-25, transports, "Session Management"), even if
  // the body contains an error. Servers that use 404 for unknown methods are the exception. A server that names the request has
  // read it, so other statuses do not show whether the error is about the session of MCP.
  const isMethodNotFound = errors.some(({ error }) => isObject(error) && error.code === ErrorCode.MethodNotFound);
  const loss = isMethodNotFound ? undefined : await session?.lossIn(what, { status, text, isAddressed });
  if (loss) throw loss;
  const [first] = errors;
  // A busy status with `Retry-After` asks for a later request. Errors of MCP itself do not depend on time.
  const isOfMcp = errors.some(({ error: { code } }) => code >= -32_029 && code <= -32_020);
  // In a handshake, an internal error must not be mistaken for the refusal of a revision.
  const isHandshake = isInitialize || what === Method.discover;
  // Otherwise 500 does not ask for a later request: it is the status of an internal error.
  const isFailing = isTransient(status) && (isHandshake || status !== 500);
  if (first && (isOfMcp || !isFailing)) return errors;
  throw await errorOf(response, { what, text, clock, cause: first && ProtocolError.from(first.error) });
}

type Refusal = JsonObject & { error: JsonRpcErrorBody };

/** Returns the JSON-RPC errors that answer a request. `isAddressed` is true if one of them has the id of the request. */
function errorsFor(id: RequestId, text: string): { errors: Refusal[]; isAddressed: boolean } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { errors: [], isAddressed: false };
  }
  const candidates = (Array.isArray(value) ? value : [value]).filter(isRefusal);
  const errors = candidates
    .map((error): Refusal => ({ ...error, id: error.id ?? id }))
    .filter((error) => error.id === id);
  return { errors, isAddressed: candidates.some((error) => error.id === id) };
}

function isRefusal(value: unknown): value is Refusal {
  return isObject(value) && value.jsonrpc === "2.0" && isObject(value.error) && typeof value.error.code === "number";
}

/** Whether a response asks for authorization. No authorization changes a 403 without a challenge. */
export function asksForAuthorization({ status, headers }: HttpReply): boolean {
  return status === 401 || (status === 403 && headers.has("www-authenticate"));
}

/** Loads the explanations of failed requests. Returns undefined if a browser cannot load them, because the network is down. */
export function loadExplanations(): Promise<typeof Explanations | undefined> {
  return import("./explanations.ts").catch(() => undefined);
}

/** Makes the error for a response with an error status. Reads the beginning of its body. */
export async function statusError(response: HttpReply, what: string, clock: Clock): Promise<LocalError> {
  // If the body cannot be read completely, the error is made from the status alone.
  const text = await readStart(response, EXPLAINED_BYTES).catch(() => "");
  return errorOf(response, { what, text: text.replace(/\s+/g, " ").trim(), clock });
}

/** `text` is the body or its beginning. `data.body` of the error is an excerpt of it, with secrets redacted. */
async function errorOf(
  response: HttpReply,
  { what, text, clock, cause }: { what: string; text: string; clock: Clock; cause?: Error | undefined },
): Promise<LocalError> {
  const { status, statusText } = response;
  const body = redact(text.slice(0, EXCERPT_BYTES));
  const explanation = text === "" ? "" : ((await loadExplanations())?.explanationIn(text) ?? "");
  const reason = explanation === "" ? "." : `: ${explanation}`;
  if (asksForAuthorization(response) || status === 403) {
    const challenge = response.headers.get("www-authenticate") ?? undefined;
    const cure = status === 401 ? "requires authorization" : "denies access";
    const message = `The server ${cure} (${status}) for ${what}${reason}`;
    return new LocalError("unauthorized", message, { data: { status, challenge, body } });
  }
  const name = statusText === "" ? "" : ` ${redact(statusText)}`;
  const message = `The server answered ${what} with ${status}${name}${reason}`;
  const retryAfterMs = readRetryAfter(response, clock);
  return new LocalError("http", message, {
    cause,
    data: retryAfterMs === undefined ? { status, body } : { status, body, retryAfterMs },
  });
}

/** Returns the milliseconds that the server asks to wait, given as seconds or a date (RFC 9110, 10.2.3). */
function readRetryAfter(response: HttpReply, clock: Clock): number | undefined {
  const value = response.headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - clock.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Reads a short JSON reply that is not needed. Returns undefined for another reply. */
export async function readShortJson(response: HttpReply): Promise<unknown> {
  if (!isJson(response)) {
    discard(response);
    return undefined;
  }
  try {
    return JSON.parse(await readStart(response, DISCARDED_BYTES));
  } catch {
    return undefined;
  }
}

/** Reads a body as text. Rejects with `LocalError` `too_large` as soon as it has more than `limit` bytes. */
export function readText(response: HttpReply, limit: number): Promise<string> {
  const length = response.headers.get("content-length");
  const isPlain = length !== null && !response.headers.has("content-encoding");
  // HTTP itself limits a plain body to its announced length. A compressed body may have any size.
  if (isPlain && Number(length) <= limit) return response.text();
  return readStart(response, limit, () => {
    const message = `The server answered with more than ${limit} bytes. Raise limits.message.`;
    throw new LocalError("too_large", message, { data: { limit } });
  });
}

/** Ends a response that is not needed. A short body is read, so that its connection can be used again. */
export function discard(response: HttpReply): void {
  const ending = isEventStream(response) ? response.body?.cancel() : readStart(response, DISCARDED_BYTES);
  ending?.catch(() => {});
}

/** Reads a body as text up to a limit. `onRest` is called if there is more. */
async function readStart({ body }: HttpReply, limit: number, onRest?: () => void): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(decoder.decode(next.value.subarray(0, limit - size), { stream: true }));
    size += next.value.length;
    if (size <= limit) continue;
    await reader.cancel().catch(() => {});
    onRest?.();
    return parts.join("");
  }
  return parts.join("") + decoder.decode();
}

export function isEventStream(response: HttpReply): boolean {
  return mediaType(response) === "text/event-stream";
}

function isJson(response: HttpReply): boolean {
  const type = mediaType(response);
  return type === "application/json" || type.endsWith("+json");
}

function mediaType(response: HttpReply): string {
  const type = response.headers.get("content-type") ?? "";
  return type === "application/json" ? type : (type.split(";", 1)[0] ?? "").trim().toLowerCase();
}
