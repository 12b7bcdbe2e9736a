import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatValue, hosts, readServers } from "../index.ts";
import type { ConfiguredServer, HostId, ServerTarget } from "../model.ts";
import { placeOf } from "../place.ts";
import { planAdd, planRemove, planUpdate } from "../plan.ts";
import { applyPlan } from "../apply.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import type { ConfigValue } from "../values.ts";
import { readEntry } from "./entry-reader.ts";
import { rulesOf } from "./index.ts";

/** The files in the home folder, by host. Claude Desktop exists only for macOS and Windows, and mcparley has only files of projects. */
const files: Readonly<Record<HostId, readonly [fixture: string, file: string]>> = {
  "claude-code": ["claude-code.json", ".claude.json"],
  "claude-desktop": ["claude-desktop.json", "Library/Application Support/Claude/claude_desktop_config.json"],
  vscode: ["vscode.json", "Library/Application Support/Code/User/mcp.json"],
  cursor: ["cursor.json", ".cursor/mcp.json"],
  windsurf: ["windsurf.json", ".codeium/windsurf/mcp_config.json"],
  zed: ["zed.json", ".config/zed/settings.json"],
  codex: ["codex.toml", ".codex/config.toml"],
  "gemini-cli": ["gemini-cli.json", ".gemini/settings.json"],
  goose: ["goose.yaml", ".config/goose/config.yaml"],
  opencode: ["opencode.json", ".config/opencode/opencode.json"],
  mcparley: ["mcparley.json", "project/mcp.json"],
};
const ids = Object.keys(files) as HostId[];

function scopeOf(id: HostId): "user" | "project" {
  return id === "mcparley" ? "project" : "user";
}

function fixture(id: HostId): string {
  return readFileSync(new URL(`fixtures/${files[id][0]}`, import.meta.url), "utf8");
}

/** A home folder with the fixture of a host. */
function homeOf(id: HostId): {
  home: string;
  platform: "darwin";
  env: Record<string, string>;
  folder: string;
  file: string;
} {
  const home = temporaryFolder({ [files[id][1]]: fixture(id) });
  return { home, platform: "darwin", env: {}, folder: `${home}/project`, file: `${home}/${files[id][1]}` };
}

function shown(target: ServerTarget | undefined): string {
  if (!target) return "invalid";
  const table = (values: ReadonlyMap<string, ConfigValue>): string =>
    [...values].map(([name, value]) => ` ${name}=${formatValue(value)}`).join("");
  if (target.kind === "url") return `${target.transport} ${formatValue(target.url)}${table(target.headers)}`;
  const words = [target.command, ...target.args].map(formatValue).join(" ");
  const more = [
    target.cwd && ` cwd:${formatValue(target.cwd)}`,
    target.envFile && ` envFile:${formatValue(target.envFile)}`,
  ];
  return words + table(target.env) + more.filter(Boolean).join("");
}

function summary({ name, line, target, isDisabled }: ConfiguredServer): string {
  const revision = target?.revision === undefined ? "" : ` revision:${target.revision}`;
  return `${line} ${name}${isDisabled ? " (off)" : ""}: ${shown(target)}${revision}`;
}

const npx = "npx -y files-server@1.0.0";

