import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { InvalidToken, jwtVerifier } from "mcparley/auth";
import { connect } from "mcparley/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runClientCommand } from "../../packages/cli/src/commands/run.ts";
import { type FakeIo, fakeIo } from "../../packages/cli/src/commands/testing/fake-io.ts";
import { program } from "../chat/support/terminal.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { browserOf } from "./browser.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";

let issuer: AuthorizationServer;
let server: ProtectedServer;
/** Whether the server refuses each token. */
let refuses: boolean;
let home: string;

beforeAll(async () => {
  // The address to which the browser returns is then in the URL.
  issuer = await startAuthorizationServer({
    configuration: { features: { pushedAuthorizationRequests: { enabled: false } } },
  });
  server = await serveProtected({
    protect: (resource) => {
      const verify = jwtVerifier({ issuer: issuer.issuer, audience: resource });
      return {
        resource,
        issuers: [issuer.issuer],
        scopes: ["notes:read"],
        verifier: (token, request) => {
          if (refuses) throw new InvalidToken("The audience must be notes.");
          return verify(token, request);
        },
      };
    },
  });
  issuer.resources.set(server.url, { scope: "notes:read notes:write notes:sign" });
});
afterAll(async () => {
  await server.close();
  await issuer.close();
});
beforeEach(() => {
  refuses = false;
  home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const alice = (): ReturnType<typeof browserOf> => browserOf({ user: "alice" });

interface Running {
  readonly io: FakeIo;
  readonly exit: Promise<number>;
}

/** Starts a command without a terminal. */
function start(...words: string[]): Running {
  const io = fakeIo({ env: { HOME: home, NO_COLOR: "1" }, connect });
  const [name = "", ...rest] = words;
  return { io, exit: runClientCommand(name, rest, io) };
}

/** Starts `login --no-browser`, and returns its authorization URL when it waits for the redirect. */
async function startLogin(...words: string[]): Promise<Running & { url: URL }> {
  const running = start("login", server.url, "--no-browser", "--json", ...words);
  await running.io.seen("Waiting for the sign-in");
  return { ...running, url: new URL(linesOf(running.io)[0].url) };
}

const linesOf = (io: FakeIo): any[] =>
  io
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

const isListening = (redirectUri: string): Promise<boolean> =>
  fetch(redirectUri).then(
    () => true,
    () => false,
  );

const redirectUriOf = (url: URL): string => url.searchParams.get("redirect_uri") ?? "";

test("login --no-browser prints the URL before it waits, and ends after the redirect", async () => {
  const args = [program, "login", server.url, "--no-browser", "--json", "--timeout", "60"];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exit = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { url } = JSON.parse((await lines.next()).value as string) as { url: string };
  await fetch(await alice().signIn(url));
  expect(JSON.parse((await lines.next()).value as string)).toMatchObject({ subject: "alice", server: server.url });
  expect(await lines.next()).toMatchObject({ done: true });
  expect(await exit).toBe(0);
});

describe("the exit code of login", () => {
  test("is 0 after a sign-in, and the text has the URL and the account", async () => {
    const { io, exit } = start("login", server.url, "--no-browser");
    await io.seen("Waiting for the sign-in");
    const [url = ""] = /^http\S+\/auth\?\S+$/m.exec(io.err()) ?? [];
    await fetch(await alice().signIn(url));
    expect(await exit).toBe(0);
    expect(io.out()).toBe(`Signed in to ${server.url} as alice, at ${issuer.issuer}.\n`);
  });

  test("is 6 after --timeout, and then nothing listens and no output names the port", async () => {
    const { io, exit, url } = await startLogin("--timeout", "1500ms");
    expect(await isListening(redirectUriOf(url))).toBe(true);
    expect(await exit).toBe(6);
    expect(await isListening(redirectUriOf(url))).toBe(false);
    const [, { error }] = linesOf(io);
    expect(error).toMatchObject({
      code: "timeout",
      message: "The user did not return from the sign-in within 1.5 seconds.",
    });
    expect(JSON.stringify(error)).not.toContain(new URL(redirectUriOf(url)).host);
  });

  test("is 7 if the user denies the scopes", async () => {
    const { exit, url, io } = await startLogin();
    await fetch(await browserOf({ user: "alice", consents: false }).signIn(url));
    expect(await exit).toBe(7);
    expect(linesOf(io)[1].error).toMatchObject({ code: "sign_in_failed", exitCode: 7 });
  });

  test("is 3 if the authorization server refuses, and the error has its reason", async () => {
    const { exit, url, io } = await startLogin("--no-offline");
    const back = new URL(redirectUriOf(url));
    const reason = { error: "invalid_scope", error_description: "No such scope", iss: issuer.issuer };
    back.search = String(new URLSearchParams({ ...reason, state: url.searchParams.get("state") ?? "" }));
    await fetch(back);
    expect(await exit).toBe(3);
    expect(linesOf(io)[1].error.message).toContain("invalid_scope (No such scope)");
  });

  test("is 3 if the server refuses the new token, after one sign-in and with the reason of the server", async () => {
    refuses = true;
    const before = issuer.tokenRequests.length;
    const { exit, url, io } = await startLogin();
    await fetch(await alice().signIn(url));
    expect(await exit).toBe(3);
    const [, { error }, ...more] = linesOf(io);
    expect(more).toEqual([]);
    expect(error).toMatchObject({ code: "unauthorized", exitCode: 3 });
    expect(error.message).toContain(`has just issued for "${server.url}": invalid_token (The audience must be notes.)`);
    expect(error).not.toHaveProperty("hint");
    const grants = issuer.tokenRequests.slice(before).map((form) => form.get("grant_type"));
    expect(grants).toEqual(["authorization_code"]);
    const call = start("call", server.url, "whoami");
    expect(await call.exit).toBe(3);
    expect(call.io.err()).toContain("refused the stored token: invalid_token (The audience must be notes.)");
    refuses = false;
    expect(await start("call", server.url, "whoami").exit).toBe(0);
  });
});

test("no error of another command contains a URL of the authorization server", async () => {
  for (const command of [["list"], ["call", "whoami"], ["whoami"], ["watch"]]) {
    const [name = "", ...rest] = command;
    const { io, exit } = start(name, server.url, ...rest, "--json");
    expect(await exit).toBe(3);
    expect(io.out()).toContain(`Sign in: mcparley login ${server.url}"`);
    expect(io.out() + io.err()).not.toContain(new URL(issuer.issuer).host);
  }
});

test("--verbose shows the issuer, the scopes and the tokens, and the request with the new tokens", async () => {
  const { io, exit, url } = await startLogin("--verbose", "--scope", "notes:read");
  await fetch(await alice().signIn(url));
  expect(await exit).toBe(0);
  for (const step of [
    `GET ${server.url}: 401`,
    `Issuer "${issuer.issuer}" for the resource "${server.url}"`,
    /^Scopes to request: notes:read/m,
    /^Client "[\w-]+", none$/m,
    /^Authorization URL .*state=\.\.\.&/m,
    /^Tokens: scopes notes:read.*, expire in \d+ s, /m,
    `Connected to notes 1.0.0 at ${server.url}`,
  ]) {
    if (typeof step === "string") expect(io.err()).toContain(step);
    else expect(io.err()).toMatch(step);
  }
});

describe("--dpop", () => {
  test("binds the tokens of a login, and those of later commands and sign-ins until logout", async () => {
    const login = async (...words: string[]): Promise<any> => {
      const { io, exit, url } = await startLogin(...words);
      await fetch(await alice().signIn(url));
      expect(await exit).toBe(0);
      return linesOf(io)[1];
    };
    expect(await login("--dpop")).toMatchObject({ isBound: true });
    const call = start("call", server.url, "whoami");
    expect(await call.exit).toBe(0);
    expect(JSON.parse(call.io.out()).claims.cnf).toEqual({ jkt: expect.any(String) });
    const whoami = start("whoami", server.url);
    expect(await whoami.exit).toBe(0);
    expect(whoami.io.out()).toMatch(/^Bound +to a key of this machine \(DPoP\)$/m);
    expect(await login()).toMatchObject({ isBound: true });
    expect(await start("logout", server.url).exit).toBe(0);
    expect(await login()).toMatchObject({ isBound: false });
  });
});

describe("logout", () => {
  test("states that the tokens were deleted and not revoked if the authorization server is down", async () => {
    const down = await startAuthorizationServer();
    const other = await serveProtected({
      protect: (resource) => ({
        resource,
        issuers: [down.issuer],
        scopes: ["notes:read"],
        verifier: jwtVerifier({ issuer: down.issuer, audience: resource }),
      }),
    });
    down.resources.set(other.url, { scope: "notes:read" });
    const { io, exit } = start("login", other.url, "--no-browser", "--json");
    await io.seen("Waiting for the sign-in");
    await fetch(await alice().signIn(linesOf(io)[0].url));
    expect(await exit).toBe(0);
    await down.close();
    const logout = start("logout", other.url);
    expect(await logout.exit).toBe(4);
    expect(logout.io.err()).toContain(`The tokens for ${other.url} were deleted here, but not revoked: Cannot reach`);
    expect(logout.io.err()).toContain("They remain valid until they expire.");
    expect(logout.io.err()).toContain(`end the session of this client in your account at ${down.issuer}.`);
    expect(await start("whoami", other.url).exit).toBe(3);
    const again = start("logout", other.url);
    expect(await again.exit).toBe(0);
    expect(again.io.out()).toBe(`You were not signed in to ${other.url}.\n`);
    await other.close();
  });
});
