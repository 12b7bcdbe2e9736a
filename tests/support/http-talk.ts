import { expect } from "vitest";
import type { Client } from "../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
import type { ServerChange } from "../../packages/mcparley/src/client/subscriptions/subscription.ts";
import { httpTransports } from "../../packages/mcparley/src/http/client/transport.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { initializeResult } from "../../packages/mcparley/src/testing/peer-transports.ts";
import { type FetchStub, type SentRequest, fetchStub } from "./fetch-stub.ts";

/** Answers one request. */
export type Answer = (request: SentRequest) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (request) =>
    request.status(code, headers);
export const rpcError =
  (code: number, http: number, data?: JsonObject): Answer =>
  (request) =>
    request.json(
      { jsonrpc: "2.0", id: request.body.id, error: { code, message: "not now", ...(data && { data }) } },
      { status: http, headers: { "content-type": "application/json" } },
    );
export const result =
  (value: JsonObject): Answer =>
  (request) =>
    request.json({ jsonrpc: "2.0", id: request.body.id, result: value });
export const refused: Answer = (request) =>
  request.fail(new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) }));
export const reset: Answer = (request) => request.fail(new TypeError("fetch failed"));
export const accepted: Answer = (request) => request.status(202);
export const brokenBody: Answer = (request) => {
  const feed = request.stream();
  feed.raw(": hello\n\n");
  feed.break();
};

/** Our client, with a fake clock and a `fetch` whose requests a test answers. Each has a unique URL. */
function stubbedClient(): { clock: FakeClock; stub: FetchStub; connect: (options: ConnectOptions) => Promise<Client> } {
  const clock = fakeClock();
  const stub = fetchStub();
  const url = `https://${crypto.randomUUID()}.example/mcp`;
  const transports = httpTransports({ url, fetch: (input, init) => stub.fetch(input, init), clock });
  return { clock, stub, connect: (options) => openClient(transports, { clock, ...options }) };
}

export interface AnsweringServer {
  clock: FakeClock;
  /** The methods of the sent requests, in order. */
  sent: string[];
  connect: (options?: ConnectOptions) => Promise<Client>;
}

/** A server over HTTP that sends the given answers in order. Further requests are not answered. */
export function answeringServer(...answers: Answer[]): AnsweringServer {
  const { clock, stub, connect } = stubbedClient();
  const sent: string[] = [];
  const answerNext = async (): Promise<void> => {
    const request = await stub.next();
    sent.push(typeof request.body.method === "string" ? request.body.method : request.method);
    answers.shift()?.(request);
    void answerNext();
  };
  void answerNext();
  return {
    clock,
    sent,
    connect(options = {}) {
      const connecting = connect(options);
      connecting.catch(() => {});
      return connecting;
    },
  };
}

/** A client with a legacy session over HTTP, whose requests a test answers one after another. */
export interface LegacyTalk {
  client: Client;
  clock: FakeClock;
  changes: ServerChange[];
  errors: Error[];
  /** Returns the next request. Advances the clock until there is one. */
  next: () => Promise<SentRequest>;
  waiting: () => number;
  /** Answers the requests that open a session. */
  openSession: () => Promise<void>;
}

/** Connects to a legacy server. The next request is the GET for the standalone stream. */
export async function legacyTalk(options: ConnectOptions = {}): Promise<LegacyTalk> {
  const { clock, stub, connect } = stubbedClient();
  const errors: Error[] = [];
  const next = async (): Promise<SentRequest> => {
    for (let step = 0; stub.waiting() === 0; step++) {
      if (step === 100) throw new Error("The client sends no request.");
      await clock.advance(500);
    }
    return stub.next();
  };
  let sessions = 0;
  const openSession = async (): Promise<void> => {
    const initialize = await next();
    expect(initialize.body.method).toBe("initialize");
    const headers = { "content-type": "application/json", "mcp-session-id": `s-${++sessions}` };
    initialize.json({ jsonrpc: "2.0", id: initialize.body.id, result: initializeResult() }, { headers });
    (await next()).status(202);
    await flushPromises();
  };
  const onError = (error: Error): void => void errors.push(error);
  const connecting = connect({ ...options, revision: "2025-11-25", onError });
  await openSession();
  return { client: await connecting, clock, changes: [], errors, next, waiting: stub.waiting, openSession };
}

/** Returns the next request, which must be a GET in the given session. */
export async function nextGet(next: () => Promise<SentRequest>, session = "s-1"): Promise<SentRequest> {
  const hit = await next();
  expect(hit.method).toBe("GET");
  expect(hit.headers.get("mcp-session-id")).toEqual(session);
  return hit;
}

/** Advances the clock in small steps until the promise has settled. */
export async function until(promise: Promise<unknown>, clock: FakeClock): Promise<void> {
  const seen = { isSettled: false };
  const settle = (): void => void (seen.isSettled = true);
  promise.then(settle, settle);
  for (let steps = 0; steps < 500 && !seen.isSettled; steps++) await clock.advance(100);
}
