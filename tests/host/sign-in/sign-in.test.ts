import type { Host, Renderer, SignInRequest } from "@mcparley/host";
import { Cancelled, Declined } from "mcparley";
import { memoryCredentials, oauth, type SignIn } from "mcparley/auth";
import { fakeClock } from "mcparley/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callStep, scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";
import { type Browser, browserOf } from "../../auth/browser.ts";
import { signInWith } from "../../auth/sign-in-with.ts";
import { openHost, type ProtectedNotes, type SignInStage, startNotes, textOf } from "./stage.ts";

let notes: ProtectedNotes;

beforeAll(async () => {
  notes = await startNotes();
});
afterAll(() => notes.close());

/** Returns the types of the requests to the token endpoint since the call of this function. */
function grants(): () => (string | null)[] {
  const before = notes.authorization.tokenRequests.length;
  return () => notes.authorization.tokenRequests.slice(before).map((request) => request.get("grant_type"));
}

/** Returns the names of the tools that the protected server lists. */
const toolsOf = (host: Host): string[] => host.servers.get("notes")?.lists?.tools.map(({ name }) => name) ?? [];

/** Opens a host of alice, who signs in with a browser. */
async function openAlice(
  options: Parameters<typeof openHost>[1] = {},
): Promise<SignInStage & { browser: Browser; signIn: () => Promise<void> }> {
  const browser = browserOf({ user: "alice" });
  const stage = await openHost(notes.url, { signIn: signInWith(browser), ...options });
  await stage.host.ready();
  const signIn = async (): Promise<void> => {
    await stage.host.servers.get("notes")?.signIn();
    await stage.host.ready();
  };
  return { ...stage, browser, signIn };
}

test("needs a sign-in without opening a page, and runs the model with the other servers", async () => {
  const model = scriptedModel([callStep([{ name: "local__echo" }]), textStep("Hello.")]);
  const { host, browser, states } = await openAlice({ model });
  const server = host.servers.get("notes");
  expect([server?.state, server?.error?.message]).toEqual([
    "needs-sign-in",
    'Server "notes" requires a sign-in. Call signIn() of the server.',
  ]);
  const end = await host.run({ messages: [{ role: "user", content: "Hello?" }] }).finished;
  expect(end.reason).toBe("answered");
  expect(JSON.stringify(end.messages)).toContain("hello");
  expect(model.requests[0]?.tools?.map(({ name }) => name)).not.toContain("notes__whoami");
  expect(states()).toEqual(["connecting", "needs-sign-in"]);
  expect(browser.submitted).toEqual([]);
  await host.close();
});

test("signs the user in, and stores the tokens for a second host of the user", async () => {
  const credentials = memoryCredentials();
  const { host, browser, signIn, states } = await openAlice({ credentials });
  await signIn();
  expect(browser.submitted).toEqual(["login", "consent"]);
  expect(states()).toEqual(["connecting", "needs-sign-in", "connecting", "ready"]);
  expect(await textOf(host, "notes__whoami")).toBe("alice");
  await host.close();

  const second = await openHost(notes.url, { credentials });
  await second.host.ready();
  expect(second.states()).toEqual(["connecting", "ready"]);
  expect(await textOf(second.host, "notes__whoami")).toBe("alice");
  await second.host.close();

  const other = await openHost(notes.url, { credentials: memoryCredentials() });
  await other.host.ready();
  expect(other.states()).toEqual(["connecting", "needs-sign-in"]);
  await other.host.close();
});

test("renews expired tokens without the user, and two hosts use the rotated tokens", async () => {
  const clock = fakeClock(Date.now());
  const credentials = memoryCredentials();
  const { host, browser, signIn } = await openAlice({ credentials, clock });
  await signIn();
  const second = await openHost(notes.url, { credentials, clock });
  await second.host.ready();
  const since = grants();
  for (let hour = 0; hour < 2; hour++) {
    await clock.advance(3_600_000);
    expect(await Promise.all([host, second.host].map((used) => textOf(used, "notes__whoami")))).toEqual([
      "alice",
      "alice",
    ]);
  }
  expect(since()).toEqual(["refresh_token", "refresh_token"]);
  expect(browser.submitted).toEqual(["login", "consent"]);
  await second.host.close();
  await host.close();
});

test("stays in needs-sign-in if the user declines, and permits another attempt", async () => {
  let consents = false;
  const browsers = [browserOf({ user: "bob", consents: false }), browserOf({ user: "bob" })];
  const signIn: SignIn = {
    prepare: () =>
      Promise.resolve({
        redirectUri: "http://127.0.0.1:9/callback",
        visit: (url) => browsers[consents ? 1 : 0]!.signIn(url),
        close: () => Promise.resolve(),
      }),
  };
  const { host, states } = await openHost(notes.url, { signIn });
  await host.ready();
  const server = host.servers.get("notes");
  await expect(server?.signIn()).rejects.toThrow();
  expect(server?.state).toBe("needs-sign-in");
  expect(server?.error?.message).toContain("declined by the user");
  consents = true;
  await server?.signIn();
  expect(states()).toEqual(["connecting", "needs-sign-in", "connecting", "needs-sign-in", "connecting", "ready"]);
  await host.close();
});

test("requests the scopes that a call requires with the next sign-in, and serves other calls before it", async () => {
  const { host, browser, signIn } = await openAlice();
  await signIn();
  for (let call = 1; call <= 3; call++) {
    expect(await textOf(host, "notes__write")).toBe(
      'failed: The server "notes" requires scopes that the user has not granted: notes:write.',
    );
  }
  expect(host.servers.get("notes")?.state).toBe("ready");
  expect(await textOf(host, "notes__whoami")).toBe("alice");
  expect(browser.submitted).toEqual(["login", "consent"]);
  await signIn();
  expect(browser.submitted).toEqual(["login", "consent", "consent"]);
  expect([await textOf(host, "notes__write"), await textOf(host, "notes__whoami")]).toEqual(["written", "alice"]);
  await host.close();
});

