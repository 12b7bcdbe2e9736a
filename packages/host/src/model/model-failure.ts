import { LocalError, redact } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { type LanguageModel, modelName } from "./language-model.ts";

/** Maximum number of characters of a provider's message. */
const maxMessage = 500;
/** Maximum number of characters that are read of a message. */
const maxRead = 16_384;
/** Characters at the end of a cut message that are not shown, because they can be the start of a secret that is not recognized. */
const maxCut = 1_024;

/**
 * Returns the error for a failed request to a model. It has only the status and the redacted message of the provider's error, because
 * that error also contains the request, its headers and the body of the response. A `LocalError` of the model is returned as it is:
 * its message is for the user, and has no secret.
 */
export function modelError(model: LanguageModel, cause: unknown): Error {
  if (cause instanceof LocalError) return cause;
  const name = modelName(model);
  const status = statusOf(cause);
  if (status === 401 || status === 403) {
    // Providers repeat the rejected key in the message.
    return new Error(
      `The model "${name}" rejected the credentials (HTTP status ${status}). Check the key of its provider.`,
    );
  }
  const message = messageOf(cause);
  const start = withoutKeys(redact(message.slice(0, maxRead)), model);
  const reason = (message.length > maxRead ? start.slice(0, -maxCut) : start).slice(0, maxMessage);
  const problem = redirectOf(cause, model) ?? reason;
  return new Error(`The model "${name}" failed${status === undefined ? "" : ` (HTTP status ${status})`}: ${problem}`);
}

