import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { LocalError } from "../../rpc/errors.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { ScriptedPeer } from "../../testing/scripted-peer.ts";
import { openClient } from "../open-client.ts";
import type { ClientExtension } from "../extension.ts";
import type { ConnectOptions } from "../options.ts";
import type { Client } from "../client.ts";

const never = (): Promise<never> => new Promise(() => {});
const text: JsonObject = { content: [{ type: "text", text: "x" }] };
const form = { message: "who?", requestedSchema: { type: "object", properties: {} } };
const inputRequired = (...methods: string[]): JsonObject => ({
  resultType: "input_required",
  inputRequests: Object.fromEntries(
    methods.map((method, index) => [
      index,
      { method, params: method === "elicitation/create" ? form : { messages: [], maxTokens: 1 } },
    ]),
  ),
});

/** The steps that a call can wait for. Each one never settles. `reach` starts the step. */
const waits: [string, ConnectOptions, (peer: ScriptedPeer) => Promise<void>][] = [
  ...(
    [
      ["roots/list", { roots: never }],
      ["sampling/createMessage", { sample: never }],
      ["elicitation/create", { elicit: never }],
    ] as [string, ConnectOptions][]
  ).map(([method, options]): (typeof waits)[number] => [
    `a handler of ${method}`,
    options,
    async (peer) => peer.answer(await peer.request("tools/call"), inputRequired(method)),
  ]),
  [
    "a handler after another one has failed",
    { roots: () => Promise.reject(new Error("disk")), sample: never, onError: () => {} },
    async (peer) => peer.answer(await peer.request("tools/call"), inputRequired("sampling/createMessage")),
  ],
  ["confirm", { confirm: never }, flushPromises],
  ["an observer", { observers: [{ started: () => ({ ended: () => {}, within: never as never }) }] }, flushPromises],
  ["the preparation of an extension", { extensions: [{ id: "com.example/x", prepare: never }] }, flushPromises],
  [
    "an extension that follows a result",
    { extensions: [{ id: "com.example/x", follow: () => never }] },
    async (peer) => peer.answer(await peer.request("tools/call"), { resultType: "x" }),
  ],
  ["the result", {}, async (peer) => void (await peer.request("tools/call"))],
];

describe.each(waits)("a call that waits for %s", (_, options, reach) => {
  async function waiting(): Promise<{ client: Client; controller: AbortController; calling: Promise<unknown> }> {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer), options);
    const controller = new AbortController();
    const calling = client.callTool("a", {}, { signal: controller.signal });
    calling.catch(() => {});
    await reach(peer);
    await flushPromises();
    expect(client.inFlight).toBe(1);
    return { client, controller, calling };
  }

  test("is aborted by its signal, and leaves no listener", async () => {
    const { client, controller, calling } = await waiting();
    controller.abort("enough");
    await expect(calling).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(client.inFlight).toBe(0);
    expect(getEventListeners(controller.signal, "abort").length).toBe(0);
    await client.close();
  });

  test("is rejected by close", async () => {
    const { client, calling } = await waiting();
    await client.close();
    await expect(calling).rejects.toMatchObject({ code: "closed" });
    expect(client.inFlight).toBe(0);
  });
});

test("a handler that rejects fails the call, although another handler never settles", async () => {
  const peer = modernPeer();
  const options: ConnectOptions = { sample: () => Promise.reject(new Error("disk")), roots: never };
  const client = await openClient(peerTransports(peer), options);
  const calling = client.callTool("a");
  peer.answer(await peer.request("tools/call"), inputRequired("sampling/createMessage", "roots/list"));
  await expect(calling).rejects.toThrow("disk");
});

