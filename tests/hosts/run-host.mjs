// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";

/**
 * A host that npm has. `connected` matches the line of a connected server in the output of `mcp list`; undefined if the host does not connect.
 *
 * @typedef {{ title: string; program: string; package: string; connected?: RegExp }} HostProgram
 */

const tools = path.join(root, ".tools/hosts");

/** The number of failed checks. */
export const reports = { failures: 0 };

/** Installs a host. Returns its program, or undefined if it cannot be installed or started. @param {HostProgram} host */
export function install(host) {
  const place = path.join(tools, host.program);
  const program = path.join(place, "node_modules/.bin", host.program);
  const isThere =
    existsSync(path.join(place, "package.json")) &&
    readFileSync(path.join(place, "package.json"), "utf8").includes(host.package);
  if (!isThere || !existsSync(program)) {
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "package.json"), JSON.stringify({ private: true, description: host.package }));
    const args = ["install", "--no-save", "--no-audit", "--no-fund", host.package];
    spawnSync("npm", args, { cwd: place, stdio: "ignore" });
  }
  const { status } = spawnSync(program, ["--version"], { stdio: "ignore", timeout: 60_000 });
  return status === 0 ? program : undefined;
}

/** Runs a host without its user's settings. @param {string} program @param {string[]} args @param {string} folder */
export function run(program, args, folder) {
  const home = path.join(folder, "home");
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    USERPROFILE: home,
    NO_COLOR: "1",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    // The value of the references in the configurations.
    SUMS_WORD: "word",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Nothing listens there, so that every request except those to loopback fails.
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
  };
  const options = { cwd: path.join(folder, "project"), env, encoding: /** @type {const} */ ("utf8"), timeout: 120_000 };
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, output: `${stdout}${stderr}` };
}

/** Writes one line about a check. @param {"ok" | "failed" | "not run"} verdict @param {string} what @param {string} [details] */
export function report(verdict, what, details = "") {
  process.stdout.write(`${verdict.padEnd(8)}${what}\n`);
  if (verdict !== "failed") return;
  reports.failures++;
  process.stdout.write(`${details}\n`);
}
