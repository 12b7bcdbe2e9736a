import { flushPromises } from "mcparley/testing";
import { describe, expect, test, vi } from "vitest";
import { type StateStorage, memoryState } from "../state/state-storage.ts";
import type { ReviewAnswer, ReviewRequest } from "../renderer/renderer.ts";
import { consentFixture, listsOf, never, target, toolNamed } from "./testing/consent-fixture.ts";

const [a, b] = [toolNamed("a"), toolNamed("b")];
const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);

/** Returns a renderer that stores the requests, and answers each with the next answer. The last one is repeated. */
function reviewer(...answers: ReviewAnswer["accepted"][]): {
  requests: ReviewRequest[];
  review: (request: ReviewRequest) => ReviewAnswer;
} {
  const requests: ReviewRequest[] = [];
  return {
    requests,
    review(request) {
      requests.push(request);
      return { accepted: (answers.length > 1 ? answers.shift() : answers[0])! };
    },
  };
}

describe("the policy `always`", () => {
  test("asks one question for all definitions, and none for accepted ones", async () => {
    const storage = memoryState();
    const renderer = reviewer("all");
    const host = consentFixture({ storage, renderer });
    const others = {
      prompts: [{ name: "p" }],
      resources: [{ uri: "file:///r", name: "r" }],
      templates: [{ uriTemplate: "file:///{x}", name: "t" }],
    };
    const instructions = "Be brief.";
    expect(await host.review([a, b], { ...others, instructions })).toEqual({
      lists: listsOf([a, b], others),
      instructions,
      waiting: [],
    });
    await host.review([b, a], { ...others, instructions });
    await consentFixture({ storage, renderer }).review([a, b], { ...others, instructions });
    expect(renderer.requests).toHaveLength(1);
    expect(renderer.requests.flatMap(({ changes }) => changes).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "tool a",
      "tool b",
      "prompt p",
      "resource file:///r",
      "template file:///{x}",
      "instructions ",
    ]);
    expect(host.decisions).toHaveLength(6);
    expect(host.decisions[0]).toEqual({
      at: 1_000,
      subject: "definition",
      server: "files",
      name: "a",
      outcome: "allowed",
      by: "person",
    });
  });

  test("leaves out denied definitions, and asks for them again only after the denials are forgotten", async () => {
    const renderer = reviewer([], "all");
    const host = consentFixture({ renderer });
    expect((await host.review([a])).lists.tools).toEqual([]);
    expect((await host.review([a])).waiting).toHaveLength(1);
    expect(renderer.requests).toHaveLength(1);
    host.consent.forgetDenials("files");
    expect((await host.review([a])).lists.tools).toEqual([a]);
    expect(host.decisions.map(({ outcome }) => outcome)).toEqual(["denied", "allowed"]);
  });

  test("accepts only the chosen changes, also if the renderer returns copies of them", async () => {
    const host = consentFixture({
      renderer: {
        review: ({ changes }) => ({
          accepted: changes.filter(({ name }) => name === "b").map((change) => ({ ...change })),
        }),
      },
    });
    const { lists, waiting } = await host.review([a, b]);
    expect(lists.tools).toEqual([b]);
    expect(names(waiting)).toEqual(["a"]);
  });
});

describe("the policy `changes`", () => {
  test("accepts the first list of a server, and asks for what changes later", async () => {
    const storage = memoryState();
    const policy = { review: "changes" } as const;
    const first = consentFixture({ storage, policy });
    expect((await first.review([a])).lists.tools).toEqual([a]);
    expect(first.decisions).toMatchObject([{ outcome: "allowed", by: "configuration" }]);
    const later = consentFixture({ storage, policy });
    const changed = toolNamed("a", { description: "Deletes all." });
    expect(await later.review([changed, b])).toMatchObject({
      lists: { tools: [] },
      waiting: [{ status: "changed" }, { status: "new" }],
    });
  });

  test("does not accept a second list after an empty first one", async () => {
    const storage = memoryState();
    const policy = { review: "changes" } as const;
    await consentFixture({ storage, policy }).review([]);
    expect((await consentFixture({ storage, policy }).review([a])).lists.tools).toEqual([]);
  });
});

test("without a renderer nothing new is usable, and each definition is reported once", async () => {
  const host = consentFixture();
  expect(await host.review([a], { instructions: "Obey." })).toMatchObject({
    lists: { tools: [] },
    waiting: [{ name: "a" }, { kind: "instructions" }],
  });
  const { instructions } = await host.review([a], { instructions: "Obey." });
  expect(instructions).toBeUndefined();
  expect(host.decisions).toMatchObject([
    { name: "a", outcome: "denied", by: "no-renderer" },
    { name: "", outcome: "denied", by: "no-renderer" },
  ]);
});

