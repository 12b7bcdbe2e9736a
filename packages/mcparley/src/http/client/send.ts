import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { type HttpSettings, lowerCase, nameOf } from "./settings.ts";
import type { Shown } from "./auth.ts";
import { discard } from "./body.ts";

export interface Outgoing {
  method: "POST" | "GET" | "DELETE";
  /** Their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** Where to, if not to the target itself. */
  url?: URL;
  /** Stops the clocks of what waits for the answer, until the function that it returns is called. */
  pause?: () => () => void;
}

const MAX_HOPS = 3;
/** A sign-in, scopes that were missing then, and one thing more; a server that goes on asking is not satisfied by any. */
const MAX_CHALLENGES = 3;
/** What others are challenged for at the same time may be of use to a request as well, but not for ever. */
const MAX_REPEATS = 30;

/**
 * Sends one request, authorized, and gives the response, whatever its status.
 *
 * Throws `LocalError` `unreachable` where there is none, `http` for a redirect that is not followed, and what the
 * authorization throws; where the signal ended it, what `fetch` throws.
 */
export async function sendHttp(settings: HttpSettings, outgoing: Outgoing): Promise<Response> {
  const { auth } = settings;
  let challenges = 0;
  for (let repeated = 0; ; repeated++) {
    const { response, url, shown } = await follow(settings, outgoing);
    const isOver = challenges === MAX_CHALLENGES || repeated === MAX_REPEATS;
    if (!auth || isOver || !asksForAuthorization(response)) return response;
    const met = await auth.challenged(response, { ...shown, url, method: outgoing.method, repeated }, outgoing);
    if (!met) return response;
    if (met === "own") challenges++;
    discard(response);
  }
}

/** A bare 403 is a refusal that no authorization changes, such as that of a foreign origin. */
export function asksForAuthorization({ status, headers }: Response): boolean {
  return status === 401 || (status === 403 && headers.has("www-authenticate"));
}

/** A response, and what its request has shown, and where. */
interface Answered {
  response: Response;
  url: URL;
  shown: Shown;
}

/** Follows redirects within the origin that keep the method; others would carry the message and its headers away. */
async function follow(settings: HttpSettings, outgoing: Outgoing): Promise<Answered> {
  let url = outgoing.url ?? settings.url;
  for (let hops = 0; ; hops++) {
    const answered = await send(settings, outgoing, url);
    const { response } = answered;
    const isRedirect = response.type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(response.status);
    if (!isRedirect) return answered;
    discard(response);
    url = redirected(response, url, hops);
  }
}

/** Sends the request to one URL; once more where its response has told what it should have held. */
async function send(settings: HttpSettings, outgoing: Outgoing, url: URL): Promise<Answered> {
  const answered = await sendOnce(settings, outgoing, url);
  if (!settings.auth?.responded(url, outgoing.method, answered.response)) return answered;
  discard(answered.response);
  const again = await sendOnce(settings, outgoing, url);
  settings.auth.responded(url, outgoing.method, again.response);
  return again;
}

async function sendOnce(settings: HttpSettings, outgoing: Outgoing, url: URL): Promise<Answered> {
  const { method, signal, body } = outgoing;
  const shown = (await settings.auth?.show(url, method, outgoing)) ?? unauthorized;
  // All names are in lower case, so that of two with the same name the later one counts.
  const headers = { ...settings.headers, ...lowerCase(shown.headers), ...outgoing.headers };
  const init: RequestInit = { method, signal, redirect: "manual", headers };
  if (body !== undefined) init.body = body;
  return { response: await fetchOnce(settings, url, init), url, shown };
}

const unauthorized: Shown = { headers: {}, generation: 0 };

async function fetchOnce({ fetch }: HttpSettings, url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable(url, error);
  }
}

function redirected(response: Response, from: URL, hops: number): URL {
  const { status } = response;
  const location = response.headers.get("location");
  const to = location === null || !URL.canParse(location, from.href) ? undefined : new URL(location, from);
  const follows = to?.origin === from.origin && (status === 307 || status === 308);
  if (follows && hops < MAX_HOPS) return to;
  const where = to ? ` to ${nameOf(to)}` : "";
  const why = follows ? `more than ${MAX_HOPS} times` : "which is not followed";
  const cure = to ? " Connect to that URL if it is to be trusted." : "";
  const message = `${nameOf(from)} redirects${where} (${status}), ${why}.${cure}`;
  return fail(new LocalError("http", message, { data: { status, location: to && nameOf(to) } }));
}

function fail(error: Error): never {
  throw error;
}

/** The error for a request that has no response: which host, and what the system says of it. */
export function unreachable(url: URL, error: unknown): LocalError {
  const { code, message } = deepest(error);
  const said = redact(code === undefined ? message : `${code}${hints.has(code) ? `, ${hints.get(code)}` : ""}`);
  return new LocalError("unreachable", `Cannot reach ${url.host}: ${said}.`, {
    cause: error,
    data: { host: url.host, code },
  });
}

const hints: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there"],
  ["ENOTFOUND", "there is no such host"],
  ["EAI_AGAIN", "the name could not be looked up"],
  ["ECONNRESET", "the connection was cut off"],
  ["UND_ERR_SOCKET", "the connection was cut off"],
  ["UND_ERR_HEADERS_TIMEOUT", "it took too long to answer"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate comes from an authority that is not trusted here"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate comes from an authority that is not trusted here"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
]);

/** Engines wrap the reason: `fetch failed` says nothing, its cause, or the first of several, says it. */
function deepest(error: unknown): { code: string | undefined; message: string } {
  let at: unknown = error;
  for (let depth = 0; depth < 5; depth++) {
    const { cause, errors } = at as { cause?: unknown; errors?: unknown[] };
    const next = Array.isArray(errors) && errors[0] instanceof Error ? errors[0] : cause;
    if (!(next instanceof Error)) break;
    at = next;
  }
  const { code, message } = at as { code?: unknown; message?: unknown };
  return { code: typeof code === "string" ? code : undefined, message: String(message ?? at).replace(/\.$/, "") };
}
