import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { forgetRevisions } from "../../../packages/mcparley/src/client/connect/remembered-revisions.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import { LocalError, RpcError } from "../../../packages/mcparley/src/rpc/errors.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import {
  discoverResult,
  initializeResult,
  legacyPeer,
  modernPeer,
  peerTransports,
} from "../../../packages/mcparley/src/testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import {
  type Answer,
  accepted,
  refused,
  reset,
  result,
  rpcError,
  answeringServer,
  status,
  until,
} from "../../support/http-talk.ts";
import type { Cell, StateTable } from "./table.ts";

const discover = "server/discover";
const discovery = result(discoverResult());
const session = result(initializeResult());
const modernError = rpcError(-32_022, 400, { supported: ["2026-07-28"] });
const empty = result({ prompts: [] });
const times = (count: number, answer: Answer): Answer[] => Array.from({ length: count }, () => answer);

interface Attempt {
  /** The revision of the client, or the code of the error of `connect`. */
  outcome: string;
  /** The methods that were sent. */
  sent: string[];
  client: Client | undefined;
}

/** Connects over HTTP to a server that returns these answers in order. */
async function overHttp(...answers: Answer[]): Promise<Attempt> {
  forgetRevisions();
  const { clock, sent, connect } = answeringServer(...answers);
  return attempt(connect(), sent, clock);
}

async function attempt(connecting: Promise<Client>, sent: string[], clock: FakeClock): Promise<Attempt> {
  await until(connecting, clock);
  const made = await connecting.catch((error: unknown) => error);
  await flushPromises();
  if (made instanceof RpcError) return { outcome: String(made.code), sent, client: undefined };
  const client = made as Client;
  return { outcome: client.server.revisionKind, sent, client };
}

interface OnStream {
  clock: FakeClock;
  peers: ScriptedPeer[];
  connecting: Promise<Client>;
}

/** Connects over a stream to the peers, one after another. */
function onStream(...peers: ScriptedPeer[]): OnStream {
  forgetRevisions();
  const clock = fakeClock();
  const connecting = openClient(remembered(peers), { clock });
  connecting.catch(() => {});
  return { clock, peers, connecting };
}

const remembered = (peers: ScriptedPeer[]): ReturnType<typeof peerTransports> =>
  Object.assign(peerTransports(...peers), { transient: false });

const methodsOf = ({ arrived }: ScriptedPeer): unknown[] =>
  arrived.map(({ message }) => ("method" in message ? message.method : undefined));

/** Opens a client and makes a call that the server answers with `answer`, and then with `others`. */
async function called(opening: Answer[], answer: Answer, ...others: Answer[]): Promise<Attempt & { failure: unknown }> {
  const made = await overHttp(...opening, answer, ...others);
  const { client, sent } = made;
  if (!client) throw new Error(`The client is not connected: ${made.outcome}.`);
  sent.length = 0;
  const failure = await client
    .listPrompts()
    .all()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  return { ...made, outcome: client.server.revisionKind, failure };
}

const modern = [discovery];
const legacy = [status(400), session, accepted];

/** A call that rejects, and leaves the connection in its revision. */
const callRejects = (state: "modern" | "legacy", answer: Answer, code: string): Cell => ({
  next: state,
  does: `the call rejects with \`${code}\``,
  test: async () =>
    expect(await called(state === "modern" ? modern : legacy, answer)).toMatchObject({
      outcome: state,
      failure: { code },
    }),
});

/** Opens a server on a stream in a state in which it was asked both ways. */
async function bothWays(): Promise<OnStream & { peer: ScriptedPeer; ids: { id: number | string }[] }> {
  const peer = scriptedPeer();
  const opening = onStream(peer, legacyPeer());
  const probe = await peer.request(discover);
  await opening.clock.advance(5_000);
  return { ...opening, peer, ids: [probe, await peer.request("initialize")] as { id: number | string }[] };
}

const exit = (peer: ScriptedPeer): void => peer.close(new LocalError("exited", "The server exited with code 1."));
const unknownMethod = { code: -32_601, message: "Method not found" };

const noRequest = "no request is in flight";
const noStatus = "a stream has no HTTP statuses";
const noProcess = "over HTTP the server is no process of the client";
const notAsked = "`initialize` was not sent";
const notDiscovered = "`server/discover` is not in flight";
const another = "each connection negotiates by itself";

