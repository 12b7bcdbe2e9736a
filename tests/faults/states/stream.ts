import { expect } from "vitest";
import { readHttpTarget } from "../../../packages/mcparley/src/http/client/settings.ts";
import { StandaloneStream } from "../../../packages/mcparley/src/http/client/standalone.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { type EventFeed, type SentRequest, fetchStub } from "../../support/fetch-stub.ts";
import { type LegacyTalk, legacyTalk, nextGet } from "../../support/http-talk.ts";
import type { Cell, StateTable } from "./table.ts";

/** Makes the cells of one state from their descriptions. `run` brings the machine into the state and tests the event. */
function cellsOf<Event extends string, Description extends Pick<Cell, "next" | "does">>(
  cells: Record<Event, Description | string>,
  run: (event: Event, cell: Description) => Promise<void>,
): Record<Event, Cell | string> {
  const made = Object.entries<Description | string>(cells).map(([event, cell]) => [
    event,
    typeof cell === "string" ? cell : { ...cell, test: () => run(event as Event, cell) },
  ]);
  return Object.fromEntries(made) as Record<Event, Cell | string>;
}

type StandaloneState = StandaloneStream["state"];
type StandaloneEvent =
  | "opened"
  | "not offered"
  | "session unknown"
  | "refused"
  | "busy"
  | "tries used"
  | "message"
  | "break"
  | "polling end"
  | "delay over"
  | "subscriber"
  | "answered"
  | "closed";

interface Standalone {
  stream: StandaloneStream;
  clock: FakeClock;
  controller: AbortController;
  /** Returns the next request. Advances the clock until there is one. */
  next: () => Promise<SentRequest>;
  waiting: () => number;
  /** Messages, errors, and changes of the state that the transport received. */
  received: string[];
  feed: EventFeed | undefined;
}

function standalone(): Standalone {
  const clock = fakeClock();
  const stub = fetchStub();
  const controller = new AbortController();
  const received: string[] = [];
  const settings = readHttpTarget({ url: "https://example.com/mcp", fetch: stub.fetch, clock });
  const sink = {
    message: () => void received.push("message"),
    malformed: () => void received.push("report"),
    onInterrupted: (cause: Error | undefined) => void received.push(cause ? "interrupted" : "restored"),
    onLost: () => void received.push("session lost"),
  };
  const stream = new StandaloneStream(settings, { "mcp-session-id": "s" }, { lifetime: controller.signal, sink });
  const next = async (): Promise<SentRequest> => {
    for (let step = 0; stub.waiting() === 0 && step < 100; step++) await clock.advance(500);
    return stub.next();
  };
  return { stream, clock, controller, next, waiting: stub.waiting, received, feed: undefined };
}

const enterStandalone: Record<StandaloneState, () => Promise<Standalone>> = {
  async resting() {
    const made = standalone();
    made.stream.open();
    for (let time = 0; time < 11; time++) (await made.next()).status(503);
    await flushPromises();
    return made;
  },
  async opening() {
    const made = standalone();
    made.stream.open();
    return made;
  },
  async open() {
    const made = await enterStandalone.opening();
    const feed = (await made.next()).stream();
    await flushPromises();
    return { ...made, feed };
  },
  async waiting() {
    const made = await enterStandalone.open();
    made.feed?.break();
    await flushPromises();
    return made;
  },
  async ended() {
    const made = await enterStandalone.opening();
    (await made.next()).status(405);
    await flushPromises();
    return made;
  },
};

const standaloneEvents: Record<StandaloneEvent, (given: Standalone) => unknown> = {
  opened: async ({ next }) => void (await next()).stream(),
  "not offered": async ({ next }) => (await next()).status(405),
  async "session unknown"({ next }) {
    (await next()).status(404);
    const check = await next();
    expect(check.body.method).toBe("ping");
    check.status(404);
  },
  refused: async ({ next }) => (await next()).status(403),
  busy: async ({ next }) => (await next()).status(503, { "retry-after": "1" }),
  "tries used": async ({ next }) => {
    for (let time = 0; time < 11; time++) (await next()).status(503);
  },
  message: ({ feed }) => feed?.event({ jsonrpc: "2.0", method: "notifications/message" }),
  break: ({ feed }) => feed?.break(),
  "polling end": ({ feed }) => {
    feed?.raw("id: e1\nretry: 1000\ndata: \n\n");
    feed?.end();
  },
  "delay over": ({ clock }) => clock.advance(500),
  subscriber: ({ stream }) => stream.need(true),
  answered: async ({ clock, stream }) => {
    await clock.advance(60_000);
    stream.noteAnswer();
  },
  closed: ({ controller }) => controller.abort(),
};

