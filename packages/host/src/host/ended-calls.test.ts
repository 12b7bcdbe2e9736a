import { getEventListeners } from "node:events";
import type { InProcessServer } from "mcparley/client";
import { createServer, tool } from "mcparley/server";
import { flushPromises, scriptedPeer } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { DecisionRecord, Rule } from "../consent/policy.ts";
import { scriptedServer } from "../supervision/testing/scripted-server.ts";
import { createHost } from "./create-host.ts";
import type { Host } from "./host.ts";

const revisions = ["2025-06-18", "2025-11-25", "2026-07-28"];
/** The steps in which a call can be ended. */
const steps = ["consent", "connection", "call"] as const;
type Step = (typeof steps)[number];

interface Prepared extends AsyncDisposable {
  readonly host: Host;
  /** The questions to the person. */
  readonly asked: AbortSignal[];
  /** The signals of the calls that the server has received. */
  readonly received: AbortSignal[];
  readonly decisions: DecisionRecord[];
  /** Starts a call of the tool `wait`, and returns its promise when the call is in this step. */
  startIn(step: Step, signal?: AbortSignal): Promise<{ calling: ReturnType<Host["callTool"]> }>;
}

/** Returns a host with a server whose tool `wait` ends only if it is cancelled, and whose tool `answer` answers. */
async function prepared(revision?: string): Promise<Prepared> {
  const asked: AbortSignal[] = [];
  const received: AbortSignal[] = [];
  const decisions: DecisionRecord[] = [];
  const server = createServer({
    name: "slow",
    version: "1.0.0",
    tools: {
      answer: tool({ call: () => "answered" }),
      wait: tool({
        call: (_input, { signal }) =>
          new Promise<string>((resolve) => {
            received.push(signal);
            signal.addEventListener("abort", () => resolve("cancelled"));
          }),
      }),
    },
  });
  const target = { isHung: false, attach: (...args: Parameters<InProcessServer["attach"]>) => attach(...args) };
  const hung = scriptedServer(() => scriptedPeer());
  const attach: InProcessServer["attach"] = (transport) => (target.isHung ? hung : server).attach(transport);
  const rules: Rule[] = [{ decision: "allow", tool: "answer" }];
  const host = await createHost({
    folder: false,
    servers: { slow: { target, ...(revision !== undefined && { revision }) } },
    policy: { review: "changes", rules },
    renderer: {
      approve(_request, signal) {
        asked.push(signal);
        return step === "consent" ? new Promise(() => {}) : { action: "allow" };
      },
    },
    onEvent: (event) => {
      if (event.type === "decision" && event.decision.subject === "call") decisions.push(event.decision);
    },
  });
  await host.ready();
  let step: Step;
  const hasReached = (): boolean => {
    if (step === "consent") return asked.length > 0;
    if (step === "call") return received.length > 0;
    return decisions.length > 0 && host.servers.get("slow")!.state === "connecting";
  };
  return {
    host,
    asked,
    received,
    decisions,
    async startIn(reached, signal) {
      step = reached;
      if (step === "connection") {
        target.isHung = true;
        await host.servers.get("slow")!.disable();
        host.servers.get("slow")!.enable();
        await host.ready();
      }
      const calling = host.callTool("slow__wait", {}, signal ? { signal } : {});
      calling.catch(() => {});
      await until(hasReached);
      target.isHung = false;
      return { calling };
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
}

/** Waits for a condition that depends on promises and not on time. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !condition(); turn++) await flushPromises();
  expect(condition()).toBe(true);
}

async function untilAborted(signals: readonly AbortSignal[]): Promise<void> {
  await until(() => signals.every(({ aborted }) => aborted));
}

describe.each(revisions)("on %s", (revision) => {
  test.each(steps)(
    "an abort by the caller during the %s rejects with its reason, and the next call is answered",
    async (step) => {
      await using slow = await prepared(revision);
      const { host, asked, received } = slow;
      const controller = new AbortController();
      const { calling } = await slow.startIn(step, controller.signal);
      const reason = new Error("The user left.");
      controller.abort(reason);
      await expect(calling).rejects.toBe(reason);
      if (step === "consent") await untilAborted(asked);
      // The server receives the cancellation.
      await untilAborted(received);
      expect(received).toHaveLength(step === "call" ? 1 : 0);
      expect(getEventListeners(controller.signal, "abort")).toEqual([]);
      if (step === "connection") await host.servers.get("slow")!.reconnect();
      expect(await host.callTool("slow__answer", {})).toMatchObject({ status: "result" });
    },
  );

  test.each(steps)(
    "the end of the host during the %s rejects the call, and the server receives the end",
    async (step) => {
      const slow = await prepared(revision);
      const { host, asked, received } = slow;
      const { calling } = await slow.startIn(step);
      await Promise.all([host.close(), expect(calling).rejects.toMatchObject({ code: "closed" })]);
      await untilAborted([...received, ...(step === "consent" ? asked : [])]);
      await expect(host.callTool("slow__answer", {})).rejects.toMatchObject({ code: "closed" });
      await expect(host.readResource("slow", "file:///a")).rejects.toMatchObject({ code: "closed" });
    },
  );

  test("the removal of the server during the call is a failure of the call, which may have run", async () => {
    await using slow = await prepared(revision);
    const { calling } = await slow.startIn("call");
    await slow.host.remove("slow");
    expect(await calling).toMatchObject({ status: "failed", mayHaveRun: true, error: { code: "closed" } });
    await untilAborted(slow.received);
  });
});

test("the removal of the server during the consent denies the call", async () => {
  await using slow = await prepared();
  const { calling } = await slow.startIn("consent");
  await slow.host.remove("slow");
  expect(await calling).toEqual({
    status: "denied",
    message: 'The server "slow" was removed or is disabled.',
  });
  expect(slow.asked[0]?.aborted).toBe(true);
  expect(slow.decisions).toEqual([]);
});

test("the removal of the server during the connection is a failure of a call that has not run", async () => {
  await using slow = await prepared();
  const { calling } = await slow.startIn("connection");
  await slow.host.remove("slow");
  expect(await calling).toMatchObject({ status: "failed", mayHaveRun: false, error: { code: "closed" } });
});

test("a call whose signal is aborted before it starts asks nobody", async () => {
  await using slow = await prepared();
  const signal = AbortSignal.abort(new Error("before"));
  await expect(slow.host.callTool("slow__wait", {}, { signal })).rejects.toThrow("before");
  await expect(slow.host.readResource("slow", "file:///a", { signal })).rejects.toThrow("before");
  expect([slow.asked, slow.received, slow.decisions]).toEqual([[], [], []]);
});

test("an abort after the end of a call changes nothing", async () => {
  await using slow = await prepared();
  const controller = new AbortController();
  const { signal } = controller;
  const outcome = await slow.host.callTool("slow__answer", {}, { signal });
  expect(outcome).toMatchObject({ status: "result", result: { content: [{ type: "text", text: "answered" }] } });
  controller.abort(new Error("late"));
  await flushPromises();
  expect(await slow.host.callTool("slow__answer", {})).toMatchObject({ status: "result" });
});

test("10,000 calls leave no listener on the signal of their caller", async () => {
  await using slow = await prepared();
  const { signal } = new AbortController();
  const call = async (): Promise<void> => {
    for (let count = 0; count < 312; count++) await slow.host.callTool("slow__answer", {}, { signal });
  };
  await Promise.all(Array.from({ length: 32 }, call));
  await call()
    .then(() => slow.host.readResource("slow", "file:///a", { signal }))
    .catch(() => {});
  expect(getEventListeners(signal, "abort")).toEqual([]);
}, 60_000);