test("pins are bound to the identity and the name of the server", async () => {
  const storage = memoryState();
  const { consent } = consentFixture({ storage, renderer: reviewer("all") });
  const review = async (server: string, url: string): Promise<number> => {
    const host = consentFixture({ storage });
    return (await host.consent.definitions.review({ server, target: url, lists: listsOf([a]) }, never)).lists.tools
      .length;
  };
  await consent.definitions.review({ server: "files", target: "https://a.example/mcp", lists: listsOf([a]) }, never);
  expect(await review("files", "https://a.example/mcp")).toBe(1);
  expect(await review("files", "https://b.example/mcp")).toBe(0);
  expect(await review("other", "https://a.example/mcp")).toBe(0);
});

test("a changed definition is unusable from the start of its review, and its former one too", async () => {
  let answer = (_answer: ReviewAnswer): void => {};
  const answers: ((request: ReviewRequest) => ReviewAnswer | Promise<ReviewAnswer>)[] = [
    () => ({ accepted: "all" }),
    () => new Promise((resolve) => (answer = resolve)),
  ];
  const { consent } = consentFixture({ renderer: { review: (request) => answers.shift()!(request) } });
  const isUsable = (definition: typeof a): boolean =>
    consent.definitions.isUsable("files", "tool", { name: definition.name, definition });
  await consent.definitions.review({ server: "files", target, lists: listsOf([a, b]) }, never);
  expect([isUsable(a), isUsable(b)]).toEqual([true, true]);
  const changed = toolNamed("a", { description: "Deletes all." });
  const review = consent.definitions.review({ server: "files", target, lists: listsOf([changed, b]) }, never);
  expect([isUsable(a), isUsable(changed), isUsable(b)]).toEqual([false, false, true]);
  while (answers.length > 0) await flushPromises();
  expect([isUsable(a), isUsable(changed), isUsable(b)]).toEqual([false, false, true]);
  answer({ accepted: "all" });
  await review;
  expect([isUsable(a), isUsable(changed), isUsable(b)]).toEqual([false, true, true]);
});

test("an answer to an older list does not make a newer definition usable", async () => {
  const open: ((answer: ReviewAnswer) => void)[] = [];
  const { consent } = consentFixture({ renderer: { review: () => new Promise((resolve) => open.push(resolve)) } });
  const newer = toolNamed("a", { description: "Deletes all." });
  const first = consent.definitions.review({ server: "files", target, lists: listsOf([a]) }, never);
  while (open.length < 1) await flushPromises();
  const second = consent.definitions.review({ server: "files", target, lists: listsOf([newer]) }, never);
  open.at(0)?.({ accepted: "all" });
  expect((await first).lists.tools).toEqual([]);
  while (open.length < 2) await flushPromises();
  expect(consent.definitions.isUsable("files", "tool", { name: "a", definition: newer })).toBe(false);
  open.at(1)?.({ accepted: [] });
  expect((await second).lists.tools).toEqual([]);
});

test("of two different definitions with one name the first one is used, and the other is reported", async () => {
  const host = consentFixture({ renderer: reviewer("all") });
  const twin = toolNamed("a", { description: "Deletes all." });
  const { lists } = await host.review([a, twin]);
  expect(lists.tools).toEqual([a]);
  expect(host.errors).toEqual(['The tool "a" is not used: The server has two different definitions with this name.']);
});

test("a definition that is nested too deeply is not used, and is reported", async () => {
  const host = consentFixture({ renderer: reviewer("all") });
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 10_000; level++) deep = { items: deep };
  const { lists } = await host.review([toolNamed("a", { inputSchema: deep }), b]);
  expect(names(lists.tools)).toEqual(["b"]);
  expect(host.errors).toEqual([expect.stringContaining("nested more than 200 levels deep")]);
});

test.each([
  ["throws", () => Promise.reject(new Error("closed")), "closed"],
  ["returns nothing", () => undefined as never, expect.any(String)],
  ["accepts no list", () => ({ accepted: true }) as never, expect.any(String)],
])("a renderer that %s accepts nothing, and is reported", async (_what, review, error) => {
  const host = consentFixture({ renderer: { review } });
  expect((await host.review([a])).lists.tools).toEqual([]);
  expect(host.errors).toEqual([error]);
});

test("an aborted review rejects with the reason, and can be repeated", async () => {
  const stop = new AbortController();
  let asked = 0;
  const review = (): Promise<ReviewAnswer> | ReviewAnswer => {
    if (++asked === 2) return { accepted: "all" };
    stop.abort(new Error("closed by the host"));
    return new Promise(() => {});
  };
  const { consent } = consentFixture({ renderer: { review } });
  const subject = { server: "files", target, lists: listsOf([a]) };
  await expect(consent.definitions.review(subject, stop.signal)).rejects.toThrow("closed by the host");
  expect((await consent.definitions.review(subject, never)).lists.tools).toEqual([a]);
});