interface StandaloneCell {
  next: StandaloneState;
  does: string;
  /** The messages that the transport receives, in order. */
  receives?: string[];
}

function standaloneCells(
  state: StandaloneState,
  cells: Record<StandaloneEvent, StandaloneCell | string>,
): Record<StandaloneEvent, Cell | string> {
  return cellsOf(cells, async (event, { next, receives = [] }) => {
    const given = await enterStandalone[state]();
    given.received.length = 0;
    await standaloneEvents[event](given);
    await flushPromises();
    expect(given.stream.state).toBe(next);
    expect(given.received).toEqual(receives);
    given.controller.abort();
    await flushPromises();
    expect(given.clock.pending).toBe(0);
  });
}

const notOpen = "the stream is not open";
const noGet = "no GET is in flight";
const noDelay = "no delay is running";

/** The standalone stream of a legacy session. */
export const standaloneStates: StateTable<StandaloneState, StandaloneEvent> = {
  machine: "Standalone stream",
  file: "http/client/standalone.ts",
  states: {
    resting: "No request is open. Also the first state.",
    opening: "The GET is sent, and not answered.",
    open: "The server sends messages.",
    waiting: "It broke or was refused. The delay before the next try is running.",
    ended: "The server offers no stream, the session is lost, or the transport is closed.",
  },
  events: {
    opened: "The GET is answered with an event stream.",
    "not offered": "The GET is answered with 405 or 501.",
    "session unknown": "The GET is answered with 404, and a `ping` as well.",
    refused: "The GET is refused with another status that lasts, or the user must sign in.",
    busy: "The GET is answered with 408, 429 or 5xx, or cannot be sent.",
    "tries used": "The same for the last try, and there is no subscriber.",
    message: "The server sends a message.",
    break: "The stream breaks, or ends without an event id and a retry time.",
    "polling end": "The server ends it after an event id and a retry time.",
    "delay over": "The delay of the back-off, of `retry` or of `Retry-After` is over.",
    subscriber: "A subscription is opened in the session.",
    answered: "The server answers another request, a minute or more after the last try.",
    closed: "The transport is closed.",
  },
  cells: {
    resting: standaloneCells("resting", {
      opened: noGet,
      "not offered": noGet,
      "session unknown": noGet,
      refused: noGet,
      busy: noGet,
      "tries used": noGet,
      message: notOpen,
      break: notOpen,
      "polling end": notOpen,
      "delay over": noDelay,
      subscriber: { next: "opening", does: "sends the GET" },
      answered: { next: "opening", does: "sends the GET" },
      closed: { next: "resting", does: "" },
    }),
    opening: standaloneCells("opening", {
      opened: { next: "open", does: "restores the subscriptions if they were interrupted" },
      "not offered": { next: "ended", does: "" },
      "session unknown": {
        next: "ended",
        does: "drops the session; subscriptions open a new one",
        receives: ["session lost"],
      },
      refused: { next: "ended", does: "report; drops the session if the stream was open before", receives: ["report"] },
      busy: { next: "waiting", does: "interrupts the subscriptions", receives: ["interrupted"] },
      "tries used": { next: "resting", does: "report", receives: ["interrupted", "report"] },
      message: notOpen,
      break: notOpen,
      "polling end": notOpen,
      "delay over": noDelay,
      subscriber: { next: "opening", does: "from now on it never rests" },
      answered: { next: "opening", does: "" },
      closed: { next: "ended", does: "aborts the GET" },
    }),
    open: standaloneCells("open", {
      opened: noGet,
      "not offered": noGet,
      "session unknown": noGet,
      refused: noGet,
      busy: noGet,
      "tries used": noGet,
      message: { next: "open", does: "delivers it; all tries are restored", receives: ["message"] },
      break: { next: "waiting", does: "interrupts the subscriptions", receives: ["interrupted"] },
      "polling end": { next: "waiting", does: "all tries are restored" },
      "delay over": noDelay,
      subscriber: { next: "open", does: "" },
      answered: { next: "open", does: "" },
      closed: { next: "ended", does: "aborts the stream" },
    }),
    waiting: standaloneCells("waiting", {
      opened: noGet,
      "not offered": noGet,
      "session unknown": noGet,
      refused: noGet,
      busy: noGet,
      "tries used": noGet,
      message: notOpen,
      break: notOpen,
      "polling end": notOpen,
      "delay over": { next: "opening", does: "sends the GET, with `Last-Event-ID` if the server gave ids" },
      subscriber: { next: "waiting", does: "from now on it never rests" },
      answered: { next: "opening", does: "" },
      closed: { next: "ended", does: "" },
    }),
    ended: standaloneCells("ended", {
      opened: noGet,
      "not offered": noGet,
      "session unknown": noGet,
      refused: noGet,
      busy: noGet,
      "tries used": noGet,
      message: notOpen,
      break: notOpen,
      "polling end": notOpen,
      "delay over": noDelay,
      subscriber: { next: "ended", does: "" },
      answered: { next: "ended", does: "" },
      closed: { next: "ended", does: "" },
    }),
  },
};