describe("a call whose form waits for the form of another call", () => {
  async function waitBehindForm(): Promise<{ peer: ScriptedPeer; client: Client; elicit: ReturnType<typeof vi.fn> }> {
    const peer = modernPeer();
    const elicit = vi.fn(never);
    const client = await openClient(peerTransports(peer), { elicit });
    client.callTool("first").catch(() => {});
    peer.answer(await peer.request("tools/call"), inputRequired("elicitation/create"));
    await flushPromises();
    expect(elicit).toHaveBeenCalledOnce();
    return { peer, client, elicit };
  }

  test("is aborted by its signal, and its form is never shown", async () => {
    const { peer, client, elicit } = await waitBehindForm();
    const controller = new AbortController();
    const calling = client.callTool("second", {}, { signal: controller.signal });
    peer.answer(await peer.request("tools/call"), inputRequired("elicitation/create"));
    await flushPromises();
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    expect(elicit).toHaveBeenCalledOnce();
    await client.close();
  });

  test("is rejected by close", async () => {
    const { peer, client } = await waitBehindForm();
    const calling = client.callTool("second");
    peer.answer(await peer.request("tools/call"), inputRequired("elicitation/create"));
    await flushPromises();
    await client.close();
    await expect(calling).rejects.toMatchObject({ code: "closed" });
    expect(client.inFlight).toBe(0);
  });
});

describe("the timeouts of a call", () => {
  const limits = [{ idle: 1000 }, { total: 1000 }];
  const given = limits.flatMap((timeout) => [
    ["of the call", {}, { timeout }] as const,
    ["of the client", { timeout }, {}] as const,
  ]);

  test.each(given)("%s apply to the look-up of its tool: %j %j", async (_, options, request) => {
    const clock = fakeClock();
    const peer = modernPeer();
    const transports = Object.assign(peerTransports(peer), { kind: "http" as const });
    const client = await openClient(transports, { clock, ...options });
    const calling = client.callTool("a", {}, request);
    calling.catch(() => {});
    await peer.request("tools/list");
    await clock.advance(999);
    expect(client.inFlight).toBeGreaterThan(0);
    await clock.advance(1);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
    expect(peer.arrived.map(({ message }) => "method" in message && message.method)).not.toContain("tools/call");
    await client.close();
    expect(clock.pending).toBe(0);
  });

  test.each(given)("%s apply to a reconnect: %j %j", async (_, options, request) => {
    const clock = fakeClock();
    const [first, second] = [modernPeer(), modernPeer()];
    const hanging = { ...second.transport, start: never };
    const transports = peerTransports(first, Object.assign(second, { transport: hanging }));
    const client = await openClient(transports, { clock, revision: "2026-07-28", ...options });
    first.close();
    await flushPromises();
    const calling = client.callTool("a", {}, request);
    calling.catch(() => {});
    await clock.advance(999);
    expect(client.inFlight).toBe(1);
    await clock.advance(1);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
    await client.close();
  });

  test("the total limit applies to the look-up and the call together", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }), { clock });
    const calling = client.callTool("a", {}, { timeout: { total: 1000 } });
    calling.catch(() => {});
    const request = await peer.request("tools/list");
    await clock.advance(600);
    peer.answer(request, { tools: [] });
    await peer.request("tools/call");
    await clock.advance(399);
    expect(client.inFlight).toBe(1);
    await clock.advance(1);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
  });

  test("the total limit excludes the time of an elicitation in a legacy session, also for an extension", async () => {
    const clock = fakeClock();
    const peer = legacyPeer();
    let left: number | undefined;
    const extension: ClientExtension = {
      id: "com.example/x",
      follow: (result, request) => {
        left = request.left;
        return () => Promise.resolve(result);
      },
    };
    const elicit = (): Promise<{ action: "decline" }> =>
      new Promise((resolve) => void clock.setTimeout(() => resolve({ action: "decline" }), 5_000));
    const revision = "2025-11-25";
    const client = await openClient(peerTransports(peer), { revision, clock, elicit, extensions: [extension] });
    await peer.notification("notifications/initialized");
    const calling = client.callTool("a", {}, { timeout: { total: 1_000 } });
    const request = await peer.request("tools/call");
    await clock.advance(100);
    peer.ask("q", "elicitation/create", form);
    await flushPromises();
    await clock.advance(5_000);
    await flushPromises();
    await clock.advance(200);
    peer.answer(request, text);
    expect(await calling).toBe("x");
    expect(left).toBe(700);
    await client.close();
  });

  test("each page of the look-up restarts the idle limit", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }), { clock });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000 } });
    for (let page = 0; page < 3; page++) {
      const request = await peer.request("tools/list");
      await clock.advance(900);
      peer.answer(request, { tools: [], ...(page < 2 && { nextCursor: String(page) }) });
    }
    peer.answer(await peer.request("tools/call"), text);
    expect(await calling).toBe("x");
  });

  test("the requests of an extension share the total limit of their call", async () => {
    const clock = fakeClock();
    const extension: ClientExtension = {
      id: "com.example/x",
      follow: (result, { send }) => {
        if (result.resultType !== "x") return undefined;
        return async () => {
          for (let times = 0; times < 10; times++) await send("x/poll", {}, { signal: new AbortController().signal });
          return text;
        };
      },
    };
    const peer = modernPeer();
    const options = { clock, extensions: [extension], timeout: { total: 1000 } };
    const client = await openClient(peerTransports(peer), options);
    const calling = client.callTool("a");
    calling.catch(() => {});
    peer.answer(await peer.request("tools/call"), { resultType: "x" });
    for (let polls = 0; polls < 2; polls++) {
      const request = await peer.request("x/poll");
      await clock.advance(400);
      peer.answer(request, { resultType: "complete" });
    }
    await peer.request("x/poll");
    await clock.advance(199);
    expect(client.inFlight).toBe(1);
    await clock.advance(1);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
  });

  test("the total limit ends a preparation of an extension that never settles", async () => {
    const clock = fakeClock();
    const extensions = [{ id: "com.example/x", prepare: never }];
    const client = await openClient(peerTransports(modernPeer()), { clock, extensions });
    const calling = client.callTool("a", {}, { timeout: { total: 1000 } });
    calling.catch(() => {});
    await clock.advance(1000);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
    expect(clock.pending).toBe(0);
  });

  test("the time of a sign-in during a reconnect or a look-up does not count", async () => {
    const clock = fakeClock();
    const peer = modernPeer({ answers: { "tools/call": () => text } });
    let waits: ((id: number) => () => void) | undefined;
    const { transport } = peer;
    const start: typeof transport.start = (receiver) => {
      waits = (id) => receiver.waits?.(id) ?? (() => {});
      return transport.start(receiver);
    };
    const peers = peerTransports({ ...peer, transport: { ...transport, start } });
    const client = await openClient(Object.assign(peers, { kind: "http" as const }), { clock });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000, total: 2000 } });
    const request = await peer.request("tools/list");
    const resume = waits?.(request.id as number);
    await clock.advance(3_600_000);
    resume?.();
    await clock.advance(999);
    peer.answer(request, { tools: [] });
    expect(await calling).toBe("x");
    await client.close();
    expect(clock.pending).toBe(0);
  });
});