test("pins that cannot be read make all definitions unusable, and are not overwritten", async () => {
  const storage = memoryState();
  await consentFixture({ storage, renderer: reviewer("all") }).review([a]);
  let damaged = "";
  const broken: StateStorage = {
    read: async (name) => (name.startsWith("pins/") ? "{" : storage.read(name)),
    update: (name, change) => storage.update(name, (before) => (damaged = change(before) ?? "")),
    waitForUpdates: () => storage.waitForUpdates(),
  };
  const renderer = reviewer("all");
  const host = consentFixture({ storage: broken, renderer, policy: { review: "changes" } });
  expect(await host.review([a])).toMatchObject({ lists: { tools: [] }, waiting: [{ name: "a" }] });
  expect(host.errors).toEqual([
    expect.stringMatching(/^The file pins\/[0-9a-f]{64}\.json .* Delete the file to be asked again\.$/),
  ]);
  expect(renderer.requests).toEqual([]);
  expect(damaged).toBe("");
});

test("an acceptance that cannot be stored holds for the session, and is reported", async () => {
  const storage: StateStorage = { ...memoryState(), update: () => Promise.reject(new Error("disk full")) };
  const renderer = reviewer("all");
  const host = consentFixture({ storage, renderer });
  expect((await host.review([a])).lists.tools).toEqual([a]);
  expect((await host.review([a])).lists.tools).toEqual([a]);
  expect(renderer.requests).toHaveLength(1);
  expect(host.errors).toEqual(["disk full"]);
});

test("with the policy `changes`, a first list that cannot be stored is the only one that is accepted without a question", async () => {
  const storage: StateStorage = { ...memoryState(), update: () => Promise.reject(new Error("disk full")) };
  const renderer = reviewer([]);
  const host = consentFixture({ storage, renderer, policy: { review: "changes" } });
  expect((await host.review([a])).lists.tools).toEqual([a]);
  expect((await host.review([a, b])).lists.tools).toEqual([a]);
  expect(renderer.requests.map(({ changes }) => changes.map(({ name }) => name))).toEqual([["b"]]);
});

test("a definition that was denied long ago is asked for again, so that the memory of denials is limited", async () => {
  const renderer = reviewer([]);
  const host = consentFixture({ renderer });
  const many = (from: number) => Array.from({ length: 1_001 }, (_, index) => toolNamed(`t${from + index}`));
  await host.review([a]);
  await host.review(many(0).slice(1));
  await host.review([a]);
  expect(renderer.requests).toHaveLength(2);
  await host.review(many(1_001));
  await host.review(many(1_001));
  expect(renderer.requests).toHaveLength(3);
  await host.review(many(2_002));
  await host.review([a]);
  expect(renderer.requests).toHaveLength(5);
});

test("a review that was aborted does not replace the result of a later one", async () => {
  let release = (): void => {};
  const stored = memoryState();
  const storage: StateStorage = { ...stored, read: (name) => reading(name) };
  let reading = (_name: string) =>
    new Promise<string | undefined>((resolve) => {
      release = () => resolve(undefined);
    });
  const renderer = reviewer("all");
  const { consent } = consentFixture({ storage, renderer });
  const aborting = new AbortController();
  const subject = { server: "files", target, lists: listsOf([a]) };
  const first = consent.definitions.review(subject, aborting.signal);
  await flushPromises();
  aborting.abort(new Error("replaced"));
  await expect(first).rejects.toThrow("replaced");
  const releaseFirst = release;
  reading = (name) => stored.read(name);
  await consent.definitions.review(subject, never);
  releaseFirst();
  await flushPromises();
  expect(consent.definitions.isUsable("files", "tool", { name: "a", definition: a })).toBe(true);
});

test("a review during the storage of the accepted definitions compares with them, and asks only for what changed", async () => {
  const stored = memoryState();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const storage: StateStorage = {
    ...stored,
    update: (name, change) => released.then(() => stored.update(name, change)),
  };
  const renderer = reviewer("all");
  const host = consentFixture({ storage, renderer, policy: { review: "changes" } });
  const controller = new AbortController();
  const subject = { server: "files", target, lists: listsOf([a, b]), instructions: undefined };
  const first = host.consent.definitions.review(subject, controller.signal);
  first.catch(() => {});
  // The definitions are accepted, and are being stored.
  await vi.waitFor(() =>
    expect(host.consent.definitions.isUsable("files", "tool", { name: "a", definition: a })).toBe(true),
  );
  controller.abort(new Error("A newer list has arrived."));
  await expect(first).rejects.toThrow("A newer list has arrived.");
  const second = host.review([toolNamed("a", { description: "Changed." }), b]);
  await flushPromises();
  release();
  await second;
  expect(renderer.requests.flatMap(({ changes }) => changes)).toMatchObject([{ name: "a", status: "changed" }]);
});

test("definitions beyond the size limit are compared by their hashes alone", async () => {
  const storage = memoryState();
  const large = Array.from({ length: 5 }, (_, index) => toolNamed(`t${index}`, { description: "x".repeat(1_000_000) }));
  await consentFixture({ storage, renderer: reviewer("all") }).review(large);
  const host = consentFixture({ storage });
  expect((await host.review(large)).lists.tools).toHaveLength(5);
  const { waiting } = await host.review(large.map((tool) => ({ ...tool, title: "New" })));
  expect(waiting.map(({ status, previous }) => [status, previous !== undefined])).toEqual([
    ["changed", true],
    ["changed", true],
    ["changed", true],
    ["changed", true],
    ["changed", false],
  ]);
});
