import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { apiKeys, jwtVerifier } from "mcparley/auth";
import { listen } from "mcparley/node";
import { createServer } from "mcparley/server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { program } from "../chat/support/terminal.ts";
import { type AuthorizationServer, startAuthorizationServer } from "../auth/authorization-server.ts";
import { type ProtectedServer, serveProtected } from "../auth/protected-server.ts";
import { type ScriptedBrowser, scriptedBrowser } from "../auth/scripted-browser.ts";

const byHand = {
  client_id: "by-hand",
  client_secret: "of-the-client-4711",
  redirect_uris: ["http://127.0.0.1/callback"],
  application_type: "native" as const,
  grant_types: ["authorization_code", "refresh_token"],
};

const userKey = "key-of-alice-0123456789";

let issuer: AuthorizationServer;
/** An authorization server that registers no clients by itself. */
let closed: AuthorizationServer;
let notes: ProtectedServer;
/** A server that publishes its origin as its identifier, and one of `closed`. */
let short: ProtectedServer;
let manual: ProtectedServer;
/** A server that accepts keys, and has no sign-in. */
let keyed: Awaited<ReturnType<typeof listen>>;
let alice: ScriptedBrowser;
let home: string;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  closed = await startAuthorizationServer({
    clients: [byHand],
    configuration: { features: { registration: { enabled: false } } },
  });
  const protect = (at: AuthorizationServer, resource: string): Parameters<typeof serveProtected>[0]["protect"] => {
    return () => {
      at.resources.set(resource, { scope: "notes:read notes:write notes:sign" });
      const verifier = jwtVerifier({ issuer: at.issuer, audience: resource });
      return { resource, issuers: [at.issuer], scopes: ["notes:read"], verifier };
    };
  };
  notes = await serveProtected({ protect: (url) => protect(issuer, url)(url) });
  short = await serveProtected({ protect: (url) => protect(issuer, new URL(url).origin)(url) });
  manual = await serveProtected({ protect: (url) => protect(closed, url)(url) });
  const auth = apiKeys([{ key: userKey, subject: "alice" }]);
  keyed = await listen(createServer({ name: "keyed", version: "1.0.0" }), { auth, port: 0 });
});
afterAll(async () => {
  for (const server of [notes, short, manual, keyed, issuer, closed]) await server.close();
});

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), "mcparley-home-"));
  alice = await scriptedBrowser("alice");
  const bin = path.join(home, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, path.join(bin, "node"));
  symlinkSync(program, path.join(bin, "mcparley"));
});
afterEach(async () => {
  await alice.close();
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a line of a shell without a terminal. */
async function sh(line: string): Promise<Ended> {
  const child = spawn("/bin/sh", ["-c", line], {
    cwd: home,
    env: { PATH: path.join(home, "bin"), HOME: home, BROWSER: alice.program, SECRET: byHand.client_secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const code = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const [out, err] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { code: await code, out: String(out), err: String(err) };
}

/** Returns the command in the hint of a failed command, which is the rest of its line. */
function hintOf({ err }: Ended): string {
  return /^ {2}.*?(mcparley .*)$/m.exec(err)?.[1] ?? "";
}

interface Situation {
  readonly name: string;
  /** The command that fails. */
  readonly line: () => string;
  /** The values for the placeholders in the hint. */
  readonly values?: Readonly<Record<string, string>>;
  /** A command to run before. */
  readonly before?: () => string;
  /** The options of the failed command that the hint must repeat. */
  readonly repeats?: string;
  /** Whether the command of the hint is the whole cure, because nothing is stored. */
  readonly isNotStored?: boolean;
}

const situations: Situation[] = [
  { name: "a call without a sign-in", line: () => `mcparley call ${notes.url} whoami` },
  { name: "whoami without a sign-in", line: () => `mcparley whoami ${notes.url}` },
  {
    name: "a call that needs more scopes",
    before: () => `mcparley login ${notes.url}`,
    line: () => `mcparley call ${notes.url} write`,
  },
  {
    name: "a server of a configuration file",
    line: () => "mcparley call notes whoami --config 'my servers.json' --trust",
  },
  { name: "a shorter resource identifier", line: () => `mcparley call ${short.url} whoami` },
  {
    name: "an authorization server that registers no clients",
    line: () => `mcparley login ${manual.url}`,
    values: { ID: byHand.client_id, NAME: "SECRET" },
  },
  {
    name: "a call with options of the sign-in",
    line: () =>
      `mcparley call ${notes.url} whoami --dpop --no-offline --scope 'notes:read notes:write' --resource ${notes.url}`,
    repeats: "--scope 'notes:read notes:write' --no-offline --dpop --resource ",
  },
  {
    name: "a call with a client",
    line: () => `mcparley call ${manual.url} whoami --client-id by-hand --client-secret-env SECRET`,
    repeats: "--client-id by-hand --client-secret-env SECRET",
  },
  {
    name: "a call at a server without a sign-in",
    line: () => `mcparley call ${keyed.url} whoami`,
    values: { TOKEN: userKey },
    isNotStored: true,
  },
  {
    name: "a login at a server without a sign-in",
    line: () => `mcparley login ${keyed.url}`,
    values: { TOKEN: userKey },
    isNotStored: true,
  },
];

test.each(situations)("the hint after $name is a command after which the call succeeds", async (situation) => {
  const { line, before, values = {}, repeats = "", isNotStored = false } = situation;
  const servers = { mcpServers: { notes: { type: "http", url: notes.url } } };
  writeFileSync(path.join(home, "my servers.json"), JSON.stringify(servers));
  if (before) expect((await sh(before())).code).toBe(0);
  const failed = await sh(line());
  expect(failed).toMatchObject({ code: 3, out: "" });
  expect(hintOf(failed)).toContain(repeats);
  expect(failed.err).not.toContain(byHand.client_secret);
  const hint = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(` ${name}`, ` ${value}`),
    hintOf(failed),
  );
  expect(await sh(hint)).toMatchObject({ code: 0 });
  if (!isNotStored) expect(await sh(line())).toMatchObject({ code: 0 });
});
