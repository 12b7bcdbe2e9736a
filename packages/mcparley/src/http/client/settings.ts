import { sendingFor } from "#default-send";
import type { ReceivedPart } from "../../client/connect/transports.ts";
import { type Clock, systemClock, wakefulClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { SharedAuth } from "./auth.ts";
import type { ReplyHeaders, Sending } from "./reply.ts";

/** A request that needs authorization. */
export interface HttpAuthRequest {
  /** The URL of the request: the endpoint, a redirect target, or the POST endpoint of HTTP+SSE. */
  readonly url: URL;
  /** The HTTP method. */
  readonly method: string;
  /** The MCP endpoint that the client is connected to. */
  readonly server: URL;
  /** The connection settings of the target. */
  readonly connection?: HttpConnection | undefined;
}

/** A response that asks for authorization. */
export interface HttpAuthRefusal {
  /** 401, or 403 with a challenge. */
  readonly status: number;
  /** The headers of the response, such as `WWW-Authenticate`. */
  readonly headers: ReplyHeaders;
  /** The refused request. */
  readonly request: HttpAuthRequest;
  /** The authorization headers of the refused request. */
  readonly shown: Readonly<Record<string, string>>;
  /** The number of times the request was repeated before, each time with new headers. */
  readonly repeated: number;
  /** The number of earlier refusals of the request that were not answered for another request. */
  readonly challenges: number;
}

/** Authorizes the requests to a server, for example with OAuth. */
export interface HttpAuth {
  /**
   * Returns the headers that authorize one request. Called before each request, also before one to a redirect target, and
   * before a private result is used from the cache. Headers other than `dpop` identify the credentials of cached results.
   */
  headers(request: HttpAuthRequest): Promise<Readonly<Record<string, string>>>;
  /**
   * Called with each response. True repeats the request once with new headers before the response is read, because the
   * response contains a value that they must have, such as a nonce (RFC 9449, 9).
   */
  responded?(request: HttpAuthRequest, response: { status: number; headers: ReplyHeaders }): boolean;
  /**
   * Called with a response that asks for authorization. True repeats the request with new headers, at most 3 times. A
   * repetition after the refusal of another request is not counted.
   *
   * It is called once for requests that are refused at the same time. Those requests wait for it with their timeouts
   * stopped, since a person may be asked, and fail if it rejects. The signal is aborted when all of them are cancelled.
   */
  challenged(refusal: HttpAuthRefusal, signal: AbortSignal): Promise<boolean>;
  /** The protocol extension of this authorization. `connect` declares it to the server. */
  readonly extension?: string | undefined;
}

/** Size limits of the responses and events that the client reads over HTTP. */
export interface HttpClientLimits {
  /**
   * Maximum bytes of a JSON response, and characters of an event that may answer a request. Default: 16 MiB; 24 MiB for
   * `resources/read`, and more for a file of a skill, by the size that the skill lists.
   */
  message: number;
  /** Maximum characters of an event on the standalone stream. Default: 1 MiB. */
  unaskedEvent: number;
}

/**
 * The proxy, the certificates and the number of connections. Node only.
 *
 * Certificates and keys are PEM, as text or as the bytes of a file. The certificates of servers are always verified.
 */
export interface HttpConnection {
  /**
   * The http or https URL of a proxy, with `USER:PASSWORD@` if it requires them. It is used for every host. `false` connects
   * directly. Default: the environment: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, never for loopback addresses.
   */
  proxy?: string | URL | false | undefined;
  /** Certificate authorities to trust in addition to those that Node trusts by default. */
  ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** The client certificate, followed by its intermediate certificates. Sent only to the origin of the target. */
  cert?: string | Uint8Array | undefined;
  /** The private key of `cert`. */
  key?: string | Uint8Array | undefined;
  /** The passphrase of `key`, if it is encrypted. */
  passphrase?: string | undefined;
  /**
   * Maximum number of connections to one origin. Further requests wait. Up to 128 are opened for requests that are answered
   * within seconds, the rest for slow ones. Subscriptions and open streams have connections of their own. Default: 1,024.
   */
  maxConnections?: number | undefined;
  /** Maximum milliseconds that a request waits for a connection. Then it fails with `unreachable`. Default: 60,000. */
  maxWaitMs?: number | undefined;
}

/** An MCP endpoint on the web, and the settings of the connection to it. */
export interface HttpTarget {
  /** The http or https URL of the endpoint. */
  url: string | URL;
  /** Headers of each request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends the requests, for example through a proxy. Default: on Node, a client that keeps connections open and has no time
   * limits, unless the program has replaced the global `fetch` or its dispatcher; otherwise the global `fetch`.
   */
  fetch?: typeof fetch | undefined;
  /**
   * The proxy, the certificates and the number of connections. Node only; cannot be combined with `fetch`. OAuth requests for this
   * target use them too, except the client certificate. Default: the proxy of the environment and the certificate authorities
   * of Node.
   */
  connection?: HttpConnection | undefined;
  /** Authorizes the requests, for example `oauth()` of `mcparley/auth`. */
  auth?: HttpAuth | undefined;
  /** Limits on what the server may send. Each has a default. */
  limits?: Partial<HttpClientLimits> | undefined;
  /**
   * Called for each part of a reply or stream that arrives, before it is decompressed. If it throws, the call fails with its
   * error. Only on Node, and only if requests are not sent with `fetch`.
   */
  onReceived?: ((received: ReceivedPart) => void) | undefined;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock | undefined;
}

/** A checked target, with the state that its transports share. */
export interface HttpSettings extends Sending {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: SharedAuth | undefined;
  readonly limits: Partial<HttpClientLimits>;
  readonly onReceived: HttpTarget["onReceived"];
  readonly clock: Clock;
  /** Like `clock`, but its timers keep the process alive: for a pause that a call depends on. */
  readonly wakefulClock: Clock;
}

/** Checks a target. Throws `LocalError` `invalid_target` for a URL, headers or options that cannot be used. */
export function readHttpTarget(target: HttpTarget): HttpSettings {
  const { headers = {}, auth, limits = {}, clock, connection } = target;
  const url = readServerUrl(target.url, {
    forScheme: 'Pass an http or https URL, or { command: "node", args: ["server.js"] } to start a program.',
    forUser: "Use an Authorization header.",
  });
  return {
    url,
    headers: checkHeaders(headers),
    ...sendingFor(target),
    auth: auth && new SharedAuth(auth, { server: url, connection }),
    limits,
    onReceived: target.onReceived,
    clock: clock ?? systemClock,
    wakefulClock: clock ?? wakefulClock,
  };
}

/** Returns the URL of a server without its fragment. Throws `LocalError` `invalid_target`, with a cure, for a URL that cannot be used. */
export function readServerUrl(target: string | URL, cure: { forScheme: string; forUser: string }): URL {
  const text = String(target);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    const excerpt = JSON.stringify(redact(text.slice(0, 200)));
    throw invalidTarget(`Cannot connect to ${excerpt}. ${cure.forScheme}`);
  }
  if (url.username !== "" || url.password !== "") {
    // Logs, errors and stored accounts show URLs.
    throw invalidTarget(`A URL must not contain a user or password. ${cure.forUser}`);
  }
  url.hash = "";
  return url;
}

function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers().set(name, value);
    } catch {
      // The error of the engine contains the value, which may be a token.
      throw invalidTarget(`HTTP does not allow the header ${JSON.stringify(name)} or its value.`);
    }
  }
  return lowerCase(headers);
}

/** The headers with their names in lower case. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function invalidTarget(message: string): LocalError {
  return new LocalError("invalid_target", message);
}

/** The URL for error messages and for remembered revisions, with secrets redacted. */
export function nameOf(url: URL): string {
  return redact(url.href);
}
