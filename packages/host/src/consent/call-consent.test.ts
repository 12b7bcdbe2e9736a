import type { JsonObject } from "mcparley";
import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import type { CallActivity } from "../activity/active-calls.ts";
import { type StateStorage, memoryState } from "../state/state-storage.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../renderer/renderer.ts";
import type { CallDecision } from "./call-consent.ts";
import { hashOfJson } from "./canonical.ts";
import type { Rule } from "./policy.ts";
import { rulesLifetime } from "./rules.ts";
import {
  type ConsentFixture,
  callOf,
  consentFixture,
  listsOf,
  never,
  target,
  toolNamed,
} from "./testing/consent-fixture.ts";

const tool = toolNamed("send", { annotations: { readOnlyHint: true } });
const other = toolNamed("other");

interface Prepared extends ConsentFixture {
  readonly requests: ApprovalRequest[];
  call(given?: JsonObject): Promise<CallDecision>;
}

type Answer = ApprovalAnswer | ((request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>);

/** Returns a host whose tools are accepted, with the answer of its person to each approval. Without one it cannot ask. */
async function prepared(
  answer?: Answer,
  { rules = [], storage = memoryState() }: { rules?: Rule[]; storage?: StateStorage } = {},
): Promise<Prepared> {
  const requests: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest): ApprovalAnswer | Promise<ApprovalAnswer> => {
    requests.push(request);
    return typeof answer === "function" ? answer(request) : answer!;
  };
  const fixture = consentFixture({
    policy: { rules, review: "changes" },
    storage,
    renderer: answer ? { approve } : {},
  });
  await fixture.review([tool, other]);
  fixture.decisions.length = 0;
  return { ...fixture, requests, call: (given = {}) => fixture.consent.calls.check(callOf(tool, given), never) };
}

const allow: ApprovalAnswer = { action: "allow" };

describe("the person", () => {
  test("sees the exact arguments, with escapes, and the origin of the call", async () => {
    const host = await prepared(allow);
    const given = { to: "a\u202eb", p: "p\u0430ypal", n: 1.5 };
    expect(await host.call(given)).toEqual({ isAllowed: true, arguments: given, isEdited: false });
    expect(host.requests).toEqual([
      {
        origin: { callId: "1", by: "model" },
        server: "files",
        tool,
        arguments: given,
        shown: '{\n  "to": "a\\u{202e}b",\n  "p": "p\\u{430}ypal",\n  "n": 1.5\n}',
      },
    ]);
    expect(host.decisions).toEqual([
      {
        at: 1_000,
        subject: "call",
        server: "files",
        name: "send",
        outcome: "allowed",
        by: "person",
        argumentsHash: hashOfJson(given),
      },
    ]);
    expect(JSON.stringify(host.decisions)).not.toContain("ypal");
  });

  test("can edit the arguments, which are sent", async () => {
    const host = await prepared({ action: "allow", arguments: { to: "bob" } });
    expect(await host.call({ to: "ann" })).toEqual({ isAllowed: true, arguments: { to: "bob" }, isEdited: true });
    expect(host.decisions).toMatchObject([{ by: "person", isEdited: true, argumentsHash: hashOfJson({ to: "bob" }) }]);
  });

  test("cannot edit the arguments to ones that a rule denies", async () => {
    const rules: Rule[] = [{ decision: "deny", arguments: { "/to": "bob" } }];
    const host = await prepared({ action: "allow", arguments: { to: "bob" } }, { rules });
    expect(await host.call({ to: "ann" })).toMatchObject({ isAllowed: false });
    expect(host.decisions).toMatchObject([{ outcome: "denied", by: "rule", rule: rules[0], isEdited: true }]);
  });

  test("denies with a reason for the model", async () => {
    const host = await prepared({ action: "deny", reason: "Use the draft." });
    expect(await host.call()).toEqual({
      isAllowed: false,
      message:
        'The tool "send" of the server "files" was not called: the user denied this call. ' +
        "Do not try it again without a new request of the user. Reason: Use the draft.",
    });
  });

  test("is not bypassed by a change of the arguments during the question", async () => {
    const given = { to: "ann" };
    const host = await prepared((request) => {
      given.to = "mallory";
      request.arguments.to = "mallory";
      return allow;
    });
    expect(await host.call(given)).toMatchObject({ arguments: { to: "ann" } });
  });

  test("is asked about the state of the call: waiting, and then the answer", async () => {
    const states: CallActivity[] = [];
    const { consent } = await prepared(allow);
    await consent.calls.check(callOf(tool, {}, { onActivity: (activity) => states.push(activity) }), never);
    expect(states).toEqual([
      { type: "approval", state: "waiting" },
      { type: "approval", state: "approved" },
    ]);
  });

  test.each<[string, Answer, Rule[]]>([
    ["the answer is no", { action: "deny" }, []],
    [
      "a rule denies the edited arguments",
      { action: "allow", arguments: { to: "bob" } },
      [{ decision: "deny", arguments: { "/to": "bob" } }],
    ],
  ])("is asked about the state of the call, which ends as denied if %s", async (_, answer, rules) => {
    const states: CallActivity[] = [];
    const { consent } = await prepared(answer, { rules });
    await consent.calls.check(callOf(tool, {}, { onActivity: (activity) => states.push(activity) }), never);
    expect(states).toEqual([
      { type: "approval", state: "waiting" },
      { type: "approval", state: "denied" },
    ]);
  });

  test.each([
    ["throws", () => Promise.reject(new Error("closed")), "closed"],
    ["returns nothing", () => undefined as never, expect.any(String)],
    ["returns another action", { action: "yes" } as never, expect.stringContaining("must have an `action`")],
    ["returns arguments that are no object", { action: "allow", arguments: [] } as never, expect.any(String)],
  ])("who uses a renderer that %s denies, and the error is reported", async (_what, answer, error) => {
    const host = await prepared(answer);
    expect(await host.call()).toMatchObject({ isAllowed: false });
    expect(host.errors).toEqual([error]);
    expect(host.decisions).toMatchObject([{ outcome: "denied", by: "person" }]);
  });
});

