import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { exampleServer, hostile } from "../testing/example-server.ts";
import { type FakeIo, runWith } from "../testing/fake-io.ts";

let root: string;
let home: string;
let cwd: string;

beforeEach(async () => {
  root = await temporaryFolder();
  [home, cwd] = [join(root, "home"), join(root, "home", "project")];
  mkdirSync(cwd, { recursive: true });
});

/** Writes a file below the home folder. */
function write(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

async function run(line: string | string[], more: object = {}): Promise<{ code: number; io: FakeIo }> {
  return runWith({ cwd, env: { HOME: home }, server: exampleServer(), ...more }, line);
}

const url = "https://notes.example/mcp";

describe("mcparley servers", () => {
  test("lists the servers of all hosts, sorted by name, with file and line", async () => {
    write(".claude.json", '{\n"mcpServers": {\n"web": { "type": "http", "url": "https://web.example/mcp" }}}');
    write(".codex/config.toml", '[mcp_servers.notes]\ncommand = "node"\nargs = ["notes server.js"]\n');
    write("project/.cursor/mcp.json", { mcpServers: { notes: { command: "uvx", args: ["notes"] } } });
    const { code, io } = await run("servers");
    expect(code).toBe(0);
    const lines = io.out().trimEnd().split("\n");
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ["Name", "Host", "Scope", "Target", "Place"],
      ["notes", "codex", "user", 'node "notes server.js"', "~/.codex/config.toml:1"],
      ["notes", "cursor", "project", "uvx notes", "~/project/.cursor/mcp.json:1"],
      ["web", "claude-code", "user", "https://web.example/mcp", "~/.claude.json:3"],
    ]);
  });

  test("marks disabled servers, and shows no secrets of a target", async () => {
    write(".cursor/mcp.json", {
      mcpServers: {
        a: { url: "https://user:hunter2@a.example/mcp?key=hunter3", headers: { Authorization: "Bearer hunter4" } },
        b: { command: "b", args: ["--token", "hunter5", "--api-key=hunter6"], env: { KEY: "hunter7" }, disabled: true },
        c: { url: "https://c.example/mcp?key=${env:C_KEY}" },
      },
    });
    const { io } = await run("servers");
    expect(io.out()).toContain("https://***@a.example/mcp?key=***");
    expect(io.out()).toContain("b --token *** --api-key=*** (disabled)");
    expect(io.out()).toContain("https://c.example/mcp?key=${env:C_KEY}");
    expect((await run("servers --json")).io.out() + io.out()).not.toContain("hunter");
  });

  test("lists the other servers if a file or an entry is invalid, and exits with 1", async () => {
    const broken = write(".gemini/settings.json", '{\n"mcpServers": {');
    write(".cursor/mcp.json", { mcpServers: { good: { url }, bad: {} } });
    const { code, io } = await run("servers");
    expect(code).toBe(1);
    expect(io.out()).toContain("good");
    expect(io.out()).toMatch(/^bad .*\(invalid\)/m);
    expect(io.err()).toContain(`mcparley: ${broken}:2:`);
    expect(io.err()).toContain("  Correct the file by hand.");
    const document = JSON.parse((await run("servers --json")).io.out()) as Record<string, object[]>;
    expect(document["problems"]).toHaveLength(2);
    expect(document["problems"]).toContainEqual(expect.objectContaining({ file: broken, line: 2 }));
    expect(document["servers"]).toContainEqual({
      name: "good",
      host: "cursor",
      scope: "user",
      file: join(home, ".cursor/mcp.json"),
      line: 1,
      disabled: false,
      transport: "http",
      target: url,
    });
  });

  test.skipIf(process.platform === "win32")(
    "reports a file that other users can write, and does not use it",
    async () => {
      const file = write(".gemini/settings.json", { mcpServers: { notes: { url } } });
      chmodSync(file, 0o666);
      const { code, io } = await run("servers");
      expect(code).toBe(1);
      expect(io.err()).toContain(`${file}: Other users can write to the file (mode 666)`);
      expect(io.err()).toContain(`chmod go-w ${JSON.stringify(file)}`);
      const { io: unknown } = await run("list notes");
      expect(unknown.err()).toContain('There is no server "notes".');
      expect(unknown.err().replaceAll(/\s+/g, " ")).toContain(
        `which may have the name: ${file}: Other users can write`,
      );
    },
  );

  test("shows names that control a terminal as text", async () => {
    write(".cursor/mcp.json", { mcpServers: { [hostile]: { command: hostile, args: [hostile] } } });
    for (const terminal of [true, false]) {
      const { io } = await run("servers", { terminal, env: { HOME: home, NO_COLOR: "1" } });
      expect(io.out()).toContain("owned");
      for (const control of ["\u001b", "\u0007"]) expect(io.out()).not.toContain(control);
    }
  });

  test("shows two lines for each server on a narrow terminal", async () => {
    write(".cursor/mcp.json", { mcpServers: { notes: { command: "node", args: ["x".repeat(70)] } } });
    const { io } = await run("servers", { terminal: true, env: { HOME: home, NO_COLOR: "1" } });
    expect(io.out()).toBe(`notes  cursor (user)  node ${"x".repeat(70)}\n  ~/.cursor/mcp.json:1\n`);
  });

  test("reads another file with --config, and names the known forms for others", async () => {
    const toml = write("other.toml", '[mcp_servers.notes]\nurl = "https://notes.example/mcp"\n');
    expect((await run(["servers", "--config", toml])).io.out()).toContain("notes");
    expect((await run(["list", "notes", "--config", toml, "--trust"])).code).toBe(0);
    const text = write("other.txt", "");
    const unknown = await run(["servers", "--config", text]);
    expect(unknown.code).toBe(1);
    expect(unknown.io.err()).toContain("the form of the file is unknown.\n  Known are JSON files");
    expect((await run(["servers", "--config", "missing.json"])).io.err()).toContain("does not exist");
    expect((await run(["list", "note", "--config", toml])).io.err()).toContain('Did you mean "notes"?');
  });

  test("refuses words, and a program", async () => {
    expect((await run("servers notes")).io.err()).toContain("servers accepts no words");
    expect((await run("servers -- node")).io.err()).toContain("servers starts no program.");
  });

  test("names no server if there is none", async () => {
    const { code, io } = await run("servers");
    expect({ code, out: io.out() }).toMatchObject({
      code: 0,
      out: expect.stringContaining("No host has a server.") as string,
    });
  });
});

