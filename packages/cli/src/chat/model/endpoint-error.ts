import { LocalError, redact } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { visibleLine } from "../../terminal/text.ts";
import type { BuiltInProvider } from "./built-in-providers.ts";

/** Maximum number of characters of an endpoint's message. */
const maxMessage = 300;

/** The facts of a failure, by which the host decides whether it repeats the request. */
interface FailureFacts {
  /** The HTTP status of the reply. */
  readonly status?: number;
  /** The headers of the reply. Only those about the time of the next request are kept. */
  readonly headers?: Headers;
  /** The code of the connection, or the name and message of an error of the provider's package. It contains nothing of the request. */
  readonly cause?: { readonly code: string } | { readonly name: string; readonly message: string };
}

/**
 * The failure of a request to an endpoint. The message is for the user: fact, value and cure, without the key.
 *
 * Its cause is no error of `fetch` or of a provider, because these contain the request with its headers.
 */
export class EndpointError extends LocalError {
  override readonly name = "EndpointError";

  /** The status of the reply with which the endpoint refused the request. Undefined for other failures. */
  readonly status: number | undefined;

  /** The headers of the reply that the host reads, as an error of the AI SDK has them. */
  readonly responseHeaders: Readonly<Record<string, string>>;

  constructor(
    message: string,
    code: "http" | "unauthorized" | "unreachable" | "timeout" = "http",
    { status, headers, cause }: FailureFacts = {},
  ) {
    super(code, message, { cause });
    this.status = status;
    const times = [...(headers ?? [])].filter(([name]) => name === "date" || name.startsWith("retry-after"));
    this.responseHeaders = Object.fromEntries(times);
  }
}

/** An endpoint in the format of OpenAI's chat completions, with what its errors name. */
export interface Endpoint {
  /** The URL before `/chat/completions`. */
  readonly href: string;
  readonly origin: string;
  /** The model's name at the endpoint. */
  readonly model: string;
  /** The key. It is sent to the origin only. */
  readonly key: string | undefined;
  /** The variable with the key. */
  readonly keyEnv: string | undefined;
  /** Undefined for the endpoint of `--base-url`. */
  readonly provider: BuiltInProvider | undefined;
}

/** Returns the error for a reply that is not an answer of the model. `text` is the start of its body. */
export function replyError(endpoint: Endpoint, { status, headers }: Response, text: string): EndpointError {
  const { model, keyEnv } = endpoint;
  const title = titleOf(endpoint);
  const message = messageOf(endpoint, text);
  const reason = message === undefined ? "." : `: ${message}`;
  const refusal = (fact: string, cure: string): EndpointError =>
    new EndpointError(`${title} ${fact} ${cure}`, "http", { status, headers });
  if (status >= 300 && status < 400) return redirectError(endpoint, status, headers.get("location"));
  const contentType = headers.get("content-type") ?? "";
  if (/\bhtml\b/i.test(contentType)) {
    // A proxy answers so in place of an endpoint that restarts.
    const fact = `answered with a web page (HTTP status ${status}) instead of the answer of a model.`;
    return refusal(fact, addressCure(endpoint));
  }
  if (status === 401) {
    // Endpoints repeat parts of the key in their message.
    const fact = keyEnv === undefined ? "requires a key (HTTP status 401)." : "rejected the key (HTTP status 401).";
    const cure = keyEnv === undefined ? "Name the variable that has it with --api-key-env NAME." : keyCure(keyEnv);
    return new EndpointError(`${title} ${fact} ${cure}`, "unauthorized");
  }
  if (status === 403) {
    const fact = `refused the request (HTTP status 403)${reason}`;
    return new EndpointError(`${title} ${fact} ${keyCure(keyEnv)}`, "unauthorized");
  }
  if (status === 404) {
    return refusal(`did not find the model "${visibleLine(model)}" (HTTP status 404)${reason}`, modelCure(endpoint));
  }
  if (status === 429) {
    const retryAfter = headers.get("retry-after") ?? "";
    const wait = /^\d{1,6}$/.test(retryAfter) ? `Try again in ${retryAfter} seconds` : "Try again later";
    const cure = `${wait}, or check the limits and the credit of your account.`;
    return refusal(`limits the requests (HTTP status 429)${reason}`, cure);
  }
  if (status >= 500) return refusal(`failed (HTTP status ${status})${reason}`, "Try again later.");
  if (status >= 200 && status < 300) {
    const fact = `answered with ${visibleLine(contentType) || "no content type"} instead of an event stream${reason}`;
    return new EndpointError(`${title} ${fact} ${addressCure(endpoint)}`);
  }
  const cure = /does not support tools|tool[ -]call|tool choice/i.test(message ?? "")
    ? "Choose a model that can call tools, or enable them in the settings of the endpoint."
    : "Check the name of the model and its limits.";
  return refusal(`rejected the request (HTTP status ${status})${reason}`, cure);
}

/** Returns the error for a redirect. The request, its key and the conversation are not sent to the target. */
function redirectError(endpoint: Endpoint, status: number, location: string | null): EndpointError {
  const base = `${endpoint.href}/chat/completions`;
  const target = location !== null && URL.canParse(location, base) ? new URL(location, base) : undefined;
  const fact = `${titleOf(endpoint)} redirects to ${target ? target.origin : "an invalid address"} (HTTP status ${status}).`;
  const cure =
    target && target.origin !== endpoint.origin
      ? `Nothing was sent there. If you trust it, name it: --base-url ${target.origin}/... with --api-key-env NAME.`
      : addressCure(endpoint);
  return new EndpointError(`${fact} ${cure}`);
}