type State = "unknown" | "asking" | "probing" | "both ways" | "initializing" | "modern" | "legacy" | "remembered";
type Event =
  | "connect"
  | "discovery"
  | "session"
  | "modern error"
  | "legacy error"
  | "busy"
  | "status 500"
  | "broken"
  | "unreachable"
  | "silence"
  | "exit";
type Row = StateTable<State, Event>["cells"][State];

const idle = (reason: string, connect: Row["connect"]): Row => ({
  connect,
  discovery: reason,
  session: reason,
  "modern error": reason,
  "legacy error": reason,
  busy: reason,
  "status 500": reason,
  broken: reason,
  unreachable: reason,
  silence: reason,
  exit: reason,
});

const asking: Row = {
  connect: another,
  discovery: {
    next: "modern",
    does: "`connect` resolves",
    test: async () => expect(await overHttp(discovery)).toMatchObject({ outcome: "modern", sent: [discover] }),
  },
  session: notAsked,
  "modern error": {
    next: "asking",
    does: "`server/discover` is sent in a version of both sides",
    test: async () =>
      expect(await overHttp(modernError, discovery)).toMatchObject({ outcome: "modern", sent: [discover, discover] }),
  },
  "legacy error": {
    next: "initializing",
    does: "`initialize` is sent",
    async test() {
      const { outcome, sent } = await overHttp(...legacy);
      expect({ outcome, sent }).toEqual({
        outcome: "legacy",
        sent: [discover, "initialize", "notifications/initialized"],
      });
    },
  },
  busy: {
    next: "asking",
    does: "`server/discover` is sent again after a pause; after the fourth time `connect` rejects with `http`",
    async test() {
      expect((await overHttp(...times(3, status(503)), discovery)).outcome).toBe("modern");
      const { outcome, sent } = await overHttp(...times(9, rpcError(-32_603, 503)));
      expect({ outcome, sent }).toEqual({ outcome: "http", sent: [discover, discover, discover, discover] });
    },
  },
  "status 500": {
    next: "asking",
    does: "`server/discover` is sent once more; then `initialize`, whose revision is not remembered",
    async test() {
      expect((await overHttp(status(500), discovery)).outcome).toBe("modern");
      const { outcome, sent } = await overHttp(status(500), status(500), session, accepted);
      expect(outcome).toBe("legacy");
      expect(sent.slice(0, 3)).toEqual([discover, discover, "initialize"]);
    },
  },
  broken: {
    next: "asking",
    does: "`server/discover` is sent again after a pause; after the fourth time `connect` rejects with `closed`",
    async test() {
      expect((await overHttp(reset, discovery)).outcome).toBe("modern");
      const { outcome, sent } = await overHttp(...times(9, reset));
      expect({ outcome, requests: sent.length }).toEqual({ outcome: "closed", requests: 4 });
    },
  },
  unreachable: {
    next: "unknown",
    does: "`connect` rejects with `unreachable`",
    test: async () => expect(await overHttp(refused)).toMatchObject({ outcome: "unreachable", sent: [discover] }),
  },
  silence: {
    next: "unknown",
    does: "`connect` rejects with `timeout`",
    async test() {
      forgetRevisions();
      const { clock, sent, connect } = answeringServer();
      const { outcome } = await attempt(connect({ timeout: { idle: 10_000 } }), sent, clock);
      expect({ outcome, sent }).toEqual({ outcome: "timeout", sent: [discover] });
    },
  },
  exit: noProcess,
};

const probing: Row = {
  connect: another,
  discovery: {
    next: "modern",
    does: "`connect` resolves, and the revision is remembered",
    async test() {
      const { connecting } = onStream(modernPeer());
      expect((await connecting).server.revisionKind).toBe("modern");
    },
  },
  session: notAsked,
  "modern error": {
    next: "probing",
    does: "`server/discover` is sent in a version of both sides",
    async test() {
      const peer = scriptedPeer();
      const { connecting } = onStream(peer);
      const error = { code: -32_022, message: "no", data: { supported: ["2026-07-28"] } };
      peer.refuse(await peer.request(discover), error);
      peer.answer(await peer.request(discover), discoverResult());
      expect((await connecting).server.revisionKind).toBe("modern");
    },
  },
  "legacy error": {
    next: "initializing",
    does: "`initialize` is sent on the same stream",
    async test() {
      const peer = legacyPeer();
      const { connecting } = onStream(peer);
      peer.refuse(await peer.request(discover), unknownMethod);
      expect((await connecting).server.revisionKind).toBe("legacy");
    },
  },
  busy: noStatus,
  "status 500": noStatus,
  broken: "a stream that ends is an exit",
  unreachable: "the stream is open",
  silence: {
    next: "both ways",
    does: "after `probeTimeout`, `initialize` is sent as well, unless the server was modern before",
    async test() {
      const { peer } = await bothWays();
      expect(methodsOf(peer)).toEqual([discover, "initialize"]);
    },
  },
  exit: {
    next: "initializing",
    does: "the program is started again and receives only `initialize`; this is remembered after the second time",
    async test() {
      const [first, second] = [scriptedPeer(), legacyPeer()];
      const { connecting } = onStream(first, second);
      await first.request(discover);
      exit(first);
      expect((await connecting).server.revisionKind).toBe("legacy");
      expect(methodsOf(second)[0]).toBe("initialize");
    },
  },
};