describe("a name of a host's configuration", () => {
  test("is a target, and expands references", async () => {
    write(
      ".codex/config.toml",
      '[mcp_servers.notes]\nurl = "https://notes.example/mcp"\nbearer_token_env_var = "TOKEN"\n',
    );
    const { code, io } = await run("list notes --trust", { env: { HOME: home, TOKEN: "t" } });
    expect(`${code} ${io.err()}`).toBe("0 ");
    expect(io.targets).toEqual([expect.objectContaining({ url, headers: { Authorization: "Bearer t" } })]);
    const unset = await run("list notes --trust");
    expect(unset.code).toBe(1);
    expect(unset.io.err()).toContain("refers to ${env:TOKEN}, and that environment variable is not set.\n  Set the");
  });

  test("is that of the user, and not that of a project, which HOST:NAME and --config select", async () => {
    write(".cursor/mcp.json", { mcpServers: { notes: { url } } });
    write("project/mcp.json", { mcpServers: { notes: { url: "https://project.example/mcp" } } });
    expect((await run("list notes --trust")).io.targets).toEqual([expect.objectContaining({ url })]);
    expect((await run("list cursor:notes")).io.targets).toEqual([expect.objectContaining({ url })]);
    for (const line of ["list mcparley:notes --trust", "list notes --config mcp.json --trust"]) {
      expect((await run(line)).io.targets).toEqual([expect.objectContaining({ url: "https://project.example/mcp" })]);
    }
  });

  test("is that of the nearest folder if only projects have it", async () => {
    write("mcp.json", { mcpServers: { notes: { url: "https://above.example/mcp" } } });
    write("project/.mcp.json", { mcpServers: { notes: { url } } });
    expect((await run("list notes --trust")).io.targets).toEqual([expect.objectContaining({ url })]);
  });

  test("that has different servers in files of one project is ambiguous, and both places are named", async () => {
    const one = write("project/mcp.json", { mcpServers: { notes: { url: "https://one.example/mcp" } } });
    const other = write("project/.vscode/mcp.json", { servers: { notes: { url } } });
    const { code, io } = await run("list notes --trust");
    expect(code).toBe(1);
    expect(io.targets).toEqual([]);
    const text = io.err().replaceAll(/\s+/g, " ");
    expect(text).toContain(`vscode:notes (${other}:1)`);
    expect(text).toContain(`mcparley:notes (${one}:1)`);
    expect((await run("list vscode:notes --trust")).io.targets).toEqual([expect.objectContaining({ url })]);
  });

  test("of the form HOST:NAME cannot be defined by a project", async () => {
    write(".cursor/mcp.json", { mcpServers: { notes: { url } } });
    const file = write("project/mcp.json", { mcpServers: { "cursor:notes": { url: "https://evil.example/mcp" } } });
    expect((await run("list cursor:notes --trust")).io.targets).toEqual([expect.objectContaining({ url })]);
    const { code, io } = await run(["servers", "--config", file]);
    expect(code).toBe(1);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain(
      "A project cannot define a name of the form HOST:NAME. Rename it.",
    );
    expect((await run(["list", "cursor:notes", "--trust", "--config", file])).io.targets).toEqual([]);
  });

  test("that has different servers in several hosts is ambiguous, and HOST:NAME selects one", async () => {
    write(".codex/config.toml", '[mcp_servers.notes]\nurl = "https://codex.example/mcp"\n');
    write(".gemini/settings.json", { mcpServers: { notes: { httpUrl: url } } });
    const { code, io } = await run("list notes");
    expect(code).toBe(1);
    expect(io.err()).toContain('Several files have different servers with the name "notes".');
    expect(io.err()).toContain(`codex:notes (${join(home, ".codex/config.toml")}:1), gemini-cli:notes (`);
    expect((await run("list gemini-cli:notes")).io.targets).toEqual([expect.objectContaining({ url })]);
  });

  test("that has the same server in several hosts is that server", async () => {
    write(".codex/config.toml", `[mcp_servers.notes]\nurl = "${url}"\n`);
    write(".gemini/settings.json", { mcpServers: { notes: { httpUrl: url } } });
    expect((await run("list notes")).io.targets).toEqual([expect.objectContaining({ url })]);
  });

  test("whose program was not approved is refused without a terminal", async () => {
    write(".gemini/settings.json", { mcpServers: { notes: { command: "notes-server", env: { A: "1" } } } });
    const { code, io } = await run("list notes");
    expect(code).toBe(7);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain("is not trusted, and there is no terminal to ask at.");
    expect(io.targets).toEqual([]);
    expect((await run("list notes --trust")).io.targets).toEqual([
      expect.objectContaining({ command: "notes-server", env: { A: "1" }, cwd }),
    ]);
  });

  test("is asked for once, with its variables", async () => {
    write(".gemini/settings.json", {
      mcpServers: { notes: { command: "notes-server", args: ["${PLACE}"], env: { A: "1" } } },
    });
    const options = { terminal: true, answers: ["y"], env: { HOME: home, NO_COLOR: "1", PLACE: "p" } };
    const { code, io } = await run("list notes", options);
    expect(code).toBe(0);
    expect(io.err()).toContain("Command       notes-server '${env:PLACE}'");
    expect(io.err()).toContain("Variable      A=1");
    expect(io.err()).toContain("Receives      your values of PLACE");
    expect((await run("list notes", { ...options, answers: [] })).code).toBe(0);
  });

  test("that is disabled is refused, also as HOST:NAME, unless another host has it", async () => {
    write(".gemini/settings.json", { mcpServers: { notes: { url, disabled: true } } });
    for (const word of ["notes", "gemini-cli:notes"]) {
      const { code, io } = await run(`list ${word} --trust`);
      expect(code).toBe(1);
      expect(io.err()).toMatch(
        /settings\.json:1:\d+: The server "notes" is disabled: "disabled" is true\.\n {2}Set "disabled" to false/,
      );
      expect(io.targets).toEqual([]);
    }
    write(".codex/config.toml", '[mcp_servers.notes]\nurl = "https://codex.example/mcp"\n');
    expect((await run("list notes")).io.targets).toEqual([
      expect.objectContaining({ url: "https://codex.example/mcp" }),
    ]);
    expect((await run("list gemini-cli:notes")).code).toBe(1);
  });

  test("that another scope of the host disables is refused", async () => {
    write("project/.gemini/settings.json", { mcpServers: { notes: { httpUrl: url, enabled: false } } });
    write(".gemini/settings.json", { mcpServers: { notes: { httpUrl: url } } });
    for (const word of ["notes", "gemini-cli:notes"]) {
      expect((await run(`list ${word}`)).io.err()).toContain("project/.gemini/settings.json:1:");
    }
  });

  test("that has both disabled and enabled is refused with file and line, and the other entries are used", async () => {
    const file = write(
      "project/mcp.json",
      `{"mcpServers": {\n"bad": {"url": "${url}", "disabled": false,\n"enabled": true},\n"good": {"url": "${url}"}}}`,
    );
    const message = `${file}:3:1: Server "bad": The entry has both "disabled" and "enabled"; keep one.`;
    const withFile = ["list", "bad", "--trust", "--config", file];
    for (const line of ["servers", "list bad", "list mcparley:bad --trust", withFile]) {
      const { code, io } = await run(line);
      expect(`${code} ${io.err()}`).toContain(`1 mcparley: ${message}`);
      expect(io.targets).toEqual([]);
    }
    expect((await run("list good --trust")).io.targets).toEqual([expect.objectContaining({ url })]);
  });

  test("is not searched behind an invalid file of a project that could have it", async () => {
    write("mcp.json", { mcpServers: { notes: { url: "https://above.example/mcp" } } });
    const file = write("project/mcp.json", '{\n"mcpServers": [');
    const { code, io } = await run("list notes --trust");
    expect(`${code} ${io.err()}`).toContain(`1 mcparley: ${file}:2:`);
    write(".codex/config.toml", `[mcp_servers.notes]\nurl = "${url}"\n`);
    for (const word of ["notes", "codex:notes"]) {
      expect((await run(`list ${word}`)).io.targets).toEqual([expect.objectContaining({ url })]);
    }
    expect((await run("list mcparley:notes")).io.err()).toContain(`${file}:2:`);
  });

  test("is suggested for a similar word", async () => {
    write(".codex/config.toml", `[mcp_servers.notes]\nurl = "${url}"\n`);
    expect((await run("list note")).io.err()).toContain('Did you mean "notes"?');
    expect((await run("list codex:note")).io.err()).toContain('Did you mean "codex:notes"?');
  });
});
