import { abortedError } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Transport } from "../../rpc/transport.ts";
import { discard } from "./body.ts";
import { asksForAuthorization, sendHttp } from "./send.ts";
import { HttpSseTransport } from "./http-sse.ts";
import { OpenStream } from "./open-stream.ts";
import { type HttpSettings, nameOf } from "./settings.ts";
import { statusError } from "./status.ts";
import { isEventStream } from "../media-type.ts";

/** How long a server has to open its stream and to say where it takes messages. */
const ENDPOINT_MS = 10_000;

/**
 * Opens a stream at the URL of a server that may be one of 2024-11-05 (2026-07-28, Streamable HTTP, "Backward
 * Compatibility"). Gives undefined where it is none: there is no stream, or its first event is not `endpoint`, or does
 * not come in time.
 *
 * Throws `LocalError` `http` for a server that wants messages to be posted to another origin, `unauthorized` where it
 * asks for a sign-in, what the authorization throws, and `aborted` where the signal ended it.
 */
export async function openHttpSse(
  settings: HttpSettings,
  signal: AbortSignal | undefined,
): Promise<Transport | undefined> {
  const { clock } = settings;
  const lifetime = new AbortController();
  const giveUp = (): void => lifetime.abort();
  signal?.addEventListener("abort", giveUp);
  let timer = clock.setTimeout(giveUp, ENDPOINT_MS);
  const pause = (): (() => void) => {
    clock.clearTimeout(timer);
    return () => (timer = clock.setTimeout(giveUp, ENDPOINT_MS));
  };
  let opened: Transport | undefined;
  try {
    if (signal?.aborted) giveUp();
    opened = await open(settings, lifetime, pause);
    return opened;
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    if (!opened) lifetime.abort();
    // oxlint-disable-next-line no-unsafe-finally -- that it was ended counts more than how
    if (signal?.aborted) throw abortedError("Connecting", signal);
  }
}

async function open(
  settings: HttpSettings,
  lifetime: AbortController,
  pause: () => () => void,
): Promise<Transport | undefined> {
  const { limits, clock, url } = settings;
  const response = await get(settings, lifetime.signal, pause);
  if (!response) return undefined;
  if (asksForAuthorization(response)) throw await statusError(response, "GET for a stream", clock);
  if (!response.ok || !isEventStream(response) || !response.body) {
    discard(response);
    return undefined;
  }
  const stream = new OpenStream(response.body, limits.message, lifetime);
  const first = await stream.first;
  if (first?.event !== "endpoint") return undefined;
  return new HttpSseTransport(settings, stream, readEndpoint(first.data, url));
}

async function get(
  settings: HttpSettings,
  signal: AbortSignal,
  pause: () => () => void,
): Promise<Response | undefined> {
  try {
    return await sendHttp(settings, { method: "GET", headers: { accept: "text/event-stream" }, signal, pause });
  } catch (error) {
    // Whatever the authorization says is about this server; what is left says that there is none of that kind here.
    if (error instanceof LocalError && !/^(unreachable|http|aborted)$/.test(error.code)) throw error;
    return undefined;
  }
}

/** Another origin would be given what is meant for this one: messages, and the headers that authorize them. */
function readEndpoint(data: string, url: URL): URL {
  const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined;
  if (endpoint?.origin === url.origin && endpoint.username === "" && endpoint.password === "") return endpoint;
  const to = endpoint ? nameOf(endpoint) : "what is no URL";
  const message = `${nameOf(url)} wants messages to be posted to ${to}, which is not of its own origin and so is refused.`;
  throw new LocalError("http", message);
}
