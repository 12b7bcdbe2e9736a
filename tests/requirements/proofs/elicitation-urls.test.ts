import { expect, vi } from "vitest";
import {
  type ConnectOptions,
  type HttpOptions,
  type JsonObject,
  type JsonRpcErrorBody,
  ProtocolError,
  gate,
  tool,
  urlRequired,
} from "../library.ts";
import { proves } from "../proves.ts";
import {
  elicitMethod,
  form,
  forms,
  formsAndUrls,
  never,
  person,
  telling,
  visit,
  visiting,
} from "../world/elicitations.ts";
import { isRequest } from "../../support/raw-message.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import { ask, askedByTool, expectRefused } from "../world/questions.ts";
import { gotPrompt, requested, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

proves("elicitation.url.request", async (world) => {
  const peer = await world.serve({ tools: { visiting } }, { capabilities: formsAndUrls });
  const { params } = await askedByTool(world, peer, "visiting");
  expect(params).toMatchObject({ mode: "url", message: "Pay.", url: visit.url });
});

proves("elicitation.url.id", async (world) => {
  const peer = await world.serve({ tools: { visiting } }, { capabilities: formsAndUrls });
  const ids = new Set<unknown>();
  for (let round = 0; round < 3; round++) {
    const asked = await askedByTool(world, peer, "visiting");
    expect(asked.params.elicitationId).toMatch(/./);
    ids.add(asked.params.elicitationId);
    await asked.answer({ action: "accept" });
  }
  expect(ids.size).toBe(3);
});

proves("elicitation.url.valid", async (world) => {
  for (const url of ["", "/pay", "example.com", "https://"]) {
    const astray = tool({ call: async (_, { elicit }) => (await elicit({ message: "?", url }), "went there") });
    const peer = await world.serve({ tools: { astray } }, { capabilities: formsAndUrls });
    const { result, error } = await peer.request("tools/call", { name: "astray" });
    expect(error ?? result.isError).toBeTruthy();
    expect(result?.inputRequests).toBeUndefined();
    expect(peer.received.filter(isRequest)).toEqual([]);
  }
});

proves("elicitation.url.https", async (world) => {
  const visitingAt = (url: string) =>
    tool({ call: async (_, { elicit }) => (await elicit({ message: "?", url }), "went there") });
  const local = "http://127.0.0.1:3000/pay";
  const tools = { remote: visitingAt("http://example.com/pay"), local: visitingAt(local) };
  const peer = await world.serve({ tools }, { capabilities: formsAndUrls });
  const { result, error } = await peer.request("tools/call", { name: "remote" });
  expect(error ?? result.isError).toBeTruthy();
  expect(result?.inputRequests).toBeUndefined();
  expect(peer.received.filter(isRequest)).toEqual([]);
  const { params } = await askedByTool(world, peer, "local");
  expect(params.url).toBe(local);
});

proves("elicitation.url.careful", async (world) => {
  for (const url of [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "vscode://settings",
    "http://example.com/",
    "https://example.com@evil.example/",
    "/relative",
    7,
  ]) {
    expectRefused(await ask(world, await world.connect(never), elicitMethod, { ...visit, url }), -32602);
  }
});

proves("elicitation.url.not-fetched", async (world) => {
  const spy = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("nothing is to be fetched"));
  try {
    const seen: unknown[] = [];
    const played = await world.connect({
      elicit: (question) => {
        seen.push(question);
        return { action: "accept" };
      },
    });
    await ask(world, played, elicitMethod, visit);
    expect(seen).toEqual([visit]);
    expect(spy).not.toHaveBeenCalled();
    expect(played.server.sent.filter(({ url }) => url.includes("example.com"))).toEqual([]);
  } finally {
    spy.mockRestore();
  }
});

proves("elicitation.url.shown-whole", async (world) => {
  const urls = [
    "https://EXAMPLE.com:443/a/../b?q=%61#x",
    "https://xn--80ak6aa92e.com/",
    `https://a.example/${"x".repeat(2000)}`,
  ];
  for (const url of urls) {
    const seen: unknown[] = [];
    const played = await world.connect({
      elicit: (question) => {
        seen.push(question.mode === "url" && question.url);
        return { action: "accept" };
      },
    });
    await ask(world, played, elicitMethod, { ...visit, url });
    expect(seen).toEqual([url]);
  }
});

