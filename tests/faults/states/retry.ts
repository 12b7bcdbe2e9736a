import { expect } from "vitest";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { httpTransports } from "../../../packages/mcparley/src/http/client/transport.ts";
import type { JsonObject } from "../../../packages/mcparley/src/rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { discoverResult, initializeResult } from "../../../packages/mcparley/src/testing/peer-transports.ts";
import { type EventFeed, type SentRequest, fetchStub } from "../../support/fetch-stub.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "waiting" | "sent" | "streaming" | "repeated" | "settled";
type Event =
  | "authorized"
  | "refused"
  | "reset"
  | "answer"
  | "error answer"
  | "end without an answer"
  | "busy"
  | "status 500"
  | "status 400"
  | "status 401"
  | "redirect"
  | "session 404"
  | "header mismatch"
  | "unsupported version"
  | "timeout"
  | "abort"
  | "close";
type Revision = "2025-11-25" | "2026-07-28";

const headers = { "content-type": "application/json" };
const legacy = "2025-11-25";
const modern = "2026-07-28";

/** A call in one of the states, and its observable parts. */
interface Scene {
  client: Client;
  clock: FakeClock;
  controller: AbortController;
  /** Resolves with the text of the tool, or with the error of the call. */
  outcome: Promise<unknown>;
  /** Releases the requests that wait for authorization. */
  authorize: () => void;
  /** The requests for `tools/call`, in order. */
  calls: SentRequest[];
  /** The methods of all messages that were sent since the call began. */
  sent: string[];
  stream: EventFeed | undefined;
}

/** Answers all requests except `tools/call`. */
function serve(sent: string[], calls: SentRequest[]): typeof fetch {
  const { fetch, next } = fetchStub();
  const tools = [{ name: "add", inputSchema: {} }];
  const answers: Record<string, JsonObject> = {
    "server/discover": discoverResult(),
    initialize: initializeResult(legacy),
    "tools/list": { resultType: "complete", tools, ttlMs: 0, cacheScope: "public" },
  };
  const answer = (request: SentRequest): void => {
    const { id, method } = request.body;
    const name = typeof method === "string" ? method : request.method;
    sent.push(name);
    const value = answers[name];
    if (name === "tools/call") calls.push(request);
    else if (!value) request.status(request.method === "GET" ? 405 : 202);
    else {
      const session = name === "initialize" && { "mcp-session-id": "s" };
      request.json({ jsonrpc: "2.0", id, result: value }, { headers: { ...headers, ...session } });
    }
    void next().then(answer);
  };
  void next().then(answer);
  return fetch;
}

/** Brings a call into a state. `repeated` is reached by `failing` the first request. */
async function enter(state: State, revision: Revision, failing = sessionLost): Promise<Scene> {
  const [sent, calls]: [string[], SentRequest[]] = [[], []];
  const clock = fakeClock();
  let hold = Promise.resolve();
  let authorize = (): void => {};
  const auth = { headers: () => hold.then(() => ({})), challenged: () => Promise.resolve(false) };
  const target = { url: "https://example.com/mcp", fetch: serve(sent, calls), clock, auth };
  const client = await openClient(httpTransports(target), { clock, ...(revision === legacy && { revision }) });
  await client.listTools().all();
  await flushPromises();
  sent.length = 0;
  if (state === "waiting") hold = new Promise((resolve) => (authorize = resolve));
  const controller = new AbortController();
  const outcome = client
    .callTool("add", {}, { signal: controller.signal, onProgress: () => {} })
    .catch((error: unknown) => error);
  await flushPromises();
  const scene: Scene = { client, clock, controller, outcome, authorize, calls, sent, stream: undefined };
  if (state === "streaming") {
    scene.stream = last(scene).stream();
    const progress = { progressToken: last(scene).body.id, progress: 1 };
    scene.stream.event({ jsonrpc: "2.0", method: "notifications/progress", params: progress });
  }
  if (state === "repeated") failing(scene);
  if (state === "settled") respond(scene, { result: done });
  await flushPromises();
  return scene;
}

const done = { resultType: "complete", content: [{ type: "text", text: "done" }] };
const last = ({ calls }: Scene): SentRequest => calls.at(-1)!;

/** Answers the request as a stream, if it has one, and otherwise with JSON. */
function respond(scene: Scene, reply: JsonObject, status = 200): void {
  const message = { jsonrpc: "2.0", id: last(scene).body.id, ...reply };
  if (scene.stream) scene.stream.event(message);
  else last(scene).json(message, { status, headers });
}

const refuse = (scene: Scene, code: number, status: number): void =>
  respond(scene, { error: { code, message: "no", data: { supported: [modern, legacy] } } }, status);
function sessionLost(scene: Scene): void {
  last(scene).status(404);
}
const mismatched = (scene: Scene): void => refuse(scene, -32020, 400);
const unsupported = (scene: Scene): void => refuse(scene, -32022, 400);
const network = (code: string): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

function breakOff(scene: Scene): void {
  if (scene.stream) scene.stream.break();
  else last(scene).fail(network("ECONNRESET"));
}

