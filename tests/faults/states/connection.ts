import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { ConnectOptions } from "../../../packages/mcparley/src/client/options.ts";
import { LocalError } from "../../../packages/mcparley/src/rpc/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../../packages/mcparley/src/rpc/messages.ts";
import { flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import {
  discoverResult,
  legacyPeer,
  modernPeer,
  peerTransports,
} from "../../../packages/mcparley/src/testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import type { StateTable } from "./table.ts";

const exited = (): LocalError => new LocalError("exited", "The server exited with code 1.");
const sessionLost = (): LocalError => new LocalError("session_lost", "404");
const text: JsonObject = { content: [{ type: "text", text: "done" }] };

/** Ignores a rejection until the test looks at it. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

interface Connecting {
  peer: ScriptedPeer;
  probe: JsonRpcRequest;
  connecting: Promise<Client>;
  controller: AbortController;
}

async function opening(): Promise<Connecting> {
  const peer = scriptedPeer();
  const controller = new AbortController();
  const connecting = later(openClient(peerTransports(peer), { signal: controller.signal }));
  return { peer, probe: await peer.request("server/discover"), connecting, controller };
}

interface Opened {
  client: Client;
  first: ScriptedPeer;
  second: ScriptedPeer;
  errors: Error[];
}

async function open(second: ScriptedPeer = modernPeer(), options: ConnectOptions = {}): Promise<Opened> {
  const first = modernPeer();
  const errors: Error[] = [];
  const client = await openClient(peerTransports(first, second), {
    onError: (error) => errors.push(error),
    ...options,
  });
  return { client, first, second, errors };
}

async function lost(second: ScriptedPeer = modernPeer()): Promise<Opened> {
  const opened = await open(second);
  opened.first.close(exited());
  await flushPromises();
  expect(opened.client.state).toBe("reconnecting");
  return opened;
}

interface Reopening extends Opened {
  calling: Promise<unknown>;
  probe: JsonRpcRequest;
  controller: AbortController;
}

async function reopening(): Promise<Reopening> {
  const opened = await lost(scriptedPeer());
  const controller = new AbortController();
  const calling = later(opened.client.callTool("a", {}, { signal: controller.signal }));
  const probe = await opened.second.request("server/discover");
  return { ...opened, calling, probe, controller };
}

interface Draining extends Opened {
  /** The call that is in flight in the replaced session. */
  slow: Promise<unknown>;
  running: JsonRpcRequest;
}

/** Over HTTP: a session that the server no longer knows is replaced while a call of it is in flight. */
async function draining(): Promise<Draining> {
  const [first, second] = [legacyPeer(), legacyPeer()];
  const errors: Error[] = [];
  const transports = Object.assign(peerTransports(first, second), { kind: "http" as const });
  const client = await openClient(transports, { revision: "2025-11-25", onError: (error) => errors.push(error) });
  await first.notification("notifications/initialized");
  const [slow, failing] = [later(client.callTool("slow")), client.callTool("failing")];
  const running = await first.request("tools/call");
  first.fail(await first.request("tools/call"), sessionLost());
  await second.notification("notifications/initialized");
  second.answer(await second.request("tools/call"), text);
  await failing;
  return { client, first, second, errors, slow, running };
}

async function answerNext(peer: ScriptedPeer): Promise<void> {
  peer.answer(await peer.request("tools/call"), text);
}

const noClient = "`connect` has not returned a client";
const noHandshake = "no handshake is in progress";
const notOpen = "no connection is open";
const noReplaced = "no replaced connection exists";

type State = "opening" | "open" | "lost" | "reopening" | "draining" | "closed";
type Event =
  | "request"
  | "handshake succeeds"
  | "handshake fails"
  | "connection lost"
  | "session lost"
  | "last answer"
  | "abort"
  | "close";