test.each<[HostId, string[]]>([
  [
    "claude-code",
    [
      `4 files: ${npx} \${FILES_ROOT:-/srv/files} API_KEY=\${env:API_KEY}`,
      "11 notes: http https://notes.example/mcp Authorization=Bearer ${env:NOTES_TOKEN}",
      "16 old: sse https://old.example/sse",
      "17 broken: invalid",
    ],
  ],
  ["claude-desktop", [`3 files: ${npx} \${HOME} API_KEY=literal`]],
  [
    "vscode",
    [
      `5 files: ${npx} \${workspaceFolder} API_KEY=\${input:api-key} PORT=8080` +
        " cwd:${workspaceFolder}/sub envFile:${workspaceFolder}/.env",
      "14 notes: http https://notes.example/mcp Authorization=Bearer ${env:NOTES_TOKEN}",
    ],
  ],
  [
    "cursor",
    [
      "3 files: ${userHome}/bin/files --root ${workspaceFolder} API_KEY=${env:API_KEY} envFile:.env",
      "9 notes: http https://notes.example/mcp Authorization=Bearer ${env:NOTES_TOKEN}",
      "10 off (off): http https://off.example/mcp",
    ],
  ],
  [
    "windsurf",
    [
      `3 files: ${npx} API_KEY=\${file:/run/key}`,
      "4 notes: http https://notes.example/mcp API_KEY=Bearer ${env:NOTES_TOKEN}",
    ],
  ],
  [
    "zed",
    [
      `5 files: ${npx} API_KEY=literal`,
      "6 older: older x",
      "7 notes (off): http https://notes.example/mcp Authorization=Bearer literal",
    ],
  ],
  [
    "codex",
    [
      `4 files (off): ${npx} API_KEY=\${env:API_KEY} MODE=all cwd:/srv`,
      "15 notes.v2: http https://notes.example/mcp X-Region=eu X-Team=${env:TEAM} Authorization=Bearer ${env:NOTES_TOKEN}",
    ],
  ],
  [
    "gemini-cli",
    [
      `4 files: ${npx} \${env:FILES_ROOT} API_KEY=\${env:API_KEY} cwd:./sub`,
      "12 notes: http https://notes.example/mcp Authorization=Bearer ${env:NOTES_TOKEN}",
      "13 old: sse https://old.example/sse",
    ],
  ],
  [
    "goose",
    [
      `10 files: ${npx} API_KEY=\${env:API_KEY} MODE=all`,
      "22 notes (off): http https://notes.example/mcp Authorization=Bearer ${env:NOTES_TOKEN}",
    ],
  ],
  [
    "opencode",
    [
      `4 files: ${npx} API_KEY=\${env:API_KEY}`,
      "11 notes (off): http https://notes.example/mcp Authorization=Bearer ${file:./token}",
    ],
  ],
  [
    "mcparley",
    [
      `4 files: ${npx} \${workspaceFolder} API_KEY=\${env:API_KEY} PORT=8080 envFile:.env`,
      "11 notes: http https://notes.example/mcp Authorization=Bearer ${NOTES_TOKEN:-none} revision:2025-11-25",
      "15 editor (off): editor-server ${file:/etc/passwd}",
    ],
  ],
])("reads the documented configuration of %s", (id, expected) => {
  const place = homeOf(id);
  const { servers, problems } = readServers({ ...place, hosts: [id], scopes: [scopeOf(id)] });
  expect(problems).toEqual([]);
  expect(servers.map(summary)).toEqual(expected);
  expect(new Set(servers.map(({ file }) => file))).toEqual(new Set([place.file]));
});

test("reads the local scope of Claude Code, which is that of the repository", () => {
  const { home } = homeOf("claude-code");
  const { servers } = readServers({ home, env: {}, folder: "/work", hosts: ["claude-code"], scopes: ["local"] });
  expect(servers.map(summary)).toEqual(["20 mine: node mine.js"]);
  const folder = temporaryFolder({ ".git/HEAD": "", "sub/x": "" });
  const [, , local] = rulesOf("claude-code").locations(placeOf({ home, env: {}, folder: `${folder}/sub` }));
  expect(local?.path).toEqual(["projects", folder, "mcpServers"]);
});

const command: ServerTarget = {
  kind: "command",
  command: "npx",
  args: ["-y", "new-server@2.0.0"],
  env: new Map([["MODE", "all"]]),
};
const url: ServerTarget = { kind: "url", url: "https://new.example/mcp", transport: "http", headers: new Map() };