describe("without a renderer", () => {
  test("a call is denied, and the message has a cure", async () => {
    const host = await prepared();
    expect(await host.call()).toEqual({
      isAllowed: false,
      message:
        'The tool "send" of the server "files" was not called: it needs the approval of the user, and this host cannot ask. ' +
        "The user can add a rule that allows it.",
    });
    expect(host.decisions).toMatchObject([{ outcome: "denied", by: "no-renderer" }]);
  });

  test("a call that a rule allows is allowed", async () => {
    const rules: Rule[] = [{ decision: "allow", annotations: { readOnlyHint: true } }];
    const host = await prepared(undefined, { rules });
    expect(await host.call({ a: 1 })).toEqual({ isAllowed: true, arguments: { a: 1 }, isEdited: false });
    expect(host.decisions).toMatchObject([{ outcome: "allowed", by: "rule", rule: rules[0] }]);
  });
});

describe("rules", () => {
  test("that deny are not shown to the model", async () => {
    const host = await prepared(allow, { rules: [{ decision: "deny", arguments: { "/to": "*secret-pattern*" } }] });
    const decision = await host.call({ to: "x secret-pattern x" });
    expect(decision).toMatchObject({
      isAllowed: false,
      message: expect.stringContaining("a rule of the user denies this call") as string,
    });
    expect(JSON.stringify(decision)).not.toContain("secret-pattern");
    expect(host.requests).toEqual([]);
  });

  test("of the user's file and of the host apply together", async () => {
    const storage = memoryState();
    await storage.update("policy.json", () => '{"rules":[{"decision":"deny","tool":"send"}]}');
    const host = await prepared(allow, { storage, rules: [{ decision: "allow" }] });
    expect(await host.call()).toMatchObject({ isAllowed: false });
    await storage.update("policy.json", () => undefined);
    await host.clock.advance(rulesLifetime);
    expect(await host.call()).toMatchObject({ isAllowed: true });
    expect(host.requests).toEqual([]);
  });

  test("that cannot be read deny each call", async () => {
    const storage = memoryState();
    await storage.update("policy.json", () => "{");
    const host = await prepared(allow, { storage, rules: [{ decision: "allow" }] });
    expect(await host.call()).toMatchObject({ isAllowed: false });
    expect(host.errors).toEqual([expect.stringContaining("The file policy.json is not JSON")]);
  });
});