function endWithout(scene: Scene): void {
  if (scene.stream) scene.stream.end();
  else last(scene).status(202);
}

interface Expected {
  next: State;
  does: string;
  /** Matched with the outcome of the call. Undefined if it has not settled. */
  outcome?: string | object;
  /** The methods of messages that the event causes, among others. The call is sent again only if it is one of them. */
  sends?: readonly string[];
  /** The revisions that have the event. Default: a legacy and a modern one. */
  on?: readonly Revision[];
  /** How the state `repeated` is reached. */
  by?: (scene: Scene) => void;
}

type Happening = (scene: Scene) => void | Promise<void>;

/** Makes a cell. Each of the happenings is tested on each revision. */
function cell(state: State, happenings: Happening | readonly Happening[], expected: Expected): Cell {
  const { next, does, outcome, sends = [], on = [legacy, modern], by } = expected;
  const check = async (happens: Happening, revision: Revision): Promise<void> => {
    const scene = await enter(state, revision, by ?? (revision === legacy ? sessionLost : mismatched));
    scene.sent.length = 0;
    await happens(scene);
    await flushPromises();
    expect(scene.sent).toEqual(expect.arrayContaining([...sends]));
    expect(scene.sent.includes("tools/call")).toBe(sends.includes("tools/call"));
    const ended = await Promise.race([scene.outcome, flushPromises().then(() => "pending")]);
    if (typeof outcome === "object") expect(ended).toMatchObject(outcome);
    else expect(ended).toBe(outcome ?? "pending");
    const closing = scene.client.close();
    // A request that ends the session may wait for authorization.
    await scene.clock.advance(2_000);
    await closing;
    expect(scene.clock.pending).toBe(0);
  };
  const test = async (): Promise<void> => {
    for (const happens of [happenings].flat()) for (const revision of on) await check(happens, revision);
  };
  return { next, does, test };
}

const unsafe = { safeToRepeat: false };
const fails = (does: string, outcome: object): Expected => ({ next: "settled", does, outcome });
const again = (does: string, sends: readonly string[], on: readonly Revision[]): Expected => {
  return { next: "repeated", does, sends: [...sends, "tools/call"], on };
};

const lost = fails("error closed, with safeToRepeat", { code: "closed", data: unsafe });
const invalid = fails("error invalid_message", { code: "invalid_message" });
const result: Expected = { next: "settled", does: "result", outcome: "done" };
const protocolError = fails("ProtocolError", { code: -32602 });
const timedOut = fails("error timeout, with safeToRepeat", { code: "timeout", data: unsafe });
const aborted = fails("error aborted; the request is cancelled", { code: "aborted" });
const closed = fails("error closed, with safeToRepeat", {
  code: "closed",
  message: "The client was closed.",
  data: unsafe,
});
const repairedSession = again("opens a session, sends the call again", ["initialize"], [legacy]);
const repairedHeaders = again("lists the tools, sends the call again", ["tools/list"], [modern]);
const repairedVersion = again("detects the revision, sends the call again", ["server/discover"], [modern]);

const wait: Happening = ({ clock }) => clock.advance(60_000);
const abort: Happening = ({ controller }) => controller.abort();
const close: Happening = ({ client }) => void client.close();
const status =
  (code: number, more: Record<string, string> = {}): Happening =>
  (scene) =>
    last(scene).status(code, more);
const busy: readonly Happening[] = [408, 429, 502, 503, 504].flatMap((code) => [
  status(code, { "retry-after": "2" }),
  (scene) => {
    const error = { jsonrpc: "2.0", id: last(scene).body.id, error: { code: -32603, message: "busy" } };
    last(scene).json(error, { status: code, headers: { ...headers, "retry-after": "2" } });
  },
]);

const notSent = "the request is not sent yet";
const isSent = "the request is sent already";
const hasStatus = "the status was 200";
const isOver = "the exchange is over";

type Repair = "session 404" | "header mismatch" | "unsupported version";

/** The cells of a request whose response has not begun. */
function unanswered(state: "sent" | "repeated"): Omit<Record<Event, Cell | string>, Repair> {
  const refused = { code: "unreachable", data: { safeToRepeat: true } };
  const isBusy = { code: "http", data: { retryAfterMs: 2_000, ...unsafe } };
  return {
    authorized: isSent,
    refused: cell(
      state,
      (scene) => last(scene).fail(network("ECONNREFUSED")),
      fails("error unreachable, safeToRepeat true", refused),
    ),
    reset: cell(state, breakOff, lost),
    answer: cell(state, (scene) => respond(scene, { result: done }), result),
    "error answer": cell(state, (scene) => refuse(scene, -32602, 400), protocolError),
    "end without an answer": cell(state, endWithout, invalid),
    busy: cell(state, busy, fails("error http, with retryAfterMs and safeToRepeat", isBusy)),
    "status 500": cell(
      state,
      status(500),
      fails("error http, with safeToRepeat", { code: "http", data: { status: 500, ...unsafe } }),
    ),
    "status 400": cell(state, [status(400), status(405)], fails("error http", { code: "http" })),
    "status 401": cell(state, [status(401), status(403)], fails("error unauthorized", { code: "unauthorized" })),
    redirect: cell(
      state,
      status(302, { location: "/elsewhere" }),
      fails("error http", { code: "http", data: { status: 302 } }),
    ),
    timeout: cell(state, wait, timedOut),
    abort: cell(state, abort, aborted),
    close: cell(state, close, closed),
  };
}