describe("listeners on the signal of calls", () => {
  test("20 calls with one signal cause no warning and leave no listener", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const peer = modernPeer({ answers: { "tools/call": () => text, "tools/list": () => ({ tools: [] }) } });
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }), {
      confirm: () => true,
    });
    const { signal } = new AbortController();
    const calls = Array.from({ length: 20 }, () => client.callTool("a", {}, { signal }));
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(1);
    await Promise.all(calls);
    await flushPromises();
    process.off("warning", note);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, "abort").length).toBe(0);
  });

  test("calls leave no listener on their signal or in the client, however they end", async () => {
    const peer = modernPeer({
      answers: { "tools/call": ({ params }) => (params?.name === "ok" ? text : { resultType: "?" }) },
    });
    const options: ConnectOptions = {
      confirm: ({ name }) => name !== "declined",
      observers: [{ started: () => undefined }],
    };
    const client = await openClient(peerTransports(peer), options);
    const added = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const removed = vi.spyOn(AbortSignal.prototype, "removeEventListener");
    const { signal } = new AbortController();
    for (let times = 0; times < 5; times++) {
      for (const name of ["ok", "declined", "malformed"]) await client.callTool(name, {}, { signal }).catch(() => {});
    }
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
    added.mockRestore();
    removed.mockRestore();
    expect(getEventListeners(signal, "abort").length).toBe(0);
    await client.close();
  });
});