describe.each(ids)("%s", (id) => {
  const place = (): ReturnType<typeof homeOf> => homeOf(id);

  test("has a link to its documentation", () => {
    expect(hosts.find((host) => host.id === id)?.documentation).toMatch(/^https:\/\//);
  });

  test("shows a new server as it was given, and the file is the same after its removal", () => {
    const home = place();
    const target = rulesOf(id).transports.includes("http") ? [command, url] : [command];
    for (const [index, given] of target.entries()) {
      applyPlan(planAdd({ ...home, host: id, scope: scopeOf(id), name: `new${index}`, target: given }), {
        backups: home.home,
      });
    }
    const { servers } = readServers({ ...home, hosts: [id], scopes: [scopeOf(id)] });
    const added = servers.filter(({ name }) => name.startsWith("new"));
    expect(added.map(({ target }) => shown(target))).toEqual(target.map(shown));
    for (const { name } of added) {
      applyPlan(planRemove({ ...home, host: id, scope: scopeOf(id), name }), { backups: home.home });
    }
    expect(readFileSync(home.file, "utf8")).toBe(fixture(id));
  });

  test("keeps the members that the package does not know when a server is updated", () => {
    const home = place();
    const plan = planUpdate({ ...home, host: id, scope: scopeOf(id), name: "files", target: command });
    const kept = ["timeout", "dev", "source", "startup_timeout_sec", "enabled", "description"];
    for (const member of kept) expect(plan.after.split(member)).toHaveLength(fixture(id).split(member).length);
    applyPlan(plan, { backups: home.home });
    const { servers } = readServers({ ...home, hosts: [id], scopes: [scopeOf(id)] });
    expect(shown(servers.find(({ name }) => name === "files")?.target)).toBe(shown(command));
  });

  test("writes a reference to a variable in its own form, or refuses it", () => {
    const home = place();
    const target: ServerTarget = { ...command, env: new Map([["TOKEN", [{ kind: "env", name: "TOKEN" }]]]) };
    const add = (): string => planAdd({ ...home, host: id, scope: scopeOf(id), name: "new", target }).after;
    if (rulesOf(id).references.env === "none") return expect(add).toThrow("does not replace ${env:TOKEN}");
    applyPlan(planAdd({ ...home, host: id, scope: scopeOf(id), name: "new", target }), { backups: home.home });
    const { servers } = readServers({ ...home, hosts: [id], scopes: [scopeOf(id)] });
    expect(shown(servers.find(({ name }) => name === "new")?.target)).toBe(shown(target));
  });

  test("does not turn a literal text into a reference", () => {
    const home = place();
    for (const text of ["${TOKEN}", "$TOKEN", "{env:TOKEN}", "${env:TOKEN}"]) {
      const target: ServerTarget = { ...command, args: [text] };
      try {
        applyPlan(planAdd({ ...home, host: id, scope: scopeOf(id), name: "literal", target }), { backups: home.home });
      } catch (error) {
        expect(error).toMatchObject({ code: "unsupported" });
        continue;
      }
      const { servers } = readServers({ ...home, hosts: [id], scopes: [scopeOf(id)] });
      const read = servers.find(({ name }) => name === "literal")?.target;
      expect(read).toMatchObject({ args: [text] });
      applyPlan(planRemove({ ...home, host: id, scope: scopeOf(id), name: "literal" }), { backups: home.home });
    }
  });

  test.each(["", " ", "a\nb", "\u001B[2J", "\u202Ename", "\uD800"])("refuses the name %j", (name) => {
    expect(() => planAdd({ ...place(), host: id, scope: scopeOf(id), name, target: command })).toThrow(
      expect.objectContaining({ code: "invalid_name" }),
    );
  });

  test.each(["__proto__", "constructor", "toString", "a.b", 'a"b', "a'b", "é", "#x", "[x]", "1"])(
    "keeps or refuses the name %j",
    (name) => {
      const home = place();
      try {
        applyPlan(planAdd({ ...home, host: id, scope: scopeOf(id), name, target: command }), { backups: home.home });
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_name" });
        return;
      }
      const { servers } = readServers({ ...home, hosts: [id], scopes: [scopeOf(id)] });
      expect(servers.map((server) => server.name)).toContain(name);
      const removed = planRemove({ ...home, host: id, scope: scopeOf(id), name });
      expect(removed.after).toBe(fixture(id));
    },
  );
});

test.each<[HostId, ServerTarget, string]>([
  [
    "codex",
    { ...url, headers: new Map([["Authorization", ["Bearer ", { kind: "env", name: "T" }]]]) },
    'bearer_token_env_var = "T"',
  ],
  ["codex", { ...url, headers: new Map([["X-Key", [{ kind: "env", name: "K" }]]]) }, '.env_http_headers]\nX-Key = "K"'],
  ["codex", { ...command, env: new Map([["K", [{ kind: "env", name: "K" }]]]) }, 'env_vars = ["K"]'],
  ["goose", { ...url, headers: new Map([["X-Key", [{ kind: "env", name: "K" }]]]) }, "env_keys:\n      - K\n"],
  ["claude-code", { ...command, args: [[{ kind: "env", name: "K", fallback: "x" }]] }, '"${K:-x}"'],
  ["opencode", { ...command, args: [[{ kind: "env", name: "K" }]] }, '"{env:K}"'],
  ["windsurf", { ...url, headers: new Map([["X-Key", [{ kind: "env", name: "K" }]]]) }, '"X-Key": "${env:K}"'],
  ["windsurf", url, '"serverUrl": "https://new.example/mcp"'],
  ["gemini-cli", { ...url, transport: "sse" }, '"type": "sse"'],
  ["mcparley", { ...url, revision: "2025-11-25" }, '"revision": "2025-11-25"'],
  ["mcparley", { ...command, revision: "2025-06-18" }, '"revision": "2025-06-18"'],
])("%s writes %j", (id, target, expected) => {
  expect(planAdd({ ...homeOf(id), host: id, scope: scopeOf(id), name: "new", target }).after).toContain(expected);
});

test("mcparley writes mcp.json, and removes its servers from the files of other hosts", () => {
  const home = temporaryFolder({
    ".mcp.json": '{ "servers": { "old": { "command": "x" } } }',
    ".cursor/mcp.json": '{ "mcpServers": { "a": { "command": "x" } } }',
  });
  const place = { home: `${home}/none`, env: {}, folder: home, host: "mcparley", scope: "project" } as const;
  expect(planAdd({ ...place, name: "new", target: command }).file).toBe(`${home}/mcp.json`);
  expect(planRemove({ ...place, name: "old" }).file).toBe(`${home}/.mcp.json`);
  expect(() => planRemove({ ...place, name: "a" })).toThrow(expect.objectContaining({ code: "not_found" }));
  expect(() => planAdd({ ...place, scope: "user", name: "new", target: command })).toThrow("Its scopes are: project.");
});

test.each(["2025", 20251125, "2025-11-25 ", ["2025-11-25"]])(
  "refuses the revision %j, and reads the other entries",
  (revision) => {
    const entry = { command: "x", revision };
    const folder = temporaryFolder({ "mcp.json": JSON.stringify({ mcpServers: { a: entry, b: { command: "y" } } }) });
    const { servers } = readServers({ home: `${folder}/none`, env: {}, folder });
    expect(servers.map(({ target }) => target?.kind)).toEqual([undefined, "command"]);
    expect(servers[0]?.problems[0]?.message).toMatch(/mcp\.json:1:\d+: Server "a": "revision" must be/);
  },
);

test("does not read a revision from an entry of another host, which has no such member", () => {
  const entry = { command: "x", revision: "2025-11-25" };
  const folder = temporaryFolder({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { a: entry } }) });
  const { servers } = readServers({ home: `${folder}/none`, env: {}, folder });
  expect(servers.map(({ host, target }) => [host, target?.revision])).toEqual([["cursor", undefined]]);
});

