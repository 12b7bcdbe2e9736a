import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import { inputRequired } from "../core/input-required.ts";
import { spendState } from "./spend-state.ts";

const modern = "2026-07-28";
const stateKeys = [new Uint8Array(32).fill(1)];

/** A server with a tool that pays once for each sealed state, and the number of its payments. */
function bank(store?: Store) {
  const clock = fakeClock();
  let payments = 0;
  const pay = tool({
    call: async (_, ctx) => {
      if (ctx.requestState === undefined) return inputRequired({ requestState: "agreed" });
      await spendState(ctx);
      await spendState(ctx);
      return `payment ${++payments}`;
    },
  });
  const options = { clock, stateKeys, onError: () => {}, ...(store && { store }) };
  const server = createServer({ name: "bank", version: "1", tools: { pay }, ...options });
  return { server, clock, payments: () => payments };
}

const attach = (server: ReturnType<typeof bank>["server"]): Promise<RawPeer> =>
  rawPeer(server, { meta: modernMeta(modern) });
const call = async (peer: RawPeer, more: JsonObject = {}) => peer.request("tools/call", { name: "pay", ...more });

async function agreed(peer: RawPeer): Promise<JsonObject> {
  const { requestState } = (await call(peer)).result;
  return { requestState };
}

test("a state counts once, also for concurrent calls, and other states are not affected", async () => {
  const { server, payments } = bank();
  const peer = await attach(server);
  const [first, second] = [await agreed(peer), await agreed(peer)];
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(peer, first)));
  expect(answers.filter(({ result }) => result)).toHaveLength(1);
  expect(answers.filter(({ error }) => error?.code === -32602)).toHaveLength(9);
  expect((await call(peer, second)).result).toBeDefined();
  expect(payments()).toBe(2);
});

test("processes that share a store accept a state only once in total", async () => {
  const store = memoryStore();
  const [one, other] = [bank(store), bank(store)];
  const state = await agreed(await attach(one.server));
  expect((await call(await attach(one.server), state)).result).toBeDefined();
  expect((await call(await attach(other.server), state)).error.message).toContain("was used before");
  expect(one.payments() + other.payments()).toBe(1);
});

test("a call fails if the store does not answer", async () => {
  const store: Store = { ...memoryStore(), compareAndSet: () => Promise.reject(new Error("down")) };
  const { server, payments } = bank(store);
  const peer = await attach(server);
  expect((await call(peer, await agreed(peer))).error).toBeDefined();
  expect(payments()).toBe(0);
});

test("a session has no state to spend", async () => {
  let runs = 0;
  const pay = tool({ call: async (_, ctx) => spendState(ctx).then(() => `run ${++runs}`) });
  const peer = await rawPeer(createServer({ name: "bank", version: "1", tools: { pay } }));
  await openSession(peer, "2025-11-25");
  for (let count = 0; count < 2; count++) expect((await call(peer, { requestState: "s" })).result).toBeDefined();
  expect(runs).toBe(2);
});
