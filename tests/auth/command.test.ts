import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { InvalidToken, jwtVerifier } from "mcparley/auth";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
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
/** Access tokens that the server takes no more. */
const refused = new Set<string>();
/** All that the commands of a test have printed. */
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
  issuer.provider.on("refresh_token.saved", ({ jti }) => given.add(jti));
  issuer.provider.on("authorization_code.saved", ({ jti }) => given.add(jti));
  server = await serveProtected({
    protect: (resource) => {
      const verify = jwtVerifier({ issuer: issuer.issuer, audience: resource });
      return {
        resource,
        issuers: [issuer.issuer],
        scopes: ["notes:read"],
        verifier: (token, request) => {
          given.add(token);
          if (refused.has(token)) throw new InvalidToken("It was revoked.");
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
  /** Returns the output of `--json`. */
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
  printed += `${out}\n${err}\n`;
  return { code: await ended, out, err, json: args.includes("--json") ? JSON.parse(out) : undefined };
}

/** Every file below the home folder, as text. */
function filesAtHome(): Map<string, string> {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => path.join(home, name)).filter((file) => statSync(file).isFile());
  return new Map(files.map((file) => [file, readFileSync(file, "latin1")]));
}

test("login, a call, more scopes, whoami and logout work with a real authorization server", async () => {
  const before = await mcparley(["whoami", server.url, "--json"]);
  expect(before.code).toBe(3);
  expect(before.json.error.code).toBe("sign_in_required");

  const client = ["--client-id", "by-hand", "--client-secret-env", "SECRET"];
  const login = await mcparley(["login", server.url, "--verbose", ...client], { SECRET: clientSecret });
  expect(login).toMatchObject({ code: 0, out: `Signed in to ${server.url} as alice, at ${issuer.issuer}.\n` });
  expect(alice.pages).toEqual([expect.stringContaining("You can close this window")]);

  const call = await mcparley(["call", server.url, "whoami", "--json"]);
  expect(JSON.parse(call.json.content[0].text)).toMatchObject({ issuer: issuer.issuer, subject: "alice" });
  expect(alice.opened).toHaveLength(1);

  const refused = await mcparley(["call", server.url, "write", "--json"]);
  expect(refused.code).toBe(3);
  expect(refused.json.error.code).toBe("sign_in_required");
  expect(refused.json.error.scopes).toEqual(["notes:write", "notes:sign"]);
  expect(JSON.stringify(refused.json)).not.toContain(issuer.issuer);
  expect(alice.opened).toHaveLength(1);

  const more = await mcparley(["login", server.url, "--scope", "notes:read notes:write notes:sign"]);
  expect(more.code).toBe(0);
  expect((await mcparley(["call", server.url, "write", "--verbose"])).out).toBe("written\n");

  const whoami = await mcparley(["whoami", server.url]);
  expect(whoami.out).toMatch(/^Subject +alice$/m);
  expect(whoami.out).toMatch(/^Client +by-hand$/m);
  expect(whoami.out).toMatch(/^Scopes +notes:read notes:write notes:sign$/m);
  expect(whoami.out).toMatch(/^Expires +\d{4}-\d\d-\d\dT.* \(in \d+ minutes\), renewed automatically$/m);
  expect(whoami.out).toContain(path.join(home, ".config/mcparley/credentials"));

  expectNoSecrets();
  const revocations = (): number => issuer.requests.filter((one) => one === "POST /token/revocation").length;
  const revokedBefore = revocations();
  expect((await mcparley(["logout", server.url])).out).toContain("The tokens were revoked");
  expect(revocations()).toBeGreaterThan(revokedBefore);
  expect((await mcparley(["whoami", server.url])).code).toBe(3);
  expectNoSecrets();
});

/** Checks that no token, code, verifier or client secret was printed, or is readable in a file. */
function expectNoSecrets(): void {
  const requests = issuer.tokenRequests.flatMap((form) => [...form]);
  const verifiers = requests.filter(([name]) => name === "code_verifier").map(([, value]) => value);
  expect(verifiers).toHaveLength(2);
  expect(given.size).toBeGreaterThanOrEqual(6);
  const files = filesAtHome();
  expect(files.size).toBeGreaterThan(1);
  for (const secret of [...given, ...verifiers, clientSecret]) {
    expect(printed).not.toContain(secret);
    for (const [file, content] of files) expect(content, file).not.toContain(secret);
  }
  for (const file of files.keys()) expect([file, statSync(file).mode & 0o077]).toEqual([file, 0]);
}

test("processes whose token is refused at the same time redeem the rotating refresh token once", async () => {
  expect((await mcparley(["login", server.url])).code).toBe(0);
  await mcparley(["call", server.url, "whoami"]);
  const [newest] = [...given].filter((one) => one.startsWith("eyJ")).slice(-1);
  refused.add(newest!);
  const before = issuer.tokenRequests.length;
  const calls = [1, 2, 3].map(() => mcparley(["call", server.url, "whoami"]));
  // On a busy machine a process waits so long for the one with the lock that it prints a note.
  const note = "Waiting for the credentials, which another mcparley process has locked ...\n";
  const ended = (await Promise.all(calls)).map(({ code, err }) => [code, err.replace(note, "")]);
  expect(ended).toEqual([1, 2, 3].map(() => [0, ""]));
  const grants = issuer.tokenRequests.slice(before).map((form) => form.get("grant_type"));
  expect(grants).toEqual(["refresh_token"]);
  expect((await mcparley(["call", server.url, "whoami"])).code).toBe(0);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s during a token request stores the response, and no later command waits", async (signal, expected) => {
  let respond!: () => void;
  const released = new Promise<void>((resolve) => (respond = resolve));
  const hasRequest = new Promise<void>((resolve) => {
    issuer.beforeTokenResponse = () => (resolve(), released);
  });
  const child = spawn(process.execPath, [program, "login", server.url], {
    env: { PATH: process.env.PATH, HOME: home, BROWSER: alice.program },
    stdio: "ignore",
  });
  const ended = once(child, "close");
  await hasRequest;
  issuer.beforeTokenResponse = undefined;
  child.kill(signal);
  respond();
  expect(await ended).toEqual([expected, null]);
  expect((await mcparley(["whoami", server.url])).code).toBe(0);
  expect(await mcparley(["login", server.url])).toMatchObject({
    code: 0,
    err: expect.not.stringContaining("Waiting for the credentials") as string,
  });
});

test("canary: a secret that is passed as an argument by mistake is not printed", async () => {
  const login = await mcparley(["login", server.url, `--client-secret=${clientSecret}`]);
  expect(login).toMatchObject({ code: 1, err: expect.stringContaining("--client-secret-env") as string });
  expect(login.err).not.toContain(clientSecret);
});
