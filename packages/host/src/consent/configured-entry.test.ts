import { expect, test } from "vitest";
import type { ApprovalRequest, Renderer, ConfiguredEntry, TrustRequest } from "../renderer/renderer.ts";
import { type StateStorage, memoryState } from "../state/state-storage.ts";
import type { Policy } from "./policy.ts";
import { type ConsentFixture, callOf, consentFixture, listsOf, never, toolNamed } from "./testing/consent-fixture.ts";

/*
 * Consent to a server of a configuration file is bound to everything that its entry says, of which the digest is made.
 */

const target = { command: "node", args: ["server.js"], env: { TOKEN: "token-of-env" } };
const entry: ConfiguredEntry = {
  digest: "1".repeat(64),
  kind: "command",
  file: "/p/.mcp.json",
  command: ["node", "server.js"],
  cwd: "/p",
  environment: { TOKEN: "${env:TOKEN}", API_KEY: "hunter-2", NODE_OPTIONS: "--require ./a.js" },
  sends: ["TOKEN"],
};
const changed: ConfiguredEntry = {
  ...entry,
  digest: "2".repeat(64),
  environment: { ...entry.environment, NODE_OPTIONS: "--require ./evil.js" },
};
const tool = toolNamed("send");

interface Session extends ConsentFixture {
  readonly asked: TrustRequest[];
  readonly approvals: ApprovalRequest[];
  /** Trusts and reviews the server with an entry, and calls its tool. Returns whether the call was allowed. */
  readonly use: (entry: ConfiguredEntry | undefined) => Promise<boolean>;
}

interface SessionOptions {
  readonly storage?: StateStorage;
  readonly policy?: Policy;
  readonly remember?: "session" | "always";
  readonly renderer?: Renderer;
}

/** Returns a host of a person who trusts and accepts everything. */
function session({ storage = memoryState(), policy = {}, remember, renderer }: SessionOptions = {}): Session {
  const asked: TrustRequest[] = [];
  const approvals: ApprovalRequest[] = [];
  const person: Renderer = {
    trust: (request) => (asked.push(request), { action: "trust" }),
    review: () => ({ accepted: "all" }),
    approve: (request) => (approvals.push(request), { action: "allow", ...(remember && { remember }) }),
  };
  const fixture = consentFixture({ storage, policy, renderer: renderer ?? person });
  return {
    ...fixture,
    asked,
    approvals,
    async use(given) {
      const subject = { server: "files", target, entry: given };
      await fixture.consent.trust.require(subject, never);
      await fixture.consent.definitions.review({ ...subject, lists: listsOf([tool]) }, never);
      return (await fixture.consent.calls.check(callOf(tool), never)).isAllowed;
    },
  };
}

test("a person sees the entry as the file has it, with secrets as their length", async () => {
  const { asked, use } = session();
  await use(entry);
  expect(asked).toEqual([
    {
      server: "files",
      identity: {
        kind: "command",
        file: "/p/.mcp.json",
        command: ["node", "server.js"],
        cwd: "/p",
        environment: {
          API_KEY: "(8 characters, not shown)",
          NODE_OPTIONS: "--require ./a.js",
          TOKEN: "${env:TOKEN}",
        },
        sends: ["TOKEN"],
      },
      previous: undefined,
      remarks: [],
    },
  ]);
});

test("a person sees no password of a URL whose host is a reference", async () => {
  const { asked, use } = session();
  await use({ ...entry, kind: "url", url: "https://ann:hunter-2@${env:HOST}/mcp?key=hunter-3" });
  expect(asked).toMatchObject([{ identity: { url: "https://***@${env:HOST}/mcp?key=***" } }]);
});

test("trust ends if the entry changes, and the question has the values that are the same", async () => {
  const storage = memoryState();
  await session({ storage }).use(entry);
  const { asked, use } = session({ storage });
  await use(entry);
  expect(asked).toEqual([]);
  await use(changed);
  expect(asked).toMatchObject([
    {
      identity: { environment: { NODE_OPTIONS: "--require ./evil.js" } },
      previous: { environment: { API_KEY: "(8 characters, not shown)", NODE_OPTIONS: "(another value)" } },
      remarks: [expect.stringContaining('was trusted under the name "files" before')],
    },
  ]);
  await use(entry);
  expect(asked).toHaveLength(1);
});

test("trust does not depend on the values of references", async () => {
  const storage = memoryState();
  await session({ storage }).use(entry);
  const { asked, consent } = session({ storage });
  const renewed = { ...target, env: { TOKEN: "renewed" } };
  await consent.trust.require({ server: "files", target: renewed, entry }, never);
  expect(asked).toEqual([]);
});

