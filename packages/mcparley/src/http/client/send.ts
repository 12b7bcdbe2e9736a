import { LocalError } from "../../rpc/errors.ts";
import type { Authorization } from "./auth.ts";
import { readEncodings } from "./encodings.ts";
import { asksForAuthorization, discard, loadExplanations } from "./response.ts";
import { type HttpSettings, lowerCase, nameOf } from "./settings.ts";
import type { HttpReply, SendInit } from "./reply.ts";

/** An HTTP request to send. */
export interface Outgoing {
  method: "POST" | "GET" | "DELETE";
  /** Header names in lower case. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** The request does not wait for others: it is one way, or its response is a stream that stays open. */
  isUrgent?: boolean;
  /** The URL, if it is not the target's own. */
  url?: URL;
  /** Called if the request waits. Stops the timeouts of the requests in the body until the returned function is called. */
  pause?: () => () => void;
}

/** Maximum number of challenges that one request answers: a sign-in, missing scopes, and one more. */
const MAX_CHALLENGES = 3;
/** Maximum number of repetitions. A request is also repeated after the challenges of other requests. */
const MAX_REPEATS = 30;
/** Maximum number of redirects in a row. */
const MAX_HOPS = 3;

const noAuthorization: Authorization = { headers: {}, generation: 0 };
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends one HTTP request. Returns the response, also if its status is an error.
 *
 * Each attempt has these steps: authorize, fetch, repeat with a nonce, follow a redirect, answer a challenge.
 *
 * Throws `LocalError` `unreachable` if the request was certainly not sent, `closed` if the connection failed before a
 * response, `http` for a redirect that is not followed, and errors of the authorization. If the signal is aborted, it
 * throws the error of `fetch`.
 */
export async function sendHttp(settings: HttpSettings, outgoing: Outgoing): Promise<HttpReply> {
  const { auth, send } = settings;
  const { method, signal, url: target = settings.url } = outgoing;
  let url = target;
  let hops = 0;
  let challenges = 0;
  let repeated = 0;
  let withNonce = false;
  for (;;) {
    const authorization = auth ? await auth.authorize(url, method, outgoing) : noAuthorization;
    let response: HttpReply;
    try {
      response = await send(url, requestInit(settings, outgoing, authorization));
      checkEncodings(response);
    } catch (error) {
      throw signal.aborted ? error : await explain(url, error);
    }
    // The response may contain a nonce that the next request must have (RFC 9449, 9). One repetition per URL.
    const isNonceNew = auth?.noteResponse(url, method, response) === true;
    withNonce = isNonceNew && !withNonce;
    if (withNonce) {
      discard(response);
      continue;
    }
    if (response.type === "opaqueredirect" || redirects.has(response.status)) {
      discard(response);
      url = redirectTarget(response, url, hops++);
      continue;
    }
    const isLast = challenges === MAX_CHALLENGES || repeated === MAX_REPEATS;
    if (!auth || isLast || !asksForAuthorization(response)) return response;
    const answer = await auth.answerChallenge(
      response,
      { ...authorization, url, method, repeated, challenges },
      outgoing,
    );
    if (!answer) return response;
    discard(response);
    if (answer === "own") challenges++;
    repeated++;
    url = target;
    hops = 0;
  }
}

/**
 * Returns the URL of a redirect. Throws `http` unless the redirect keeps the origin and the method: others would send
 * messages and headers elsewhere.
 */
function redirectTarget(response: HttpReply, source: URL, hops: number): URL {
  const { status } = response;
  const location = response.headers.get("location");
  const target = location === null || !URL.canParse(location, source.href) ? undefined : new URL(location, source);
  const follows = target?.origin === source.origin && (status === 307 || status === 308);
  if (follows && hops < MAX_HOPS) return target;
  const where = target ? ` to ${nameOf(target)}` : "";
  const why = follows ? `more than ${MAX_HOPS} times` : "which is not followed";
  const cure = target ? " Connect to that URL if you trust it." : "";
  const message = `${nameOf(source)} redirects${where} (${status}), ${why}.${cure}`;
  throw new LocalError("http", message, { data: { status, location: target && nameOf(target) } });
}

/**
 * Throws `too_large`, and ends the reply, if it has too many content encodings. `fetch` makes their decoders before it returns, but
 * reads nothing yet.
 */
function checkEncodings({ headers, body }: HttpReply): void {
  const encodings = headers.get("content-encoding");
  try {
    if (encodings !== null) readEncodings(encodings);
  } catch (error) {
    body?.cancel().catch(() => {});
    throw error;
  }
}

/** Makes the error for a request without a response. */
async function explain(url: URL, error: unknown): Promise<LocalError> {
  const explanation = (await loadExplanations())?.connectionError(url, error);
  return explanation ?? new LocalError("closed", `The connection to ${url.host} failed.`, { cause: error });
}

function requestInit(settings: HttpSettings, outgoing: Outgoing, authorization: Authorization): SendInit {
  const { method, signal, headers, body, pause, isUrgent = method !== "POST" } = outgoing;
  // All names are in lower case, so that a later header replaces an earlier one with the same name.
  const all =
    authorization === noAuthorization
      ? { ...settings.headers, ...headers }
      : { ...settings.headers, ...lowerCase(authorization.headers), ...headers };
  const init: SendInit = { method, signal, redirect: "manual", headers: all, onReceived: settings.onReceived };
  if (body !== undefined) init.body = body;
  if (isUrgent) init.priority = "high";
  if (pause) init.waits = pause;
  return init;
}

export function transportClosed(): LocalError {
  return new LocalError("closed", "The transport is closed.");
}
