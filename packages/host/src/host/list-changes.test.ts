import { createServer, prompt, type Server, tool } from "mcparley/server";
import { fakeClock, type FakeClock, flushPromises, legacyPeer } from "mcparley/testing";
import { expect, test, vi } from "vitest";
import type { Renderer } from "../renderer/renderer.ts";
import type { RunEnd } from "../loop/run-events.ts";
import { scriptedServer, toolNamed } from "../supervision/testing/scripted-server.ts";
import { callStep, scriptedModel, type ScriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";
import type { Host, HostOptions } from "./host.ts";

const noop = tool({ description: "Does nothing.", call: () => "ok" });
const allowed: HostOptions = { folder: false, policy: { review: "changes", rules: [{ decision: "allow" }] } };

/** Returns a server whose tool `change` runs a function. */
function changing(name: string, change: (server: Server) => void): Server {
  const server: Server = createServer({
    name,
    version: "1.0.0",
    tools: {
      change: tool({
        description: "Changes the lists.",
        call() {
          change(server);
          return "changed";
        },
      }),
      old: noop,
    },
    prompts: { first: prompt({ description: "p", get: () => "p" }) },
  });
  return server;
}

const accepted: Renderer = { review: () => ({ accepted: "all" }) };

/** Runs a model that calls tools and then answers. */
async function runWith(
  options: HostOptions,
  calls: string[],
): Promise<{ host: Host; model: ScriptedModel; end: RunEnd }> {
  const model = scriptedModel([callStep(calls.map((name) => ({ name }))), textStep("Done.")]);
  const host = await createHost({ ...allowed, renderer: accepted, model, ...options });
  const end = await host.run({ messages: [{ role: "user", content: "go" }] }).finished;
  return { host, model, end };
}

const toolsOf = ({ requests }: ScriptedModel, request: number): string[] =>
  (requests[request]?.tools ?? []).map(({ name }) => name).filter((name) => name !== "read_result");

test("a tool that a call adds is in the next request to the model", async () => {
  const a = changing("a", (server) => server.tools.set("fresh", noop));
  const { host, model } = await runWith({ servers: { a } }, ["a__change"]);
  expect(toolsOf(model, 0)).toEqual(["a__change", "a__old"]);
  expect(toolsOf(model, 1)).toEqual(["a__change", "a__old", "a__fresh"]);
  await host.close();
});

test("tools that parallel calls of several servers add are in the next request", async () => {
  const add = (server: Server): void => server.tools.set("fresh", noop);
  const servers = { a: changing("a", add), b: changing("b", add) };
  const { host, model } = await runWith({ servers }, ["a__change", "b__change"]);
  expect(toolsOf(model, 1)).toEqual(expect.arrayContaining(["a__fresh", "b__fresh"]));
  await host.close();
});

test("removed tools and added prompts are in the catalogue before the next request", async () => {
  const a = changing("a", (server) => {
    server.tools.delete("old");
    server.prompts.set("second", prompt({ description: "p", get: () => "p" }));
  });
  const seen: string[][] = [];
  const model = scriptedModel([
    callStep([{ name: "a__change" }]),
    () => {
      seen.push([...host.catalogue.tools, ...host.catalogue.prompts].map(({ name }) => name));
      return textStep("Done.");
    },
  ]);
  const host = await createHost({ ...allowed, renderer: accepted, model, servers: { a } });
  await host.run({ messages: [{ role: "user", content: "go" }] }).finished;
  expect(seen).toEqual([["a__change", "a:first", "a:second"]]);
  await host.close();
});

/** Runs a model on a server of a legacy revision whose list is answered by a test, if at all. */
async function runWithList(clock: FakeClock, { notifiesLate = false } = {}) {
  const counter = { lists: 0 };
  let answerList: (() => void) | undefined;
  const target = scriptedServer(() => {
    const peer = legacyPeer({
      capabilities: { tools: { listChanged: true } },
      answers: { "tools/call": () => ({ content: [{ type: "text", text: "changed" }] }) },
    });
    const send = peer.transport.send.bind(peer.transport);
    peer.transport.send = (message, envelope) => {
      if (!("method" in message && "id" in message)) return send(message, envelope);
      const notify = (): void => peer.notify("notifications/tools/list_changed");
      if (message.method === "tools/call" && !notifiesLate) notify();
      const sent = send(message, envelope);
      if (message.method === "tools/call" && notifiesLate) setImmediate(notify);
      if (message.method === "tools/list") {
        const tools = (counter.lists += 1) === 1 ? [toolNamed("change")] : [toolNamed("change"), toolNamed("fresh")];
        answerList = () => peer.answer(message, { tools });
        if (counter.lists === 1) answerList();
      }
      return sent;
    };
    return peer;
  });
  const model = scriptedModel([
    callStep([{ name: "a__change", id: "1" }]),
    callStep([{ name: "a__change", id: "2" }]),
    textStep("Done."),
    callStep([{ name: "a__change", id: "3" }]),
    textStep("Done."),
  ]);
  const servers = { a: { target, revision: "2025-11-25" } };
  const host = await createHost({ ...allowed, renderer: accepted, model, servers, clock });
  const run = host.run({ messages: [{ role: "user", content: "go" }] });
  const waitForList = async (): Promise<void> => {
    while (counter.lists < 2) await flushPromises();
  };
  return { host, run, model, waitForList, answerList: () => answerList?.() };
}

test("a step waits at most two seconds for a list, and later steps do not wait for it again", async () => {
  const clock = fakeClock(1_000_000);
  const { host, run, model, waitForList, answerList } = await runWithList(clock);
  await waitForList();
  await clock.advance(1_999);
  expect(model.requests).toHaveLength(1);
  await clock.advance(1);
  await run.finished;
  expect(toolsOf(model, 1)).toEqual(["a__change"]);
  expect(model.requests).toHaveLength(3);
  answerList();
  await host.close();
});

test("a step after a slow list was read waits for the next change again", async () => {
  const clock = fakeClock(1_000_000);
  const { host, run, model, waitForList, answerList } = await runWithList(clock);
  await waitForList();
  answerList();
  await vi.waitFor(() => expect(model.requests).toHaveLength(2));
  expect(toolsOf(model, 1)).toEqual(["a__change", "a__fresh"]);
  await clock.advance(2_000);
  await run.finished;
  await host.close();
  expect(clock.pending).toBe(0);
});

test("the next run waits again for a server whose slow list was read", async () => {
  const clock = fakeClock(1_000_000);
  const { host, run, model, waitForList, answerList } = await runWithList(clock);
  await waitForList();
  await clock.advance(2_000);
  await run.finished;
  expect(model.requests).toHaveLength(3);
  for (let list = 0; list < 3; list++) {
    answerList();
    await clock.advance(60_000);
  }
  const next = host.run({ messages: [{ role: "user", content: "again" }] });
  await vi.waitFor(() => expect(model.requests).toHaveLength(4));
  for (let turn = 0; turn < 20; turn++) await flushPromises();
  expect(model.requests).toHaveLength(4);
  answerList();
  await next.finished;
  expect(model.requests).toHaveLength(5);
  await host.close();
});

test("a step waits for a list whose change is reported in the turn after the answer", async () => {
  const clock = fakeClock(1_000_000);
  const { host, run, model, waitForList, answerList } = await runWithList(clock, { notifiesLate: true });
  await waitForList();
  expect(model.requests).toHaveLength(1);
  answerList();
  await vi.waitFor(() => expect(model.requests).toHaveLength(2));
  expect(toolsOf(model, 1)).toEqual(["a__change", "a__fresh"]);
  run.cancel();
  await run.finished;
  await host.close();
});

test("the cancel of a run ends the wait for a list", async () => {
  const clock = fakeClock(1_000_000);
  const { host, run, model, waitForList } = await runWithList(clock);
  await waitForList();
  run.cancel();
  expect(await run.finished).toMatchObject({ reason: "cancelled" });
  expect(model.requests).toHaveLength(1);
  await host.close();
  expect(clock.pending).toBe(0);
});

test("a list that fails delays no step, and keeps the tools", async () => {
  let lists = 0;
  const a = changing("a", (server) => server.tools.set("fresh", noop)).use({
    "tools/list": (_call, next) => {
      if ((lists += 1) > 1) throw new Error("no list");
      return next();
    },
  });
  const { host, model, end } = await runWith({ servers: { a }, clock: fakeClock(1_000_000) }, ["a__change"]);
  expect(end.reason).toBe("answered");
  expect(lists).toBe(2);
  expect(toolsOf(model, 1)).toEqual(["a__change", "a__old"]);
  await host.close();
});
