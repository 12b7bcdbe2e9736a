import { ResponseBodyError, WWWAuthenticateChallengeError } from "oauth4webapi";
import { LocalError, isTransient } from "../../rpc/errors.ts";
import { explanationIn } from "../../http/client/error-body.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { readDocument } from "../issuer-document.ts";
import { redact } from "../../rpc/redact.ts";
import { redactKnown } from "../redact-known.ts";

interface FailedRequest {
  issuer: string;
  /** The request in words, such as "to register a client". */
  what: string;
  /** The secrets in the request, which are removed from the message. */
  secrets: Iterable<string>;
}

/**
 * Converts an error of oauth4webapi to a `LocalError` `authorization_failed`. The original is not kept as the cause,
 * because it holds responses and parameters with tokens and codes.
 */
export async function toAuthorizationError(
  error: unknown,
  { issuer, what, secrets }: FailedRequest,
): Promise<LocalError> {
  if (error instanceof LocalError) return error;
  const document = await documentOf(error);
  const body = errorBody(error, document);
  const server = `The authorization server ${JSON.stringify(issuer)}`;
  const allSecrets = [...secrets, ...secretsIn(document)];
  const show = (text: string): string => withoutSecrets(text, allSecrets);
  if (!body) {
    const response = responseOf(error);
    const status = response?.status;
    const reason = error instanceof Error ? error.message : String(error);
    const type = reason.includes("`token_type`") ? ` ${show(JSON.stringify(document?.token_type))}` : "";
    const statusText = status === undefined ? "" : ` (status ${status})`;
    const content = response && !response.bodyUsed ? await response.text() : "";
    // A successful response that is no page can contain tokens.
    const isShown = response?.ok === false || /^\s*</.test(content);
    const explanation = isShown ? show(explanationIn(content)) : "";
    const text = explanation === "" ? "" : ` It contains: ${explanation}`;
    const message = `The request ${what} failed. ${server} sent an invalid response${statusText}: ${show(reason)}${type}.${text}`;
    return new LocalError("authorization_failed", message, { data: status === undefined ? undefined : { status } });
  }
  const code = show(body.error);
  const description = body.description === undefined ? undefined : show(body.description);
  const message = `${server} refused ${what}: ${inWords(code, description)}.${cureFor(code, description)}`;
  const { status, isImplied } = body;
  const more = { ...(description !== undefined && { description }), status, ...(isImplied && { isImplied }) };
  const data = { issuer, error: code, ...more };
  return new LocalError("authorization_failed", message, { data });
}

/** Maximum UTF-16 units at the start of a text that become a line. */
const READ_CHARS = 16_384;
/** UTF-16 units at the end of a cut text that are not shown, because they can be the start of a secret that is not recognized. */
const CUT_CHARS = 1_024;

/** Returns a text of an authorization server as one short line without secrets. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  // Known secrets are found in the whole text, because a part of one is not recognized.
  const safeText = redactKnown(text, secrets);
  const start = safeText.slice(0, READ_CHARS).replace(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+/gu, " ");
  const line = redact(start);
  return (safeText.length > READ_CHARS ? line.slice(0, -CUT_CHARS) : line).slice(0, 300).toWellFormed();
}

/** The members of documents whose values are secrets, and the parameters of requests and redirects. A server may repeat them. */
const secretMember = /(?:token|secret|assertion)$/;
const secretParameter = /^(?:code|code_challenge|code_verifier|state|response)$|(?:token|secret|assertion)$/;

/** Returns the secrets in the parameters of a request or a redirect. */
export function secretParameters(parameters: URLSearchParams): string[] {
  return [...parameters].flatMap(([name, value]) => (secretParameter.test(name) ? [value] : []));
}

/** Returns an error code with its description. */
export function inWords(code: string, description: string | undefined): string {
  return description === undefined ? code : `${code} (${description})`;
}

/** Returns the OAuth error code of an authorization server, if the error contains one. */
export function refusalCode(error: unknown): string | undefined {
  const isRefusal = error instanceof LocalError && /^(authorization|sign_in)_failed$/.test(error.code);
  const data = isRefusal ? error.data : undefined;
  return isObject(data) && typeof data.error === "string" ? data.error : undefined;
}

/**
 * Returns whether an authorization server has refused a request, so that the same request would fail again: by a status of 4xx that
 * is not temporary, or by an OAuth error in a successful response.
 */
export function isFinalRefusal(error: unknown): error is LocalError {
  const data = error instanceof LocalError && error.code === "authorization_failed" ? error.data : undefined;
  if (!isObject(data) || typeof data.status !== "number" || isTransient(data.status)) return false;
  return data.status >= 400 || typeof data.error === "string";
}

/**
 * Matches error codes that refuse the request or the client (RFC 6749, 5.2; RFC 8707, 2), and codes of some servers for an expired or
 * revoked token. The codes are compared in small letters and without `_`, because servers write them differently.
 */
const lastingCode = /^(?:invalid|bad(?!gateway))|^unauthorizedclient$|^unsupportedgranttype$|expired|revoked/;

/**
 * Returns whether an authorization server will also refuse a refresh token later. Other refusals can come from a proxy, or from a server
 * that is overloaded or switched off.
 */
export function isLastingRefusal(error: unknown): error is LocalError {
  if (!isFinalRefusal(error) || (error.data as { isImplied?: boolean }).isImplied) return false;
  return lastingCode.test((refusalCode(error) ?? "").toLowerCase().replaceAll("_", ""));
}