export const connectionTable: StateTable<State, Event> = {
  machine: "Connection",
  file: "client/connect/session.ts",
  states: {
    opening: "`connect` was called and has not settled.",
    open: "A connection with a negotiated revision is open.",
    lost: "The connection ended although the client did not close it. None is open.",
    reopening: "A request opens a connection again.",
    draining: "A connection is open. The one that it replaced still has requests in flight.",
    closed: "The client was closed. Nothing is open, and nothing can be opened.",
  },
  events: {
    request: "The program makes a call.",
    "handshake succeeds": "The revision is negotiated.",
    "handshake fails": "No revision can be negotiated.",
    "connection lost": "The server's process exits, or its stream ends.",
    "session lost": "The server answers a request with 404: it no longer knows the session.",
    "last answer": "The last request in flight on a replaced connection is answered.",
    abort: "The signal of `connect`, or of the call that waits, is aborted.",
    close: "The program calls `close`.",
  },
  cells: {
    opening: {
      request: noClient,
      "handshake succeeds": {
        next: "open",
        does: "`connect` resolves",
        async test() {
          const { peer, probe, connecting } = await opening();
          peer.answer(probe, discoverResult());
          expect((await connecting).state).toBe("open");
        },
      },
      "handshake fails": {
        next: "closed",
        does: "`connect` rejects, and the connection is closed",
        async test() {
          const { peer, probe, connecting } = await opening();
          peer.refuse(probe, { code: -32_021, message: "needs sampling" });
          await expect(connecting).rejects.toMatchObject({ code: -32_021 });
          expect(peer.isClosed).toBe(true);
        },
      },
      "connection lost": {
        next: "closed",
        does: "`connect` rejects with the reason, after one more start for a program",
        async test() {
          const peers = [scriptedPeer(), scriptedPeer()];
          const connecting = later(openClient(peerTransports(...peers)));
          for (const peer of peers) {
            await peer.next();
            peer.close(exited());
          }
          await expect(connecting).rejects.toMatchObject({ code: "exited" });
        },
      },
      "session lost": "no session exists",
      "last answer": noReplaced,
      abort: {
        next: "closed",
        does: "`connect` rejects with `aborted` at once",
        async test() {
          const { peer, connecting, controller } = await opening();
          controller.abort();
          await expect(connecting).rejects.toMatchObject({ code: "aborted" });
          expect(peer.isClosed).toBe(true);
        },
      },
      close: noClient,
    },
    open: {
      request: {
        next: "open",
        does: "it is sent",
        async test() {
          const { client, first } = await open();
          const calling = client.callTool("a");
          await answerNext(first);
          expect(await calling).toBe("done");
          expect(client.state).toBe("open");
        },
      },
      "handshake succeeds": noHandshake,
      "handshake fails": noHandshake,
      "connection lost": {
        next: "lost",
        does: "calls in flight reject, and the reason is reported",
        async test() {
          const { client, first, errors } = await open();
          const calling = later(client.callTool("a"));
          await first.request("tools/call");
          first.close(exited());
          await expect(calling).rejects.toMatchObject({ code: "exited", data: { safeToRepeat: false } });
          expect(errors.map(({ message }) => message)).toEqual(["The server exited with code 1."]);
          expect(client.state).toBe("reconnecting");
        },
      },
      "session lost": {
        next: "reopening",
        does: "a session is opened, and the call is sent again",
        async test() {
          const { client } = await draining();
          expect(client.state).toBe("open");
        },
      },
      "last answer": noReplaced,
      abort: {
        next: "open",
        does: "the call rejects with `aborted`",
        async test() {
          const { client, first } = await open();
          const controller = new AbortController();
          const calling = later(client.callTool("a", {}, { signal: controller.signal }));
          await first.request("tools/call");
          controller.abort();
          await expect(calling).rejects.toMatchObject({ code: "aborted" });
          expect(client.state).toBe("open");
        },
      },
      close: {
        next: "closed",
        does: "calls in flight reject with `closed`",
        async test() {
          const { client, first } = await open();
          const calling = later(client.callTool("a"));
          await first.request("tools/call");
          await client.close();
          await expect(calling).rejects.toMatchObject({ code: "closed" });
          expect(client.state).toBe("closed");
          expect(first.isClosed).toBe(true);
        },
      },
    },
    lost: {
      request: {
        next: "reopening",
        does: "a connection is opened",
        async test() {
          const { client } = await reopening();
          expect(client.state).toBe("reconnecting");
        },
      },
      "handshake succeeds": noHandshake,
      "handshake fails": noHandshake,
      "connection lost": notOpen,
      "session lost": notOpen,
      "last answer": noReplaced,
      abort: "no call waits",
      close: {
        next: "closed",
        does: "",
        async test() {
          const { client } = await lost();
          await client.close();
          expect(client.state).toBe("closed");
        },
      },
    },
    reopening: {
      request: {
        next: "reopening",
        does: "it waits for the same handshake",
        async test() {
          const { client, second, probe, calling } = await reopening();
          const another = client.callTool("b");
          second.answer(probe, discoverResult());
          await answerNext(second);
          await answerNext(second);
          expect(await Promise.all([calling, another])).toEqual(["done", "done"]);
        },
      },
      "handshake succeeds": {
        next: "open",
        does: "waiting calls are sent",
        async test() {
          const { client, second, probe, calling } = await reopening();
          second.answer(probe, discoverResult());
          await answerNext(second);
          expect(await calling).toBe("done");
          expect(client.state).toBe("open");
        },
      },
      "handshake fails": {
        next: "lost",
        does: "waiting calls reject with its error",
        async test() {
          const { client, second, probe, calling } = await reopening();
          second.refuse(probe, { code: -32_021, message: "needs sampling" });
          await expect(calling).rejects.toMatchObject({ code: -32_021 });
          expect(client.state).toBe("reconnecting");
        },
      },
      "connection lost": {
        next: "lost",
        does: "waiting calls reject with the reason, after one more start for a program",
        async test() {
          const third = scriptedPeer();
          const [first, second] = [modernPeer(), scriptedPeer()];
          const client = await openClient(peerTransports(first, second, third));
          first.close(exited());
          await flushPromises();
          const calling = later(client.callTool("a"));
          for (const peer of [second, third]) {
            await peer.next();
            peer.close(exited());
          }
          await expect(calling).rejects.toMatchObject({ code: "exited" });
          expect(client.state).toBe("reconnecting");
        },
      },
      "session lost": notOpen,
      "last answer": noReplaced,
      abort: {
        next: "reopening",
        does: "the call rejects with `aborted`, and the handshake continues",
        async test() {
          const { client, second, probe, calling, controller } = await reopening();
          controller.abort();
          await expect(calling).rejects.toMatchObject({ code: "aborted" });
          second.answer(probe, discoverResult());
          await flushPromises();
          expect(client.state).toBe("open");
        },
      },
      close: {
        next: "closed",
        does: "waiting calls reject with `closed`, and the connection is closed",
        async test() {
          const { client, second, calling } = await reopening();
          await client.close();
          await expect(calling).rejects.toMatchObject({ code: "closed" });
          expect(client.state).toBe("closed");
          expect(second.isClosed).toBe(true);
        },
      },
    },
    draining: {
      request: {
        next: "draining",
        does: "it is sent in the new session",
        async test() {
          const { client, first, second } = await draining();
          const calling = client.callTool("a");
          await answerNext(second);
          expect(await calling).toBe("done");
          expect(first.isClosed).toBe(false);
        },
      },
      "handshake succeeds": noHandshake,
      "handshake fails": noHandshake,
      "connection lost": {
        next: "open",
        does: "if the replaced one is lost, its calls reject",
        async test() {
          const { client, first, slow } = await draining();
          first.close(exited());
          await expect(slow).rejects.toMatchObject({ code: "exited" });
          expect(client.state).toBe("open");
        },
      },
      "session lost": {
        next: "open",
        does: "the last call of the replaced session is sent again in the new one",
        async test() {
          const { client, first, second, slow, running } = await draining();
          first.fail(running, sessionLost());
          await answerNext(second);
          expect(await slow).toBe("done");
          expect(client.state).toBe("open");
          expect(first.isClosed).toBe(true);
        },
      },
      "last answer": {
        next: "open",
        does: "its call resolves, and the replaced connection is closed",
        async test() {
          const { client, first, slow, running } = await draining();
          first.answer(running, text);
          expect(await slow).toBe("done");
          await flushPromises();
          expect(client.state).toBe("open");
          expect(first.isClosed).toBe(true);
        },
      },
      abort: {
        next: "open",
        does: "the call rejects with `aborted`, and the replaced connection is closed",
        async test() {
          const [first, second] = [legacyPeer(), legacyPeer()];
          const transports = Object.assign(peerTransports(first, second), { kind: "http" as const });
          const client = await openClient(transports, { revision: "2025-11-25" });
          await first.notification("notifications/initialized");
          const controller = new AbortController();
          const slow = later(client.callTool("slow", {}, { signal: controller.signal }));
          await first.request("tools/call");
          const failing = client.callTool("failing");
          first.fail(await first.request("tools/call"), sessionLost());
          await second.notification("notifications/initialized");
          await answerNext(second);
          await failing;
          controller.abort();
          await expect(slow).rejects.toMatchObject({ code: "aborted" });
          await flushPromises();
          expect(client.state).toBe("open");
          expect(first.isClosed).toBe(true);
        },
      },
      close: {
        next: "closed",
        does: "calls in flight of both connections reject with `closed`",
        async test() {
          const { client, first, second, slow } = await draining();
          const calling = later(client.callTool("a"));
          await second.request("tools/call");
          await client.close();
          await expect(calling).rejects.toMatchObject({ code: "closed" });
          await expect(slow).rejects.toMatchObject({ code: "closed" });
          expect(first.isClosed).toBe(true);
          expect(second.isClosed).toBe(true);
        },
      },
    },
    closed: {
      request: {
        next: "closed",
        does: "it rejects with `closed`",
        async test() {
          const { client } = await open();
          await client.close();
          await expect(client.callTool("a")).rejects.toMatchObject({ code: "closed" });
        },
      },
      "handshake succeeds": noHandshake,
      "handshake fails": noHandshake,
      "connection lost": notOpen,
      "session lost": notOpen,
      "last answer": noReplaced,
      abort: "no call waits",
      close: {
        next: "closed",
        does: "",
        async test() {
          const { client } = await open();
          await client.close();
          await client.close();
          expect(client.state).toBe("closed");
        },
      },
    },
  },
};
