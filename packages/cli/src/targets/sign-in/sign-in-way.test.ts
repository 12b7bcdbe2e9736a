import type { SignInAttempt, SignInPurpose } from "mcparley/auth";
import { flushPromises } from "mcparley/testing";
import { describe, expect, test } from "vitest";
import { Screen } from "../../terminal/screen.ts";
import { Stop } from "../../terminal/stop.ts";
import { manualClock } from "../../terminal/testing/manual-clock.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../../commands/testing/fake-io.ts";
import { type SignInSetting, signInWay } from "./sign-in-way.ts";

const authorizationUrl = new URL("https://issuer.example/authorize?client_id=c&state=s1");

interface Outcome {
  io: FakeIo;
  /** The prepared redirect URI. */
  redirectUri: string;
  came: Promise<URL>;
}

type Circumstances = FakeOptions &
  Partial<Pick<SignInSetting, "isAskedFor" | "waitingHint">> &
  Partial<Pick<FakeIo, "openUrl">> & { noBrowser?: boolean; json?: boolean; purpose?: SignInPurpose };

/** Runs a sign-in and returns its outcome. */
async function signIn(circumstances: Circumstances): Promise<Outcome> {
  const { isAskedFor = false, noBrowser = false, json = false, purpose, waitingHint, openUrl, ...fake } = circumstances;
  const io = { ...fakeIo(fake), ...(openUrl && { openUrl }) };
  const screen = new Screen(io, () => {});
  const stop = new Stop(io, () => {});
  const way = signInWay({
    io,
    screen,
    stop,
    isAskedFor,
    waitingHint,
    options: { noInput: false, noBrowser, timeout: undefined, json },
  });
  const attempt = await way.prepare(undefined, purpose);
  const came = visit(attempt, stop.signal);
  came.catch(() => {});
  return { io, redirectUri: attempt.redirectUri, came };
}

async function visit(attempt: SignInAttempt, signal: AbortSignal): Promise<URL> {
  try {
    return await attempt.visit(authorizationUrl, signal);
  } finally {
    await attempt.close();
  }
}

const comeBack = async ({ redirectUri, came }: Outcome): Promise<string | null> => {
  await fetch(`${redirectUri}?code=c1&state=s1`);
  return (await came).searchParams.get("code");
};