test("VS Code asks for the inputs of a new server, and each only once", () => {
  const home = homeOf("vscode");
  const input = (id: string): ConfigValue => [{ kind: "input", id }];
  const env = new Map([
    ["A", input("api-key")],
    ["B", input("second")],
    ["C", input("second")],
  ]);
  const target: ServerTarget = { ...command, env };
  const plan = planAdd({
    ...home,
    host: "vscode",
    scope: "user",
    name: "new",
    target,
    inputs: new Map([["second", "2nd key"]]),
  });
  expect(plan.after).toContain('{"type":"promptString","id":"second","description":"2nd key","password":true}');
  expect(plan.after.match(/"id":/g)).toHaveLength(2);
});

test.each<[HostId, ServerTarget, string]>([
  ["codex", { ...url, transport: "sse" }, "Codex: The host does not support sse. It supports stdio, http."],
  ["claude-desktop", url, "Claude Desktop: The host does not support http. It supports stdio."],
  [
    "codex",
    { ...command, env: new Map([["A", [{ kind: "env", name: "B" }]]]) },
    "does not replace ${env:B} at this place",
  ],
  ["cursor", { ...command, args: [[{ kind: "input", id: "x" }]] }, "does not replace ${input:x} at this place"],
  [
    "codex",
    { ...command, envFile: ".env" },
    'Codex: The host has no member for "envFile". Name the variables in its environment',
  ],
  ["goose", { ...command, cwd: "/" }, 'goose: The host has no member for "cwd".'],
  ["cursor", { ...url, revision: "2025-11-25" }, 'Cursor: The host has no member for "revision". Leave it out'],
  ["claude-code", { ...command, revision: "2025-11-25" }, 'Claude Code: The host has no member for "revision".'],
  ["zed", { ...url, url: "ftp://user:secret@a.example" }, "a URL must be one of http or https"],
])("%s refuses %j", (id, target, message) => {
  const add = () => planAdd({ ...homeOf(id), host: id, scope: scopeOf(id), name: "new", target });
  expect(add).toThrow(message);
  expect(add).not.toThrow("secret");
});

