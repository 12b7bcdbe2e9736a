import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { jwtVerifier } from "mcparley/auth";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ProtectedServer, serveProtected } from "./protected-server.ts";
import { type ScriptedBrowser, scriptedBrowser } from "./scripted-browser.ts";

const program = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const clientSecret = "client-secret-4711-canary";

let issuer: AuthorizationServer;
let server: ProtectedServer;
let alice: ScriptedBrowser;
let home: string;
/** Access and refresh tokens, and codes, that were given to anybody. */
const given = new Set<string>();
/** All that any command of a test has printed. */
let printed: string;

beforeAll(async () => {
  const clients = [
    {
      client_id: "by-hand",
      client_secret: clientSecret,
      redirect_uris: ["http://127.0.0.1/callback"],
      application_type: "native" as const,
      grant_types: ["authorization_code", "refresh_token"],
    },
  ];
  issuer = await startAuthorizationServer({ clients });
  for (const kind of ["refresh_token", "authorization_code"] as const) {
    issuer.provider.on(`${kind}.saved`, (token: { jti: string }) => given.add(token.jti));
  }
  server = await serveProtected({
    protect: (resource) => {
      const verify = jwtVerifier({ issuer: issuer.issuer, audience: resource });
      return {
        resource,
        issuers: [issuer.issuer],
        scopes: ["notes:read"],
        verifier: (token, request) => {
          given.add(token);
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

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
  alice = await scriptedBrowser("alice");
  printed = "";
});
afterEach(async () => {
  await alice.close();
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
  /** What `--json` printed. */
  json: any;
}

/** Runs the command as a person's shell would, without a terminal. */
async function mcparley(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: home, BROWSER: alice.program, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const [out, err] = (await Promise.all([buffer(child.stdout), buffer(child.stderr)])).map(String) as [string, string];
  printed += `${args.join(" ")}\n${out}\n${err}\n`;
  return { code: await ended, out, err, json: args.includes("--json") ? JSON.parse(out) : undefined };
}

/** Every file below the home folder, as text. */
function filesAtHome(): Map<string, string> {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => path.join(home, name)).filter((file) => statSync(file).isFile());
  return new Map(files.map((file) => [file, readFileSync(file, "latin1")]));
}

test("login, a call, more scopes, whoami and logout: the whole way, against a real authorization server", async () => {
  const before = await mcparley(["whoami", server.url, "--json"]);
  expect([before.code, before.json.error.code]).toEqual([3, "sign_in_required"]);

  const login = await mcparley(["login", server.url]);
  expect(login).toMatchObject({ code: 0, out: `Signed in to ${server.url} as alice, at ${issuer.issuer}.\n` });
  expect(alice.pages).toEqual([expect.stringContaining("You can close this window")]);

  const call = await mcparley(["call", server.url, "whoami", "--json"]);
  expect(call.code).toBe(0);
  expect(JSON.parse(call.json.content[0].text)).toMatchObject({ issuer: issuer.issuer, subject: "alice" });
  expect(alice.opened).toHaveLength(1);

  const refused = await mcparley(["call", server.url, "write", "--json"]);
  expect([refused.code, refused.json.error.code]).toEqual([3, "sign_in_required"]);
  const url = new URL(refused.json.error.url);
  expect(url.searchParams.get("scope")?.split(" ")).toEqual(
    expect.arrayContaining(["notes:read", "notes:write", "notes:sign"]),
  );
  expect(alice.opened).toHaveLength(1);

  const more = await mcparley(["login", server.url, "--scope", "notes:read notes:write notes:sign"]);
  expect(more.code).toBe(0);
  expect((await mcparley(["call", server.url, "write"])).out).toBe("written\n");

  const whoami = await mcparley(["whoami", server.url]);
  expect(whoami.code).toBe(0);
  expect(whoami.out).toMatch(/^Subject +alice$/m);
  expect(whoami.out).toMatch(/^Scopes +notes:read notes:write notes:sign$/m);
  expect(whoami.out).toMatch(/^Expires +\d{4}-\d\d-\d\dT.* \(in \d+ minutes\), renewed without asking you$/m);
  expect(whoami.out).toContain(path.join(home, ".config/mcparley/credentials"));

  const revocations = (): number => issuer.requests.filter((one) => one === "POST /token/revocation").length;
  const revokedBefore = revocations();
  expect((await mcparley(["logout", server.url])).out).toContain("revoked");
  expect(revocations()).toBeGreaterThan(revokedBefore);
  expect((await mcparley(["whoami", server.url])).code).toBe(3);
  expect((await mcparley(["logout", server.url])).out).toContain("You were not signed in");
  expect((await mcparley(["call", server.url, "whoami"])).code).toBe(3);
});

describe("without a terminal", () => {
  test("a command fails with exit code 3 and the URL to sign in at, and opens no browser", async () => {
    const list = await mcparley(["list", server.url, "--json"]);
    expect([list.code, list.json.error.code, alice.opened]).toEqual([3, "sign_in_required", []]);
    expect(list.json.error.url.startsWith(`${issuer.issuer}/auth?`)).toBe(true);
  });

  test("login with --no-browser does so too", async () => {
    const login = await mcparley(["login", server.url, "--no-browser", "--json"]);
    expect([login.code, login.json.error.code, alice.opened]).toEqual([3, "sign_in_required", []]);
    expect(login.json.error.url.startsWith(`${issuer.issuer}/auth?`)).toBe(true);
  });

  test("login without a browser says why", async () => {
    const login = await mcparley(["login", server.url], { BROWSER: path.join(home, "no-browser") });
    expect(login.code).toBe(3);
    expect(login.err).toContain("no browser could be opened");
  });

  test("a header of one's own is used as it is, and nobody is asked to sign in", async () => {
    const list = await mcparley(["list", server.url, "--json", "--header", "Authorization: Bearer x.y.z"]);
    expect([list.code, list.json.error.code]).toEqual([3, "unauthorized"]);
    expect(filesAtHome().size).toBe(0);
  });
});

test("a second user, on the same machine, reaches nothing of the first", async () => {
  await mcparley(["login", server.url]);
  const bob = mkdtempSync(path.join(tmpdir(), "mcparley-bob-"));
  expect((await mcparley(["whoami", server.url], { HOME: bob })).code).toBe(3);
  expect((await mcparley(["call", server.url, "whoami"], { HOME: bob })).code).toBe(3);
  rmSync(bob, { recursive: true });
});

test("a client that was registered by hand is remembered with its secret, which is read from the environment", async () => {
  const words = ["--client-id", "by-hand", "--client-secret-env", "SECRET"];
  expect((await mcparley(["login", server.url, ...words])).code).toBe(1);
  expect((await mcparley(["login", server.url, ...words], { SECRET: clientSecret })).code).toBe(0);
  expect((await mcparley(["whoami", server.url, "--json"])).json.clientId).toBe("by-hand");
  const logout = await mcparley(["logout", server.url]);
  console.log(logout);
  expect(logout.out).toContain("revoked");
});

test("A7: a registration is used again, as is its redirect URI where the port is free", async () => {
  await mcparley(["login", server.url]);
  await mcparley(["logout", server.url]);
  const registrations = issuer.requests.filter((one) => one === "POST /reg").length;
  await mcparley(["login", server.url]);
  expect(issuer.requests.filter((one) => one === "POST /reg")).toHaveLength(registrations);
  const [first, second] = alice.opened.map(({ searchParams }) => searchParams.get("redirect_uri"));
  expect(second).toBe(first);
});

test("a command for a program that is started says that there is nothing to sign in to", async () => {
  const login = await mcparley(["login", "--", "node", "server.js"]);
  expect([login.code, login.err]).toEqual([1, expect.stringContaining("login is for servers at a URL")]);
});

test("canary: no token, code, verifier or client secret is printed, or in any file as it is", async () => {
  const words = ["--client-id", "by-hand", "--client-secret-env", "SECRET", "--verbose"];
  await mcparley(["login", server.url, ...words], { SECRET: clientSecret });
  for (const more of [[], ["--json"], ["--verbose"]]) {
    await mcparley(["call", server.url, "whoami", ...more]);
    await mcparley(["call", server.url, "write", ...more]);
    await mcparley(["whoami", server.url, ...more]);
  }
  const requests = issuer.tokenRequests.flatMap((form) => [...form]);
  const verifiers = requests.filter(([name]) => name === "code_verifier").map(([, value]) => value);
  const secrets = [...given, ...verifiers, clientSecret];
  expect(secrets.length).toBeGreaterThan(5);
  const files = filesAtHome();
  expect(files.size).toBeGreaterThan(1);
  for (const secret of secrets) {
    expect(printed).not.toContain(secret);
    for (const [file, content] of files) expect(content, file).not.toContain(secret);
  }
  for (const [file] of files) expect([file, statSync(file).mode & 0o077]).toEqual([file, 0]);
  expect(await mcparley(["login", server.url, `--client-secret=${clientSecret}`])).toMatchObject({
    code: 1,
    err: expect.not.stringContaining(clientSecret) as string,
  });
});