const both: Row = {
  connect: another,
  discovery: {
    next: "modern",
    does: "`connect` resolves, and the revision is remembered",
    async test() {
      const { peer, ids, connecting } = await bothWays();
      peer.answer(ids[0]!, discoverResult());
      expect((await connecting).server.revisionKind).toBe("modern");
    },
  },
  session: {
    next: "legacy",
    does: "`connect` resolves; the revision is not remembered, because the server may be modern and slow",
    async test() {
      const { peer, ids, connecting } = await bothWays();
      peer.answer(ids[1]!, initializeResult());
      expect((await connecting).server.revisionKind).toBe("legacy");
      const next = modernPeer();
      expect((await openClient(remembered([next]))).server.revisionKind).toBe("modern");
    },
  },
  "modern error": {
    next: "unknown",
    does: "`connect` rejects with the error",
    async test() {
      const { peer, ids, connecting } = await bothWays();
      peer.refuse(ids[0]!, { code: -32_021, message: "needs sampling" });
      await expect(connecting).rejects.toMatchObject({ code: -32_021 });
    },
  },
  "legacy error": {
    next: "initializing",
    does: "to `server/discover`: the client waits for the answer to `initialize`",
    async test() {
      const { peer, ids, connecting } = await bothWays();
      peer.refuse(ids[0]!, unknownMethod);
      peer.answer(ids[1]!, initializeResult());
      expect((await connecting).server.revisionKind).toBe("legacy");
      expect(methodsOf(peer).filter((method) => method === "initialize").length).toBe(1);
    },
  },
  busy: noStatus,
  "status 500": noStatus,
  broken: "a stream that ends is an exit",
  unreachable: "the stream is open",
  silence: {
    next: "unknown",
    does: "`connect` rejects with `timeout`",
    async test() {
      const { clock, connecting } = await bothWays();
      await clock.advance(60_000);
      await expect(connecting).rejects.toMatchObject({ code: "timeout" });
    },
  },
  exit: {
    next: "initializing",
    does: "the program is started again and receives only `initialize`",
    async test() {
      const { peer, peers, connecting } = await bothWays();
      exit(peer);
      expect((await connecting).server.revisionKind).toBe("legacy");
      expect(methodsOf(peers[1]!)[0]).toBe("initialize");
    },
  },
};