test.each<[HostId, NodeJS.Platform, Record<string, string>, string[]]>([
  ["claude-code", "linux", { CLAUDE_CONFIG_DIR: "/c" }, ["/c/.claude.json", "/p/.mcp.json", "/c/.claude.json"]],
  ["claude-desktop", "linux", {}, []],
  ["claude-desktop", "win32", { APPDATA: "C:\\A" }, ["C:\\A\\Claude\\claude_desktop_config.json"]],
  ["vscode", "linux", {}, ["/h/.config/Code/User/mcp.json", "/p/.vscode/mcp.json"]],
  ["vscode", "win32", { APPDATA: "C:\\A" }, ["C:\\A\\Code\\User\\mcp.json", "\\p\\.vscode\\mcp.json"]],
  ["zed", "linux", { XDG_CONFIG_HOME: "/x" }, ["/x/zed/settings.json", "/p/.zed/settings.json"]],
  ["zed", "linux", { XDG_CONFIG_HOME: "relative" }, ["/h/.config/zed/settings.json", "/p/.zed/settings.json"]],
  ["zed", "darwin", {}, ["/h/.config/zed/settings.json", "/p/.zed/settings.json"]],
  ["codex", "linux", { CODEX_HOME: "/c" }, ["/c/config.toml", "/p/.codex/config.toml"]],
  ["gemini-cli", "linux", { GEMINI_CLI_HOME: "/g" }, ["/g/.gemini/settings.json", "/p/.gemini/settings.json"]],
  ["goose", "win32", { APPDATA: "C:\\A" }, ["C:\\A\\Block\\goose\\config\\config.yaml"]],
])("%s has its files on %s with %j", (id, platform, env, expected) => {
  const locations = rulesOf(id).locations({ env, platform, home: "/h", folder: "/p" });
  expect(locations.map(({ file }) => file)).toEqual(expected);
});

test("Codex has no member envFile, so that a file of this name is not read", () => {
  const entry = readEntry({ command: "x", envFile: "secrets.env" }, "none");
  expect(rulesOf("codex").read(entry)).toMatchObject({ command: "x", envFile: undefined });
});
