import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { ServerChange, Subscription } from "../../../packages/mcparley/src/client/subscriptions/subscription.ts";
import { LocalError } from "../../../packages/mcparley/src/rpc/errors.ts";
import type { JsonRpcRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Receiver } from "../../../packages/mcparley/src/rpc/transport.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../../packages/mcparley/src/testing/peer-transports.ts";
import type { ScriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "opening" | "open" | "interrupted" | "waiting" | "reopening" | "ended";
type Event =
  | "acknowledged"
  | "change"
  | "graceful end"
  | "break"
  | "connection lost"
  | "busy"
  | "refused"
  | "delay over"
  | "stream interrupted"
  | "stream restored"
  | "closed";

/** A client with one subscription, and its server. */
interface Scene {
  client: Client;
  clock: FakeClock;
  changes: ServerChange[];
  errors: Error[];
  peer: ScriptedPeer;
  receiver: Receiver;
  /** The last request of the subscription, in a modern revision. */
  request: JsonRpcRequest;
  /** The number of requests of the subscription that are over. */
  answered: number;
  /** Settles when the subscription is acknowledged, or with the error of `listen`. */
  opening: Promise<Subscription | Error>;
}

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

async function scene(peer: ScriptedPeer, revision: string): Promise<Scene> {
  const clock = fakeClock();
  const changes: ServerChange[] = [];
  const errors: Error[] = [];
  let receiver!: Receiver;
  const { transport } = peer;
  const transports = Object.assign(peerTransports(peer, modernPeer()), { kind: "http" as const });
  const open = transports.open.bind(transports);
  let opened = 0;
  transports.open = () => {
    if (opened++ > 0) return open();
    transports.opened++;
    const start = (given: Receiver): void | Promise<void> => transport.start((receiver = given));
    return { ...transport, start };
  };
  const client = await openClient(transports, { clock, revision, onError: (error) => errors.push(error) });
  const opening = client.listen({ tools: true }, (change) => changes.push(change)).catch((error: Error) => error);
  await flushPromises();
  const request = undefined as never;
  return { client, clock, changes, errors, peer, receiver, request, answered: 0, opening };
}

const enter: Record<State, () => Promise<Scene>> = {
  async opening() {
    const made = await scene(modernPeer(), "2026-07-28");
    return { ...made, request: await made.peer.request("subscriptions/listen") };
  },
  async open() {
    const made = await enter.opening();
    await events.acknowledged(made);
    return made;
  },
  async interrupted() {
    const made = await scene(legacyPeer(), "2025-11-25");
    await events["stream interrupted"](made);
    return made;
  },
  async waiting() {
    const made = await enter.open();
    await events.break(made);
    await flushPromises();
    return { ...made, answered: 1 };
  },
  async reopening() {
    const made = await enter.waiting();
    await events["delay over"](made);
    return { ...made, request: await made.peer.request("subscriptions/listen") };
  },
  async ended() {
    const made = await enter.reopening();
    await events.refused(made);
    await flushPromises();
    return made;
  },
};

const events: Record<Event, (scene: Scene) => unknown> = {
  async acknowledged({ peer, request, opening }) {
    const _meta = { [subscriptionId]: request.id };
    peer.notify("notifications/subscriptions/acknowledged", { notifications: request.params?.notifications, _meta });
    await opening;
  },
  change: ({ peer, request }) => {
    const _meta = (request as JsonRpcRequest | undefined) && { [subscriptionId]: request.id };
    peer.notify("notifications/tools/list_changed", _meta && { _meta });
  },
  "graceful end": ({ peer, request }) => peer.answer(request, { resultType: "complete" }),
  break: ({ peer, request }) => peer.fail(request, new LocalError("closed", "The stream broke.")),
  "connection lost": ({ peer }) => peer.close(new LocalError("closed", "The connection broke.")),
  busy: ({ peer, request }) => peer.fail(request, new LocalError("http", "busy", { data: { status: 503 } })),
  // `not_capable` is a refusal in every revision, so the client does not negotiate again.
  refused: ({ peer, request }) => peer.fail(request, new LocalError("not_capable", "refused")),
  "delay over": ({ clock }) => clock.advance(30_000),
  "stream interrupted": ({ receiver }) => receiver.interrupted?.(new LocalError("closed", "The stream broke.")),
  "stream restored": ({ receiver }) => receiver.interrupted?.(undefined),
  async closed({ client, opening }) {
    const opened = await unlessPending(opening);
    if (opened && !(opened instanceof Error)) await opened.close();
    else await client.close();
  },
};

/** The state that the public API and the sent requests show. */
async function stateOf(scene: Scene): Promise<State> {
  const { client, peer, opening } = scene;
  const opened = await unlessPending(opening);
  if (!opened) return "opening";
  if (opened instanceof Error) return "ended";
  if (await unlessPending(opened.closed.then(() => true))) return "ended";
  if (client.state === "open") return "open";
  if (client.server.revisionKind === "legacy" && !peer.isClosed) return "interrupted";
  return requestsOf(peer) > scene.answered ? "reopening" : "waiting";
}

/** The value of a promise, or undefined if it is pending. */
async function unlessPending<T>(promise: Promise<T>): Promise<T | undefined> {
  let value: T | undefined;
  void promise.then((settledValue) => (value = settledValue));
  await flushPromises();
  return value;
}

/** The number of requests that subscribe. */
function requestsOf({ arrived }: ScriptedPeer): number {
  return arrived.filter(({ message }) => "method" in message && message.method === "subscriptions/listen").length;
}

/** The events that end the request of a subscription. */
const endings: ReadonlySet<string> = new Set(["graceful end", "break", "connection lost", "busy", "refused"]);

function cellsOf<S extends State>(
  state: S,
  cells: Record<
    Event,
    { next: State; does: string; enter?: () => Promise<Scene>; check?: (scene: Scene) => unknown } | string
  >,
): Record<Event, Cell | string> {
  const made = Object.entries(cells).map(([event, cell]): [string, Cell | string] => {
    if (typeof cell === "string") return [event, cell];
    const { next, does, check, enter: begin = enter[state] } = cell;
    const test = async (): Promise<void> => {
      const given = await begin();
      given.changes.length = 0;
      given.errors.length = 0;
      if (endings.has(event) && state !== "waiting") given.answered++;
      await events[event as Event](given);
      await flushPromises();
      await check?.(given);
      expect(await stateOf(given)).toBe(next);
      await given.client.close();
      await flushPromises();
      expect(given.clock.pending).toBe(0);
    };
    return [event, { next, does, test }];
  });
  return Object.fromEntries(made) as Record<Event, Cell | string>;
}

const reportsOne = ({ errors }: Scene): void => expect(errors).toHaveLength(1);
const reportsLoss = async ({ errors, opening }: Scene): Promise<void> => {
  const reason = await ((await opening) as Subscription).closed;
  expect(reason).toMatchObject({ code: "closed", message: expect.stringContaining("could not be opened again") });
  expect(errors.at(-1)).toBe(reason);
};
const rejects =
  (code: string) =>
  async ({ opening }: Scene): Promise<void> =>
    expect(await opening).toMatchObject({ code });
const emits =
  (...kinds: string[]) =>
  ({ changes }: Scene): void =>
    expect(changes.map(({ kind }) => kind)).toEqual(kinds);
const endsQuietly = async ({ opening, errors }: Scene): Promise<void> => {
  expect(await ((await opening) as Subscription).closed).toBeUndefined();
  expect(errors).toEqual([]);
};

const legacyOnly = "only a legacy session has a separate stream";
const noRequest = "no request is open";
const noDelay = "no delay is running";
const nothing = { next: "ended", does: "" } as const;

/** One subscription, from `listen` to `closed`. */
export const subscriptionStates: StateTable<State, Event> = {
  machine: "Subscription",
  file: "client/subscriptions/subscriptions.ts",
  states: {
    opening: "`listen` waits for the acknowledgment.",
    open: "The server has acknowledged it. `client.state` is `open`.",
    interrupted: "Open in a legacy session whose standalone stream is broken. `client.state` is `reconnecting`.",
    waiting: "It broke. The delay before the next try is running. `client.state` is `reconnecting`.",
    reopening: "It was sent again, and is not acknowledged. `client.state` is `reconnecting`.",
    ended: "`closed` has resolved, or `listen` has rejected.",
  },
  events: {
    acknowledged: "The server acknowledges it.",
    change: "The server reports a change.",
    "graceful end": "The server ends it with a result or a cancellation.",
    break: "The stream of its request breaks.",
    "connection lost": "The connection or the session is lost.",
    busy: "The server answers 408, 429, 502, 503 or 504, or is unavailable.",
    refused: "The server refuses it for a reason that lasts, or the user must sign in.",
    "delay over": "The delay of the back-off, or the time that `Retry-After` asks for, is over.",
    "stream interrupted": "The standalone stream of the session breaks.",
    "stream restored": "The standalone stream of the session is open again.",
    closed: "The user closes the subscription or the client.",
  },
  cells: {
    opening: cellsOf("opening", {
      acknowledged: { next: "open", does: "`listen` resolves" },
      change: { next: "opening", does: "`onChange`", check: emits("tools") },
      "graceful end": { next: "ended", does: "`listen` rejects with `closed`", check: rejects("closed") },
      break: { next: "ended", does: "`listen` rejects with `closed`", check: rejects("closed") },
      "connection lost": { next: "ended", does: "`listen` rejects with `closed`", check: rejects("closed") },
      busy: { next: "ended", does: "`listen` rejects with `http`", check: rejects("http") },
      refused: { next: "ended", does: "`listen` rejects", check: rejects("not_capable") },
      "delay over": noDelay,
      "stream interrupted": legacyOnly,
      "stream restored": legacyOnly,
      closed: { next: "ended", does: "`listen` rejects with `closed`", check: rejects("closed") },
    }),
    open: cellsOf("open", {
      acknowledged: { next: "open", does: "" },
      change: { next: "open", does: "`onChange`; all tries are restored", check: emits("tools") },
      "graceful end": { next: "waiting", does: "report", check: reportsOne },
      break: { next: "waiting", does: "report", check: reportsOne },
      "connection lost": { next: "waiting", does: "report", check: ({ errors }) => expect(errors).not.toEqual([]) },
      busy: { next: "waiting", does: "report", check: reportsOne },
      refused: { next: "ended", does: "report; `closed` resolves with the reason", check: reportsLoss },
      "delay over": noDelay,
      "stream interrupted": {
        next: "interrupted",
        does: "report",
        enter: () => scene(legacyPeer(), "2025-11-25"),
        check: reportsOne,
      },
      "stream restored": "the stream is not interrupted",
      closed: { next: "ended", does: "cancels the request; `closed` resolves", check: endsQuietly },
    }),
    interrupted: cellsOf("interrupted", {
      acknowledged: "legacy servers acknowledge no subscription",
      change: { next: "interrupted", does: "`onChange`", check: emits("tools") },
      "graceful end": "legacy servers do not end a subscription",
      break: noRequest,
      "connection lost": { next: "waiting", does: "report", check: ({ errors }) => expect(errors).not.toEqual([]) },
      busy: noRequest,
      refused: noRequest,
      "delay over": { next: "interrupted", does: "the transport opens its stream again" },
      "stream interrupted": { next: "interrupted", does: "report" },
      "stream restored": { next: "open", does: "reports everything as changed", check: emits("tools") },
      closed: { next: "ended", does: "`closed` resolves", check: endsQuietly },
    }),
    waiting: cellsOf("waiting", {
      acknowledged: noRequest,
      change: { next: "waiting", does: "", check: emits() },
      "graceful end": noRequest,
      break: noRequest,
      "connection lost": { next: "waiting", does: "report", check: reportsOne },
      busy: noRequest,
      refused: noRequest,
      "delay over": {
        next: "reopening",
        does: "sends the request again",
        check: async ({ peer }) => expect((await peer.next()) as JsonRpcRequest).toMatchObject({ id: 2 }),
      },
      "stream interrupted": legacyOnly,
      "stream restored": legacyOnly,
      closed: { next: "ended", does: "`closed` resolves", check: endsQuietly },
    }),
    reopening: cellsOf("reopening", {
      acknowledged: {
        next: "open",
        does: "forgets cached lists; reports everything as changed",
        check: emits("tools"),
      },
      change: { next: "reopening", does: "`onChange`; all tries are restored", check: emits("tools") },
      "graceful end": { next: "waiting", does: "uses a try; the tenth ends it" },
      break: { next: "waiting", does: "uses a try; the tenth ends it" },
      "connection lost": { next: "waiting", does: "uses a try; the tenth ends it" },
      busy: { next: "waiting", does: "uses a try; waits at least for `Retry-After`; the tenth ends it" },
      refused: { next: "ended", does: "report; `closed` resolves with the reason", check: reportsLoss },
      "delay over": noDelay,
      "stream interrupted": legacyOnly,
      "stream restored": legacyOnly,
      closed: { next: "ended", does: "cancels the request; `closed` resolves", check: endsQuietly },
    }),
    ended: cellsOf("ended", {
      acknowledged: nothing,
      change: { ...nothing, check: emits() },
      "graceful end": noRequest,
      break: noRequest,
      "connection lost": nothing,
      busy: noRequest,
      refused: noRequest,
      "delay over": nothing,
      "stream interrupted": nothing,
      "stream restored": { ...nothing, check: emits() },
      closed: nothing,
    }),
  },
};
