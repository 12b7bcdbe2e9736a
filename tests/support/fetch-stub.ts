import { setMaxListeners } from "node:events";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";

/** A sent request, and the functions to answer it. Exactly one of them must be called. */
export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** The JSON of its body, empty without a body. */
  readonly body: JsonObject;
  readonly priority: RequestPriority | undefined;
  /** Aborted when the sender cancels the request. */
  readonly signal: AbortSignal;
  json: (value: unknown, init?: ResponseInit) => void;
  text: (text: string, init?: ResponseInit) => void;
  respond: (response: Response) => void;
  /** Answers with nothing but a status and headers. */
  status: (status: number, headers?: Record<string, string>) => void;
  /** Answers with a stream of events. */
  stream: () => EventFeed;
  /** Makes the request fail as if the network were unavailable. */
  fail: (error: Error) => void;
}

/** A stream of Server-Sent Events that is fed by hand. */
export interface EventFeed {
  raw: (text: string) => void;
  event: (value: unknown, id?: string) => void;
  end: () => void;
  /** Breaks the stream. Unread data is lost. */
  break: (error?: Error) => void;
}

export interface FetchStub {
  fetch: typeof fetch;
  /** The next request that was sent, once there is one. */
  next: () => Promise<SentRequest>;
  /** How many requests were sent that `next` has not given yet. */
  waiting: () => number;
}

/** Makes a `fetch` that sends nothing: each request waits until a test answers it. */
export function fetchStub(): FetchStub {
  const requests: SentRequest[] = [];
  const takers: ((request: SentRequest) => void)[] = [];
  const fetch = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const request = sentRequest(input, init, { resolve, reject });
      const take = takers.shift();
      if (take) take(request);
      else requests.push(request);
    });
  const next = (): Promise<SentRequest> => {
    const request = requests.shift();
    return request ? Promise.resolve(request) : new Promise((resolve) => takers.push(resolve));
  };
  return { fetch, next, waiting: () => requests.length };
}

interface Settle {
  resolve: (response: Response) => void;
  reject: (error: Error) => void;
}

function sentRequest(input: string | URL | Request, init: RequestInit, { resolve, reject }: Settle): SentRequest {
  const signal = init.signal ?? new AbortController().signal;
  setMaxListeners(0, signal);
  signal.addEventListener("abort", () => reject(signal.reason as Error));
  if (signal.aborted) reject(signal.reason as Error);
  return {
    url: input instanceof Request ? input.url : String(input),
    method: init.method ?? "GET",
    headers: new Headers(init.headers),
    priority: init.priority,
    body: typeof init.body === "string" ? (JSON.parse(init.body) as JsonObject) : {},
    signal,
    json: (value, options) =>
      resolve(new Response(JSON.stringify(value), { headers: { "content-type": "application/json" }, ...options })),
    text: (text, options) => resolve(new Response(text, options)),
    respond: resolve,
    status: (status, headers = {}) => resolve(new Response(null, { status, headers })),
    stream: () => eventFeed(signal, resolve),
    fail: reject,
  };
}

function eventFeed(signal: AbortSignal, resolve: (response: Response) => void): EventFeed {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  signal.addEventListener("abort", () => safely(() => controller.error(signal.reason)));
  resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  const encoder = new TextEncoder();
  const raw = (text: string): void => safely(() => controller.enqueue(encoder.encode(text)));
  return {
    raw,
    event: (value, id) => raw(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`),
    end: () => safely(() => controller.close()),
    break: (error = new Error("terminated")) => safely(() => controller.error(error)),
  };
}

function safely(act: () => void): void {
  try {
    act();
  } catch {
    // The reader has cancelled the stream.
  }
}