/** The states of the request of one call over HTTP. The table covers three files: `send-request.ts`, `transport.ts`, `posted.ts`. */
export const retryTable: StateTable<State, Event> = {
  machine: "Retry",
  file: "client/calls/repair.ts, http/client/transport.ts and http/client/posted.ts",
  states: {
    waiting: "The request is held back: the headers that authorize it are not known yet.",
    sent: "The request was sent, and no response has begun.",
    streaming: "The response is an event stream, and the answer is not in it yet.",
    repeated: "The call was sent again after a failure that could be repaired. The same repair is not made twice.",
    settled: "The call has its result or its error.",
  },
  events: {
    authorized: "The request can be sent.",
    refused: "No connection: refused, unknown host, no route, connect timeout, or TLS.",
    reset: "The connection breaks.",
    answer: "The result arrives.",
    "error answer": "A JSON-RPC error arrives, for which there is no repair.",
    "end without an answer": "The response ends and contains no answer.",
    busy: "Status 408, 429, 502, 503 or 504, with or without a JSON-RPC error.",
    "status 500": "Status 500 without a JSON-RPC error.",
    "status 400": "Another error status without a JSON-RPC error.",
    "status 401": "Status 401 or 403, and there is no new authorization.",
    redirect: "A redirect that is not followed.",
    "session 404": "Status 404 in a session (legacy revisions).",
    "header mismatch": "JSON-RPC error -32020 (2026-07-28).",
    "unsupported version": "JSON-RPC error -32022 (2026-07-28).",
    timeout: "The idle or total time of the call ends.",
    abort: "The caller aborts the call.",
    close: "The client is closed.",
  },
  cells: {
    waiting: {
      authorized: cell("waiting", ({ authorize }) => authorize(), {
        next: "sent",
        does: "sends the request",
        sends: ["tools/call"],
      }),
      refused: notSent,
      reset: notSent,
      answer: notSent,
      "error answer": notSent,
      "end without an answer": notSent,
      busy: notSent,
      "status 500": notSent,
      "status 400": notSent,
      "status 401": notSent,
      redirect: notSent,
      "session 404": notSent,
      "header mismatch": notSent,
      "unsupported version": notSent,
      timeout: cell("waiting", wait, timedOut),
      abort: cell("waiting", abort, fails("error aborted", { code: "aborted" })),
      close: cell("waiting", close, closed),
    },
    sent: {
      ...unanswered("sent"),
      "session 404": cell("sent", sessionLost, repairedSession),
      "header mismatch": cell("sent", mismatched, repairedHeaders),
      "unsupported version": cell("sent", unsupported, repairedVersion),
    },
    streaming: {
      authorized: isSent,
      refused: "the connection exists",
      reset: cell("streaming", breakOff, lost),
      answer: cell("streaming", (scene) => respond(scene, { result: done }), result),
      "error answer": cell("streaming", (scene) => refuse(scene, -32602, 200), protocolError),
      "end without an answer": cell("streaming", endWithout, lost),
      busy: hasStatus,
      "status 500": hasStatus,
      "status 400": hasStatus,
      "status 401": hasStatus,
      redirect: hasStatus,
      "session 404": hasStatus,
      "header mismatch": cell("streaming", mismatched, repairedHeaders),
      "unsupported version": cell("streaming", unsupported, repairedVersion),
      timeout: cell("streaming", wait, timedOut),
      abort: cell("streaming", abort, aborted),
      close: cell("streaming", close, closed),
    },
    repeated: {
      ...unanswered("repeated"),
      "session 404": cell("repeated", sessionLost, {
        ...fails("error session_lost", { code: "session_lost" }),
        on: [legacy],
      }),
      "header mismatch": cell("repeated", mismatched, {
        ...fails("ProtocolError -32020", { code: -32020 }),
        on: [modern],
        by: mismatched,
      }),
      "unsupported version": cell("repeated", unsupported, {
        ...fails("ProtocolError -32022", { code: -32022 }),
        on: [modern],
        by: unsupported,
      }),
    },
    settled: {
      authorized: isOver,
      refused: isOver,
      reset: isOver,
      answer: isOver,
      "error answer": isOver,
      "end without an answer": isOver,
      busy: isOver,
      "status 500": isOver,
      "status 400": isOver,
      "status 401": isOver,
      redirect: isOver,
      "session 404": isOver,
      "header mismatch": isOver,
      "unsupported version": isOver,
      timeout: cell("settled", wait, { ...result, does: "" }),
      abort: cell("settled", abort, { ...result, does: "" }),
      close: cell("settled", close, { ...result, does: "" }),
    },
  },
};
