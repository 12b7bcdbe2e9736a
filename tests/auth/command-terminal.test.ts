import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { jwtVerifier } from "mcparley/auth";
import { connect } from "mcparley/client";
import { tool } from "mcparley/server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { runClientCommand } from "../../packages/cli/src/client/run.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../../packages/cli/src/client/testing/fake-io.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type Browser, browserOf } from "./browser.ts";
import { type ProtectedServer, serveProtected, tools } from "./protected-server.ts";

let issuer: AuthorizationServer;
let server: ProtectedServer;
let home: string;
let alice: Browser;

const grow = tool({
  scopes: ["notes:write"],
  input: { type: "object", properties: { by: { type: "integer" } }, required: ["by"] },
  call: ({ by }: { by?: number }) => `grown by ${typeof by} ${by}`,
});

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  server = await serveProtected({
    definition: { tools: { ...tools, grow } },
    protect: (resource) => ({
      resource,
      issuers: [issuer.issuer],
      scopes: ["notes:read"],
      verifier: jwtVerifier({ issuer: issuer.issuer, audience: resource }),
    }),
  });
  issuer.resources.set(server.url, { scope: "notes:read notes:write notes:sign" });
});
afterAll(async () => {
  await server.close();
  await issuer.close();
});
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
  alice = browserOf({ user: "alice" });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The command at a terminal whose browser is alice's, over the network. */
function atTerminal(options: Omit<FakeOptions, "connect"> = {}): FakeIo {
  const io = fakeIo({ terminal: true, env: { HOME: home, NO_COLOR: "1" }, ...options, connect });
  const openUrl = async (url: string | URL): Promise<void> => {
    io.launched.push([String(url)]);
    void alice.signIn(url).then((back) => fetch(back));
  };
  return { ...io, openUrl };
}

test("a call signs in when it is asked to, and again for more scopes, each time when the person says so", async () => {
  const first = atTerminal({ answers: ["y"] });
  expect(await runClientCommand("call", [server.url, "whoami"], first)).toBe(0);
  expect(first.err()).toContain("The server asks you to sign in:");
  expect(first.err()).toContain(`It leads to ${new URL(issuer.issuer).host}`);
  expect(JSON.parse(first.out())).toMatchObject({ subject: "alice" });

  const second = atTerminal();
  expect(await runClientCommand("call", [server.url, "whoami"], second)).toBe(0);
  expect(second.launched).toEqual([]);

  const more = atTerminal({ answers: ["y"] });
  expect(await runClientCommand("call", [server.url, "grow", "by=3"], more)).toBe(0);
  expect(more.out()).toBe("grown by number 3\n");
  const [[asked = ""] = []] = more.launched;
  expect(new URL(asked).searchParams.get("scope")?.split(" ")).toEqual(
    expect.arrayContaining(["notes:read", "notes:write"]),
  );

  const none = atTerminal();
  expect(await runClientCommand("call", [server.url, "no-such-tool"], none)).toBe(1);
  expect(none.err()).toContain('The server has no tool "no-such-tool".');
});

test("who says no is not signed in, and the call is not made", async () => {
  const io = atTerminal({ answers: ["n"] });
  expect(await runClientCommand("call", [server.url, "whoami"], io)).toBe(7);
  expect(io.err()).toContain("You declined to sign in.");
});

test("--no-browser takes the address that a browser of another machine ends at", async () => {
  const answers: string[] = [];
  const io = atTerminal({ answers });
  const done = runClientCommand("login", [server.url, "--no-browser"], io);
  await io.seen("/auth?");
  const [url = ""] = /http\S+\/auth\?\S+/.exec(io.err()) ?? [];
  const back = await alice.signIn(url);
  io.stdin.push(`${back.href}\n`);
  expect(await done).toBe(0);
  expect(io.launched).toEqual([]);
  expect(io.out()).toContain("as alice");
});

test.each(["call", "login"])("Ctrl-C in the midst of %s keeps nobody waiting", async (command) => {
  const io = atTerminal();
  const silent = { ...io, openUrl: async () => {} };
  const words = command === "call" ? [server.url, "whoami"] : [server.url];
  const done = runClientCommand(command, words, silent);
  await io.seen(command === "call" ? "Open it?" : "Waiting for the browser");
  io.pressCtrlC();
  expect(await done).toBe(130);
  const next = atTerminal();
  expect(await runClientCommand("login", [server.url], next)).toBe(0);
  expect(next.err()).not.toContain("another mcparley");
});

test("who waits for another process that signs in is told", async () => {
  const first = atTerminal();
  const doneFirst = runClientCommand("login", [server.url], { ...first, openUrl: async () => {} });
  await first.seen("Waiting for the browser");
  const second = atTerminal();
  const doneSecond = runClientCommand("login", [server.url], second);
  await second.seen("Waiting for another mcparley that is signing in");
  first.pressCtrlC();
  expect([await doneFirst, await doneSecond]).toEqual([130, 0]);
});
