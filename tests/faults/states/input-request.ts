import { expect } from "vitest";
import type { Client } from "../../../packages/mcparley/src/client/client.ts";
import { openClient } from "../../../packages/mcparley/src/client/open-client.ts";
import type { ElicitResult } from "../../../packages/mcparley/src/mcp/elicitation.ts";
import type { JsonRpcMessage } from "../../../packages/mcparley/src/rpc/messages.ts";
import { flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { legacyPeer, peerTransports } from "../../../packages/mcparley/src/testing/peer-transports.ts";
import type { ScriptedPeer } from "../../../packages/mcparley/src/testing/scripted-peer.ts";
import type { Cell, StateTable } from "./table.ts";

type State = "queued" | "asked" | "ended";
type Event =
  | "turn"
  | "answer"
  | "failure"
  | "server cancels"
  | "call aborted"
  | "one of two calls aborted"
  | "call answered"
  | "connection lost"
  | "close";

const form = (message: string): object => ({ message, requestedSchema: { type: "object", properties: {} } });
const text = { content: [] };

/** A client in a legacy session with calls in flight. The server asks for input to the first one. */
class World {
  readonly peer: ScriptedPeer = legacyPeer();
  readonly errors: Error[] = [];
  readonly controller = new AbortController();
  client!: Client;
  /** The forms that were shown, with the means to answer them. */
  readonly shown: {
    message: string;
    signal: AbortSignal;
    answer(result: ElicitResult): void;
    fail(error: Error): void;
  }[] = [];
  readonly #calls: Promise<unknown>[] = [];

  async open(): Promise<void> {
    this.client = await openClient(peerTransports(this.peer), {
      revision: "2025-11-25",
      onError: (error) => this.errors.push(error),
      elicit: ({ message }, { signal }) =>
        new Promise((answer, fail) => void this.shown.push({ message, signal, answer, fail })),
    });
    await this.peer.notification("notifications/initialized");
  }

  /** Asks for input outside of all calls, so that the next request waits for its turn. */
  async occupy(): Promise<void> {
    this.peer.ask("other", "elicitation/create", { ...form("other") });
    await flushPromises();
  }

  async ask(calls = 1): Promise<void> {
    for (let index = 0; index < calls; index++) {
      const signal = index === 0 ? { signal: this.controller.signal } : {};
      const call = this.client.callTool(`call ${index}`, {}, signal);
      call.catch(() => {});
      this.#calls.push(call);
      await this.peer.request("tools/call");
    }
    this.peer.ask("q", "elicitation/create", { ...form("q") });
    await flushPromises();
  }

  get form(): World["shown"][number] | undefined {
    return this.shown.find(({ message }) => message === "q");
  }

  /** The response to the request, if it was sent. */
  get response(): JsonRpcMessage | undefined {
    return this.peer.arrived.map(({ message }) => message).find((message) => "id" in message && message.id === "q");
  }

  /** The id of the first call. */
  get callId(): number {
    const { message } = this.peer.arrived.find(
      ({ message }) => "method" in message && message.method === "tools/call",
    )!;
    return (message as { id: number }).id;
  }

  async abort(): Promise<void> {
    this.controller.abort();
    await expect(this.#calls[0]).rejects.toMatchObject({ code: "aborted" });
    await flushPromises();
  }
}

function stateOf({ form: shown, response, peer }: World): State {
  if (response || peer.isClosed) return "ended";
  if (!shown) return "queued";
  return shown.signal.aborted ? "ended" : "asked";
}

function cell(
  given: { from: State; calls?: number },
  next: State,
  does: string,
  act: (world: World) => Promise<void>,
): Cell {
  const { from, calls = 1 } = given;
  return {
    next,
    does,
    async test() {
      const world = new World();
      await world.open();
      if (from === "queued") await world.occupy();
      await world.ask(calls);
      expect(stateOf(world)).toBe(from);
      await act(world);
      await flushPromises();
      expect(stateOf(world)).toBe(next);
      await world.client.close();
      await flushPromises();
      expect(world.client.inFlight).toBe(0);
    },
  };
}

const cancelled = { result: { action: "cancel" } };
const abort = async (world: World): Promise<void> => {
  await world.abort();
  expect(world.response).toMatchObject(cancelled);
  expect(world.errors).toEqual([]);
};
const serverCancels = async (world: World): Promise<void> => {
  world.peer.notify("notifications/cancelled", { requestId: "q" });
  await flushPromises();
  expect(world.response).toBeUndefined();
  // The queue reaches a form that was never shown, and skips it.
  world.shown[0]?.answer({ action: "decline" });
  await flushPromises();
  expect(world.shown.filter(({ message, signal }) => message === "q" && !signal.aborted)).toEqual([]);
};
const lose = async (world: World): Promise<void> => {
  world.peer.close();
  await flushPromises();
  expect(world.form?.signal.aborted ?? true).toBe(true);
};
const close = async (world: World): Promise<void> => {
  await world.client.close();
  expect(world.form?.signal.aborted ?? true).toBe(true);
};
const answerCall = async (world: World): Promise<void> => {
  world.peer.answer({ id: world.callId }, text);
  await flushPromises();
  expect(world.client.inFlight).toBe(0);
};
const notShown = "its form is not shown yet";
const over = "it has ended";

export const inputRequest: StateTable<State, Event> = {
  machine: "Input request",
  file: "client/legacy/server-requests.ts",
  states: {
    queued: "An elicitation of a legacy session waits for the forms before it. The timeouts of the calls are stopped.",
    asked: "A handler runs. The timeouts of the calls are stopped.",
    ended: "The server has its answer, or waits for none. The timeouts of the calls run again.",
  },
  events: {
    turn: "The form before it is answered.",
    answer: "The handler returns.",
    failure: "The handler throws.",
    "server cancels": "The server cancels the request.",
    "call aborted":
      "The only call that was in flight when the request arrived is aborted, or ends with another local error.",
    "one of two calls aborted":
      "One of two calls that were in flight is aborted. The request may belong to the other one.",
    "call answered": "The only call that was in flight is answered. The request belongs to no call.",
    "connection lost": "The connection is lost.",
    close: "The client is closed.",
  },
  cells: {
    queued: {
      turn: cell({ from: "queued" }, "asked", "calls the handler", async (world) => {
        world.shown[0]?.answer({ action: "decline" });
      }),
      answer: notShown,
      failure: notShown,
      "server cancels": {
        next: "ended",
        does: "the form is never shown, no answer",
        async test() {
          const world = new World();
          await world.open();
          await world.occupy();
          await world.ask();
          await serverCancels(world);
          expect(world.form).toBeUndefined();
          await world.client.close();
        },
      },
      "call aborted": cell({ from: "queued" }, "ended", "answers `cancel`; the form is never shown", async (world) => {
        await abort(world);
        expect(world.form).toBeUndefined();
      }),
      "one of two calls aborted": cell({ from: "queued", calls: 2 }, "queued", "", (world) => world.abort()),
      "call answered": cell({ from: "queued" }, "queued", "", answerCall),
      "connection lost": cell({ from: "queued" }, "ended", "the form is never shown", lose),
      close: cell({ from: "queued" }, "ended", "the form is never shown", close),
    },
    asked: {
      turn: "it is its turn",
      answer: cell({ from: "asked" }, "ended", "sends the answer", async (world) => {
        world.form?.answer({ action: "accept", content: {} });
        await flushPromises();
        expect(world.response).toMatchObject({ result: { action: "accept" } });
      }),
      failure: cell({ from: "asked" }, "ended", "sends -32603, reports the error", async (world) => {
        world.form?.fail(new Error("no screen"));
        await flushPromises();
        expect(world.response).toMatchObject({ error: { code: -32603 } });
        expect(world.errors.map(({ message }) => message)).toEqual(["no screen"]);
      }),
      "server cancels": cell({ from: "asked" }, "ended", "aborts the handler, no answer", async (world) => {
        world.peer.notify("notifications/cancelled", { requestId: "q" });
        await flushPromises();
        expect(world.response).toBeUndefined();
      }),
      "call aborted": cell({ from: "asked" }, "ended", "aborts the handler, answers `cancel`", async (world) => {
        await abort(world);
        expect(world.form?.signal.aborted).toBe(true);
      }),
      "one of two calls aborted": cell({ from: "asked", calls: 2 }, "asked", "", (world) => world.abort()),
      "call answered": cell({ from: "asked" }, "asked", "", answerCall),
      "connection lost": cell({ from: "asked" }, "ended", "aborts the handler", lose),
      close: cell({ from: "asked" }, "ended", "aborts the handler", close),
    },
    ended: {
      turn: over,
      answer: {
        next: "ended",
        does: "ignored",
        async test() {
          const world = new World();
          await world.open();
          await world.ask();
          await world.abort();
          const before = world.peer.arrived.length;
          world.form?.answer({ action: "accept", content: {} });
          await flushPromises();
          expect(world.peer.arrived.length).toBe(before);
          await world.client.close();
        },
      },
      failure: {
        next: "ended",
        does: "ignored",
        async test() {
          const world = new World();
          await world.open();
          await world.ask();
          await world.abort();
          world.form?.fail(new Error("late"));
          await flushPromises();
          expect(world.errors).toEqual([]);
          await world.client.close();
        },
      },
      "server cancels": over,
      "call aborted": over,
      "one of two calls aborted": over,
      "call answered": over,
      "connection lost": over,
      close: over,
    },
  },
};
