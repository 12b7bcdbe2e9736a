import type { HttpTarget as BareTarget } from "../../client/connect/transports.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { SharedAuth } from "./auth.ts";

/** A request that is to be authorized. */
export interface HttpAuthRequest {
  /** Where it goes: to the server itself, or to where that takes messages. */
  readonly url: URL;
  readonly method: string;
  /** The MCP endpoint that was connected to. */
  readonly server: URL;
}

/** A response that asks for authorization. */
export interface HttpAuthRefusal {
  /** 401, or 403 with a challenge. */
  readonly status: number;
  readonly headers: Headers;
  readonly request: HttpAuthRequest;
  /** The headers that authorized the request and were not enough. */
  readonly shown: Readonly<Record<string, string>>;
  /** How often the request was repeated before, each time with something new to show. */
  readonly repeated: number;
}

/** The way to a server's authorization, such as OAuth. */
export interface HttpAuth {
  /** The headers that authorize one request; asked before each one, also where a redirect leads to another URL. */
  headers(request: HttpAuthRequest): Promise<Readonly<Record<string, string>>>;
  /**
   * Told of each response. True where the request is to be sent once more, with other headers, before anything is made of
   * the response: the server has just told what has to be in them, such as a nonce (RFC 9449, 9).
   */
  responded?(request: HttpAuthRequest, response: { status: number; headers: Headers }): boolean;
  /**
   * Told of a response that asks for authorization. True where there is something new to show: the request is then
   * repeated, at most 3 times for what it was refused itself.
   *
   * It is called once for requests that are refused at the same time, and those wait for it: their clocks stand still
   * meanwhile, as a person may be asked, and they fail as it rejects. The signal is aborted when all of them were given up.
   */
  challenged(refusal: HttpAuthRefusal, signal: AbortSignal): Promise<boolean>;
  /** The extension of the protocol that it is, which `connect` declares to the server. */
  readonly extension?: string | undefined;
}

export interface HttpClientLimits {
  /** Bytes of a JSON answer, and characters of an event that may answer a request. 16 MiB. */
  message: number;
  /** Characters of an event that the server sends unasked. 1 MiB. */
  unaskedEvent: number;
}

const defaultLimits: HttpClientLimits = { message: 16_777_216, unaskedEvent: 1_048_576 };

/** An MCP endpoint on the web, and how it is spoken to. */
export interface HttpTarget extends BareTarget {
  /** What sends the requests, such as one that goes through a proxy. The global `fetch` unless given. */
  fetch?: typeof fetch;
  /** How the server is given authorization, such as `oauth()` of `mcparley/auth`. */
  auth?: HttpAuth;
  limits?: Partial<HttpClientLimits>;
  clock?: Clock;
}

/** A target that was checked, with what its transports share. */
export interface HttpSettings {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly auth: SharedAuth | undefined;
  readonly limits: HttpClientLimits;
  readonly clock: Clock;
  /** Like `clock`, but its timers keep the process alive: for a wait that a call depends on. */
  readonly wakefulClock: Clock;
}

/** Checks a target. Throws `LocalError` `invalid_target` for a URL or headers that cannot be used. */
export function readHttpTarget(target: HttpTarget): HttpSettings {
  const { headers = {}, auth, clock } = target;
  const url = readUrl(target.url);
  return {
    url,
    headers: checkHeaders(headers),
    // Called as a method of anything but the global object, the browsers' fetch throws.
    fetch: target.fetch ?? ((input, init) => fetch(input, init)),
    auth: auth && new SharedAuth(auth, url),
    limits: { ...defaultLimits, ...target.limits },
    clock: clock ?? systemClock,
    wakefulClock: clock ?? wakefulClock,
  };
}

const wakefulClock: Clock = { ...systemClock, setTimeout: (fn, ms) => setTimeout(fn, ms) };

function readUrl(given: string | URL): URL {
  let url: URL;
  try {
    url = new URL(given);
  } catch (cause) {
    throw invalid(
      `${JSON.stringify(redact(String(given)))} is not a URL; give one such as https://example.com/mcp.`,
      cause,
    );
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw invalid(`An MCP endpoint has an http or https URL; got one with ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("A URL must hold no user or password, as it is shown in logs; give an Authorization header instead.");
  }
  url.hash = "";
  return url;
}

function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers().set(name, value);
    } catch {
      // The engine's own error shows the value, which may be a token.
      throw invalid(`The header ${JSON.stringify(name)} has a name or a value that HTTP does not allow.`);
    }
  }
  return lowerCase(headers);
}

/** The headers with their names in lower case. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function invalid(message: string, cause?: unknown): LocalError {
  return new LocalError("invalid_target", message, { cause });
}

/** How a URL is named in errors and in what is remembered: without what may be a secret. */
export function nameOf(url: URL): string {
  return redact(url.href);
}
