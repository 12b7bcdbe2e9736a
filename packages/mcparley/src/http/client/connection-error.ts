import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";

/** The meaning of an error of the system or of TLS, and its cure. */
interface Hint {
  readonly meaning: string;
  readonly cure?: string;
}

const trustCure =
  "If you trust it, pass the certificate of its authority in connection.ca, or its file in NODE_EXTRA_CA_CERTS.";
const clientCertificateCure =
  "Pass a certificate that the server accepts in connection.cert, and its key in connection.key.";
const plainPort: Hint = {
  meaning: "the port does not speak TLS",
  cure: "Use an http URL if this is intended, or correct the port.",
};
const untrustedAuthority: Hint = { meaning: "its certificate authority is not trusted", cure: trustCure };

/** The first pattern that matches the whole code. */
const hints: readonly (readonly [codes: RegExp, hint: Hint])[] = [
  [/ECONNREFUSED/, { meaning: "nothing is listening there" }],
  [/ENOTFOUND/, { meaning: "the host does not exist" }],
  [/EAI_AGAIN/, { meaning: "the name could not be resolved" }],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT/, { meaning: "it did not answer in time" }],
  [/ECONNRESET|UND_ERR_SOCKET/, { meaning: "the connection was closed" }],
  [/UND_ERR_HEADERS_TIMEOUT/, { meaning: "it did not respond in time" }],
  [/DEPTH_ZERO_SELF_SIGNED_CERT/, { meaning: "its certificate is self-signed", cure: trustCure }],
  [/SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT\w*/, untrustedAuthority],
  [
    /CERT_HAS_EXPIRED/,
    { meaning: "its certificate has expired", cure: "Renew the certificate, and check the clock of this machine." },
  ],
  [
    /CERT_NOT_YET_VALID/,
    { meaning: "its certificate is not valid yet", cure: "Check the clocks of the server and of this machine." },
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    {
      meaning: "its certificate is for other host names",
      cure: "Use a host name of the certificate in the URL, or give the server a certificate for this host.",
    },
  ],
  [/ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)/, plainPort],
  [
    /ERR_SSL_.*ALERT_CERTIFICATE_REQUIRED/,
    { meaning: "it requires a client certificate", cure: clientCertificateCure },
  ],
  [
    /ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/,
    { meaning: "it rejected the client certificate", cure: clientCertificateCure },
  ],
  [
    /ERR_SSL_.*ALERT_HANDSHAKE_FAILURE/,
    { meaning: "it refused the TLS handshake", cure: `It may require a client certificate. ${clientCertificateCure}` },
  ],
];

function hintFor(code: string | undefined): Hint | undefined {
  return hints.find(([codes]) => code !== undefined && codes.exec(code)?.[0] === code)?.[1];
}

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
 * otherwise `closed`. Browsers hide the reason, so it is always `closed` there. A `LocalError` is returned unchanged.
 */
export function connectionError(url: URL, error: unknown): LocalError {
  if (error instanceof LocalError) return error;
  const reason = reasonOf(error);
  if (reason.isUnsent) return unreachable(url, error);
  const message = `The connection to ${url.host} failed before a response arrived: ${textOf(reason)}.${cureOf(url, reason)}`;
  return new LocalError("closed", message, { cause: error, data: { host: url.host, code: reason.code } });
}

/** The messages of browsers for every failed request, also for one that CORS forbids. */
const browserTexts = /^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource)\b/;

function cureOf({ origin, protocol }: URL, { code, message }: Reason): string {
  const { cure } = hintFor(code) ?? {};
  if (cure !== undefined) return ` ${cure}`;
  if (code !== undefined || !browserTexts.test(message)) return "";
  const mixedContent = protocol === "http:" ? " An https page cannot call http." : "";
  const cors =
    "The server must allow the origin of this page by CORS: in mcparley, the options cors and allowedOrigins";
  return ` A browser hides the reason. Check that ${origin} is reachable. ${cors}.${mixedContent}`;
}

/** Makes the error for an unreachable server: the host, the reason of the system, and the cure. */
export function unreachable(url: URL, error: unknown): LocalError {
  const reason = reasonOf(error);
  return new LocalError("unreachable", `Cannot reach ${url.host}: ${textOf(reason)}.${cureOf(url, reason)}`, {
    cause: error,
    data: { host: url.host, code: reason.code },
  });
}

/** Makes the error for an unreachable proxy. `setting` is the option or variable that names the proxy. */
export function unreachableProxy(url: URL, proxy: { url: URL; setting: string }, error: unknown): LocalError {
  const reason = reasonOf(error);
  const { host } = proxy.url;
  const message = `Cannot reach the proxy ${host} for ${url.host}: ${textOf(reason)}.${cureOf(proxy.url, reason)} Check ${proxy.setting}.`;
  return new LocalError("unreachable", message, {
    cause: error,
    data: { host: url.host, proxy: host, code: reason.code },
  });
}

function textOf({ code, message }: Reason): string {
  if (code === undefined) return redact(message);
  const { meaning } = hintFor(code) ?? {};
  // The message of Node ends with the host names of the certificate.
  const [, names] = /is not in the cert's altnames: (.{1,200})/.exec(message) ?? [];
  return redact([code, meaning && `, ${meaning}`, names && ` (${names})`].join(""));
}

/** Engines throw `fetch failed` and put the reason into its cause, or into the first of several errors. */
function reasonOf(error: unknown): Reason {
  let current: unknown = error;
  for (let depth = 0; depth < 5; depth++) {
    const { cause, errors } = detailsOf(current);
    const next = Array.isArray(errors) && errors[0] instanceof Error ? errors[0] : cause;
    if (!(next instanceof Error)) break;
    current = next;
  }
  const { code: systemCode, message: text, syscall } = detailsOf(current);
  const message = String(text ?? current).replace(/\.$/, "");
  const code = systemCode === "EPROTO" ? tlsCodeIn(message) : typeof systemCode === "string" ? systemCode : undefined;
  const isUnsent =
    code === undefined
      ? connectTexts.test(message)
      : connectCodes.test(code) || tlsCodes.test(code) || (typeof syscall === "string" && connectCalls.test(syscall));
  return { code, message, isUnsent };
}

/** Node reports some errors of TLS as EPROTO. The message has the text of the library, from which it makes codes otherwise. */
function tlsCodeIn(message: string): string {
  const [, text] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? [];
  return text === undefined ? "EPROTO" : `ERR_SSL_${text.toUpperCase().replaceAll(" ", "_")}`;
}

function detailsOf(error: unknown): JsonObject {
  return isObject(error) ? error : {};
}
