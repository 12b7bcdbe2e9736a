// @ts-check
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { root } from "../../scripts/ready.mjs";
import { install, report, run } from "./run-host.mjs";

/**
 * Compares `@mcparley/config` with a host: the host shows the servers that the package wrote, and the package reads those that the host wrote.
 *
 * @typedef {typeof import("@mcparley/config")} Config
 * @typedef {import("@mcparley/config").Scope} Scope
 * @typedef {import("@mcparley/config").ServerTarget} ServerTarget
 * @typedef {{ id: import("@mcparley/config").HostId; scopes: readonly Scope[]; adds: readonly (readonly string[])[];
 *   off: { scope: Scope; disable: (folder: string) => void; shows: RegExp } }} Check
 */

/** The scopes of each program, and the commands that add a server `program` and a server `url`. @type {Readonly<Record<string, Check>>} */
const checks = {
  claude: {
    id: "claude-code",
    scopes: ["user", "project", "local"],
    adds: [
      ["add", "program", "--env", "KEY=a b", "--", "node", "server.js", "--flag"],
      ["add", "--transport", "http", "url", "URL", "--header", "X-Key: value"],
    ],
    off: {
      scope: "project",
      disable: (folder) =>
        writeJson(path.join(folder, "project/.claude/settings.local.json"), { disabledMcpjsonServers: ["off"] }),
      // This version leaves the server out.
      shows: /^$|rejected/i,
    },
  },
  codex: {
    id: "codex",
    scopes: ["user"],
    adds: [
      ["add", "program", "--env", "KEY=a b", "--", "node", "server.js", "--flag"],
      ["add", "url", "--url", "URL", "--bearer-token-env-var", "TOKEN"],
    ],
    off: {
      scope: "user",
      disable: (folder) => appendFileSync(path.join(folder, "home/.codex/config.toml"), "\nenabled = false\n"),
      shows: /disabled/,
    },
  },
  gemini: {
    id: "gemini-cli",
    scopes: ["user", "project"],
    adds: [
      ["add", "program", "--env", "KEY=a b", "node", "server.js", "--flag"],
      ["add", "--transport", "http", "url", "URL", "--header", "X-Key: value"],
    ],
    off: {
      scope: "user",
      // `gemini mcp disable` finds no server without a terminal. This is the file that it writes.
      disable: (folder) =>
        writeJson(path.join(folder, "home/.gemini/mcp-server-enablement.json"), { off: { enabled: false } }),
      shows: /disabled/i,
    },
  },
  opencode: {
    id: "opencode",
    scopes: ["user", "project"],
    adds: [
      ["add", "program", "--env", "KEY=a b", "--", "node", "server.js", "--flag"],
      ["add", "url", "--url", "URL", "--header", "X-Key=value"],
    ],
    off: {
      scope: "user",
      disable: (folder) => writeJson(path.join(folder, "project/opencode.json"), { mcp: { off: { enabled: false } } }),
      shows: /disabled/,
    },
  },
};

