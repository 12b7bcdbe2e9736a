import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandTarget } from "./expand.ts";
import type { ConfiguredServer, HostId } from "./model.ts";
import { readConfigFile, readServers } from "./read.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const node = { command: "node" };
const json = (value: object): string => JSON.stringify(value, null, 1);
const servers = (...names: string[]): string =>
  json({ mcpServers: Object.fromEntries(names.map((name) => [name, node])) });

/** Reads the servers of a host in the folder `p` of a home folder with files. */
function read(host: HostId, files: Readonly<Record<string, string>>): { found: ConfiguredServer[]; home: string } {
  const home = temporaryFolder({ "p/x": "", ...files });
  const result = readServers({ home, env: {}, platform: "linux", folder: `${home}/p`, hosts: [host] });
  return { found: [...result.servers], home };
}

/** Returns the names of the disabled servers with their reasons, without the folder. */
function reasons({ found, home }: ReturnType<typeof read>): string[] {
  return found.flatMap(({ name, scope, isDisabled, disabledBy }) => {
    expect(isDisabled).toBe(disabledBy !== undefined);
    return disabledBy ? [`${scope} ${name}: ${disabledBy.message.replaceAll(home, "~")}`] : [];
  });
}

describe("a server is disabled", () => {
  test.each<[HostId, string, string, string]>([
    ["mcparley", "p/mcp.json", "mcpServers", '"command": "x",\n"disabled": true'],
    ["claude-code", "p/.mcp.json", "mcpServers", '"command": "x",\n"disabled": true'],
    ["vscode", "p/.vscode/mcp.json", "servers", '"command": "x",\n"enabled": false'],
    ["cursor", "p/.cursor/mcp.json", "mcpServers", '"command": "x",\n"disabled": true'],
    ["windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", '"command": "x",\n"disabled": true'],
    ["zed", "p/.zed/settings.json", "context_servers", '"command": "x",\n"enabled": false'],
    ["zed", "p/.zed/settings.json", "context_servers", '"command": { "path": "x" },\n"enabled": false'],
    ["gemini-cli", "p/.gemini/settings.json", "mcpServers", '"command": "x",\n"disabled": true'],
    ["opencode", "p/opencode.json", "mcp", '"type": "local", "command": ["x"],\n"enabled": false'],
    ["opencode", "p/opencode.json", "mcp", '"type": "local", "command": ["x"],\n"disabled": true'],
  ])("by a member of an entry of %s in %s", async (host, file, table, members) => {
    const result = read(host, { [file]: `{ "${table}": { "a": { ${members} } } }` });
    const member = members.includes('"disabled"') ? "disabled" : "enabled";
    const [reason = ""] = reasons(result);
    expect(reason).toContain(`~/${file}:2:1: The server "a" is disabled: "${member}" is ${member === "disabled"}. Set`);
    await expect(Promise.all(result.found.map((server) => expandTarget(server)))).rejects.toMatchObject({
      code: "disabled",
    });
  });

  test("by a member of an entry in TOML and YAML", () => {
    const toml = read("codex", { "p/.codex/config.toml": '[mcp_servers.a]\ncommand = "x"\nenabled = false\n' });
    expect(reasons(toml)[0]).toContain("~/p/.codex/config.toml:3:1: ");
    const yaml = read("goose", {
      ".config/goose/config.yaml": "extensions:\n  a:\n    type: stdio\n    cmd: x\n    enabled: false\n",
    });
    expect(reasons(yaml)[0]).toContain("~/.config/goose/config.yaml:5:5: ");
  });

  test.each([[".claude/settings.json"], ["p/.claude/settings.json"], ["p/.claude/settings.local.json"]])(
    "by a list of Claude Code in %s, if the project has the server",
    (file) => {
      const list = '{\n"disabledMcpjsonServers": ["b",\n"a"]}';
      const result = read("claude-code", {
        "p/.mcp.json": servers("a", "A", "c"),
        ".claude.json": servers("a"),
        [file]: list,
      });
      expect(reasons(result)).toEqual([
        `project a: ~/${file}:3:1: The server "a" is disabled: "disabledMcpjsonServers" has its name. Remove it from "disabledMcpjsonServers".`,
      ]);
    },
  );

  test("by a list of Claude Code for one project, in each scope", () => {
    const home = temporaryFolder({ "p/.mcp.json": servers("shared", "other") });
    const project = { disabledMcpServers: ["mine", "shared", "local"], disabledMcpjsonServers: ["other"] };
    const settings = {
      mcpServers: { mine: node, other: node },
      projects: { [`${home}/p`]: { ...project, mcpServers: { local: node } } },
    };
    const all = temporaryFolder({ ".claude.json": json(settings) });
    const at = (folder: string): string[] =>
      readServers({ home: all, env: {}, folder, hosts: ["claude-code"] }).servers.flatMap(
        ({ name, isDisabled, scope }) => (isDisabled ? [`${scope} ${name}`] : []),
      );
    expect(at(`${home}/p`)).toEqual(["user mine", "project shared", "project other", "local local"].toSorted(byScope));
    expect(at(home)).toEqual([]);
  });

  test("by the lists of Gemini CLI, which compares names without case", () => {
    const settings = (mcp: object): string => json({ mcpServers: { Notes: node, wiki: node }, mcp });
    const names = (mcp: object): string[] => reasons(read("gemini-cli", { ".gemini/settings.json": settings(mcp) }));
    expect(names({ excluded: ["notes", 1] })).toEqual([expect.stringContaining('"excluded" has its name. Remove')]);
    expect(names({ allowed: ["NOTES"] })).toEqual([expect.stringContaining('"wiki" is disabled: "allowed" does not')]);
    expect(names({ allowed: [], excluded: [] })).toEqual([]);
    const project = read("gemini-cli", {
      ".gemini/settings.json": servers("notes"),
      "p/.gemini/settings.json": json({ mcp: { excluded: ["notes"] } }),
    });
    expect(reasons(project)).toEqual([expect.stringContaining("user notes: ~/p/.gemini/settings.json:4:")]);
  });

  test("by `gemini mcp disable`", () => {
    const result = read("gemini-cli", {
      ".gemini/settings.json": servers("Notes", "wiki"),
      ".gemini/mcp-server-enablement.json": json({ notes: { enabled: false }, wiki: { enabled: true } }),
    });
    expect(reasons(result)).toEqual([
      'user Notes: ~/.gemini/mcp-server-enablement.json:3:3: The server "Notes" is disabled: "enabled" is false. Set "enabled" to true, or remove it.',
    ]);
  });

  test("by an entry of a project for opencode, which has only `enabled`", () => {
    const entry = { type: "local", command: ["x"] };
    const result = read("opencode", {
      ".config/opencode/opencode.json": json({ mcp: { a: entry, b: entry, c: { ...entry, enabled: false } } }),
      "p/opencode.json": json({ mcp: { a: { enabled: false }, c: entry } }),
    });
    expect(reasons(result).map((reason) => reason.split(":").slice(0, 3).join(":"))).toEqual([
      "user a: ~/p/opencode.json:4",
      "user c: ~/.config/opencode/opencode.json:20",
    ]);
  });

  test("if a list of the host cannot be read, or is no list", () => {
    const home = temporaryFolder({
      "p/.mcp.json": servers("a"),
      "p/.claude/settings.json": '{ "disabledMcpjsonServers": "a" }',
    });
    const list = (): string | undefined =>
      readServers({ home, env: {}, folder: `${home}/p` }).servers[0]?.disabledBy?.message.replaceAll(home, "~");
    expect(list()).toBe('~/p/.claude/settings.json:1:3: "disabledMcpjsonServers" must be an array of names.');
    if (process.platform === "win32") return;
    chmodSync(`${home}/p/.claude/settings.json`, 0o666);
    expect(list()).toContain("~/p/.claude/settings.json: Other users can write to the file (mode 666)");
  });

  test("or not, whatever the lists are", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.constantFrom<unknown>("a", "A", 1, null)),
      fc.dictionary(
        fc.constantFrom("a", "__proto__"),
        fc.record({ enabled: fc.constantFrom<unknown>(true, false, 0) }),
      ),
    );
    fc.assert(
      fc.property(value, value, (list, other) => {
        const [server] = read("claude-code", {
          "p/.mcp.json": servers("a"),
          "p/.claude/settings.json": json({ disabledMcpjsonServers: list }),
        }).found;
        expect(server?.isDisabled).toBe(server?.disabledBy !== undefined);
        if (Array.isArray(list)) expect(server?.isDisabled).toBe(list.includes("a"));
        const gemini = read("gemini-cli", {
          ".gemini/settings.json": json({ mcpServers: { a: node }, mcp: { excluded: list, allowed: other } }),
          ".gemini/mcp-server-enablement.json": json({ list: other }),
        });
        expect(reasons(gemini).length).toBeLessThan(2);
      }),
      { numRuns: 50 },
    );
  });

  test("by the list in the file of its servers, wherever the file is", () => {
    const text = json({ mcpServers: { a: node, b: node }, mcp: { excluded: ["b"] } });
    const found = readConfigFile(`${temporaryFolder({ "other.json": text })}/other.json`, { host: "gemini-cli" });
    expect(found.servers.map(({ isDisabled }) => isDisabled)).toEqual([false, true]);
  });
});