describe("an input request of a legacy server whose call is aborted", () => {
  async function legacy(options: ConnectOptions): Promise<{ peer: ScriptedPeer; client: Client; errors: Error[] }> {
    const errors: Error[] = [];
    const peer = legacyPeer();
    const given = { revision: "2025-11-25", onError: (error: Error) => errors.push(error), ...options };
    const client = await openClient(peerTransports(peer), given);
    await peer.notification("notifications/initialized");
    return { peer, client, errors };
  }

  test.each<[string, ConnectOptions, JsonObject, JsonObject]>([
    ["elicitation/create", { elicit: never }, form, { result: { action: "cancel" } }],
    ["sampling/createMessage", { sample: never }, { messages: [], maxTokens: 1 }, { error: { code: -32603 } }],
    ["roots/list", { roots: never }, {}, { error: { code: -32603 } }],
  ])("is answered, and the next call is not blocked (%s)", async (method, options, params, answer) => {
    const clock = fakeClock();
    const { peer, client, errors } = await legacy({ clock, ...options });
    const controller = new AbortController();
    const calling = client.callTool("a", {}, { signal: controller.signal });
    calling.catch(() => {});
    const request = await peer.request("tools/call");
    peer.ask("q", method, params);
    await flushPromises();
    controller.abort();
    await expect(calling).rejects.toMatchObject({ code: "aborted" });
    expect((await peer.notification("notifications/cancelled")).params).toMatchObject({ requestId: request.id });
    expect(await peer.next()).toMatchObject({ id: "q", ...answer });
    const next = client.callTool("b", {}, { timeout: { idle: 1000 } });
    next.catch(() => {});
    await peer.request("tools/call");
    await clock.advance(1000);
    await expect(next).rejects.toMatchObject({ code: "timeout" });
    expect(clock.pending).toBe(0);
    expect(errors).toEqual([]);
  });

  test("stops the time limits of the remaining call, and is answered after that call has ended", async () => {
    const clock = fakeClock();
    const { peer, client } = await legacy({ clock, elicit: never });
    const controller = new AbortController();
    const [aborted, other] = [
      client.callTool("a", {}, { signal: controller.signal }),
      client.callTool("b", {}, { timeout: { idle: 1000 } }),
    ];
    for (const call of [aborted, other]) call.catch(() => {});
    await peer.request("tools/call");
    const second = await peer.request("tools/call");
    peer.ask("q", "elicitation/create", form);
    await flushPromises();
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    await clock.advance(5000);
    // The form may belong to the other call, so it stays open.
    expect(client.inFlight).toBe(1);
    peer.answer(second, text);
    expect(await other).toBe("x");
    await peer.notification("notifications/cancelled");
    expect(await peer.next()).toMatchObject({ id: "q", result: { action: "cancel" } });
  });

  test("stays open if its calls were all answered, because it may belong to another request", async () => {
    let answer!: (value: { action: "decline" }) => void;
    const { peer, client } = await legacy({ elicit: () => new Promise((resolve) => (answer = resolve)) });
    const calling = client.callTool("a");
    const request = await peer.request("tools/call");
    peer.ask("q", "elicitation/create", form);
    await flushPromises();
    peer.answer(request, text);
    await calling;
    await flushPromises();
    answer({ action: "decline" });
    expect(await peer.next()).toMatchObject({ id: "q", result: { action: "decline" } });
  });

  test("is not answered twice if the server cancels it as well", async () => {
    const { peer, client, errors } = await legacy({ elicit: never });
    const controller = new AbortController();
    const calling = client.callTool("a", {}, { signal: controller.signal });
    calling.catch(() => {});
    await peer.request("tools/call");
    peer.ask("q", "elicitation/create", form);
    await flushPromises();
    const before = peer.arrived.length;
    peer.notify("notifications/cancelled", { requestId: "q" });
    controller.abort(new LocalError("aborted", "enough"));
    await flushPromises();
    expect(peer.arrived.length).toBe(before + 1);
    expect(errors).toEqual([]);
  });
});