describe("a call that needs more scopes, with a renderer", () => {
  /** Opens a host whose user answers the questions about scopes. */
  const openAsking = async (answers: ("allow" | "deny")[]) => {
    const questions: SignInRequest[] = [];
    const renderer: Renderer = {
      signIn(request) {
        questions.push(request);
        return { action: answers.shift() ?? "deny" };
      },
    };
    const stage = await openAlice({ renderer });
    await stage.signIn();
    return { ...stage, questions };
  };

  test("asks the user, signs in, and continues", async () => {
    const { host, browser, questions, events } = await openAsking(["allow"]);
    expect(await textOf(host, "notes__write")).toBe("written");
    expect(questions).toEqual([
      {
        server: "notes",
        url: notes.url,
        issuer: notes.authorization.issuer,
        during: 'tools/call "write"',
        missingScopes: ["notes:write"],
        scopes: expect.arrayContaining(["notes:read", "notes:write"]),
      },
    ]);
    expect(browser.submitted).toEqual(["login", "consent", "consent"]);
    expect(events).toContainEqual({
      type: "decision",
      decision: expect.objectContaining({ subject: "sign-in", server: "notes", outcome: "allowed", by: "person" }),
    });
    expect([await textOf(host, "notes__write"), await textOf(host, "notes__whoami")]).toEqual(["written", "alice"]);
    expect(questions).toHaveLength(1);
    await host.close();
  });

  test("reads the lists again, because the server lists other tools for the new scopes", async () => {
    const { host } = await openAsking(["allow"]);
    expect(toolsOf(host)).toEqual(["whoami", "write"]);
    expect(await textOf(host, "notes__write")).toBe("written");
    await expect.poll(() => toolsOf(host)).toEqual(["whoami", "write", "remove"]);
    await host.close();
  });

  test("reads the lists again after a request for more scopes by the `auth` of the program", async () => {
    const auth = oauth({ signIn: signInWith(browserOf({ user: "alice" })) });
    const { host } = await openHost(notes.url, { servers: { notes: { target: { url: notes.url, auth } } } });
    await host.ready();
    expect(toolsOf(host)).toEqual(["whoami", "write"]);
    expect(await textOf(host, "notes__write")).toBe("written");
    await expect.poll(() => toolsOf(host)).toEqual(["whoami", "write", "remove"]);
    await host.close();
  });

  test("fails after a no, and the server serves other calls", async () => {
    const { host, browser, questions, signIn } = await openAsking(["deny"]);
    expect(await textOf(host, "notes__write")).toBe("failed: The user declined the scopes notes:write.");
    expect(host.servers.get("notes")?.state).toBe("ready");
    expect(await textOf(host, "notes__whoami")).toBe("alice");
    expect(browser.submitted).toEqual(["login", "consent"]);
    await signIn();
    expect(await textOf(host, "notes__write")).toBe("written");
    expect(questions).toHaveLength(1);
    await host.close();
  });

  test("withdraws the question when the call is cancelled", async () => {
    let isAsked!: (signal: AbortSignal) => void;
    const asked = new Promise<AbortSignal>((resolve) => (isAsked = resolve));
    const renderer: Renderer = {
      signIn: (_, signal) => {
        isAsked(signal);
        return new Promise(() => {});
      },
    };
    const { host, signIn } = await openAlice({ renderer });
    await signIn();
    const controller = new AbortController();
    const call = host.callTool("notes__write", {}, { signal: controller.signal });
    const signal = await asked;
    controller.abort(new Error("not needed"));
    await expect(call).rejects.toThrow("not needed");
    expect(signal.aborted).toBe(true);
    expect(await textOf(host, "notes__whoami")).toBe("alice");
    await host.close();
  });
});

test.each([
  [new Cancelled("The sign-in was cancelled."), "was cancelled"],
  [new Declined("You declined to sign in."), "You declined to sign in"],
])("rejects signIn() with the reason if the user ends it: %s", async (reason, text) => {
  const signIn: SignIn = {
    prepare: () =>
      Promise.resolve({
        redirectUri: "http://127.0.0.1:9/callback",
        visit: () => Promise.reject(reason),
        close: () => Promise.resolve(),
      }),
  };
  const { host } = await openHost(notes.url, { signIn });
  await host.ready();
  const server = host.servers.get("notes");
  const error = await server?.signIn().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "sign_in_failed", message: expect.stringContaining(text) });
  expect(String(error)).not.toContain("Call signIn()");
  expect(server?.state).toBe("needs-sign-in");
  await host.close();
});

test("ends a sign-in when the host is closed", async () => {
  let visited!: () => void;
  const visiting = new Promise<void>((resolve) => (visited = resolve));
  const closed: string[] = [];
  const signIn: SignIn = {
    prepare: () =>
      Promise.resolve({
        redirectUri: "http://127.0.0.1:9/callback",
        visit: (_, signal) => {
          visited();
          return new Promise((_resolve, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason as Error));
          });
        },
        close: async () => void closed.push("closed"),
      }),
  };
  const { host } = await openHost(notes.url, { signIn });
  await host.ready();
  const signing = host.servers.get("notes")?.signIn();
  const rejected = expect(signing).rejects.toMatchObject({ code: "closed" });
  await visiting;
  await host.close();
  await rejected;
  expect(closed).toEqual(["closed"]);
});