proves("elicitation.action.accept-url", {
  async server(world) {
    const peer = await world.serve({ tools: { visiting } }, { capabilities: formsAndUrls });
    const asked = await askedByTool(world, peer, "visiting");
    expect(textOf(await asked.answer({ action: "accept" }))).toBe("went there");
  },
  async client(world) {
    const played = await world.connect({ elicit: () => ({ action: "accept", content: { stray: "x" } }) });
    expect((await ask(world, played, elicitMethod, visit)).result).toEqual({ action: "accept" });
  },
});

const completeMethod = "notifications/elicitation/complete";

/** A tool that sends the user to the URL with the given id. */
const identified = tool({
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } as const,
  call: async ({ id }, ctx) => {
    await ctx.elicit({ message: visit.message, url: visit.url, elicitationId: id });
    return "went there";
  },
});

/** Asks a client to visit a URL, and has it agree. */
async function sendThere(peer: RawPeer, id: string): Promise<void> {
  const call = peer.start("tools/call", { name: "identified", arguments: { id } });
  const request = await peer.nextRequest(elicitMethod);
  expect(request.params.elicitationId).toBe(id);
  peer.answer(request, { action: "accept" });
  await peer.response(call);
}

const completed = (peer: RawPeer): unknown[] =>
  peer.received.filter(({ method }) => method === completeMethod).map(({ params }) => params);

proves("elicitation.complete.sent", async (world) => {
  const peer = await world.serve({ tools: { identified } }, { capabilities: formsAndUrls });
  await sendThere(peer, "visit-1");
  expect(await world.server.elicitationComplete("visit-1")).toBe(true);
  await peer.nextNotification(completeMethod);
  // It is sent once.
  expect(await world.server.elicitationComplete("visit-1")).toBe(false);
  await peer.settled();
  expect(completed(peer)).toEqual([{ elicitationId: "visit-1" }]);
});

proves("elicitation.complete.only-recipient", async (world) => {
  const peer = await world.serve({ tools: { identified } }, { capabilities: formsAndUrls });
  const server = world.server;
  const other = await world.join(formsAndUrls);
  await sendThere(peer, "of-one");
  await sendThere(other, "of-the-other");
  expect(await server.elicitationComplete("of-nobody")).toBe(false);
  expect(await server.elicitationComplete("of-the-other")).toBe(true);
  await other.nextNotification(completeMethod);
  expect(await server.elicitationComplete("of-one")).toBe(true);
  await peer.nextNotification(completeMethod);
  expect(completed(peer)).toEqual([{ elicitationId: "of-one" }]);
  expect(completed(other)).toEqual([{ elicitationId: "of-the-other" }]);
});

proves("elicitation.complete.id", async (world) => {
  const needing = tool({
    call: () => {
      throw urlRequired([{ message: "Pay.", url: visit.url }, visitOf("given")]);
    },
  });
  const peer = await world.serve({ tools: { needing } }, { capabilities: formsAndUrls });
  const { error } = await peer.request("tools/call", { name: "needing" });
  const { elicitations } = error.data as { elicitations: { elicitationId: string }[] };
  const ids = elicitations.map(({ elicitationId }) => elicitationId);
  expect(ids[1]).toBe("given");
  for (const id of ids) expect(await world.server.elicitationComplete(id)).toBe(true);
  for (const _ of ids) await peer.nextNotification(completeMethod);
  expect(completed(peer)).toEqual(ids.map((elicitationId) => ({ elicitationId })));
});

const visitOf = (elicitationId: string) => ({ message: visit.message, url: visit.url, elicitationId });

const required = { code: -32042, message: "Go there first.", data: { elicitations: [visit] } };

/** A call that is refused until its user has visited a URL, and the URLs that the user saw. */
async function needsVisit(world: World, options: ConnectOptions = {}) {
  const shown: unknown[] = [];
  const played = await world.connect({
    elicit: (question) => {
      shown.push(question);
      return { action: "accept" };
    },
    ...options,
  });
  const controller = new AbortController();
  const { request, outcome } = await requested(played.client, played.server, { signal: controller.signal });
  played.server.refuse(request, required);
  await expect.poll(() => shown).toEqual([visit]);
  const complete = (elicitationId: string): void =>
    played.server.notify("notifications/elicitation/complete", { elicitationId });
  return { ...played, outcome, controller, complete, shown };
}

proves("elicitation.complete.unknown", async (world) => {
  const ids: string[] = [];
  const { server, outcome, complete, shown } = await needsVisit(world, { onElicitationComplete: (id) => ids.push(id) });
  const before = server.received.length;
  complete("of somebody else");
  await world.clock.advance(1000);
  expect(server.received.length).toBe(before);
  complete("visit-1");
  server.answer(await server.request("prompts/get"), gotPrompt);
  await outcome;
  complete("visit-1");
  await world.clock.advance(1000);
  expect(server.received.length).toBe(before + 1);
  expect(shown).toEqual([visit]);
  expect(ids).toEqual(["visit-1"]);
});

