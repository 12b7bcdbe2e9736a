import { describe, expect, test } from "vitest";
import type { Store } from "../../packages/mcparley/src/store/store.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import type { ClientSession } from "../../packages/mcparley/src/server/core/context.ts";
import { memoryStore } from "../../packages/mcparley/src/store/memory-store.ts";
import { type FakeClock, flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import type { RawAnswer } from "../support/raw-http.ts";
import { type Node, callTool, cluster, getStream, message, open } from "./cluster.ts";

const method = "com.example/step";

/** Nodes whose tool keeps the session of its caller, and a store whose operations fail if their names match. */
function servers() {
  let failing: RegExp | undefined;
  const sessions: ClientSession[] = [];
  const keep = tool({
    call: (_, ctx) => {
      sessions.push(ctx.session!);
      return "kept";
    },
  });
  const store = (clock: FakeClock): Store => {
    const whole = memoryStore({ clock });
    return new Proxy(whole, {
      get:
        (_, member: keyof Store) =>
        (...given: never[]) =>
          failing?.test(`${member} ${String(given[0])}`)
            ? Promise.reject(new Error("down"))
            : (whole[member] as (...all: never[]) => unknown)(...given),
    });
  };
  const { nodes, clock } = cluster({ definition: () => ({ tools: { keep } }), store });
  /** Returns the session on a node, which sends messages that belong to no request. */
  const sessionOn = async ({ client }: Node, headers: Record<string, string>): Promise<ClientSession> => {
    await (await callTool(client, headers, "keep")).text();
    return sessions.at(-1)!;
  };
  const [a, b, c] = nodes as [Node, Node, Node];
  return { a, b, c, clock, sessionOn, fail: (names?: RegExp) => (failing = names) };
}

/** Collects the steps that arrive on a stream. */
function stepsOf(stream: RawAnswer): unknown[] {
  const steps: unknown[] = [];
  const read = async (): Promise<void> => {
    for (let next = await message(stream); next; next = await message(stream)) steps.push(next.params?.step);
  };
  void read();
  return steps;
}

/** The steps from `first` to `last`. */
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("messages of a session without a stream", () => {
  test.each([
    [100, 1],
    [101, 2],
    [250, 151],
  ])("of %i messages while the store is unavailable, those from %i on are sent later", async (count, first) => {
    const { a, b, clock, sessionOn, fail } = servers();
    const headers = await open(a.client);
    const session = await sessionOn(a, headers);
    fail(/outbox/);
    for (const step of range(1, count)) session.notify(method, { step });
    await clock.advance(2_500);
    fail();
    await clock.advance(1_000);
    const steps = stepsOf(await getStream(b.client, headers));
    await flushPromises();
    expect(steps).toEqual(range(first, count));
  });

  test("are in the store up to the 100 newest, and are sent once", async () => {
    const { a, b, c, sessionOn } = servers();
    const headers = await open(a.client);
    const session = await sessionOn(a, headers);
    for (const step of range(1, 130)) {
      session.notify(method, { step });
      await flushPromises();
    }
    const stream = await getStream(b.client, headers);
    const steps = stepsOf(stream);
    await flushPromises();
    expect(steps).toEqual(range(31, 130));
    await stream.leave();
    await flushPromises();
    const later = stepsOf(await getStream(c.client, headers));
    await flushPromises();
    session.notify(method, { step: 131 });
    await flushPromises();
    expect(later).toEqual([131]);
  });
});

describe("a message of another node reaches the open stream", () => {
  test.each([
    ["its node could not become the owner", /(get|compareAndSet) .*session-stream/],
    ["its node could not read the outbox", /readFrom .*outbox/],
    ["its node could not read the changes", /readFrom .*changes/],
    ["its node could not notify the previous owner", /append .*mail/],
  ])("after the store was unavailable for two attempts: %s", async (_, names) => {
    const { a, b, c, clock, sessionOn, fail } = servers();
    const headers = await open(a.client);
    const previous = await getStream(c.client, headers);
    const session = await sessionOn(a, headers);
    await clock.advance(1_000);
    c.server.tools.set("another", tool({ call: () => "" }));
    await flushPromises();
    await previous.leave();
    fail(names);
    const steps = stepsOf(await getStream(b.client, headers));
    await clock.advance(1_900);
    fail();
    session.notify(method, { step: 1 });
    await clock.advance(1_000);
    expect(steps.filter((step) => step !== undefined)).toEqual([1]);
    session.notify(method, { step: 2 });
    await flushPromises();
    expect(steps.filter((step) => step !== undefined)).toEqual([1, 2]);
  });

  test("a second after its node failed to read the outbox", async () => {
    const { a, b, clock, sessionOn, fail } = servers();
    const headers = await open(a.client);
    const steps = stepsOf(await getStream(b.client, headers));
    const session = await sessionOn(a, headers);
    await flushPromises();
    for (const step of [1, 2]) {
      fail(/readFrom .*outbox/);
      session.notify(method, { step });
      await flushPromises();
      expect(steps).toHaveLength(step - 1);
      fail();
      await clock.advance(1_000);
      expect(steps).toHaveLength(step);
    }
    expect(steps).toEqual([1, 2]);
  });
});
