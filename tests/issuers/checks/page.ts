import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { transform } from "esbuild";
import { freePort } from "../../examples/run-example.ts";
import { checksOf } from "../check.ts";
import type { KeycloakIssuer } from "../issuer.ts";
import { quickJava } from "../keycloak/start.ts";

/** The samples of `docs/auth/keycloak.md`, at the addresses of this run. */
interface Samples {
  readonly server: string;
  readonly scope: string;
  /** The blocks of commands, each with its lines. */
  readonly commands: readonly string[];
  /** The lines that the commands of the sign-in print. */
  readonly output: readonly string[];
}

/** Follows `docs/auth/keycloak.md`: the realm by the commands of Keycloak, the server, and the sign-ins of the command. */
export const page = checksOf<KeycloakIssuer>([
  {
    name: "the commands and the server of docs/auth/keycloak.md",
    async run({ root, issuer: { keycloak }, user, onEnd, signal }) {
      const port = await freePort();
      const samples = readSamples(root, { issuer: keycloak.origin, server: `http://127.0.0.1:${port}` });
      const folder = mkdtempSync(path.join(root, "node_modules/.mcparley/keycloak-page-"));
      onEnd(() => rmSync(folder, { recursive: true }));
      const { code } = await transform(samples.server.replace("port: 3000", `port: ${port}`), { loader: "ts" });
      writeFileSync(path.join(folder, "server.mjs"), `${code}\nconsole.log("listening");\n`);
      writeFileSync(path.join(keycloak.home, "scope.json"), samples.scope);
      const child = spawn(process.execPath, [path.join(folder, "server.mjs")], {
        stdio: ["ignore", "pipe", "inherit"],
        signal,
      });
      child.once("error", () => {});
      await once(createInterface({ input: child.stdout }), "line");

      const { env, browser } = await user("alice");
      const [start = "", realm = "", signIn = "", byHand = ""] = samples.commands;
      assert.match(start, /bin\/kc\.sh start-dev --http-host=127\.0\.0\.1/);
      const run = (lines: string): Promise<string> => runShell(lines, { root, folder: keycloak.home, env, signal });
      await run(realm);
      const printed = await run(signIn);
      for (const line of samples.output) assert.ok(printed.includes(line), `${line} in ${printed}`);
      await run(byHand);
      assert.equal(browser.opened[1]?.searchParams.get("client_id"), "mine");
    },
  },
]);

function readSamples(root: string, addresses: { issuer: string; server: string }): Samples {
  const guide = readFileSync(path.join(root, "docs/auth/keycloak.md"), "utf8")
    .replaceAll("http://127.0.0.1:8080", addresses.issuer)
    .replaceAll("http://127.0.0.1:3000", addresses.server);
  const blocks = (language: string): string[] =>
    [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, block = ""]) => block);
  const [server = ""] = blocks("ts");
  const [scope = ""] = blocks("json");
  const [output = ""] = blocks("text");
  return {
    server,
    scope,
    // This check installs the packages and starts the server otherwise.
    commands: blocks("shell").filter((block) => !/^(?:npm|node) /.test(block)),
    output: output.trim().split("\n"),
  };
}

interface ShellOptions {
  root: string;
  folder: string;
  env: Record<string, string>;
  signal: AbortSignal;
}

/** Runs lines in a shell that has the command `mcparley`, and returns the output. Rejects if a line fails. */
async function runShell(lines: string, { root, folder, env, signal }: ShellOptions): Promise<string> {
  const programs = path.join(folder, "programs");
  mkdirSync(programs, { recursive: true });
  const bin = path.join(root, "packages/cli/bin/mcparley.cjs");
  const script = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(bin)} "$@"\n`;
  writeFileSync(path.join(programs, "mcparley"), script, { mode: 0o700 });
  const child = spawn("bash", ["-e", "-c", lines], {
    cwd: folder,
    env: { ...process.env, ...quickJava, ...env, PATH: [programs, process.env.PATH].join(path.delimiter) },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  assert.equal(code, 0, `${out}\n${err}`);
  return out;
}