proves("elicitation.complete.repeats", async (world) => {
  const { server, outcome, complete } = await needsVisit(world);
  complete("visit-1");
  const again = await server.request("prompts/get");
  expect(again.params).toMatchObject({ name: "p" });
  server.answer(again, gotPrompt);
  expect(await outcome).toMatchObject(gotPrompt);
});

proves("elicitation.complete.never", async (world) => {
  const { outcome, controller } = await needsVisit(world);
  controller.abort();
  await expect(outcome).rejects.toMatchObject({ code: "aborted" });
  const late = await needsVisit(world, { timeout: { total: 5000 } });
  await world.clock.advance(5000);
  await expect(late.outcome).rejects.toMatchObject({ code: "timeout" });
});

proves("elicitation.url.cancelled", async (world) => {
  const open = gate();
  const { client, server } = await world.connect({ elicit: (request, source) => open.call(request, source as never) });
  const controller = new AbortController();
  const { request, outcome } = await requested(client, server, { signal: controller.signal });
  server.answer(request, {
    resultType: "input_required",
    inputRequests: { q: { method: elicitMethod, params: visit } },
  });
  const source = (await open.entered) as unknown as { signal: AbortSignal };
  expect(source.signal.aborted).toBe(false);
  const before = server.received.length;
  controller.abort();
  await expect(outcome).rejects.toMatchObject({ code: "aborted" });
  // The handler is notified of the cancellation, and a late answer is not sent.
  expect(source.signal.aborted).toBe(true);
  open.open({ action: "accept" });
  await world.clock.advance(1000);
  expect(server.received.slice(before).filter(({ method }) => method === "prompts/get")).toEqual([]);
  // The client can be used as before.
  const next = await requested(client, server);
  server.answer(next.request, gotPrompt);
  expect(await next.outcome).toMatchObject(gotPrompt);
});

proves("elicitation.url-required.answered", async (world) => {
  const needing = tool({
    call: () => {
      throw new ProtocolError(required.code, required.message, { data: required.data });
    },
  });
  const peer = await world.serve({ tools: { needing } }, { capabilities: formsAndUrls });
  expect((await peer.request("tools/call", { name: "needing" })).error).toEqual(required);
});

const wrongLists = [
  undefined,
  {},
  { elicitations: [] },
  { elicitations: visit },
  { elicitations: [{ ...form, mode: "form", elicitationId: "1" }] },
  { elicitations: [{ ...visit, mode: undefined }] },
  { elicitations: [{ ...visit, elicitationId: undefined }] },
  { elicitations: [{ ...visit, elicitationId: "" }] },
  { elicitations: [{ ...visit, url: "javascript:alert(1)" }] },
  { elicitations: [{ ...visit, message: undefined }] },
  { elicitations: [visit, visit] },
];

/** Serves a tool that throws the given error. */
async function throwing(world: World, capabilities: JsonObject) {
  let thrown: unknown;
  const failing = tool({
    call: () => {
      throw thrown;
    },
  });
  const peer = await world.serve({ tools: { failing } }, { capabilities });
  return async (error: unknown): Promise<JsonRpcErrorBody> => {
    thrown = error;
    return (await peer.request("tools/call", { name: "failing" })).error;
  };
}

proves("elicitation.url-required.only-then", async (world) => {
  const refuse = await throwing(world, formsAndUrls);
  for (const data of wrongLists) {
    expect((await refuse(new ProtocolError(-32042, "Not so.", { data }))).code).toBe(-32603);
  }
  expect(world.errors.length).toBe(wrongLists.length);
  for (const code of [-32041, -32043]) expect((await refuse(new ProtocolError(code, "Else."))).code).not.toBe(-32042);
  // A client without URL elicitations does not receive the error.
  const refuseOthers = await throwing(world, forms);
  const { code, message } = await refuseOthers(urlRequired(visitOf("1")));
  expect(code).toBe(-32600);
  expect(message).toContain("elicitation.url");
});

proves("elicitation.url-required.visits", async (world) => {
  const refuse = await throwing(world, formsAndUrls);
  const { code, data } = await refuse(
    urlRequired([visitOf("1"), { message: "Sign in.", url: "https://example.com/" }]),
  );
  expect(code).toBe(-32042);
  const { elicitations } = data as { elicitations: JsonObject[] };
  expect(elicitations).toMatchObject([
    { mode: "url", ...visitOf("1") },
    { mode: "url", message: "Sign in." },
  ]);
  expect(elicitations[1]?.elicitationId).toMatch(/./);
  for (const { elicitations } of wrongLists.filter((list) => Array.isArray(list?.elicitations)) as any[]) {
    if (elicitations[0]?.mode === "url") expect(() => urlRequired(elicitations)).toThrow(TypeError);
  }
});