/** Returns whether a request to an authorization server, or the check of its metadata, has failed. */
export function isServerFailure(error: unknown): error is LocalError {
  return (
    error instanceof LocalError &&
    (/^(?:authorization_failed|forbidden_url|too_large)$/.test(error.code) || isUnavailable(error))
  );
}

/** Returns whether a server cannot be reached, or has failed for a temporary reason. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof LocalError)) return false;
  return /^(?:unreachable|timeout)$/.test(error.code) || (isObject(error.data) && isTransient(error.data.status));
}

/** Whether an authorization server does not accept a client or its credentials. */
export function isClientRefusal(error: unknown): error is LocalError {
  const code = refusalCode(error);
  return code === "invalid_client" || code === "unauthorized_client";
}

/** Returns an error with a sentence after its message. */
export function withSentence({ code, message, data }: LocalError, sentence: string): LocalError {
  return new LocalError(code, `${message} ${sentence}`, { data });
}

/** Returns the error for a client that was refused with both methods for its secret. */
export function refusedTwice(second: LocalError, first: LocalError, firstMethod: string): LocalError {
  const { error, description } = first.data as { error: string; description?: string };
  const reason = inWords(error, description);
  return second.message.includes(reason)
    ? second
    : withSentence(second, `With ${firstMethod} the reason was: ${reason}.`);
}

/** Returns the cure for a refused request. Some servers refuse an unknown parameter as an invalid request. */
function cureFor(code: string, description = ""): string {
  const isResource = code === "invalid_target" || (code === "invalid_request" && /\bresource\b/i.test(description));
  return isResource
    ? " Set the option resource to an identifier that this server knows, or to false to send none."
    : "";
}

interface ErrorBody {
  error: string;
  description: string | undefined;
  status: number;
  /** Whether the response has no error code, and only its challenge shows that the client authentication was refused. */
  isImplied?: true;
}

/** Returns the response that an error of oauth4webapi contains. */
function responseOf(error: unknown): Response | undefined {
  if (error instanceof WWWAuthenticateChallengeError) return error.response;
  return error instanceof Error && error.cause instanceof Response ? error.cause : undefined;
}

/** Returns the document of a response that failed. */
async function documentOf(error: unknown): Promise<JsonObject | undefined> {
  if (error instanceof ResponseBodyError) return error.cause;
  const response = responseOf(error);
  if (response) return response.bodyUsed ? undefined : readDocument(response);
  const cause = error instanceof Error ? error.cause : undefined;
  return isObject(cause) && isObject(cause.body) ? cause.body : undefined;
}

/** Returns the secrets in a document, also those in its members. */
function secretsIn(document: JsonObject = {}): string[] {
  const members = [document, ...Object.values(document).filter(isObject)].flatMap((object) => Object.entries(object));
  return members.flatMap(([name, value]) => (typeof value === "string" && secretMember.test(name) ? [value] : []));
}

/** Returns the OAuth error in the response of an authorization server. */
function errorBody(error: unknown, document: JsonObject | undefined): ErrorBody | undefined {
  if (error instanceof WWWAuthenticateChallengeError) {
    // A server that refuses the client authentication may send a challenge and a body (RFC 6749, 5.2). The body may be another JSON
    // error, such as that of JSON-RPC.
    const body = document ?? { ...error.cause[0]?.parameters };
    const { status } = error;
    return readError(body, status) ?? { error: "invalid_client", description: undefined, status, isImplied: true };
  }
  // oauth4webapi expects no OAuth error in a response with a status such as 503.
  const status = error instanceof ResponseBodyError ? error.status : responseOf(error)?.status;
  return status === undefined || !document ? undefined : readError(document, status);
}

function readError({ error: code, error_description: description }: JsonObject, status: number): ErrorBody | undefined {
  if (typeof code !== "string" || code === "") return undefined;
  return { error: code, description: typeof description === "string" ? description : undefined, status };
}

/** Milliseconds by which two clocks may differ without a remark. The times in tokens and proofs have a tolerance. */
const TOLERATED_MS = 5_000;
/** Precision of the header `Date` in milliseconds. */
const PRECISION_MS = 1_000;

/** A response of another machine, and the times of this machine at which the request was sent and the response received. */
export interface TimedResponse {
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * Returns a sentence about the clock of this machine, if it differs from that of the sender of a response by more than 5 seconds.
 * Empty otherwise, and for a response without a date. `sender` is the name of the sender, such as "the authorization server".
 */
export function clockRemark({ headers, sentAt, receivedAt }: TimedResponse, sender: string): string {
  const date = Date.parse(headers.get("date") ?? "");
  // The sender wrote the date between the two times, and rounded it down.
  const msAhead = sentAt - date - PRECISION_MS;
  const msBehind = date - receivedAt;
  return offsetRemark(msAhead > msBehind ? -msAhead : msBehind, sender);
}

/** Returns the same sentence for the offset of another clock in milliseconds, which is positive if that clock is ahead. */
export function offsetRemark(offset: number, owner: string): string {
  if (!(Math.abs(offset) > TOLERATED_MS)) return "";
  const direction = offset < 0 ? "ahead of" : "behind";
  return ` The clock of this machine is ${Math.round(Math.abs(offset) / 1_000)} s ${direction} the clock of ${owner}. Correct the clock, because tokens are valid for a limited time.`;
}