test.each(["session", "always"] as const)("an answer for %s does not hold for another entry", async (remember) => {
  const storage = memoryState();
  const { approvals, use } = session({ storage, remember });
  await use(entry);
  await use(entry);
  expect(approvals).toHaveLength(1);
  await use(changed);
  expect(approvals).toHaveLength(2);
  // Nor for a target that the program has written.
  await use(undefined);
  expect(approvals).toHaveLength(3);
  const next = session({ storage, remember });
  for (const one of [entry, changed, undefined]) await next.use(one);
  expect(next.approvals).toHaveLength(remember === "always" ? 0 : 3);
  await next.use({ ...entry, digest: "3".repeat(64) });
  expect(next.approvals).toHaveLength(remember === "always" ? 1 : 4);
});

test("a rule that allows a definition without an identity allows nothing, and one that denies still denies", async () => {
  const first = session({ remember: "always" });
  await first.use(entry);
  const stored = JSON.parse((await first.storage.read("policy.json"))!) as { rules: [Record<string, string>] };
  const [{ identity: _identity, ...rule }] = stored.rules;
  for (const decision of ["allow", "deny"] as const) {
    const storage = memoryState();
    await storage.update("policy.json", () => JSON.stringify({ rules: [{ ...rule, decision }] }));
    const { approvals, use } = session({ storage });
    expect(await use(entry)).toBe(decision === "allow");
    expect(approvals).toHaveLength(decision === "allow" ? 1 : 0);
  }
});

test("definitions are reviewed again for another entry", async () => {
  const storage = memoryState();
  await session({ storage }).use(entry);
  const reviewed: string[] = [];
  const renderer: Renderer = {
    trust: () => ({ action: "trust" }),
    review: ({ changes }) => (reviewed.push(...changes.map(({ name }) => name)), { accepted: "all" }),
    approve: () => ({ action: "allow" }),
  };
  const { use } = session({ storage, renderer });
  await use(entry);
  expect(reviewed).toEqual([]);
  await use(changed);
  expect(reviewed).toEqual(["send"]);
});

test("a host that reviews always does not take over what another policy accepted unseen", async () => {
  const storage = memoryState();
  await session({ storage, policy: { review: "changes" } }).use(entry);
  const unattended = session({ storage, renderer: { trust: () => ({ action: "trust" }) } });
  expect(await unattended.use(entry)).toBe(false);
  // A person accepts it. It then holds for both policies.
  expect(await session({ storage }).use(entry)).toBe(true);
  const allowAll: Policy = { rules: [{ decision: "allow" }] };
  for (const review of ["always", "changes"] as const) {
    const later = session({
      storage,
      policy: { ...allowAll, review },
      renderer: { trust: () => ({ action: "trust" }) },
    });
    expect(await later.use(entry)).toBe(true);
  }
});

test("definitions of earlier versions are reviewed again, because nothing states who accepted them", async () => {
  const texts = new Map<string, string>();
  const inner = memoryState();
  const storage: StateStorage = { ...inner, read: async (name) => texts.get(name) ?? inner.read(name) };
  const names: string[] = [];
  const recording: StateStorage = {
    ...inner,
    update: (name, change) => (names.push(name), inner.update(name, change)),
  };
  await session({ storage: recording }).use(entry);
  const name = names.find((one) => one.startsWith("pins/"))!;
  texts.set(name, (await inner.read(name))!.replace('"by": "person",', ""));
  const renderer: Renderer = { trust: () => ({ action: "trust" }), approve: () => ({ action: "allow" }) };
  expect(await session({ storage, renderer }).use(entry)).toBe(false);
  texts.clear();
  expect(await session({ storage, renderer }).use(entry)).toBe(true);
});

test("what is stored reveals no value, and another key of the user trusts nothing", async () => {
  const texts = new Map<string, string>();
  const inner = memoryState();
  const storage: StateStorage = {
    ...inner,
    async update(name, change) {
      await inner.update(name, change);
      texts.set(name, (await inner.read(name)) ?? "");
    },
  };
  const { asked, use } = session({ storage, remember: "always" });
  await use(entry);
  expect([...texts.keys()].map((name) => name.split("/")[0]).toSorted()).toEqual([
    "identity-key",
    "pins",
    "policy.json",
    "trust.json",
  ]);
  const all = [...texts].join("\n");
  for (const value of [entry.digest, "hunter-2", "token-of-env", "--require"]) expect(all).not.toContain(value);
  await storage.update("identity-key", () => "another key");
  await use(entry);
  expect(asked).toHaveLength(2);
});

test("without a storage, an answer holds for the session, and nothing else is trusted", async () => {
  const failing: StateStorage = {
    read: () => Promise.reject(new Error("disk")),
    update: () => Promise.reject(new Error("disk")),
    waitForUpdates: () => Promise.resolve(),
  };
  const { asked, errors, consent } = session({ storage: failing });
  const subject = { server: "files", target, entry };
  await consent.trust.require(subject, never);
  await consent.trust.require(subject, never);
  expect(asked).toHaveLength(1);
  await consent.trust.require({ ...subject, entry: changed }, never);
  expect(asked).toHaveLength(2);
  expect(errors).toContain("disk");
});
