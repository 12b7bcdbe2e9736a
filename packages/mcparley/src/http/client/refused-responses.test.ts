import { expect, test } from "vitest";
import { connect } from "../../client.ts";
import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { type EventFeed, type FetchStub, type SentRequest, fetchStub } from "mcparley-tests/support/fetch-stub.ts";

const question = { jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };

/** A call that waits for the response to a request of the server. */
interface WaitingCall {
  client: Client;
  clock: FakeClock;
  /** The outcome of the call. Undefined while it waits. */
  outcome: () => unknown;
  /** The stream of the call. */
  stream: EventFeed;
  /** The number of attempts to send the response. */
  attempts: () => number;
  /** The notifications that the server received after the response. */
  notifications: string[];
  abort: () => void;
}

interface ServerInit {
  /** Answers an attempt to send the response. `ms` is the time since the first one. */
  receive: (attempt: SentRequest, ms: number) => void;
  /** The stream on which the server sends its request. */
  on?: "call" | "standalone";
  revision?: string;
  /** Default: a request for sampling. */
  request?: JsonObject;
}

const result = (id: unknown, value: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, result: value });

async function waitingCall({
  receive,
  on = "call",
  revision = "2025-11-25",
  request = question,
}: ServerInit): Promise<WaitingCall> {
  const clock = fakeClock(1_000_000);
  const stub: FetchStub = fetchStub();
  const opening = connect("https://example.com/mcp", {
    fetch: stub.fetch,
    clock,
    revision,
    cache: false,
    sample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "a thought" } }),
    onError: () => {},
  });
  const initialize = await stub.next();
  const content = { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  const headers = { "content-type": "application/json", "mcp-session-id": "s-1" };
  initialize.json(result(initialize.body.id, content), { headers });
  (await stub.next()).status(202);
  const get = await stub.next();
  const standalone = get.stream();
  standalone.raw(": open\n\n");
  const client = await opening;
  const controller = new AbortController();
  let outcome: unknown;
  const settle = (value: unknown): void => void (outcome = value);
  client.callTool("think", {}, { signal: controller.signal }).then(settle, settle);
  const call = await stub.next();
  const stream = call.stream();
  stream.raw(": open\n\n");
  (on === "call" ? stream : standalone).event(request);
  const state = { attempts: 0, firstAt: 0 };
  const notifications: string[] = [];
  const serve = async (): Promise<void> => {
    for (;;) {
      const posted = await stub.next();
      if ("method" in posted.body) {
        notifications.push(String(posted.body.method));
        posted.status(202);
      } else if (posted.method === "POST") {
        if (state.attempts++ === 0) state.firstAt = clock.now();
        receive(posted, clock.now() - state.firstAt);
        const isAccepted = await flushPromises().then(() => acceptedRequests.has(posted));
        if (isAccepted) stream.event(result(call.body.id, { content: [{ type: "text", text: "done" }] }));
      } else posted.status(405);
    }
  };
  void serve();
  await flushPromises();
  const abort = (): void => controller.abort();
  return { client, clock, outcome: () => outcome, stream, attempts: () => state.attempts, notifications, abort };
}

/** The responses that the server has accepted. */
const acceptedRequests = new WeakSet<SentRequest>();

function accept(attempt: SentRequest): void {
  acceptedRequests.add(attempt);
  attempt.status(202);
}

const noProcess = (attempt: SentRequest): void => attempt.status(502);

test.each([
  ["2025-03-26", "call"],
  ["2025-06-18", "call"],
  ["2025-11-25", "call"],
  ["2025-11-25", "standalone"],
] as const)(
  "a response is sent again for 29 s while the server is unavailable: %s, on the %s stream",
  async (...row) => {
    const [revision, on] = row;
    const receive = (attempt: SentRequest, ms: number): void => (ms < 29_000 ? noProcess : accept)(attempt);
    const { client, clock, outcome } = await waitingCall({ receive, on, revision });
    await clock.advance(28_000);
    expect(outcome()).toBeUndefined();
    await clock.advance(3_000);
    await flushPromises();
    expect(outcome()).toBe("done");
    void client.close();
  },
);

test.each<[string, (attempt: SentRequest) => void, number, string]>([
  ["every process is dead", noProcess, 40_000, "The server answered a response with 502"],
  ["the network is down", (attempt) => attempt.fail(new TypeError("fetch failed")), 40_000, "example.com"],
  ["the response is too large", (attempt) => attempt.status(413), 6_000, "The server answered a response with 413"],
  ["the session has ended", (attempt) => attempt.status(404), 6_000, "The session has ended or is unknown"],
])("a call ends with the reason if the server does not receive its response: %s", async (_, receive, ms, reason) => {
  const { client, clock, outcome, notifications } = await waitingCall({ receive });
  await clock.advance(ms);
  const error = outcome() as Error;
  expect(error).toMatchObject({ code: "closed" });
  expect(error.message).toContain(`The server did not receive the answer to its request: `);
  expect(error.message).toContain(reason);
  expect(error.message.split("did not receive")).toHaveLength(2);
  expect(notifications).toEqual(["notifications/cancelled"]);
  void client.close();
});

test("a call is answered by a server that refuses the response, but has processed it", async () => {
  const { client, clock, outcome, stream } = await waitingCall({ receive: (attempt) => attempt.status(400) });
  await clock.advance(4_000);
  expect(outcome()).toBeUndefined();
  stream.event(result(1, { content: [{ type: "text", text: "done" }] }));
  await flushPromises();
  expect(outcome()).toBe("done");
  await clock.advance(60_000);
  void client.close();
});

test("a call continues although the server refuses the answer to a ping on its stream", async () => {
  const request = { jsonrpc: "2.0", id: "p", method: "ping" };
  const { client, clock, outcome, stream } = await waitingCall({ receive: (attempt) => attempt.status(400), request });
  await clock.advance(30_000);
  expect(outcome()).toBeUndefined();
  stream.event(result(1, { content: [{ type: "text", text: "done" }] }));
  await flushPromises();
  expect(outcome()).toBe("done");
  void client.close();
});

test("a response is not sent again after the caller has aborted the call", async () => {
  const { client, clock, outcome, attempts, abort } = await waitingCall({ receive: noProcess });
  await clock.advance(10_000);
  abort();
  await flushPromises();
  expect(outcome()).toMatchObject({ code: "aborted" });
  await clock.advance(3_000);
  const sent = attempts();
  await clock.advance(60_000);
  expect(attempts()).toBe(sent);
  void client.close();
});

test("a response that no call needs is sent five times", async () => {
  const { client, clock, attempts, stream } = await waitingCall({ receive: noProcess, on: "standalone" });
  stream.event(result(1, { content: [{ type: "text", text: "done" }] }));
  await clock.advance(60_000);
  expect(attempts()).toBe(5);
  void client.close();
});