type AnswerState = "reading" | "waiting" | "resuming" | "settled";
type AnswerEvent =
  | "answer"
  | "break"
  | "break without id"
  | "polling end"
  | "delay over"
  | "resumed"
  | "busy"
  | "tries used"
  | "session unknown"
  | "refused"
  | "closed";

interface Answer extends LegacyTalk {
  call: SentRequest;
  feed: EventFeed;
  outcome: Promise<unknown>;
  hasSettled: () => boolean;
}

async function startAnswer(isResumable = true): Promise<Answer> {
  const talk = await legacyTalk();
  (await nextGet(talk.next)).status(405);
  let hasSettled = false;
  const outcome = talk.client
    .callTool("slow", {}, { timeout: { idle: 3_600_000 } })
    .catch((error: unknown) => error)
    .finally(() => (hasSettled = true));
  const call = await talk.next();
  const feed = call.stream();
  if (isResumable) feed.raw("id: e1\ndata: \n\n");
  await flushPromises();
  return { ...talk, call, feed, outcome, hasSettled: () => hasSettled };
}

const enterAnswer: Record<AnswerState, () => Promise<Answer>> = {
  reading: () => startAnswer(),
  async waiting() {
    const made = await enterAnswer.reading();
    made.feed.break();
    await flushPromises();
    return made;
  },
  async resuming() {
    const made = await enterAnswer.waiting();
    await made.clock.advance(500);
    return made;
  },
  async settled() {
    const made = await enterAnswer.reading();
    await answerEvents.answer(made);
    await made.outcome;
    return made;
  },
};

const answerEvents: Record<AnswerEvent, (given: Answer) => unknown> = {
  answer: ({ feed, call }) => feed.event({ jsonrpc: "2.0", id: call.body.id, result: { content: [] } }),
  break: ({ feed }) => feed.break(),
  "break without id": ({ feed }) => feed.break(),
  "polling end": ({ feed }) => {
    feed.raw("retry: 1000\n\n");
    feed.end();
  },
  "delay over": ({ clock }) => clock.advance(500),
  resumed: async ({ next }) => void (await nextGet(next)).stream(),
  busy: async ({ next }) => (await nextGet(next)).status(503, { "retry-after": "1" }),
  "tries used": async ({ next }) => {
    for (let time = 0; time < 10; time++) (await nextGet(next)).status(503);
  },
  "session unknown": async ({ next }) => (await nextGet(next)).status(404),
  refused: async ({ next }) => (await nextGet(next)).status(403),
  closed: async ({ client, next }) => {
    const closing = client.close();
    for (let hit = await next(); ; hit = await next()) {
      if (hit.method !== "DELETE") continue; // The GET that the client has aborted.
      hit.status(200);
      return closing;
    }
  },
};

interface AnswerCell {
  next: AnswerState;
  does: string;
  /** The code of the call's error. */
  fails?: string;
}