describe("a sign-in that the user asked for", () => {
  test("opens the browser immediately, with or without a terminal", async () => {
    for (const terminal of [true, false]) {
      const outcome = await signIn({ isAskedFor: true, terminal });
      expect(await comeBack(outcome)).toBe("c1");
      expect(outcome.io.launched).toEqual([["xdg-open", authorizationUrl.href]]);
      expect(outcome.io.err()).toContain(authorizationUrl.href);
    }
  });

  test("shows the address and waits if no browser can be opened", async () => {
    const outcome = await signIn({ isAskedFor: true, terminal: true, env: { DISPLAY: "" } });
    await outcome.io.seen("No browser could be opened");
    expect(outcome.io.err()).toContain(authorizationUrl.href);
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("shows the address and waits if no browser can be opened and no user is present", async () => {
    const outcome = await signIn({ isAskedFor: true, env: { DISPLAY: "" } });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.err()).toContain(`No browser could be opened`);
    expect(outcome.io.err()).toContain("request the address at which it ends from this machine, such as with curl");
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("prints the address as the first line of JSON", async () => {
    const outcome = await signIn({ isAskedFor: true, noBrowser: true, json: true });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.out()).toBe(`${JSON.stringify({ url: authorizationUrl.href })}\n`);
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("is not followed by another one for more scopes", async () => {
    const purpose = { server: "https://a.example", issuer: "https://b.example", scopes: ["a", "b"] };
    await expect(signIn({ isAskedFor: true, purpose: { ...purpose, missingScopes: ["b"] } })).rejects.toMatchObject({
      code: "sign_in_required",
      message: "The server requires scopes that you have not granted: b. A user must sign in again.",
      data: { scopes: ["a", "b"], missingScopes: ["b"] },
    });
  });
});

describe("a sign-in that the server requires during another command", () => {
  test("asks the user before the browser is opened", async () => {
    const outcome = await signIn({ terminal: true, answers: ["y"] });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.err()).toContain("The server asks you to sign in");
    expect(outcome.io.err()).toContain("issuer.example");
    expect(outcome.io.launched).toEqual([["xdg-open", authorizationUrl.href]]);
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("lets the user open the address", async () => {
    const outcome = await signIn({ terminal: true, answers: ["m"] });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.launched).toEqual([]);
    expect(await comeBack(outcome)).toBe("c1");
  });

  test.each([
    ["n", "declined"],
    ["c", "cancelled"],
    ["^D", "cancelled"],
  ])("fails if the user declines (%s)", async (answer, code) => {
    const { came, io } = await signIn({ terminal: true, answers: [answer] });
    await expect(came).rejects.toMatchObject({ code });
    expect(io.launched).toEqual([]);
  });

  test("shows the server and the missing scopes", async () => {
    const purpose = { server: "https://a.example/mcp", issuer: "https://issuer.example", scopes: ["a", "b"] };
    const outcome = await signIn({ terminal: true, answers: ["m"], purpose: { ...purpose, missingScopes: ["b"] } });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.err()).toContain("  Server: https://a.example/mcp\n  Missing scopes: b\n");
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("fails without a terminal before a client is registered", async () => {
    await expect(signIn({})).rejects.toMatchObject({
      code: "sign_in_required",
      message: "A user must sign in, and there is no terminal to ask at.",
    });
  });
});

describe("a hint for a user who does not return", () => {
  const waitingHint = "Try something else.";

  /** A clock, and a promise for its first timer. */
  function timedSignIn(openUrl?: FakeIo["openUrl"]) {
    const clock = manualClock();
    let start!: () => void;
    const started = new Promise<void>((resolve) => (start = resolve));
    const after: FakeIo["schedule"] = (ms, run) => (start(), clock.schedule(ms, run));
    const outcome = signIn({ isAskedFor: true, terminal: true, waitingHint, after, ...(openUrl && { openUrl }) });
    return { clock, started, outcome };
  }

  test("is shown once after 30 seconds, and the sign-in continues", async () => {
    const { clock, started, outcome } = timedSignIn();
    const { io } = await outcome;
    await started;
    clock.advance(29_999);
    expect(io.err()).not.toContain(waitingHint);
    clock.advance(1);
    expect(io.err()).toContain(waitingHint);
    expect(clock.pending()).toBe(0);
    expect(await comeBack(await outcome)).toBe("c1");
  });

  test("is not shown after the user has returned", async () => {
    const { clock, started, outcome } = timedSignIn();
    await outcome;
    await started;
    expect(await comeBack(await outcome)).toBe("c1");
    expect(clock.pending()).toBe(0);
  });

  test("is shown again if the sign-in starts again", async () => {
    const clock = manualClock();
    const io = fakeIo({ terminal: true, after: clock.schedule });
    const stop = new Stop(io, () => {});
    const options = { noInput: false, noBrowser: false, timeout: undefined, json: false };
    const way = signInWay({ io, screen: new Screen(io, () => {}), stop, isAskedFor: true, waitingHint, options });
    const attempt = await way.prepare(undefined);
    for (let round = 0; round < 2; round++) {
      const back = attempt.visit(authorizationUrl, stop.signal);
      await flushPromises();
      expect(clock.pending()).toBe(1);
      await fetch(`${attempt.redirectUri}?code=c1&state=s1`);
      await back;
      expect(clock.pending()).toBe(0);
    }
    await attempt.close();
  });

  test("is not shown if the user returns before the browser has started", async () => {
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { clock, outcome } = timedSignIn(() => opened);
    const { io } = await outcome;
    expect(await comeBack(await outcome)).toBe("c1");
    open();
    await io.seen("Waiting for the sign-in");
    await flushPromises();
    expect(clock.pending()).toBe(0);
  });
});

describe("--no-browser", () => {
  test.each([true, false])("shows the address and reads the pasted one (login: %s)", async (isAskedFor) => {
    const io = { terminal: true, answers: ["no sense", "code-4711"] };
    const { came, io: used } = await signIn({ ...io, isAskedFor, noBrowser: true });
    expect((await came).searchParams.get("code")).toBe("code-4711");
    expect(used.err()).toContain(`\n${authorizationUrl.href}\n`);
    expect(used.launched).toEqual([]);
  });

  test("shows the address and waits for the redirect without a terminal", async () => {
    const outcome = await signIn({ isAskedFor: true, noBrowser: true });
    await outcome.io.seen("Waiting for the sign-in");
    expect(outcome.io.err()).toContain(`Visit this URL with a browser of this machine:\n${authorizationUrl.href}\n`);
    expect(outcome.io.launched).toEqual([]);
    expect(await comeBack(outcome)).toBe("c1");
  });

  test("ends with the input and with Ctrl-C", async () => {
    const ended = await signIn({ terminal: true, answers: ["^D"], noBrowser: true });
    await expect(ended.came).rejects.toMatchObject({ code: "cancelled" });
    const stopped = await signIn({ terminal: true, noBrowser: true });
    await stopped.io.seen("Paste");
    stopped.io.pressCtrlC();
    await expect(stopped.came).rejects.toMatchObject({ code: "cancelled" });
  });
});
