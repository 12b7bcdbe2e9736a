import type { SignInAttempt } from "mcparley/auth";
import { describe, expect, test } from "vitest";
import { Screen } from "../screen.ts";
import { createStop } from "../stop.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../testing/fake-io.ts";
import { type SignInSetting, signInWay } from "./sign-in-way.ts";

const authorizationUrl = new URL("https://issuer.example/authorize?client_id=c&state=s1");

interface Outcome {
  io: FakeIo;
  /** The prepared redirect URI. */
  redirectUri: string;
  came: Promise<URL>;
}

type Circumstances = FakeOptions & Partial<Pick<SignInSetting, "isAskedFor">> & { noBrowser?: boolean };

/** Runs a sign-in and returns its outcome. */
async function signIn({ isAskedFor = false, noBrowser = false, ...fake }: Circumstances): Promise<Outcome> {
  const io = fakeIo(fake);
  const screen = new Screen(io, () => {});
  const stop = createStop(io, () => {});
  const way = await signInWay({
    io,
    screen,
    stop,
    isAskedFor,
    options: { noInput: false, noBrowser, timeout: undefined },
  });
  const attempt = await way.prepare(undefined);
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

  test("fails with the address if no browser can be opened and no user is present", async () => {
    const { came } = await signIn({ isAskedFor: true, env: { DISPLAY: "" } });
    await expect(came).rejects.toMatchObject({ code: "sign_in_required", data: { url: authorizationUrl.href } });
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

  test("fails with the address and opens nothing without a terminal", async () => {
    const { came, io } = await signIn({});
    await expect(came).rejects.toMatchObject({ code: "sign_in_required", data: { url: authorizationUrl.href } });
    expect(io.launched).toEqual([]);
    expect(io.err()).toBe("");
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

  test("fails with the address without a terminal", async () => {
    const { came } = await signIn({ isAskedFor: true, noBrowser: true });
    await expect(came).rejects.toMatchObject({ code: "sign_in_required", data: { url: authorizationUrl.href } });
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