/** The codes of a connection on which no reply, or no further part of it, arrives. */
const replyTimeout = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/;

/** Errors of a connection, by their codes, with the cure. */
const connectionErrors: readonly (readonly [codes: RegExp, fact: string, cure: string])[] = [
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, "has a host that is not found", "Check its name and your connection to the network."],
  [
    /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/,
    "cannot be reached",
    "Check its address, the network and firewalls.",
  ],
  [replyTimeout, "sent nothing for five minutes", "Try again, or use a smaller model."],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/,
    "has a certificate that is not trusted",
    "Name the file with the certificate of its authority in the variable NODE_EXTRA_CA_CERTS.",
  ],
  [/^(?:EPROTO|ERR_SSL_\w+)$/, "does not speak TLS", "Write its address with http:// if it is on this machine."],
  [/^HPE_/, "does not speak HTTP", "Check its port."],
];

/** Returns the error for a request without a complete reply. */
export function connectionError(endpoint: Endpoint, error: unknown): EndpointError {
  // The message of a failed proxy names the proxy, without its password.
  if (error instanceof LocalError) {
    const facts = { cause: { code: codeOf(error.cause) || error.code } };
    return new EndpointError(`${titleOf(endpoint)} cannot be reached. ${error.message}`, "unreachable", facts);
  }
  const code = codeOf(error);
  const { provider, origin } = endpoint;
  if (code === "ECONNREFUSED") {
    const name = provider ? provider.title : "A model endpoint";
    const cure =
      provider?.start === undefined ? "Start it, or check its address." : `Start it with \`${provider.start}\`.`;
    return new EndpointError(`${name} is not running at ${origin}. ${cure}`, "unreachable", { cause: { code } });
  }
  const [codes, fact, cure] = connectionErrors.find((entry) => entry[0].test(code)) ?? [
    undefined,
    "closed the connection before the answer was complete",
    "Try again.",
  ];
  return new EndpointError(
    `${titleOf(endpoint)} ${fact}${code === "" ? "" : ` (${code})`}. ${cure}`,
    codes === replyTimeout ? "timeout" : "unreachable",
    { cause: { code: code || "ECONNRESET" } },
  );
}

/** Returns the error for a part of the answer that the endpoint or the reader of its format reports. */
export function streamError(endpoint: Endpoint, error: unknown): EndpointError {
  if (error instanceof EndpointError) return error;
  const message = typeof error === "string" ? error : isObject(error) ? error.message : undefined;
  const text = shownMessage(endpoint, typeof message === "string" ? message : "unknown error");
  if (error instanceof Error && /JSONParse|TypeValidation/.test(error.name)) {
    const cure = "Use a package for its provider: --provider PACKAGE#export.";
    return new EndpointError(`${titleOf(endpoint)} sent an answer in another format: ${text} ${cure}`);
  }
  // The host recognizes the early end of a stream by this error.
  const isInvalid = error instanceof Error && error.name === "AI_InvalidResponseDataError";
  const facts = isInvalid ? { cause: { name: error.name, message: text } } : {};
  return new EndpointError(`${titleOf(endpoint)} failed within the answer: ${text} Try again.`, "http", facts);
}

/** Returns the start of an error's sentence: the provider or the endpoint, with its origin. */
function titleOf({ provider, origin }: Endpoint): string {
  return provider ? `${provider.title} at ${origin}` : `The endpoint ${origin}`;
}

function keyCure(keyEnv: string | undefined): string {
  return keyEnv === undefined
    ? "If it requires a key, name the variable that has it with --api-key-env NAME."
    : `Check the key in the variable ${keyEnv}.`;
}

function modelCure(endpoint: Endpoint): string {
  const { provider, model } = endpoint;
  const install = provider?.install && `Install it: ${provider.install(visibleLine(model))}.`;
  const list = provider?.list && `List the models: ${provider.list}.`;
  return [install, list].filter(Boolean).join(" ") || `Check the name of the model. ${addressCure(endpoint)}`;
}

function addressCure({ provider }: Endpoint): string {
  return provider
    ? "Check that no proxy or other program answers in its place."
    : 'Check the address of --base-url. It usually ends with "/v1".';
}

/** Returns the message in the body of a reply, as a sentence without the key. */
function messageOf(endpoint: Endpoint, body: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const message = messageIn(value);
  return message === undefined ? undefined : shownMessage(endpoint, message);
}

/** Returns the message of an error document. Endpoints differ in the member that has it. */
function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (Array.isArray(value)) return messageIn(value[0], depth + 1);
  if (!isObject(value) || depth > 4) return undefined;
  for (const name of ["error", "message", "detail", "msg"]) {
    const message = messageIn(value[name], depth + 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Returns an endpoint's message as one safe sentence without the key. */
function shownMessage({ key }: Endpoint, message: string): string {
  const withoutKey = key === undefined ? message : message.replaceAll(key, "[redacted]");
  const line = visibleLine(redact(withoutKey));
  const sentence = line.length > maxMessage ? `${line.slice(0, maxMessage)}…` : line;
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Returns the code of a failed connection, which is in one of the causes of an error of `fetch`. */
function codeOf(failure: unknown): string {
  for (let error = failure, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    if ("code" in error && typeof error.code === "string") return error.code;
    // An attempt for each address of a name.
    if (error instanceof AggregateError) return codeOf(error.errors[0]);
  }
  return "";
}