test.each(["true", "false"])(
  "an entry with both disabled and enabled (%s) is a problem, and the others are used",
  (enabled) => {
    for (const disabled of ["true", "false"]) {
      const { found, home } = read("mcparley", {
        "p/mcp.json": `{"servers": {"a": {"command": "x", "disabled": ${disabled},\n"enabled": ${enabled}}, "b": {"command": "x"}}}`,
      });
      expect(found.map(({ name, target }) => `${name} ${target?.kind}`)).toEqual(["a undefined", "b command"]);
      expect(found[0]?.problems[0]?.message).toBe(
        `${home}/p/mcp.json:2:1: Server "a": The entry has both "disabled" and "enabled"; keep one.`,
      );
    }
  },
);

describe("the files of a project", () => {
  const mcp = { "mcp.json": servers("above"), "home/mcp.json": servers("mine"), "home/p/x": "", "other/x": "" };
  const names = (home: string, folder: string): string[] =>
    readServers({ home, env: {}, folder, hosts: ["mcparley"] }).servers.map(({ name }) => name);

  test("are searched up to the home folder, and outside of it up to the root", () => {
    const root = temporaryFolder(mcp);
    expect(names(`${root}/home`, `${root}/home/p`)).toEqual(["mine"]);
    expect(names(`${root}/home/`, `${root}/home/p`)).toEqual(["mine"]);
    expect(names(`${root}/home`, `${root}/other`)).toEqual(["above"]);
  });

  test.skipIf(process.platform === "win32")("are not searched above a home folder that is a link", () => {
    const root = temporaryFolder(mcp);
    mkdirSync(`${root}/links`);
    symlinkSync("../home", `${root}/links/me`);
    expect(names(`${root}/links/me`, `${root}/home/p`)).toEqual(["mine"]);
  });

  test("have each table of servers, and an invalid file is reported once", () => {
    const folder = temporaryFolder({
      "mcp.json": json({ servers: { a: node }, mcpServers: { b: node } }),
      ".mcp.json": json({ servers: { c: node }, mcpServers: { d: node } }),
      ".vscode/mcp.json": json({ servers: { e: node }, mcpServers: { f: node } }),
      ".cursor/mcp.json": json({ servers: { g: node }, mcpServers: { h: node } }),
    });
    const place = { home: folder, env: {}, platform: "linux", folder: `${folder}/p` } as const;
    const found = readServers(place).servers.map(({ host, name }) => `${host} ${name}`);
    expect(found).toEqual([
      "claude-code d",
      "vscode e",
      "cursor h",
      "mcparley b",
      "mcparley a",
      "mcparley c",
      "mcparley f",
      "mcparley g",
    ]);
    const broken = temporaryFolder({ ".mcp.json": "{", "mcp.json": "[]" });
    expect(readServers({ ...place, home: broken, folder: broken }).problems).toMatchObject([
      { file: `${broken}/.mcp.json`, host: "claude-code", scope: "project", folder: broken },
      { file: `${broken}/mcp.json`, host: "mcparley", scope: "project", folder: broken },
    ]);
  });

  test("keep the entry as it is written", () => {
    const entry = { command: "${env:A}", args: [1, "${B:-x}"], env: { C: null }, more: [true] };
    const folder = temporaryFolder({ "mcp.json": json({ mcpServers: { a: entry, b: 5 } }) });
    const { servers: found } = readConfigFile(`${folder}/mcp.json`, { host: "mcparley" });
    expect(found.map(({ rawEntry }) => rawEntry())).toEqual([entry, 5]);
    expect(JSON.stringify(found)).not.toContain("more");
  });
});

function byScope(one: string, other: string): number {
  const scopes = ["user", "project", "local"];
  return scopes.findIndex((scope) => one.startsWith(scope)) - scopes.findIndex((scope) => other.startsWith(scope));
}