describe("an answer that is remembered", () => {
  test("for the session holds for any arguments of this tool alone, and not for another host", async () => {
    const storage = memoryState();
    const host = await prepared({ action: "allow", remember: "session" }, { storage });
    await host.call({ a: 1 });
    expect(await host.call({ a: 2 })).toMatchObject({ isAllowed: true });
    expect(host.requests).toHaveLength(1);
    await host.consent.calls.check(callOf(other), never);
    expect(host.requests).toHaveLength(2);
    expect(host.decisions.map(({ by }) => by)).toEqual(["person", "remembered", "person"]);
    expect(await (await prepared(undefined, { storage })).call()).toMatchObject({ isAllowed: false });
  });

  test("for always holds for the next host, until the definition changes", async () => {
    const storage = memoryState();
    await (await prepared({ action: "allow", remember: "always" }, { storage })).call();
    const later = await prepared(undefined, { storage });
    expect(await later.call({ a: 2 })).toMatchObject({ isAllowed: true });
    expect(later.decisions).toMatchObject([{ by: "remembered" }]);
    const changed = { ...tool, description: "Sends to all." };
    const asking = consentFixture({ storage, renderer: { review: () => ({ accepted: "all" }) } });
    await asking.review([changed]);
    expect(await asking.consent.calls.check(callOf(changed), never)).toMatchObject({ isAllowed: false });
  });

  test("does not override a rule that asks", async () => {
    const host = await prepared(
      { action: "allow", remember: "always" },
      { rules: [{ decision: "ask", tool: "send" }] },
    );
    await host.call();
    await host.call();
    expect(host.requests).toHaveLength(2);
  });

  test("for a name with a wildcard holds for the session only, and is reported", async () => {
    const star = toolNamed("*");
    const storage = memoryState();
    const host = consentFixture({
      storage,
      policy: { review: "changes" },
      renderer: { approve: () => ({ action: "allow", remember: "always" }) },
    });
    await host.review([star]);
    expect(await host.consent.calls.check(callOf(star), never)).toMatchObject({ isAllowed: true });
    expect(host.errors).toEqual([expect.stringContaining('contains "*"')]);
    expect(await storage.read("policy.json")).toBeUndefined();
  });
});

describe("a definition", () => {
  test("that was not accepted is not called, whatever the rules allow", async () => {
    const host = consentFixture({ policy: { rules: [{ decision: "allow" }] } });
    await host.review([tool]);
    host.decisions.length = 0;
    expect(await host.consent.calls.check(callOf(tool), never)).toMatchObject({
      isAllowed: false,
      message: expect.stringContaining(
        "its definition is new or has changed, and the user has not accepted it",
      ) as string,
    });
    expect(host.decisions).toMatchObject([{ subject: "call", outcome: "denied", by: "unreviewed" }]);
  });

  test("that changes while the person is asked is not called", async () => {
    const host = await prepared(async () => {
      const changed = { ...tool, description: "Deletes all." };
      await host.consent.definitions.review({ server: "files", target, lists: listsOf([changed]) }, never);
      return allow;
    });
    expect(await host.call()).toMatchObject({ isAllowed: false });
    expect(host.decisions.at(-1)).toMatchObject({ subject: "call", outcome: "denied", by: "unreviewed" });
  });
});

test("a call whose definition changes while it waits for its question is not asked for", async () => {
  const host = await prepared(async () => {
    const changed = { ...tool, description: "Deletes all." };
    await host.consent.definitions.review({ server: "files", target, lists: listsOf([changed, other]) }, never);
    return allow;
  });
  const decisions = await Promise.all([host.call({ index: 1 }), host.call({ index: 2 })]);
  expect(decisions.map(({ isAllowed }) => isAllowed)).toEqual([false, false]);
  expect(host.requests.map(({ arguments: given }) => given.index)).toEqual([1]);
});

test("arguments with 200 levels of objects are allowed, and one level more is denied", async () => {
  const host = await prepared(allow);
  const nested = (levels: number): JsonObject => (levels === 1 ? { a: 1 } : { a: nested(levels - 1) });
  expect(await host.call(nested(200))).toMatchObject({ isAllowed: true });
  expect(await host.call(nested(201))).toMatchObject({ isAllowed: false });
  expect(host.decisions).toMatchObject([{ argumentsHash: hashOfJson(nested(200)) }, { by: "limit" }]);
});

test("arguments that are no JSON, or nested too deeply, are denied", async () => {
  const host = await prepared(allow);
  let deep: JsonObject = {};
  for (let level = 0; level < 10_000; level++) deep = { deep };
  expect(await host.call(deep)).toMatchObject({ isAllowed: false });
  expect(await host.call({ n: 1n })).toMatchObject({ isAllowed: false });
  expect(host.decisions).toMatchObject([{ by: "limit" }, { by: "limit" }]);
});

