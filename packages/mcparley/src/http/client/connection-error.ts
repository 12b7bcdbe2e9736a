import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";

const hints: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing is listening there"],
  ["ENOTFOUND", "the host does not exist"],
  ["EAI_AGAIN", "the name could not be resolved"],
  ["ECONNRESET", "the connection was closed"],
  ["UND_ERR_SOCKET", "the connection was closed"],
  ["UND_ERR_HEADERS_TIMEOUT", "it did not respond in time"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate authority is not trusted"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate authority is not trusted"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
]);

/** Codes of errors without a connection: address, name lookup, connect timeout (Node, undici, Bun). */
const connectCodes =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSLookupFailed)$/;
/** Codes of failed TLS handshakes. Others, such as a bad record, can also occur later on the connection. */
const tlsCodes =
  /^(?:ERR_TLS_(?:CERT_\w+|HANDSHAKE_TIMEOUT)|CERT_\w+|CRL_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|UNKNOWN_CERTIFICATE_VERIFICATION_ERROR|ERR_SSL_(?:WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|NO_\w+|[\w/]*ALERT_(?:HANDSHAKE_FAILURE|PROTOCOL_VERSION|UNRECOGNIZED_NAME)))$/;
/** Steps of the system before a connection exists. Their codes, such as ETIMEDOUT, also occur on open connections. */
const connectCalls = /^(?:connect|getaddrinfo|query\w*)$/;
/** Deno has only texts. */
const connectTexts = /client error \(Connect\)|error trying to connect: /;

/** The reason for a failed request. */
interface Reason {
  code: string | undefined;
  message: string;
  /** The request was certainly not sent, because there was no connection. */
  isUnsent: boolean;
}

/**
 * Makes the error for a request without a response: `unreachable` if the server certainly has not received the request,
 * otherwise `closed`. Browsers hide the reason, so it is always `closed` there.
 */
export function connectionError(url: URL, error: unknown): LocalError {
  const reason = reasonOf(error);
  if (reason.isUnsent) return unreachable(url, error);
  const message = `The connection to ${url.host} failed before a response arrived: ${textOf(reason)}.${cureOf(url, reason)}`;
  return new LocalError("closed", message, { cause: error, data: { host: url.host, code: reason.code } });
}

/** The messages of browsers for every failed request, also for one that CORS forbids. */
const browserTexts = /^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource)\b/;

function cureOf({ origin, protocol }: URL, { code, message }: Reason): string {
  if (code !== undefined || !browserTexts.test(message)) return "";
  const mixed = protocol === "http:" ? " An https page cannot call http." : "";
  const cors =
    "The server must allow the origin of this page by CORS: in mcparley, the options cors and allowedOrigins";
  return ` A browser hides the reason. Check that ${origin} is reachable. ${cors}.${mixed}`;
}

/** Makes the error for an unreachable server: the host and the reason of the system. */
export function unreachable(url: URL, error: unknown): LocalError {
  const reason = reasonOf(error);
  return new LocalError("unreachable", `Cannot reach ${url.host}: ${textOf(reason)}.`, {
    cause: error,
    data: { host: url.host, code: reason.code },
  });
}

function textOf({ code, message }: Reason): string {
  const hint = code === undefined ? undefined : hints.get(code);
  return redact(code === undefined ? message : hint === undefined ? code : `${code}, ${hint}`);
}

/** Engines throw `fetch failed` and put the reason into its cause, or into the first of several errors. */
function reasonOf(error: unknown): Reason {
  let at: unknown = error;
  for (let depth = 0; depth < 5; depth++) {
    const { cause, errors } = detailsOf(at);
    const next = Array.isArray(errors) && errors[0] instanceof Error ? errors[0] : cause;
    if (!(next instanceof Error)) break;
    at = next;
  }
  const { code: given, message: text, syscall } = detailsOf(at);
  const code = typeof given === "string" ? given : undefined;
  const message = String(text ?? at).replace(/\.$/, "");
  const isUnsent =
    code === undefined
      ? connectTexts.test(message)
      : connectCodes.test(code) || tlsCodes.test(code) || (typeof syscall === "string" && connectCalls.test(syscall));
  return { code, message, isUnsent };
}

function detailsOf(error: unknown): JsonObject {
  return isObject(error) ? error : {};
}
