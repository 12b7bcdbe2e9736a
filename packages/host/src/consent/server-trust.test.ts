import { createServer } from "mcparley/server";
import { flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import { memoryState } from "../state/state-storage.ts";
import { consentFixture, never } from "./testing/consent-fixture.ts";
import type { Consent } from "./consent.ts";
import type { Renderer, TrustAnswer, TrustRequest } from "../renderer/renderer.ts";

const target = "https://example.com/mcp?token=abc-secret";
const subject = { server: "files", target };

/** Returns a renderer that answers all questions about trust the same way, and stores them. */
function answering(action: TrustAnswer["action"]): {
  requests: TrustRequest[];
  trust: (request: TrustRequest) => TrustAnswer;
} {
  const requests: TrustRequest[] = [];
  return {
    requests,
    trust(request) {
      requests.push(request);
      return { action };
    },
  };
}

test("a person is asked once, and the answer holds for the next host of the user", async () => {
  const storage = memoryState();
  const renderer = answering("trust");
  const first = consentFixture({ renderer, storage });
  await first.consent.trust.require(subject, never);
  await first.consent.trust.require(subject, never);
  const second = consentFixture({ storage });
  await second.consent.trust.require(subject, never);
  expect(renderer.requests).toHaveLength(1);
  expect(first.decisions).toEqual([
    { at: 1_000, subject: "trust", server: "files", outcome: "allowed", by: "person" },
    { at: 1_000, subject: "trust", server: "files", outcome: "allowed", by: "remembered" },
  ]);
  expect(second.decisions).toMatchObject([{ outcome: "allowed", by: "remembered" }]);
  expect(await storage.read("trust.json")).not.toContain("abc-secret");
});

test("the same name with another identity is asked for again, with the previous identity", async () => {
  const storage = memoryState();
  const renderer = answering("trust");
  await consentFixture({ renderer, storage }).consent.trust.require(subject, never);
  const later = consentFixture({ renderer, storage });
  await later.consent.trust.require({ server: "files", target: { command: "evil", args: ["--now"] } }, never);
  expect(renderer.requests[1]).toMatchObject({
    server: "files",
    identity: { kind: "command", command: ["evil", "--now"] },
    previous: { kind: "url", url: "https://example.com/mcp?token=…" },
    remarks: [expect.stringContaining('was trusted under the name "files" before'), expect.any(String)],
  });
});

test("a server whose name was never trusted has no previous identity, although other servers are trusted", async () => {
  const renderer = answering("trust");
  const { consent } = consentFixture({ renderer });
  await consent.trust.require(subject, never);
  await consent.trust.require({ server: "other", target: "https://other.example/mcp" }, never);
  expect(renderer.requests.at(1)).toMatchObject({ previous: undefined, remarks: [] });
});

test("arguments that look like secrets are shown, and not stored", async () => {
  const storage = memoryState();
  const renderer = answering("trust");
  const named = ["--token", "abc-one", "--api-key=abc-two", "https://ann:abc-three@example.com"];
  const args = [...named, "abc-4f9a0b77c1d2e3f00d", "--verbose", "plain"];
  const { consent } = consentFixture({ storage, renderer });
  await consent.trust.require({ server: "files", target: { command: "serve", args } }, never);
  expect(renderer.requests.at(0)?.identity.command).toEqual(["serve", ...args]);
  const stored = (await storage.read("trust.json"))!;
  expect(stored).not.toContain("abc-");
  expect(stored).toContain("plain");
});

test("the same identity under another name is trusted", async () => {
  const { consent } = consentFixture({ renderer: answering("trust") });
  await consent.trust.require(subject, never);
  await expect(consent.trust.require({ ...subject, server: "renamed" }, never)).resolves.toBeUndefined();
});

test("without a renderer the server is denied, and the error has a cure", async () => {
  const { consent, decisions } = consentFixture();
  await expect(consent.trust.require(subject, never)).rejects.toMatchObject({
    code: "declined",
    message:
      'The server "files" was not started or connected to: the host has no renderer to ask the user. ' +
      'Pass `renderer.trust`, or set `trust` of the policy to "configured".',
  });
  expect(decisions).toMatchObject([{ outcome: "denied", by: "no-renderer" }]);
});

test("a denial holds for the session, until it is forgotten", async () => {
  const renderer = answering("deny");
  const { consent, decisions, storage } = consentFixture({ renderer });
  await expect(consent.trust.require(subject, never)).rejects.toThrow("the user denied it");
  await expect(consent.trust.require(subject, never)).rejects.toThrow("Reconnect the server to be asked again");
  expect(renderer.requests).toHaveLength(1);
  consent.forgetDenials("files");
  await expect(consent.trust.require(subject, never)).rejects.toThrow("the user denied it");
  expect(renderer.requests).toHaveLength(2);
  expect(decisions.map(({ by }) => by)).toEqual(["person", "remembered", "person"]);
  expect(await storage.read("trust.json")).toBeUndefined();
});

test("the policy `configured` trusts, and servers in this process are always trusted", async () => {
  const configured = consentFixture({ policy: { trust: "configured" } });
  await configured.consent.trust.require(subject, never);
  const asking = consentFixture();
  await asking.consent.trust.require({ server: "own", target: createServer({ name: "own", version: "1.0.0" }) }, never);
  for (const { decisions } of [configured, asking]) {
    expect(decisions).toMatchObject([{ outcome: "allowed", by: "configuration" }]);
  }
});

test("questions for one server at once are one question, which ends when all calls are aborted", async () => {
  const signals: AbortSignal[] = [];
  const { consent } = consentFixture({
    renderer: {
      trust: (_request, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    },
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const one = consent.trust.require(subject, first.signal);
  const two = consent.trust.require(subject, second.signal);
  while (signals.length === 0) await flushPromises();
  first.abort(new Error("one is gone"));
  await expect(one).rejects.toThrow("one is gone");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  second.abort(new Error("two is gone"));
  await expect(two).rejects.toThrow("two is gone");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test.each([
  ["throws", () => Promise.reject(new Error("window closed")), "window closed"],
  ["returns nothing", () => undefined as never, undefined],
  ["returns another action", () => ({ action: "yes" }) as never, undefined],
])("a renderer that %s denies", async (_what, trust, error) => {
  const { consent, errors, decisions } = consentFixture({ renderer: { trust } });
  await expect(consent.trust.require(subject, never)).rejects.toMatchObject({ code: "declined" });
  expect(errors).toEqual(error === undefined ? [] : [error]);
  expect(decisions).toMatchObject([{ outcome: "denied", by: "person" }]);
});

test.each(["{", "[]", '{"version":2,"trusted":[]}', '{"version":1,"trusted":[{"hash":1}]}'])(
  "a damaged file %s trusts nothing, is reported, and is not overwritten",
  async (text) => {
    const storage = memoryState();
    await storage.update("trust.json", () => text);
    const renderer = answering("trust");
    const { consent, errors } = consentFixture({ renderer, storage });
    await consent.trust.require(subject, never);
    await consent.trust.require(subject, never);
    expect(renderer.requests).toHaveLength(1);
    expect(errors[0]).toContain("The file trust.json of the host's state cannot be used");
    expect(await storage.read("trust.json")).toBe(text);
  },
);

test("of 1,001 trusted servers the oldest one is asked for again, and the newest one is not", async () => {
  const storage = memoryState();
  const asked: string[] = [];
  const start = (): Consent["trust"] => {
    const renderer: Renderer = {
      trust: ({ server }) => {
        asked.push(server);
        return { action: "trust" };
      },
    };
    return consentFixture({ storage, renderer }).consent.trust;
  };
  const require = (trust: Consent["trust"], index: number) =>
    trust.require({ server: `s${index}`, target: `https://example.com/${index}` }, never);
  const entries = Array.from({ length: 1_000 }, (_, index) => ({
    hash: String(index).padStart(64, "0"),
    server: `other${index}`,
    identity: { kind: "url", url: "https://example.com/" },
    trustedAt: 0,
  }));
  await require(start(), 1);
  await storage.update("trust.json", (text) => {
    const { trusted } = JSON.parse(text!) as { trusted: object[] };
    return JSON.stringify({ version: 1, trusted: [...trusted, ...entries].slice(0, 1_000) });
  });
  await require(start(), 2);
  expect(asked).toEqual(["s1", "s2"]);
  await require(start(), 2);
  expect(asked).toEqual(["s1", "s2"]);
  await require(start(), 1);
  expect(asked).toEqual(["s1", "s2", "s1"]);
});

test("a call that starts while an aborted question ends is asked for with a new question", async () => {
  // The end of the question takes several turns of promises.
  for (let turns = 0; turns < 30; turns++) {
    const signals: AbortSignal[] = [];
    const renderer: Renderer = {
      trust: (_, signal) => {
        signals.push(signal);
        return signals.length === 1 ? new Promise(() => {}) : { action: "trust" };
      },
    };
    const { consent } = consentFixture({ renderer });
    const controller = new AbortController();
    const abandoned = consent.trust.require(subject, controller.signal).catch(String);
    await flushPromises();
    controller.abort(new Error("stopped"));
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await consent.trust.require(subject, never);
    expect(await abandoned).toBe("Error: stopped");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  }
});

test("one identity that is trusted under two names at once is stored under both", async () => {
  const { consent, storage } = consentFixture({ renderer: answering("trust") });
  await Promise.all(["files", "other"].map((server) => consent.trust.require({ server, target }, never)));
  const { trusted } = JSON.parse((await storage.read("trust.json"))!) as { trusted: { server: string }[] };
  expect(trusted.map(({ server }) => server)).toEqual(["files", "other"]);
});

test("trust that cannot be stored holds for the session, and the error is reported", async () => {
  const renderer = answering("trust");
  const storage = { ...memoryState(), update: () => Promise.reject(new Error("The disk is full.")) };
  const { consent, errors } = consentFixture({ renderer, storage });
  await consent.trust.require(subject, never);
  await consent.trust.require(subject, never);
  expect(renderer.requests).toHaveLength(1);
  expect(errors).toEqual(["The disk is full."]);
});