const initializing: Row = {
  connect: another,
  discovery: notDiscovered,
  session: {
    next: "legacy",
    does: "`connect` resolves; the revision is remembered if an error of the server has led here",
    async test() {
      forgetRevisions();
      const { sent, connect } = answeringServer(...legacy, session, accepted);
      await connect();
      await flushPromises();
      sent.length = 0;
      await connect();
      expect(sent[0]).toBe("initialize");
    },
  },
  "modern error": {
    next: "unknown",
    does: "`connect` rejects with the error",
    test: async () => expect((await overHttp(status(400), rpcError(-32_022, 400))).outcome).toBe("-32022"),
  },
  "legacy error": {
    next: "unknown",
    does: "after 400, 404 or 405 the stream of HTTP+SSE is asked for; without it `connect` rejects with the error",
    async test() {
      const { outcome, sent } = await overHttp(status(405), status(405), status(405));
      expect({ outcome, sent }).toEqual({ outcome: "http", sent: [discover, "initialize", "GET"] });
    },
  },
  busy: {
    next: "initializing",
    does: "`initialize` is sent again after a pause; after the fourth time `connect` rejects with `http`",
    async test() {
      expect((await overHttp(status(400), status(503), session, accepted)).outcome).toBe("legacy");
      const { outcome, sent } = await overHttp(status(400), ...times(9, status(503)));
      expect({ outcome, requests: sent.length }).toEqual({ outcome: "http", requests: 5 });
    },
  },
  "status 500": {
    next: "initializing",
    does: "`initialize` is sent once more; then `connect` rejects with `http`",
    async test() {
      expect((await overHttp(status(400), status(500), session, accepted)).outcome).toBe("legacy");
      const { outcome, sent } = await overHttp(status(400), ...times(9, status(500)));
      expect({ outcome, requests: sent.length }).toEqual({ outcome: "http", requests: 3 });
    },
  },
  broken: {
    next: "initializing",
    does: "`initialize` is sent again after a pause; after the fourth time `connect` rejects with `closed`",
    async test() {
      expect((await overHttp(status(400), reset, session, accepted)).outcome).toBe("legacy");
      const { outcome, sent } = await overHttp(status(400), ...times(9, reset));
      expect({ outcome, requests: sent.length }).toEqual({ outcome: "closed", requests: 5 });
    },
  },
  unreachable: {
    next: "unknown",
    does: "`connect` rejects with `unreachable`",
    test: async () => expect((await overHttp(status(400), refused)).outcome).toBe("unreachable"),
  },
  silence: {
    next: "unknown",
    does: "`connect` rejects with `timeout`",
    async test() {
      forgetRevisions();
      const { clock, sent, connect } = answeringServer(status(400));
      const { outcome } = await attempt(connect({ timeout: { idle: 10_000 } }), sent, clock);
      expect({ outcome, sent }).toEqual({ outcome: "timeout", sent: [discover, "initialize"] });
    },
  },
  exit: {
    next: "unknown",
    does: "`connect` rejects with `exited`",
    async test() {
      const [first, second] = [scriptedPeer(), scriptedPeer()];
      const { connecting } = onStream(first, second);
      for (const peer of [first, second]) {
        await peer.next();
        exit(peer);
      }
      await expect(connecting).rejects.toMatchObject({ code: "exited" });
    },
  },
};

const inModern: Row = {
  connect: {
    next: "modern",
    does: "another connection sends `server/discover` as well",
    async test() {
      forgetRevisions();
      const { sent, connect } = answeringServer(discovery, discovery);
      await connect();
      await connect();
      expect(sent).toEqual([discover, discover]);
    },
  },
  discovery: notDiscovered,
  session: notAsked,
  "modern error": {
    next: "asking",
    does: "to a call, with -32022: the revision is negotiated again, and the call is sent again",
    async test() {
      const { sent, failure } = await called(modern, modernError, discovery, empty);
      expect({ failure, sent }).toEqual({ failure: undefined, sent: ["prompts/list", discover, "prompts/list"] });
    },
  },
  "legacy error": {
    next: "asking",
    does: "to a call: if the server refuses `server/discover` too, the revision is negotiated and the call sent again",
    async test() {
      const rolledBack = [status(400), ...legacy, empty];
      expect(await called(modern, rpcError(-32_000, 400), ...rolledBack)).toMatchObject({ outcome: "legacy" });
      const unchanged = await called(modern, rpcError(-32_000, 400), discovery);
      expect(unchanged).toMatchObject({ outcome: "modern", sent: ["prompts/list", discover] });
      expect(unchanged.failure).toMatchObject({ code: -32_000 });
    },
  },
  busy: callRejects("modern", status(503), "http"),
  "status 500": callRejects("modern", status(500), "http"),
  broken: callRejects("modern", reset, "closed"),
  unreachable: callRejects("modern", refused, "unreachable"),
  silence: "the time limit of the call decides",
  exit: {
    next: "probing",
    does: "the next call starts the program again, which is asked with `server/discover` alone",
    async test() {
      const [first, second] = [modernPeer(), scriptedPeer()];
      const { clock, connecting } = onStream(first, second);
      const client = await connecting;
      exit(first);
      await flushPromises();
      const calling = client.listPrompts().all();
      calling.catch(() => {});
      await second.request(discover);
      await clock.advance(30_000);
      expect(methodsOf(second)).toEqual([discover]);
      await client.close();
    },
  },
};

