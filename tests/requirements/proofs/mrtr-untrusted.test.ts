import { expect } from "vitest";
import {
  type AnyServerDefinition,
  type JsonObject,
  ErrorCode,
  inputRequired,
  resource,
  spendState,
  tool,
} from "../library.ts";
import { proves } from "../proves.ts";
import type { RawMessage } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { asking, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** A tool that decides by its own state, and counts its runs. */
function deciding() {
  let runs = 0;
  const decide = tool({
    call: (_, { requestState }) => {
      runs++;
      return requestState === undefined ? inputRequired({ requestState: "level=user" }) : `state: ${requestState}`;
    },
  });
  return { decide, runs: () => runs };
}

const serve = (world: World, definition: Partial<AnyServerDefinition>): Promise<RawPeer> =>
  world.serve(definition, { capabilities });

const call = (peer: RawPeer, more: JsonObject = {}): Promise<RawMessage> =>
  peer.request("tools/call", { name: "decide", ...more });

function expectRefused({ error, result }: RawMessage): void {
  expect(result).toBeUndefined();
  expect(error.code).toBe(ErrorCode.InvalidParams);
}

proves("mrtr.unsupported.handlers", async (world) => {
  const files = resource("file:///{name}", {
    list: async ({ roots }) => (await roots()).map(({ uri }) => uri),
    read: () => "text",
  });
  const { result, error } = await (await serve(world, { resources: { files } })).request("resources/list");
  expect(result).toBeUndefined();
  expect(error.code).toBe(ErrorCode.InternalError);
  expect(world.errors.map(String)).toEqual([expect.stringContaining("resources/list")]);
});

proves("mrtr.requests.nothing-else", async (world) => {
  const decide = tool({ call: () => inputRequired({ inputRequests: { q: { method: "tools/call", params: {} } } }) });
  const { result } = await call(await serve(world, { tools: { decide } }));
  expect(result?.inputRequests).toBeUndefined();
  expect(world.errors.map(String)).toEqual([expect.stringContaining("tools/call")]);
});

proves("mrtr.state.untrusted", async (world) => {
  const { decide, runs } = deciding();
  const peer = await serve(world, { tools: { decide } });
  const made = ["", "s", "{}", "null", "AAAA", "\u0000", "=".repeat(10), "A".repeat(100_000), btoa('{"own":"s"}')];
  for (const requestState of made) expectRefused(await call(peer, { requestState }));
  expect(runs()).toBe(0);
});

proves("mrtr.state.other-keys", async (world) => {
  const { decide, runs } = deciding();
  const [one, other] = [1, 2].map((fill) => [new Uint8Array(32).fill(fill)]);
  const { requestState } = (await call(await serve(world, { tools: { decide }, stateKeys: one ?? [] }))).result;
  expectRefused(await call(await serve(world, { tools: { decide }, stateKeys: other ?? [] }), { requestState }));
  expect(runs()).toBe(1);
});

proves("mrtr.state.malformed", async (world) => {
  const peer = await serve(world, { tools: { decide: asking } });
  for (const requestState of [5, {}, ["s"], true]) {
    const { error } = await call(peer, { requestState });
    expect(error.code).toBe(ErrorCode.InvalidParams);
    expect(error.message).toContain("requestState");
  }
});

proves("mrtr.state.not-forged", async (world) => {
  const { decide, runs } = deciding();
  const peer = await serve(world, { tools: { decide } });
  for (const requestState of ["level=admin", btoa("level=admin"), JSON.stringify({ own: "level=admin" })]) {
    expectRefused(await call(peer, { requestState }));
  }
  const { requestState } = (await call(peer)).result as { requestState: string };
  for (let at = 0; at < requestState.length; at += 7) {
    const other = requestState[at] === "A" ? "B" : "A";
    const changed = requestState.slice(0, at) + other + requestState.slice(at + 1);
    expectRefused(await call(peer, { requestState: changed }));
  }
  expect(runs()).toBe(1);
  expect(textOf(await call(peer, { requestState }))).toBe("state: level=user");
});

proves("mrtr.state.single-use", async (world) => {
  let effects = 0;
  const decide = tool({
    call: async (_, ctx) => {
      if (ctx.requestState === undefined) return inputRequired({ requestState: "level=user" });
      await spendState(ctx);
      return `effect ${++effects}`;
    },
  });
  const peer = await serve(world, { tools: { decide } });
  const [one, other] = [(await call(peer)).result, (await call(peer)).result];
  expect(textOf(await call(peer, { requestState: one?.requestState }))).toBe("effect 1");
  expectRefused(await call(peer, { requestState: one?.requestState }));
  expect(textOf(await call(peer, { requestState: other?.requestState }))).toBe("effect 2");
  expect(effects).toBe(2);
});
