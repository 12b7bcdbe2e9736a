import { expect } from "vitest";
import type { ElicitResult } from "../../../packages/mcparley/src/mcp/elicitation.ts";
import type { RequestOptions } from "../../../packages/mcparley/src/client/options.ts";
import type { Subscription } from "../../../packages/mcparley/src/client/subscriptions/subscription.ts";
import { McpError } from "../../../packages/mcparley/src/mcp/errors.ts";
import { fakeClock, flushPromises } from "../../../packages/mcparley/src/testing/fake-clock.ts";
import { timeFlow } from "../time-flow.ts";
import { Gates } from "./gates.ts";
import { type Pairing, type Way, openPairing } from "./pairing.ts";
import type { Step, Story } from "./steps.ts";
import { type Running, subject } from "./subject.ts";

/** One request of the client, as it turned out. */
interface Asked {
  controller: AbortController;
  done: Promise<void>;
  times: number;
  afterwards: number;
}

interface Stage {
  pairing: Pairing;
  gates: Gates;
  asked: Asked[];
  listening: Promise<Subscription | undefined>[];
  closing: Promise<unknown>[];
  change(): void;
  pass(ms: number): Promise<void>;
}

/** Plays a story, brings it to its end, and checks that nothing is left of it. */
export async function play(way: Way, revision: string, { steps, answers }: Story): Promise<void> {
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejected.push(reason);
  process.on("unhandledRejection", onRejection);
  try {
    await playOn(way, revision, { steps, answers });
    await flushPromises();
    expect(rejected).toEqual([]);
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

async function playOn(way: Way, revision: string, { steps, answers }: Story): Promise<void> {
  const clock = fakeClock();
  const gates = new Gates();
  const running: Running = { handlers: 0 };
  const server = subject({ clock, gates, running });
  let questions = 0;
  const elicit = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<ElicitResult> => {
    const answer = answers[questions++ % answers.length];
    if (answer === "wait") await gates.pass(undefined, signal);
    if (answer === "fail") throw new Error("The dialogue could not be shown.");
    return answer === "decline" ? { action: "decline" } : { action: "accept", content: { ok: true } };
  };
  const pairing = await openPairing(way, server, { clock, revision, elicit, onError: () => {} });
  const stage: Stage = {
    pairing,
    gates,
    asked: [],
    listening: [],
    closing: [],
    change: () => server.resources.updated("note://a"),
    pass: (ms) => clock.advance(ms),
  };
  for (const step of steps) await take(step, stage);
  await endOf(stage, clock);
  expect(stage.asked.map(({ times }) => times)).toEqual(stage.asked.map(() => 1));
  expect(stage.asked.map(({ afterwards }) => afterwards)).toEqual(stage.asked.map(() => 0));
  expect(pairing.client.inFlight).toBe(0);
  expect(pairing.left()).toEqual(Object.fromEntries(Object.keys(pairing.left()).map((name) => [name, 0])));
  expect({ handlers: running.handlers, gates: gates.size, timers: clock.pending }).toEqual({
    handlers: 0,
    gates: 0,
    timers: 0,
  });
}

/** Completes everything, and closes client and server. */
async function endOf(
  { pairing, gates, asked, listening, closing }: Stage,
  clock: ReturnType<typeof fakeClock>,
): Promise<void> {
  const letThrough = async (until: Promise<unknown>): Promise<void> => {
    const state = { over: false };
    void until.finally(() => (state.over = true)).catch(() => {});
    while (!state.over) {
      gates.openAll();
      await flushPromises();
    }
  };
  const time = timeFlow(clock);
  try {
    await letThrough(Promise.all(asked.map(({ done }) => done)));
    await letThrough(Promise.all([pairing.client.close(), ...closing]));
    await letThrough(pairing.closeServer());
    const subscriptions = await Promise.all(listening);
    for (const subscription of subscriptions) await subscription?.closed;
  } finally {
    time.end();
  }
  gates.openAll();
  await flushPromises();
}

async function take(step: Step, stage: Stage): Promise<void> {
  const { client } = stage.pairing;
  switch (step.do) {
    case "call":
      return ask(stage, (options) => client.callTool(step.tool, {}, options), step);
    case "list":
      return ask(stage, (options) => client.listTools(options).all());
    case "ping":
      return ask(stage, (options) => client.ping(options));
    case "read":
      return ask(stage, (options) => client.readResource("note://a", options));
    case "prompt":
      return ask(stage, (options) => client.getPrompt("hello", {}, options));
    case "listen":
      return listen(stage);
    case "unlisten":
      void stage.listening[step.which % Math.max(1, stage.listening.length)]?.then((subscription) =>
        subscription?.close(),
      );
      return;
    case "change":
      return stage.change();
    case "cancel":
      return stage.asked[step.which % Math.max(1, stage.asked.length)]?.controller.abort();
    case "open":
      return stage.gates.open(step.which);
    case "report":
      return stage.gates.context(step.which)?.progress(step.which);
    case "disconnect":
      return stage.pairing.disconnect();
    case "closeClient":
      return void stage.closing.push(client.close());
    case "closeServer":
      return void stage.closing.push(stage.pairing.closeServer());
    case "pass":
      return stage.pass(step.ms);
    case "turn":
      return flushPromises();
  }
}

/** Sends a request and records its outcome. */
function ask(
  { asked }: Stage,
  send: (options: RequestOptions) => Promise<unknown>,
  { idle, progress = false }: { idle?: number | undefined; progress?: boolean } = {},
): void {
  const controller = new AbortController();
  const one: Asked = { controller, done: Promise.resolve(), times: 0, afterwards: 0 };
  const onProgress = (): void => void (one.times > 0 && one.afterwards++);
  const request = send({
    signal: controller.signal,
    timeout: { ...(idle !== undefined && { idle }), total: 100_000 },
    ...(progress && { onProgress }),
  });
  one.done = request.then(
    () => void one.times++,
    (error: unknown) => {
      one.times++;
      expect(error).toBeInstanceOf(McpError);
    },
  );
  one.done.catch(() => {});
  asked.push(one);
}

function listen({ pairing, listening }: Stage): void {
  const opened = pairing.client.listen({ tools: true, uris: ["note://a"] }, () => {});
  listening.push(
    opened.catch((error: unknown) => {
      expect(error).toBeInstanceOf(McpError);
      return undefined;
    }),
  );
}