const inLegacy: Row = {
  connect: {
    next: "initializing",
    does: "another connection sends `initialize` alone, if the revision is remembered",
    async test() {
      forgetRevisions();
      const { sent, connect } = answeringServer(...legacy, session, accepted);
      await connect();
      await flushPromises();
      sent.length = 0;
      expect((await connect()).server.revisionKind).toBe("legacy");
      expect(sent[0]).toBe("initialize");
    },
  },
  discovery: notDiscovered,
  session: "`initialize` was answered",
  "modern error": {
    next: "asking",
    does: "to a call: the revision is negotiated again, and the call is sent again",
    async test() {
      const { outcome, failure } = await called(legacy, rpcError(-32_020, 400), discovery, empty);
      expect({ outcome, failure }).toEqual({ outcome: "modern", failure: undefined });
    },
  },
  "legacy error": {
    next: "legacy",
    does: "to a call over HTTP: it rejects if the server answers `ping`; otherwise the revision is negotiated again",
    async test() {
      const unchanged = await called(legacy, rpcError(-32_601, 404), result({}));
      expect(unchanged).toMatchObject({ outcome: "legacy", sent: ["prompts/list", "ping"] });
      expect(unchanged.failure).toMatchObject({ code: -32_601 });
      const upgraded = await called(legacy, status(400), status(400), discovery, empty);
      expect(upgraded).toMatchObject({ outcome: "modern", failure: undefined });
    },
  },
  busy: callRejects("legacy", status(503), "http"),
  "status 500": callRejects("legacy", status(500), "http"),
  broken: callRejects("legacy", reset, "closed"),
  unreachable: callRejects("legacy", refused, "unreachable"),
  silence: "the time limit of the call decides",
  exit: {
    next: "initializing",
    does: "the next call starts the program again, with the remembered revision",
    async test() {
      const [first, second] = [legacyPeer(), scriptedPeer()];
      const { connecting } = onStream(first, second);
      first.refuse(await first.request(discover), unknownMethod);
      const client = await connecting;
      exit(first);
      await flushPromises();
      const calling = client.listPrompts().all();
      calling.catch(() => {});
      await second.request("initialize");
      await client.close();
    },
  },
};

const recalled: Row = idle(noRequest, {
  next: "initializing",
  does: "`initialize` is sent; any failure forgets the revision, and a refusal leads to `server/discover` at once",
  async test() {
    forgetRevisions();
    const refusal = rpcError(-32_601, 404);
    const { clock, sent, connect } = answeringServer(
      ...legacy,
      ...times(4, status(503)),
      discovery,
      ...legacy,
      refusal,
      discovery,
    );
    const clients = [await connect()];
    await flushPromises();
    expect((await attempt(connect(), sent, clock)).outcome).toBe("http");
    clients.push(await connect());
    clients.push(await connect());
    await flushPromises();
    sent.length = 0;
    clients.push(await connect());
    expect(sent).toEqual(["initialize", discover]);
    expect(clients.map((client) => client.server.revisionKind)).toEqual(["legacy", "modern", "legacy", "modern"]);
  },
});

export const revisionTable: StateTable<State, Event> = {
  machine: "Revision",
  file: "client/connect/find-revision.ts",
  states: {
    unknown: "Nothing is known about the server.",
    asking: "Over HTTP: `server/discover` was sent.",
    probing: "On a stream: `server/discover` was sent.",
    "both ways": "On a stream: `server/discover` and `initialize` were sent.",
    initializing: "`initialize` was sent.",
    modern: "A connection is open in a modern revision.",
    legacy: "A connection is open in a legacy revision.",
    remembered: "No connection is open, and the server was found to be a legacy one before.",
  },
  events: {
    connect: "A connection to the server is opened.",
    discovery: "The server answers `server/discover` with a result.",
    session: "The server answers `initialize` with a result.",
    "modern error": "The server answers with an error that only modern servers send.",
    "legacy error": "The server answers with another error: of JSON-RPC, or status 4xx.",
    busy: "The answer has status 408, 429, 502, 503 or 504, with or without a JSON-RPC error.",
    "status 500": "The answer has status 500.",
    broken: "The connection breaks before the answer is complete.",
    unreachable: "No connection can be made.",
    silence: "The time limit ends without an answer.",
    exit: "The server's process exits, or its stream ends.",
  },
  cells: {
    unknown: idle(noRequest, {
      next: "asking",
      does: "`server/discover` is sent (on a stream, the state is probing)",
      async test() {
        expect((await overHttp(discovery)).sent).toEqual([discover]);
        const peer = modernPeer();
        await onStream(peer).connecting;
        expect(methodsOf(peer)).toEqual([discover]);
      },
    }),
    asking,
    probing,
    "both ways": both,
    initializing,
    modern: inModern,
    legacy: inLegacy,
    remembered: recalled,
  },
};