describe("an error of a call that was not sent", () => {
  test("has safeToRepeat if the look-up of the tool times out", async () => {
    const clock = fakeClock();
    const peer = modernPeer();
    const client = await openClient(Object.assign(peerTransports(peer), { kind: "http" as const }), { clock });
    const calling = client.callTool("a", {}, { timeout: { total: 1000 } });
    calling.catch(() => {});
    await peer.request("tools/list");
    await clock.advance(1000);
    await expect(calling).rejects.toMatchObject({ code: "timeout", data: { safeToRepeat: true } });
    await client.close();
  });

  test("has safeToRepeat if the server does not start again", async () => {
    const [first, second] = [modernPeer(), modernPeer()];
    const exited = new LocalError("exited", "node server.js exited with code 1.");
    const broken = { ...second, transport: { ...second.transport, start: () => Promise.reject(exited) } };
    const client = await openClient(peerTransports(first, broken));
    first.close();
    await flushPromises();
    const error: unknown = await client.callTool("a").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "exited", data: { safeToRepeat: true } });
    expect((error as Error).message).not.toContain("may have run it");
  });

  test("has no safeToRepeat in a later round of input requests, because the server has run a part of the call", async () => {
    const [first, second] = [modernPeer(), modernPeer()];
    const exited = new LocalError("exited", "node server.js exited with code 1.");
    const broken = { ...second, transport: { ...second.transport, start: () => Promise.reject(exited) } };
    let answer!: (roots: never[]) => void;
    const client = await openClient(peerTransports(first, broken), {
      roots: () => new Promise((resolve) => (answer = resolve)),
    });
    const calling = client.callTool("a");
    calling.catch(() => {});
    first.answer(await first.request("tools/call"), inputRequired("roots/list"));
    await flushPromises();
    first.close();
    await flushPromises();
    answer([]);
    await expect(calling).rejects.toMatchObject({ code: "exited", data: { safeToRepeat: false } });
  });
});

describe("a client that is closed right after a call was aborted", () => {
  /** Follows each result until the call is aborted, and then sends a request that outlives the call. */
  const cancelling: ClientExtension = {
    id: "com.example/x",
    follow:
      (_, { send, signal, report }) =>
      () =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            send("com.example/cancel", {}).catch(report);
            reject(new LocalError("aborted", "The caller has aborted."));
          });
        }),
  };

  async function abortAndClose(kind: "http" | "stream") {
    const peer = modernPeer();
    const clock = fakeClock();
    const onError = vi.fn<(error: Error) => void>();
    const transports = { ...peerTransports(peer), kind };
    const client = await openClient(transports, { clock, onError, extensions: [cancelling] });
    const controller = new AbortController();
    const running = client.request("com.example/slow", {}, { signal: controller.signal });
    running.catch(() => {});
    peer.answer(await peer.request("com.example/slow"), { resultType: "x" });
    await flushPromises();
    controller.abort();
    let isClosed = false;
    const closing = client.close().then(() => (isClosed = true));
    await flushPromises();
    return { peer, clock, client, running, closing, onError, isClosed: () => isClosed };
  }

  test("sends the cancellation of an extension on a stream", async () => {
    const { peer, running, closing } = await abortAndClose("stream");
    await closing;
    expect(await peer.request("com.example/cancel")).toBeDefined();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
  });

  test("sends the cancellation over HTTP and waits for its response", async () => {
    const { peer, client, running, closing, onError, isClosed } = await abortAndClose("http");
    const cancellation = await peer.request("com.example/cancel");
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    expect(isClosed()).toBe(false);
    peer.answer(cancellation, {});
    await closing;
    expect(client.state).toBe("closed");
    expect(onError).not.toHaveBeenCalled();
  });

  test("waits at most two seconds", async () => {
    const { clock, closing, isClosed } = await abortAndClose("http");
    await clock.advance(1999);
    expect(isClosed()).toBe(false);
    await clock.advance(1);
    await closing;
  });

  test("sends no further calls", async () => {
    const { peer, client } = await abortAndClose("http");
    await expect(client.request("com.example/slow")).rejects.toMatchObject({ code: "closed" });
    const methods = peer.arrived.map(({ message }) => "method" in message && message.method);
    expect(methods.filter((method) => method === "com.example/slow")).toHaveLength(1);
  });
});