/** @param {string} file @param {object} value */
function writeJson(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

/** @param {import("./run-host.mjs").HostProgram} host @param {string} parent @param {string} url */
export async function checkConfiguration(host, parent, url) {
  const check = checks[host.program];
  const program = install(host);
  if (check === undefined || program === undefined) {
    return report("not run", `${host.title}: configuration: ${host.package} cannot be installed here.`);
  }
  const file = pathToFileURL(path.join(root, "packages/config/dist/index.js")).href;
  const config = /** @type {Config} */ (await import(file));
  const folder = path.join(parent, `${host.program}-config`);
  checkWritten(host, config, { check, program, url, parent, folder: path.join(folder, "written") });
  checkRead(host, config, { check, program, url, parent, folder: path.join(folder, "read") });
  checkDisabled(host, config, { check, program, url, folder: path.join(folder, "disabled") });
}

/** @param {string} folder */
function placeOf(folder) {
  for (const name of ["home", "project"]) mkdirSync(path.join(folder, name), { recursive: true });
  return { home: path.join(folder, "home"), folder: path.join(folder, "project"), env: {} };
}

/**
 * Adds a program and a URL in each scope with the package. The program ends if it does not receive its variables, so a connection proves them.
 *
 * @param {import("./run-host.mjs").HostProgram} host
 * @param {Config} config
 * @param {{ check: Check; program: string; url: string; parent: string; folder: string }} setting
 */
function checkWritten(host, config, { check, program, url, parent, folder }) {
  const place = placeOf(folder);
  const env = new Map(
    /** @type {[string, import("@mcparley/config").ConfigValue][]} */ ([
      ["SUMS_MODE", "a b"],
      ["SUMS_WORD", [{ kind: "env", name: "SUMS_WORD" }]],
    ]),
  );
  /** @type {Readonly<Record<string, ServerTarget>>} */
  const targets = {
    stdio: { kind: "command", command: process.execPath, args: [path.join(parent, "dist/with-variables.js")], env },
    http: { kind: "url", url, transport: "http", headers: new Map([["X-Key", "a b"]]) },
  };
  const servers = check.scopes.flatMap((scope) =>
    Object.entries(targets).map(([kind, target]) => ({ scope, name: `${scope}-${kind}`, target })),
  );
  for (const { scope, name, target } of servers) {
    config.applyPlan(config.planAdd({ ...place, host: check.id, scope, name, target }), {
      backups: path.join(folder, "backups"),
    });
  }
  if (check.id === "codex") checkCodexVariables(program, folder);
  const { output } = run(program, ["mcp", "list"], folder);
  for (const { scope, name } of servers) {
    const line = output.split("\n").find((text) => text.includes(name)) ?? "";
    // Claude Code connects to the servers of a project after the user has approved them.
    const connected = check.id === "claude-code" && scope === "project" ? undefined : host.connected;
    const verdict = line !== "" && (connected?.test(line) ?? true) ? "ok" : "failed";
    report(verdict, `${host.title}: ${name} of the package is ${connected ? "connected" : "listed"}`, output);
  }
}

/**
 * Compares the variables that Codex reads with those that were written: it does not connect.
 *
 * @param {string} program @param {string} folder
 */
function checkCodexVariables(program, folder) {
  const { output } = run(program, ["mcp", "get", "user-stdio", "--json"], folder);
  const { transport } = JSON.parse(/^\{.*^\}/ms.exec(output)?.[0] ?? "{}");
  const ok = transport?.env?.SUMS_MODE === "a b" && isDeepStrictEqual(transport.env_vars, ["SUMS_WORD"]);
  report(ok ? "ok" : "failed", "Codex: user-stdio of the package has its variables", output);
}

/**
 * Adds servers with the host, and reads them with the package.
 *
 * @param {import("./run-host.mjs").HostProgram} host
 * @param {Config} config
 * @param {{ check: Check; program: string; url: string; parent: string; folder: string }} setting
 */
function checkRead(host, config, { check, program, url, folder }) {
  const place = placeOf(folder);
  const added = check.adds.map(
    (words) => run(program, ["mcp", ...words.map((word) => word.replace("URL", url))], folder).output,
  );
  const { servers, problems } = config.readServers({ ...place, hosts: [check.id] });
  const found = new Map(servers.map(({ name, target }) => [name, target]));
  const details = [...added, JSON.stringify({ servers, problems })].join("\n");
  // Members that are not written are undefined or missing.
  const read = Object.fromEntries(
    Object.entries(found.get("program") ?? {}).filter(([, value]) => value !== undefined),
  );
  const expected = { kind: "command", command: "node", args: ["server.js", "--flag"], env: new Map([["KEY", "a b"]]) };
  report(
    isDeepStrictEqual(read, expected) ? "ok" : "failed",
    `${host.title}: the package reads the added program`,
    details,
  );
  /** @type {[string, import("@mcparley/config").ConfigValue]} */
  const header =
    check.id === "codex" ? ["Authorization", ["Bearer ", { kind: "env", name: "TOKEN" }]] : ["X-Key", "value"];
  const headers = new Map([header]);
  const expectedUrl = { kind: "url", url, transport: "http", headers };
  report(
    isDeepStrictEqual(found.get("url"), expectedUrl) ? "ok" : "failed",
    `${host.title}: the package reads the added URL`,
    details,
  );
}

/**
 * Disables a server outside of its entry or in it, as the host does. The host shows it as disabled, and the package marks it.
 *
 * @param {import("./run-host.mjs").HostProgram} host
 * @param {Config} config
 * @param {{ check: Check; program: string; url: string; folder: string }} setting
 */
function checkDisabled(host, config, { check: { id, off }, program, url, folder }) {
  const place = placeOf(folder);
  for (const name of ["on", "off"]) {
    const target = /** @type {const} */ ({ kind: "url", url, transport: "http", headers: new Map() });
    const plan = config.planAdd({ ...place, host: id, scope: off.scope, name, target });
    config.applyPlan(plan, { backups: path.join(folder, "backups") });
  }
  off.disable(folder);
  const { output } = run(program, ["mcp", "list"], folder);
  const { servers, problems } = config.readServers({ ...place, hosts: [id] });
  const marked = servers.filter(({ isDisabled }) => isDisabled).map(({ name }) => name);
  const details = [output, JSON.stringify({ servers, problems })].join("\n");
  const line = output.split("\n").find((text) => /\boff\b/.test(text)) ?? "";
  report(off.shows.test(line) ? "ok" : "failed", `${host.title}: the host shows that a server is disabled`, details);
  const isMarked = isDeepStrictEqual(marked, ["off"]);
  report(isMarked ? "ok" : "failed", `${host.title}: the package marks the disabled server`, details);
}
