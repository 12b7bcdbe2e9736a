import type { Client } from "../../packages/mcparley/src/client/calls/client.ts";
import { openClient } from "../../packages/mcparley/src/client/connect/open-client.ts";
import type { ConnectOptions } from "../../packages/mcparley/src/client/options.ts";
import { httpTransports } from "../../packages/mcparley/src/http/client/transport.ts";
import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { type FakeClock, fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type SentRequest, fetchStub } from "./fetch-stub.ts";

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

export interface AnsweringServer {
  clock: FakeClock;
  /** The methods of the requests that were sent, in order. */
  sent: string[];
  connect: (options?: ConnectOptions) => Promise<Client>;
}

/** A server over HTTP that sends the given answers in order. A request without an answer is not answered. */
export function server(...answers: Answer[]): AnsweringServer {
  const clock = fakeClock();
  const stub = fetchStub();
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const sending = stub.fetch(input, init);
    void stub.next().then((request) => {
      sent.push(typeof request.body.method === "string" ? request.body.method : request.method);
      answers.shift()?.(request);
    });
    return sending;
  };
  const transports = httpTransports({ url: "https://busy.example/mcp", fetch, clock });
  const connect = (options: ConnectOptions = {}): Promise<Client> => {
    const connecting = openClient(transports, { clock, ...options });
    connecting.catch(() => {});
    return connecting;
  };
  return { clock, sent, connect };
}

/** Advances the clock in small steps until the promise has settled. */
export async function until(promise: Promise<unknown>, clock: FakeClock): Promise<void> {
  const seen = { isSettled: false };
  const settle = (): void => void (seen.isSettled = true);
  promise.then(settle, settle);
  for (let steps = 0; steps < 500 && !seen.isSettled; steps++) await clock.advance(100);
}