test("100 calls at once are asked for one after another", async () => {
  let open = 0;
  const host = await prepared(async () => {
    expect(++open).toBe(1);
    await flushPromises();
    open--;
    return allow;
  });
  const decisions = await Promise.all(Array.from({ length: 100 }, (_, index) => host.call({ index })));
  expect(decisions.every(({ isAllowed }) => isAllowed)).toBe(true);
  expect(host.requests.map(({ arguments: given }) => given.index)).toEqual(
    Array.from({ length: 100 }, (_, index) => index),
  );
});

test("a remembered answer also decides on the calls that wait for their question", async () => {
  const host = await prepared({ action: "allow", remember: "always" });
  const decisions = await Promise.all(Array.from({ length: 20 }, () => host.call()));
  expect(decisions.every(({ isAllowed }) => isAllowed)).toBe(true);
  expect(host.requests).toHaveLength(1);
});

test("an aborted call rejects with the reason, and the next question follows", async () => {
  const stop = new AbortController();
  const host = await prepared((request) => (request.arguments.wait === true ? new Promise(() => {}) : allow));
  const waiting = host.consent.calls.check(callOf(tool, { wait: true }), stop.signal);
  const next = host.call();
  while (host.requests.length === 0) await flushPromises();
  stop.abort(new Error("the run was cancelled"));
  await expect(waiting).rejects.toThrow("the run was cancelled");
  expect(await next).toMatchObject({ isAllowed: true });
});

test("listeners that throw change no decision", async () => {
  const storage = memoryState();
  await consentFixture({ storage, policy: { review: "changes" } }).review([tool]);
  const { Consent } = await import("./consent.ts");
  const fail = (): never => {
    throw new Error("listener");
  };
  const consent = new Consent({
    policy: { review: "changes" },
    renderer: { approve: () => allow },
    storage,
    onDecision: fail,
    onError: fail,
    clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} },
  });
  await consent.definitions.review({ server: "files", target, lists: listsOf([tool]) }, never);
  expect(await consent.calls.check(callOf(tool, {}, { onActivity: fail }), never)).toMatchObject({ isAllowed: true });
});

test.each([
  [{ rules: [{ decision: "deny", tols: "x" }] }, 'Rule 0 of the policy is not valid: it has an unknown member "tols"'],
  [{ trust: "yes" }, '`trust` of the policy is "yes". Use "ask" or "configured".'],
  [{ review: "never" }, '`review` of the policy is "never". Use "always" or "changes".'],
])("the policy %j is refused", (policy, message) => {
  expect(() => consentFixture({ policy: policy as never })).toThrow(message);
});

describe("an answer for the session", () => {
  const session: ApprovalAnswer = { action: "allow", remember: "session" };

  test("ends with the removal of the server: another one with its name and tools is asked for again", async () => {
    const host = await prepared(session);
    await host.call();
    host.consent.forgetServer("files");
    await host.review([tool, other]);
    await host.call();
    expect(host.requests).toHaveLength(2);
  });

  test("that is given after the removal of the server holds for no later call", async () => {
    const asked: { answer?: (answer: ApprovalAnswer) => void } = {};
    const host = await prepared(() => new Promise((resolve) => (asked.answer = resolve)));
    const calling = host.call();
    while (!asked.answer) await flushPromises();
    host.consent.forgetServer("files");
    asked.answer(session);
    expect(await calling).toMatchObject({ isAllowed: false });
    await host.review([tool, other]);
    void host.call();
    await flushPromises();
    expect(host.requests).toHaveLength(2);
  });

  test.each(["session", "always"] as const)(
    "that is remembered for %s and given after a change of the definition holds neither for it nor for the former one",
    async (remember) => {
      const asked: { answer?: (answer: ApprovalAnswer) => void } = {};
      const host = await prepared(() => new Promise((resolve) => (asked.answer = resolve)));
      const calling = host.call();
      while (!asked.answer) await flushPromises();
      await host.review([{ ...tool, description: "Another one." }, other]);
      asked.answer({ action: "allow", remember });
      expect(await calling).toMatchObject({ isAllowed: false });
      await host.review([tool, other]);
      void host.call();
      await flushPromises();
      expect(host.requests).toHaveLength(2);
    },
  );
});