proves("elicitation.url-required.unreadable", async (world) => {
  const lists = [undefined, [], [{ ...form, mode: "form" }], [{ ...visit, elicitationId: undefined }], [visit, null]];
  for (const elicitations of lists) {
    const { client, server } = await world.connect(never);
    const { request, outcome } = await requested(client, server);
    server.refuse(request, { ...required, data: { elicitations } });
    await expect(outcome).rejects.toMatchObject({ code: -32042 });
  }
});

/** Authenticates requests as the user whose name `is` contains at that time. */
function switching(): { is: string; http: HttpOptions } {
  const caller: { is: string; http: HttpOptions } = {
    is: "ann",
    http: { auth: () => ({ issuer: "https://issuer.example", subject: caller.is, scopes: [] }) },
  };
  return caller;
}

proves("elicitation.state.bound", async (world) => {
  const caller = switching();
  const peer = await world.serve({ tools: { telling } }, { capabilities: forms, http: caller.http });
  const given = { action: "accept", content: { name: "Ann" } };
  if (world.isModern) {
    const { result } = await peer.request("tools/call", { name: "telling" });
    const [key = ""] = Object.keys(result.inputRequests as object);
    const answer = { name: "telling", requestState: result.requestState, inputResponses: { [key]: given } };
    caller.is = "bob";
    expect((await peer.request("tools/call", answer)).error.code).toBe(-32602);
    caller.is = "ann";
    expect(textOf(await peer.request("tools/call", answer))).toBe('{"name":"Ann"}');
    return;
  }
  const id = peer.start("tools/call", { name: "telling" });
  const question = await peer.nextRequest(elicitMethod);
  caller.is = "bob";
  peer.answer(question, { action: "accept", content: { name: "Bob" } });
  await peer.settled();
  caller.is = "ann";
  peer.answer(question, given);
  expect(textOf(await peer.response(id))).toBe('{"name":"Ann"}');
});

proves("elicitation.state.not-by-session", async (world) => {
  const caller = switching();
  const peer = await world.serve({ tools: { telling } }, { capabilities: forms, http: caller.http });
  const id = peer.start("tools/call", { name: "telling" });
  const question = await peer.nextRequest(elicitMethod);
  for (const action of ["accept", "decline", "cancel"]) {
    caller.is = "bob";
    peer.answer(question, { action, content: { name: "Bob" } });
    await peer.settled();
    expect(peer.received.filter((message) => message.id === id && "result" in message)).toEqual([]);
  }
  caller.is = "ann";
  peer.answer(question, { action: "decline" });
  expect(textOf(await peer.response(id))).toBe("declined");
});

proves("elicitation.state.protected", async (world) => {
  const stateful = tool({
    call: async (_, { once, elicit }) => {
      const kept = await once("kept", () => "what the server keeps");
      await elicit({ message: "?", schema: person });
      return kept;
    },
  });
  const peer = await world.serve({ tools: { stateful } }, { capabilities: forms });
  const { result } = await peer.request("tools/call", { name: "stateful" });
  const state = String(result.requestState);
  const [key = ""] = Object.keys(result.inputRequests as object);
  const inputResponses = { [key]: { action: "accept", content: { name: "Ann" } } };
  expect(Buffer.from(state, "base64url").toString("latin1")).not.toContain("keeps");
  const changed = `${state.slice(0, 40)}${state[40] === "A" ? "B" : "A"}${state.slice(41)}`;
  const tampered = await peer.request("tools/call", { name: "stateful", inputResponses, requestState: changed });
  expect(tampered.error.code).toBe(-32602);
  const answer = await peer.request("tools/call", { name: "stateful", inputResponses, requestState: state });
  expect(textOf(answer)).toBe("what the server keeps");
});

proves("elicitation.state.user", async (world) => {
  const anyUser = tool({
    call: async (_, ctx) => {
      await ctx.elicit({ message: "Who are you?", schema: person });
      return String(ctx.principal?.subject);
    },
  });
  const { http } = switching();
  const peer = await world.serve({ tools: { anyUser } }, { capabilities: forms, http });
  const asked = await askedByTool(world, peer, "anyUser");
  expect(textOf(await asked.answer({ action: "accept", content: { name: "bob" } }))).toBe("ann");
});