function answerCells(
  state: AnswerState,
  cells: Record<AnswerEvent, AnswerCell | string>,
): Record<AnswerEvent, Cell | string> {
  return cellsOf(cells, async (event, { next, fails }) => {
    const given = event === "break without id" ? await startAnswer(false) : await enterAnswer[state]();
    const wasWaiting = given.waiting();
    await answerEvents[event](given);
    await flushPromises();
    expect(given.hasSettled()).toBe(next === "settled");
    if (fails !== undefined) expect(await given.outcome).toMatchObject({ code: fails });
    if (next === "waiting") {
      expect(given.waiting()).toBe(0);
      expect(given.clock.pending).toBeGreaterThan(0);
    }
    if (next === "resuming") expect(given.waiting()).toBe(wasWaiting + 1);
    if (next === "settled" && event !== "answer") expect(given.clock.pending).toBe(0);
  });
}

const notReading = "no stream is open";
const hasSettledAlready = "the call has its answer";

/** The stream of the answer to one request, in a legacy session with event ids. */
export const answerStates: StateTable<AnswerState, AnswerEvent> = {
  machine: "Answer stream",
  file: "http/client/stream.ts",
  states: {
    reading: "The server sends the answer as a stream.",
    waiting: "It broke. The delay before the next try is running.",
    resuming: "The GET for the rest is sent, and not answered.",
    settled: "The call has its result or an error.",
  },
  events: {
    answer: "The answer arrives.",
    break: "The stream breaks or ends after an event id.",
    "break without id": "The stream breaks or ends, and the server gave no event id, as in every modern revision.",
    "polling end": "The server ends it after an event id and a retry time.",
    "delay over": "The delay of the back-off, of `retry` or of `Retry-After` is over.",
    resumed: "The GET is answered with an event stream.",
    busy: "The GET is answered with 408, 429 or 5xx, or cannot be sent.",
    "tries used": "The same for the last of ten tries.",
    "session unknown": "The GET is answered with 404.",
    refused: "The GET is refused with another status.",
    closed: "The client is closed, or the call is aborted.",
  },
  cells: {
    reading: answerCells("reading", {
      answer: { next: "settled", does: "the call resolves" },
      break: { next: "waiting", does: "" },
      "break without id": { next: "settled", does: "the call fails with `closed`", fails: "closed" },
      "polling end": { next: "waiting", does: "all tries are restored" },
      "delay over": noDelay,
      resumed: noGet,
      busy: noGet,
      "tries used": noGet,
      "session unknown": noGet,
      refused: noGet,
      closed: { next: "settled", does: "the call fails", fails: "closed" },
    }),
    waiting: answerCells("waiting", {
      answer: notReading,
      break: notReading,
      "break without id": notReading,
      "polling end": notReading,
      "delay over": { next: "resuming", does: "sends the GET with `Last-Event-ID`" },
      resumed: noGet,
      busy: noGet,
      "tries used": noGet,
      "session unknown": noGet,
      refused: noGet,
      closed: { next: "settled", does: "the call fails", fails: "closed" },
    }),
    resuming: answerCells("resuming", {
      answer: notReading,
      break: notReading,
      "break without id": notReading,
      "polling end": notReading,
      "delay over": noDelay,
      resumed: { next: "reading", does: "" },
      busy: { next: "waiting", does: "uses a try; waits at least for `Retry-After`" },
      "tries used": { next: "settled", does: "the call fails with `closed`", fails: "closed" },
      "session unknown": {
        next: "settled",
        does: "drops the session; the call fails with `closed` and is not repeated",
        fails: "closed",
      },
      refused: { next: "settled", does: "the call fails with the error of the status", fails: "unauthorized" },
      closed: { next: "settled", does: "the call fails", fails: "closed" },
    }),
    settled: answerCells("settled", {
      answer: hasSettledAlready,
      break: { next: "settled", does: "" },
      "break without id": hasSettledAlready,
      "polling end": { next: "settled", does: "" },
      "delay over": noDelay,
      resumed: noGet,
      busy: noGet,
      "tries used": noGet,
      "session unknown": noGet,
      refused: noGet,
      closed: { next: "settled", does: "" },
    }),
  },
};