/** Returns a sentence about a redirect, which requests to models do not follow. Undefined if the response is none. */
function redirectOf(cause: unknown, model: LanguageModel): string | undefined {
  const status = statusOf(cause) ?? 0;
  const headers = isObject(cause) && isObject(cause.responseHeaders) ? headerReader(cause.responseHeaders) : undefined;
  const location = headers?.("location").slice(0, maxMessage);
  if (status < 300 || status > 399 || !location) return undefined;
  const parts = redact(location.replace(/[?#].*$/s, "")).split("/");
  const address = parts.map((part) => withoutKeys(part, model)).join("/");
  return `The endpoint has moved to "${address}", and the request was not sent there. Change the address of the model.`;
}

/** A long word. It looks like a key if it mixes letters and digits. */
const longWord = /[\w.~+/=-]{20}[\w.~+/=-]*/g;

/** Returns a message without words that look like keys. A provider may repeat the key, whatever the status is. */
function withoutKeys(message: string, { modelId }: LanguageModel): string {
  return message.replaceAll(longWord, (word) =>
    /[a-z]/i.test(word) && /\d/.test(word) && !word.includes(modelId) ? "[redacted]" : word,
  );
}

/** Returns the message of an error of a provider. It can contain parts of the request. */
export function messageOf(cause: unknown): string {
  if (typeof cause === "string") return cause;
  return isObject(cause) && typeof cause.message === "string" ? cause.message : "unknown error";
}

/** A failed request to a model, as far as it decides whether the request is repeated. */
export interface ModelFailure {
  /** The HTTP status. Undefined if the endpoint did not answer, or if the provider does not report it. */
  readonly status: number | undefined;
  /** Whether the same request can succeed later. */
  readonly isTemporary: boolean;
  /** Milliseconds that the endpoint asks to wait. Undefined if it does not ask. */
  readonly retryAfter: number | undefined;
}

/** The failure of a stream that ends before it has delivered a part of the answer. */
export const earlyEnd = { message: "The stream ended before the answer was complete.", isRetryable: true } as const;

/**
 * Reads the error of a model: an `APICallError` of the AI SDK, an error of `fetch`, or an object with the members of one. `now` is
 * the present time in milliseconds since 1970.
 */
export function readFailure(cause: unknown, now: number): ModelFailure {
  const { isRetryable, responseHeaders } = isObject(cause) ? cause : {};
  const status = statusOf(cause);
  const isTemporary = isTemporaryStatus(status) ?? isTemporaryCause(cause) ?? isRetryable === true;
  return {
    status,
    // A provider can report that a usually temporary status will not change.
    isTemporary: isRetryable !== false && isTemporary,
    retryAfter: isObject(responseHeaders) ? retryAfterOf(responseHeaders, now) : undefined,
  };
}

/** Returns the HTTP status of an error. Providers report errors within a stream as the status or as a numeric code. */
export function statusOf(cause: unknown): number | undefined {
  if (!isObject(cause)) return undefined;
  const candidates = [cause.statusCode, cause.status, cause.code];
  return candidates.find(
    (value): value is number => Number.isInteger(value) && Number(value) >= 100 && Number(value) < 600,
  );
}

/** Returns whether the code of a provider's package refused a request. It sends nothing then. */
export function isUnsupported(cause: unknown): boolean {
  return (
    isObject(cause) && /^AI_(?:UnsupportedFunctionality|InvalidPrompt|InvalidArgument)Error$/.test(String(cause.name))
  );
}

/** Returns whether a status is temporary. Undefined if the request had none, or if the answer had begun. */
function isTemporaryStatus(status: number | undefined): boolean | undefined {
  if (status === undefined || status < 300) return undefined;
  // 501 and 505 state that the endpoint never answers such a request.
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/**
 * Codes of connections that can succeed later. A host that is not found (`ENOTFOUND`) and a certificate that is not trusted are
 * permanent. An endpoint that sent nothing for minutes (`UND_ERR_HEADERS_TIMEOUT`) would need as long again.
 */
const temporaryCodes: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** Maximum number of causes that are read. */
const maxCauses = 5;

/**
 * Returns whether one of the causes of an error is a connection that can succeed later, or a stream that ended early. Undefined if no
 * cause is known. Errors of `fetch` have the code of the connection in a cause.
 */
function isTemporaryCause(cause: unknown): boolean | undefined {
  for (let error = cause, depth = 0; isObject(error) && depth < maxCauses; depth += 1) {
    const { code, name, message } = error;
    if (typeof code === "string" && /^[A-Z][A-Z\d_]+$/.test(code)) return temporaryCodes.has(code);
    // The packages of the AI SDK report the early end of a stream as this error.
    if (name === "AI_InvalidResponseDataError" && /\bstream ended\b/i.test(String(message))) return true;
    // One error for each address of a host.
    error = Array.isArray(error.errors) ? error.errors[0] : error.cause;
  }
  return undefined;
}

/** Returns the wait of the headers `retry-after-ms` and `retry-after`. Undefined without a time in the future. */
function retryAfterOf(headers: object, now: number): number | undefined {
  const text = headerReader(headers);
  const milliseconds = numberOf(text("retry-after-ms"));
  if (milliseconds !== undefined) return positive(milliseconds);
  const seconds = numberOf(text("retry-after"));
  if (seconds !== undefined) return positive(seconds * 1000);
  // Compared with the time of the endpoint, because the clock of this machine can be wrong.
  return positive(dateOf(text("retry-after")) - (dateOf(text("date")) || now));
}

/** Returns a function that returns the value of a header, or an empty text. */
function headerReader(headers: object): (name: string) => string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const values = new Map(entries.map(([name, value]): [string, unknown] => [name.toLowerCase(), value]));
  return (name) => {
    const value = values.get(name);
    return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
  };
}

/** Returns the time of a date with the name of its day, or of an ISO date. `Date.parse` also reads other texts, such as "-5". */
function dateOf(text: string): number {
  return /^(?:[A-Z][a-z]+, |\d{4}-\d\d-)/.test(text) ? Date.parse(text) : NaN;
}

function numberOf(text: string): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function positive(milliseconds: number): number | undefined {
  return milliseconds > 0 ? Math.ceil(milliseconds) : undefined;
}
