import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LocalError } from "mcparley";
import { jwtVerifier } from "mcparley/auth";
import { type HttpAuth, connect } from "mcparley/client";
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runClientCommand } from "../../packages/cli/src/commands/run.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../../packages/cli/src/commands/testing/fake-io.ts";
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

const byHand = {
  client_id: "by-hand",
  client_secret: "of-the-client-4711",
  redirect_uris: ["http://127.0.0.1/callback", "http://127.0.0.1/signed/in"],
  application_type: "native" as const,
  grant_types: ["authorization_code", "refresh_token"],
};

beforeAll(async () => {
  issuer = await startAuthorizationServer({ clients: [byHand] });
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

/** The environment of a user at a terminal with alice's browser and the real network. */
function atTerminal(options: Omit<FakeOptions, "connect"> = {}): FakeIo {
  const env = { HOME: home, NO_COLOR: "1", ...options.env };
  const io = fakeIo({ terminal: true, ...options, env, connect });
  const openUrl = async (url: string | URL): Promise<void> => {
    io.launched.push([String(url)]);
    void alice.signIn(url).then((back) => fetch(back));
  };
  return { ...io, openUrl };
}

test("a call signs in after the user agrees, and again for more scopes", async () => {
  const first = atTerminal({ answers: ["y"] });
  expect(await runClientCommand("call", [server.url, "whoami"], first)).toBe(0);
  expect(first.err()).toContain("The server asks you to sign in:");
  expect(first.err()).toContain(`Its host is ${new URL(issuer.issuer).host}`);
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

test("the call is not sent if the user declines the sign-in", async () => {
  const io = atTerminal({ answers: ["n"] });
  expect(await runClientCommand("call", [server.url, "whoami"], io)).toBe(7);
  expect(io.err()).toContain("You declined to sign in.");
});

test("--no-browser reads the final address of a browser on another machine", async () => {
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

test.each(["call", "login"])("Ctrl-C during %s releases the lock for other processes", async (command) => {
  const io = atTerminal();
  const silent = { ...io, openUrl: async () => {} };
  const words = command === "call" ? [server.url, "whoami"] : [server.url];
  const done = runClientCommand(command, words, silent);
  await io.seen(command === "call" ? "Open it?" : "Waiting for the sign-in");
  io.pressCtrlC();
  expect(await done).toBe(130);
  const next = atTerminal();
  expect(await runClientCommand("login", [server.url], next)).toBe(0);
  expect(next.err()).not.toContain("another mcparley");
});

/** Runs a command without a terminal, and returns its JSON output. */
async function unwatched(
  words: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; io: FakeIo; json: any }> {
  const io = atTerminal({ terminal: false, env });
  const [name = "", ...rest] = words;
  const code = await runClientCommand(name, [...rest, "--json"], io);
  return { code, io, json: jsonOf(io) };
}

/** Returns the JSON document of a command. The last line of `login` is its account or error. */
function jsonOf(io: FakeIo): any {
  const text = io.out();
  return JSON.parse(text.startsWith("{\n") ? text : (text.trimEnd().split("\n").at(-1) ?? ""));
}

describe("without a terminal", () => {
  test("a command other than login fails with exit code 3 and the command that signs in, and registers nothing", async () => {
    const before = issuer.requests.length;
    const { code, io, json } = await unwatched(["list", server.url]);
    expect(code).toBe(3);
    expect(json.error).toEqual({
      code: "sign_in_required",
      message: "A user must sign in, and there is no terminal to ask at.",
      hint: `Sign in: mcparley login ${server.url}`,
      help: "mcparley help sign_in_required",
      exitCode: 3,
    });
    expect(io.launched).toEqual([]);
    expect(issuer.requests.slice(before)).not.toContain("POST /reg");
  });

  test("a custom Authorization header is sent unchanged, and no sign-in starts", async () => {
    const { code, json } = await unwatched(["list", server.url, "--header", "Authorization: Bearer x.y.z"]);
    expect(code).toBe(3);
    expect(json.error.code).toBe("unauthorized");
    expect(readdirSync(home)).toEqual([]);
  });
});

test("a second user of the machine cannot access the credentials of the first", async () => {
  await unwatched(["login", server.url]);
  const bob = mkdtempSync(path.join(tmpdir(), "mcparley-bob-"));
  for (const command of ["whoami", "list"]) {
    expect((await unwatched([command, server.url], { HOME: bob })).json.error.code).toBe("sign_in_required");
  }
  rmSync(bob, { recursive: true });
  expect((await unwatched(["whoami", server.url])).json.subject).toBe("alice");
});

test("a manually registered client is stored until the logout, with its secret from the environment", async () => {
  const words = ["login", server.url, "--client-id", byHand.client_id, "--client-secret-env", "SECRET"];
  expect((await unwatched(words)).json.error.message).toContain(
    "The environment variable SECRET, which --client-secret-env names, is not set",
  );
  expect((await unwatched(words, { SECRET: byHand.client_secret })).json.clientId).toBe("by-hand");
  expect((await unwatched(["logout", server.url])).json.outcome).toBe("revoked");
  expect((await unwatched(["login", server.url])).json.clientId).not.toBe("by-hand");
});

test("a registration is used again until the logout", async () => {
  const first = await unwatched(["login", server.url]);
  const second = await unwatched(["login", server.url]);
  expect(second.json.clientId).toBe(first.json.clientId);
  expect((await unwatched(["logout", server.url])).json).toEqual({ server: server.url, outcome: "revoked" });
  expect((await unwatched(["logout", server.url])).json.outcome).toBe("not_signed_in");
  expect((await unwatched(["login", server.url])).json.clientId).not.toBe(first.json.clientId);
});

test("--keychain names the missing package, and stores nothing elsewhere", async () => {
  const { code, json } = await unwatched(["login", server.url, "--keychain"]);
  expect(code).toBe(1);
  expect(json.error.code).toBe("unusable_storage");
  expect(json.error.message).toContain("npm install @napi-rs/keyring");
  expect(readdirSync(home)).toEqual([]);
});

test("--issuer is the only authorization server that is used", async () => {
  const { code, json } = await unwatched(["login", server.url, "--issuer", "https://other.example"]);
  expect(code).toBe(3);
  expect(json.error.code).toBe("authorization_failed");
});

test("login fails for a server without authorization", async () => {
  const open = await listen(createServer({ name: "open", version: "1.0.0" }), { port: 0 });
  const { code, json } = await unwatched(["login", open.url]);
  expect(code).toBe(3);
  expect(json.error.code).toBe("authorization_failed");
  expect(json.error.message).toContain("The server may not require one.");
  await open.close();
});

test("login fails after --timeout with an error that names the cause", async () => {
  const io = atTerminal();
  const silent = { ...io, openUrl: async () => {} };
  expect(await runClientCommand("login", [server.url, "--timeout", "2s"], silent)).toBe(6);
  expect(io.err()).toContain("The user did not return from the sign-in within 2 seconds.");
  expect(io.err().replaceAll(/\s+/g, " ")).toContain(`mcparley login ${server.url} --new-client.`);
});

test("login fails for a server that is started as a program", async () => {
  const io = atTerminal();
  expect(await runClientCommand("login", ["--", "node", "server.js"], io)).toBe(1);
  expect(io.err()).toContain("login applies to servers at a URL");
});

test("a command ends after its aborted sign-in has ended, so that the next one does not wait for it", async () => {
  const io = atTerminal();
  const order: string[] = [];
  const impatient = async (_target: unknown, { auth }: { auth?: HttpAuth } = {}): Promise<never> => {
    const url = new URL(server.url);
    const request = { url, method: "POST", server: url };
    const given = new AbortController();
    const refusal = { status: 401, headers: new Headers(), request, shown: {}, repeated: 0, challenges: 0 };
    void auth?.challenged(refusal, given.signal).catch(() => order.push("given up"));
    await io.seen("Open it?");
    given.abort();
    throw new LocalError("timeout", "No answer in time.");
  };
  expect(await runClientCommand("list", [server.url], { ...io, connect: impatient as never })).toBe(6);
  expect(order).toEqual(["given up"]);
});

test("a command reports that it waits for the sign-in of another process", async () => {
  const first = atTerminal();
  const doneFirst = runClientCommand("login", [server.url], { ...first, openUrl: async () => {} });
  await first.seen("Waiting for the sign-in");
  const second = atTerminal();
  const doneSecond = runClientCommand("login", [server.url], second);
  await second.seen("Waiting for the credentials, which another mcparley process has locked");
  const third = atTerminal();
  const doneThird = runClientCommand("login", [server.url], third);
  await third.seen("Waiting for the credentials");
  third.pressCtrlC();
  expect(await doneThird).toBe(130);
  first.pressCtrlC();
  expect(await doneFirst).toBe(130);
  expect(await doneSecond).toBe(0);
});

test.each(["http://127.0.0.1/callback", "http://127.0.0.1/signed/in"])(
  "login with the registered redirect URI %s uses a free port",
  async (uri) => {
    const io = atTerminal({ env: { SECRET: byHand.client_secret } });
    const client = ["--client-id", "by-hand", "--client-secret-env", "SECRET", "--redirect-uri", uri];
    expect(await runClientCommand("login", [server.url, ...client], io)).toBe(0);
    expect(
      issuer.tokenRequests
        .at(-1)
        ?.get("redirect_uri")
        ?.replace(/:\d+\//, "/"),
    ).toBe(uri);
  },
);

describe("a command that is stopped during a token request", () => {
  let hasRequest: Promise<void>;
  let respond: () => void;
  beforeEach(() => {
    const released = new Promise<void>((resolve) => (respond = resolve));
    hasRequest = new Promise((resolve) => {
      issuer.beforeTokenResponse = () => (resolve(), released);
    });
  });
  afterEach(() => {
    respond();
    issuer.beforeTokenResponse = undefined;
    issuer.resources.set(server.url, { scope: "notes:read notes:write notes:sign" });
  });

  /** Signs in, with tokens that the next command renews. */
  async function signInForRenewal(): Promise<void> {
    const { beforeTokenResponse } = issuer;
    issuer.beforeTokenResponse = undefined;
    issuer.resources.set(server.url, { scope: "notes:read notes:write notes:sign", accessTokenTtl: 1 });
    expect(await runClientCommand("login", [server.url], atTerminal())).toBe(0);
    const { expiresAt } = (await unwatched(["whoami", server.url])).json as unknown as { expiresAt: string };
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(expiresAt));
    issuer.beforeTokenResponse = beforeTokenResponse;
  }

  test.each([
    ["Ctrl-C", 130, (io: FakeIo) => io.pressCtrlC()],
    ["SIGTERM", 143, (io: FakeIo) => io.terminate()],
  ])("by %s stores the response to a renewal", async (_signal, code, stop) => {
    await signInForRenewal();
    const io = atTerminal();
    const done = runClientCommand("call", [server.url, "whoami"], io);
    await hasRequest;
    stop(io);
    const early = await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]);
    expect(early).toBeUndefined();
    respond();
    expect(await done).toBe(code);
    const next = atTerminal();
    expect(await runClientCommand("call", [server.url, "whoami"], next)).toBe(0);
    expect(next.launched).toEqual([]);
  });

  test("by a second Ctrl-C ends at once", async () => {
    await signInForRenewal();
    const io = atTerminal();
    const done = runClientCommand("call", [server.url, "whoami"], io);
    await hasRequest;
    io.pressCtrlC();
    io.pressCtrlC();
    expect(await done).toBe(130);
    // The process of the test continues the renewal, and the next command waits for it.
    respond();
    expect(await runClientCommand("call", [server.url, "whoami"], atTerminal())).toBe(0);
  });

  test("stores the response to the code of a sign-in", async () => {
    const io = atTerminal();
    const done = runClientCommand("login", [server.url], io);
    await hasRequest;
    io.pressCtrlC();
    respond();
    expect(await done).toBe(130);
    expect(await runClientCommand("whoami", [server.url], atTerminal())).toBe(0);
  });
});

describe("a server that publishes its origin as its resource identifier", () => {
  let shared: ProtectedServer;
  beforeAll(async () => {
    shared = await serveProtected({
      definition: { tools },
      protect: (url) => {
        const resource = new URL(url).origin;
        issuer.resources.set(resource, { scope: "notes:read" });
        const verifier = jwtVerifier({ issuer: issuer.issuer, audience: resource });
        return { resource, issuers: [issuer.issuer], scopes: ["notes:read"], verifier };
      },
    });
  });
  afterAll(() => shared.close());

  test("receives a token after the user has accepted the identifier, and prompts the user once", async () => {
    const first = atTerminal({ answers: ["y", "y"] });
    expect(await runClientCommand("call", [shared.url, "whoami"], first)).toBe(0);
    expect(first.err()).toContain(`asks for a token for all of ${new URL(shared.url).origin}.`);
    const again = atTerminal();
    expect(await runClientCommand("login", [shared.url], again)).toBe(0);
    expect(again.err()).not.toContain("asks for a token for all of");
  });

  test("receives no token if the user declines, and the command exits with code 7", async () => {
    const io = atTerminal({ answers: ["n"] });
    expect(await runClientCommand("login", [shared.url], io)).toBe(7);
    expect(io.launched).toEqual([]);
  });

  test("receives no token without a terminal unless --resource names the identifier", async () => {
    const { code, json, io } = await unwatched(["login", shared.url]);
    expect(code).toBe(3);
    expect(io.launched).toEqual([]);
    const { origin } = new URL(shared.url);
    expect(json.error).toMatchObject({
      code: "authorization_failed",
      hint: `Accept it: mcparley login ${shared.url} --resource ${origin}`,
    });
    expect((await unwatched(["login", shared.url, "--resource", `${origin}/other`])).code).toBe(3);
    expect((await unwatched(["login", shared.url, "--resource", origin])).code).toBe(0);
  });
});

describe("the values of the query of a server's URL are in no output", () => {
  const key = "tenant-secret-4711";
  /** The commands in the order in which they sign in, use the account and sign out. Each also fails in one way. */
  const lines: readonly (readonly [command: string, ...rest: string[]])[] = [
    ["whoami"],
    ["list"],
    ["login"],
    ["login", "--issuer", "https://other.example"],
    ["whoami"],
    ["list"],
    ["call", "whoami"],
    ["call", "unknown"],
    ["read", "unknown://x"],
    ["logout"],
    ["logout"],
    ["whoami"],
    ["list", "--header", "Authorization: Bearer wrong"],
  ];

  test.each([[[]], [["-v"]], [["--json"]], [["--json", "-v"]]])("with the options %j", async (options) => {
    const codes: number[] = [];
    for (const [command, ...rest] of lines) {
      const io = atTerminal({ terminal: false });
      const resource = rest.length === 0 && command === "login" ? ["--resource", server.url] : [];
      codes.push(
        await runClientCommand(command, [`${server.url}?a=1&tenant=${key}`, ...rest, ...resource, ...options], io),
      );
      const output = io.out() + io.err();
      // The page of the sign-in gets the resource of the token, which this server publishes without a query.
      expect(output, command).not.toContain(key);
      if (/whoami|logout|login/.test(command)) expect(output).toMatch(/[?]a=[*]{3}&tenant=[*]{3}/);
    }
    expect(codes).toEqual([3, 3, 0, 3, 0, 0, 0, 1, 1, 0, 0, 3, 3]);
  });
});
