import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { exampleServer, hostile } from "../testing/example-server.ts";
import { type FakeIo, type FakeOptions, fakeIo, runWith } from "../testing/fake-io.ts";
import { runClientCommand } from "../run.ts";

let home: string;
let cwd: string;

beforeEach(async () => {
  home = join(await temporaryFolder(), "home");
  cwd = join(home, "project");
  mkdirSync(cwd, { recursive: true });
});

function write(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** Writes a program of `PATH` that is a script of a shell. */
function program(name: string, script: string): void {
  chmodSync(write(`bin/${name}`, `#!/bin/sh\n${script}\n`), 0o755);
}

function optionsOf(more: FakeOptions = {}): FakeOptions {
  const env = { HOME: home, NO_COLOR: "1", PATH: join(home, "bin"), ...more.env };
  return { cwd, server: exampleServer(), ...more, env };
}

async function run(line: string | string[], more: FakeOptions = {}): Promise<{ code: number; io: FakeIo }> {
  return runWith(optionsOf(more), line);
}

/** Reads a JSON file below the home folder, or the member at a path of keys. */
function read(path: string, ...keys: readonly string[]): unknown {
  const value = JSON.parse(readFileSync(join(home, path), "utf8")) as unknown;
  return keys.reduce((member, key) => (member as Record<string, unknown>)[key], value);
}

const url = "https://notes.example/mcp";

describe("mcparley add", () => {
  test("shows the server and the change, asks, writes it, and keeps a backup", async () => {
    const file = write(".cursor/mcp.json", '{\n  "mcpServers": {}\n}\n');
    const { code, io } = await run(`add ${url} --to cursor --name notes`, { terminal: true, answers: ["y"] });
    expect(`${code} ${io.unusedAnswers.length}`).toBe("0 0");
    expect(io.err()).toMatch(/Connected to \S+ \S+: \d+ tools, revision/);
    expect(io.err()).toContain(`Add "notes" in Cursor (user): ${file}:2`);
    expect(io.err()).toContain('-   "mcpServers": {}\n');
    expect(io.err()).toContain(`+       "url": "${url}"`);
    expect(read(".cursor/mcp.json")).toEqual({ mcpServers: { notes: { url } } });
    const [, backup = ""] = /The previous file is (.+)\.$/m.exec(io.out()) ?? [];
    expect(readFileSync(backup, "utf8")).toBe('{\n  "mcpServers": {}\n}\n');
    expect(backup.startsWith(join(home, ".local/state/mcparley/backups"))).toBe(true);
  });

  test.each(["n", "^D"])("writes nothing after the answer %s, and exits with 7", async (answer) => {
    const { code, io } = await run(`add ${url} --to cursor --name notes`, { terminal: true, answers: [answer] });
    expect(code).toBe(7);
    expect(io.err()).toContain("Nothing was written.");
    expect(existsSync(join(home, ".cursor"))).toBe(false);
  });

  test("shows the change without a terminal, and writes it only with --yes", async () => {
    const refused = await run(`add ${url} --to cursor --name notes`);
    expect(refused.code).toBe(7);
    expect(refused.io.err()).toContain(`+       "url": "${url}"`);
    expect(refused.io.err()).toContain("there is no terminal to ask at. Add --yes");
    expect(existsSync(join(home, ".cursor"))).toBe(false);
    expect((await run(`add ${url} --to cursor --name notes --yes`)).code).toBe(0);
    expect(read(".cursor/mcp.json")).toEqual({ mcpServers: { notes: { url } } });
  });

  test("writes nothing with --dry-run, and prints the change to stdout", async () => {
    const { code, io } = await run(`add ${url} --to cursor --name notes --dry-run`);
    expect(code).toBe(0);
    expect(io.out()).toContain("mcp.json (new file)\n+ {");
    expect(io.out()).toMatch(/\n\+ \}\n$/);
    expect(existsSync(join(home, ".cursor"))).toBe(false);
    const document = JSON.parse(
      (await run(`add ${url} --to cursor --name notes --dry-run --json`)).io.out(),
    ) as unknown;
    expect(document).toMatchObject({
      dryRun: true,
      changes: [{ action: "add", host: "cursor", scope: "user", name: "notes" }],
    });
  });

  test("uses the name of the server, and requires --name without a connection", async () => {
    await run(`add ${url} --to cursor --yes`);
    const [name = ""] = Object.keys(read(".cursor/mcp.json", "mcpServers") as object);
    expect(name).toMatch(/^[\w-]+$/);
    const { code, io } = await run(`add ${url} --to cursor --yes --no-check`);
    expect(code).toBe(1);
    expect(io.err()).toContain("Add --name NAME.");
    expect(io.targets).toEqual([]);
  });

  test("plans the changes of all hosts before it writes the first", async () => {
    const { code, io } = await run(
      `add ${url} --to cursor,gemini-cli --to zed --header X-Key:\${env:X_KEY} --name n --no-check --yes`,
    );
    expect(code).toBe(1);
    expect(io.err()).toContain("Zed");
    expect(existsSync(join(home, ".cursor"))).toBe(false);
    expect((await run(`add ${url} --to cursor,gemini-cli --name n --yes`)).code).toBe(0);
    expect(read(".cursor/mcp.json", "mcpServers")).toHaveProperty("n");
    expect(read(".gemini/settings.json", "mcpServers")).toHaveProperty("n");
  });

  test("keeps a server that has the name already, and replaces it with --replace after a yes", async () => {
    write(".cursor/mcp.json", { mcpServers: { notes: { command: "old", timeout: 5, autoApprove: ["*"] } } });
    for (const yes of ["", " --yes"]) {
      const refused = await run(`add ${url} --to cursor --name notes${yes}`, { terminal: true, answers: ["y"] });
      expect(`${refused.code} ${refused.io.unusedAnswers.length}`).toBe("1 1");
      expect(refused.io.err().replaceAll(/\s+/g, " ")).toMatch(
        /mcp.json has another server "notes". Choose another name with --name NAME, or replace that server with --replace./,
      );
    }
    expect(read(".cursor/mcp.json", "mcpServers", "notes", "command")).toBe("old");
    const more = { terminal: true, answers: ["y"] };
    const { code, io } = await run(`add ${url} --to cursor --name notes --replace`, more);
    expect(code).toBe(0);
    expect(io.err()).toContain('Replace "notes" in Cursor (user)');
    expect(read(".cursor/mcp.json")).toEqual({ mcpServers: { notes: { timeout: 5, url } } });
    const again = await run(`add ${url} --to cursor --name notes`);
    expect(`${again.code} ${again.io.out()}`).toBe("0 ");
    expect(again.io.err()).toContain("mcp.json has this server already.");
  });

  test.each(["user", "project"])("a server cannot take the name of an entry of the scope %s", async (scope) => {
    const file = scope === "user" ? ".gemini/settings.json" : "project/.gemini/settings.json";
    write(file, { mcpServers: { example: { url: "https://api.example", trust: true } } });
    const line = `add https://evil.example/mcp --to gemini-cli --scope ${scope} --yes`;
    const { code } = await run(line);
    expect(code).toBe(1);
    expect(read(file, "mcpServers", "example", "url")).toBe("https://api.example");
    expect((await run(`${line} --replace`)).code).toBe(0);
    expect(read(file, "mcpServers", "example")).toEqual({ type: "http", url: "https://evil.example/mcp" });
  });

  test("writes no host if the name is taken in one of several", async () => {
    write(".gemini/settings.json", { mcpServers: { n: { command: "old" } } });
    expect((await run(`add ${url} --to cursor --to gemini-cli --name n --yes`)).code).toBe(1);
    expect(existsSync(join(home, ".cursor"))).toBe(false);
  });

  test("remarks on a name with letters that look like others", async () => {
    const { io } = await run(["add", url, "--to", "cursor", "--name", "g\u0456thub", "--dry-run"]);
    expect(io.err()).toContain('The name contains characters that can look like other ones: "\u0456" (U+0456).');
    const plain = await run(["add", url, "--to", "cursor", "--name", "github", "--dry-run"]);
    expect(plain.io.err()).not.toContain("look like");
  });

  test.skipIf(process.platform === "win32").each([
    ["the file", "project/.cursor/mcp.json", "../../.cursor/mcp.json"],
    ["its folder", "project/.cursor", "../.cursor"],
    ["a folder that does not exist", "project/.cursor", "../other"],
  ])("--scope project follows no link out of the project: %s", async (_what, link, to) => {
    write(".cursor/mcp.json", { mcpServers: {} });
    mkdirSync(dirname(join(home, link)), { recursive: true });
    mkdirSync(join(home, "other"));
    symlinkSync(to, join(home, link));
    const { code, io } = await run(`add ${url} --to cursor --scope project --name n --yes`);
    expect(code).toBe(1);
    expect(io.err().replaceAll(/\s+/g, " ")).toMatch(/A link leads out of the project, to .*scope user\./);
    expect(read(".cursor/mcp.json")).toEqual({ mcpServers: {} });
    expect(readdirSync(join(home, "other"))).toEqual([]);
  });

  test("makes the paths of files absolute, except in a project", async () => {
    write("project/dist/server.js", "");
    const words = ["add", "--to", "cursor", "--name", "n", "--yes"];
    await run([...words, "--", "node", "dist/server.js", "missing.js"]);
    expect(read(".cursor/mcp.json", "mcpServers")).toEqual({
      n: { command: "node", args: [join(cwd, "dist/server.js"), "missing.js"] },
    });
    await run([...words, "--scope", "project", "--", "node", "dist/server.js"]);
    expect(read("project/.cursor/mcp.json", "mcpServers")).toEqual({
      n: { command: "node", args: ["dist/server.js"] },
    });
  });

  test("makes the paths of a copied entry of a project absolute, except in a project", async () => {
    write("project/dist/server.js", "");
    const entry = { command: "node", args: ["dist/server.js", "missing.js", "${env:DIR}/x.js"] };
    write("project/mcp.json", { mcpServers: { n: entry } });
    const more = { env: { DIR: "/d" } };
    const words = ["add", "n", "--name", "copy", "--yes", "--trust", "--to"];
    await run([...words, "gemini-cli"], more);
    expect(read(".gemini/settings.json", "mcpServers", "copy", "args")).toEqual([
      join(cwd, "dist/server.js"),
      "missing.js",
      expect.stringMatching(/DIR.*\/x\.js/),
    ]);
    await run([...words, "gemini-cli", "--scope", "project"], more);
    expect(read("project/.gemini/settings.json", "mcpServers", "copy", "args", "0")).toBe("dist/server.js");
  });

  test("adds nothing if the connection fails", async () => {
    const connect = (): Promise<never> => Promise.reject(new Error("refused"));
    const more = { connect: connect as never };
    const { code, io } = await run(`add ${url} --to cursor --name n --yes`, more);
    expect(code).not.toBe(0);
    expect(io.err()).toContain("--no-check adds it without a connection.");
    expect(existsSync(join(home, ".cursor"))).toBe(false);
  });
});

describe("secrets of mcparley add", () => {
  test.each([
    [["--env", "API_KEY=hunter2", "--", "node"], "--env API_KEY=...: the value looks like a secret", "--env API_KEY"],
    [["--", "node", "--token", "hunter2"], "Word 3 of the command looks like a secret", "'${env:NAME}'"],
    [["--", "node", "--api-key=hunter2"], "Word 2 of the command looks like a secret", "'${env:NAME}'"],
    [
      ["--header", "Authorization: Bearer hunter2", url],
      "--header Authorization: the value",
      "'Authorization: Bearer ${env:NAME}'",
    ],
    [["https://ada:hunter2@notes.example/mcp"], "The URL contains a secret.", "'${env:NAME}'"],
    [["https://notes.example/mcp?api_key=hunter2"], "The URL contains a secret.", "'${env:NAME}'"],
  ])("are refused in %j", async (words, message, cure) => {
    const { code, io } = await run(["add", "--to", "cursor", "--name", "n", "--yes", ...words]);
    expect(code).toBe(1);
    expect(io.err()).toContain(message);
    expect(io.err()).toContain(cure);
    expect(io.err()).not.toContain("hunter2");
    expect(existsSync(join(home, ".cursor"))).toBe(false);
  });

  test("become references in the form of the host", async () => {
    const words = ["--env", "API_KEY", "--env", "MODE=fast", "--name", "n", "--yes", "--", "server"];
    const { code, io } = await run(["add", "--to", "cursor,vscode,codex,claude-code", ...words]);
    expect(`${code} ${io.err()}`).toContain(
      "0 The server was not checked, because the variable API_KEY has no value here.",
    );
    expect(read(".cursor/mcp.json", "mcpServers", "n")).toMatchObject({
      env: { API_KEY: "${env:API_KEY}", MODE: "fast" },
    });
    expect(read(".claude.json", "mcpServers", "n")).toMatchObject({ env: { API_KEY: "${API_KEY}", MODE: "fast" } });
    const vscode = ".config/Code/User/mcp.json";
    expect(read(vscode, "servers", "n")).toMatchObject({ env: { API_KEY: "${input:api-key}", MODE: "fast" } });
    expect(read(vscode, "inputs")).toEqual([
      { type: "promptString", id: "api-key", description: "API_KEY of n", password: true },
    ]);
    expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toContain('env_vars = ["API_KEY"]');
  });

  test("of a file are not shown in the change", async () => {
    write(".cursor/mcp.json", {
      mcpServers: { notes: { command: "a", env: { API_KEY: "hunter2hunter2", B: "hunter3hunter3" } } },
    });
    const { io } = await run(`add ${url} --to cursor --name other --no-check --yes --json`);
    expect(read(".cursor/mcp.json", "mcpServers")).toHaveProperty("other");
    expect(io.err() + io.out()).toContain("***");
    expect(io.err() + io.out()).not.toContain("hunter");
  });

  test.each([
    { url: "https://h.example/s/hunter2hunter2hunter2/mcp?key=hunter2" },
    { url: "https://hunter2@h.example/mcp" },
    { command: "npx", args: ["mcp-remote", "https://h.example?k=hunter2", "--header", "X-Key: hunter2"] },
    { command: "x", args: ["--header=X-Key: hunter2", "--api-key=hunter2", "-e", "NAME=hunter2"] },
    { command: "x", env: { A: "hunter2", B: "h2" } },
    { command: "x", url: "https://h.example", headers: { "X-Tenant": "hunter2" } },
    { url: "https://h.example", oauth: { clientSecret: "hunter2" } },
  ])("of another entry, %j, are shown by neither add nor servers", async (entry) => {
    write(".cursor/mcp.json", { mcpServers: { notes: entry } });
    const { io } = await run(`add ${url} --to cursor --name other --no-check --dry-run`);
    expect(io.out()).toContain("notes.example");
    const shown = io.out() + io.err() + (await run("servers")).io.out() + (await run("servers --json")).io.out();
    expect(shown).not.toMatch(/hunter|"h2"/);
  });
});

describe("mcparley add NAME", () => {
  test("copies a server of another host, with references for its secrets", async () => {
    write(
      ".codex/config.toml",
      `[mcp_servers.notes]\nurl = "${url}"\nhttp_headers = { Authorization = "Bearer hunter2hunter2", X-A = "b" }\n`,
    );
    const { code, io } = await run("add notes --to cursor --yes");
    expect(`${code} ${io.err()}`).toContain("A secret is not copied. Set the variable NOTES_TOKEN");
    expect(io.targets).toEqual([
      expect.objectContaining({ headers: { Authorization: "Bearer hunter2hunter2", "X-A": "b" } }),
    ]);
    expect(read(".cursor/mcp.json", "mcpServers")).toEqual({
      notes: { url, headers: { Authorization: "Bearer ${env:NOTES_TOKEN}", "X-A": "b" } },
    });
    expect(io.err() + io.out()).not.toContain("hunter2");
  });

  test("starts the program of a configuration only after an approval", async () => {
    write(".gemini/settings.json", { mcpServers: { notes: { command: "notes-server" } } });
    const { code, io } = await run("add notes --to cursor");
    expect(code).toBe(7);
    expect(io.err()).toContain("is not trusted");
    expect(io.targets).toEqual([]);
  });

  test("suggests a name, and shows hostile names as text", async () => {
    write(".gemini/settings.json", { mcpServers: { notes: { httpUrl: url }, [hostile]: { httpUrl: url } } });
    expect((await run("add note --to cursor")).io.err()).toContain('Did you mean "notes"?');
    const { io } = await run(["add", hostile, "--to", "cursor", "--yes"], { terminal: true });
    expect(io.err() + io.out()).toContain("owned");
    for (const control of ["\u001b[31m", "\u001b[2J", "\u0007"]) expect(io.err() + io.out()).not.toContain(control);
  });
});

describe.skipIf(process.platform === "win32")("package runners", () => {
  const add = ["add", "--to", "cursor", "--name", "n", "--no-check", "--yes"];
  const entry = (): unknown => read(".cursor/mcp.json", "mcpServers", "n");

  test.each([
    [
      ["npx", "-y", "@a/notes"],
      ["-y", "@a/notes@1.2.3"],
    ],
    [
      ["npx", "--package=notes@latest", "run"],
      ["--package=notes@1.2.3", "run"],
    ],
    [
      ["npx", "notes@2.0.0", "--flag"],
      ["notes@2.0.0", "--flag"],
    ],
    [
      ["pnpm", "dlx", "notes"],
      ["dlx", "notes@1.2.3"],
    ],
  ])("pins %j to the version that npm shows", async (words, args) => {
    program("npm", 'echo "$*" >> "$HOME/asked"; echo \'["1.0.0", "1.2.3"]\'');
    const { code, io } = await run([...add, "--", ...words]);
    expect(`${code} ${io.err()}`).toMatch(/^0 /);
    expect(entry()).toEqual({ command: words[0], args });
    if (words[1] === "-y") expect(readFileSync(join(home, "asked"), "utf8")).toBe("view @a/notes version --json\n");
  });

  test.each([
    [["uvx", "notes"], ["notes@1.2.3"]],
    [
      ["uvx", "--from", "notes[all]", "run"],
      ["--from", "notes[all]==1.2.3", "run"],
    ],
    [["uvx", "notes==1.0"], ["notes==1.0"]],
  ])("pins %j to the version that uv finds", async (words, args) => {
    program("uv", 'read name; echo "$name==1.2.3"');
    expect((await run([...add, "--", ...words])).code).toBe(0);
    expect(entry()).toEqual({ command: "uvx", args });
  });

  test("uses pip if uv is not installed", async () => {
    program("pip", 'echo "notes (1.2.3)"; echo "Available versions: 1.2.3, 1.0.0"');
    expect((await run([...add, "--", "uvx", "notes"])).code).toBe(0);
    expect(entry()).toEqual({ command: "uvx", args: ["notes@1.2.3"] });
  });

  test.each([
    [["npx", "-y", "notes"], "", "npm is not installed"],
    [["npx", "-y", "notes"], "exit 1", "npm failed with exit code 1"],
    [["npx", "-y", "notes"], "echo '{}'", "npm found no version"],
    [["npx", "github:a/notes"], "", "is not a package of the npm registry"],
    [["npx", "--unknown", "notes"], "", "(--unknown)"],
    [["uvx", "notes"], "", "uv is not installed"],
  ])("are refused if the version of %j cannot be determined, except with --no-pin", async (words, script, reason) => {
    if (script !== "") program("npm", script);
    const { code, io } = await run([...add, "--", ...words]);
    expect(code).toBe(1);
    expect(io.err()).toContain(reason);
    expect(io.err()).toContain("Name an exact version, or add --no-pin");
    expect((await run([...add, "--no-pin", "--", ...words])).code).toBe(0);
    expect(entry()).toEqual({ command: words[0], args: words.slice(1) });
  });
});

describe.skipIf(process.platform === "win32")("the check of a host", () => {
  test.each([
    [
      "echo 'n: https://notes.example/mcp - Connected'; echo other",
      0,
      "claude mcp list: n: https://notes.example/mcp - Connected",
    ],
    ["echo 'not-n: a'", 0, "claude mcp list does not list it."],
    ["echo broken >&2; exit 3", 0, "claude mcp list failed: broken"],
  ])("runs %j after the change, and shows its outcome", async (script, status, shown) => {
    program("claude", script);
    const { code, io } = await run(`add ${url} --to claude-code --name n --yes`);
    expect(code).toBe(status);
    expect(io.out()).toContain(shown);
  });

  test("is skipped if the program is not installed", async () => {
    const { code, io } = await run(`add ${url} --to claude-code --name n --yes`);
    expect(code).toBe(0);
    expect(io.out()).toContain("claude mcp list was not run: the program is not installed here.");
  });
});

describe("bad input of mcparley add", () => {
  test.each([
    [`add ${url}`, "Which host? --to is missing.\n  Such as --to claude-code"],
    [`add ${url} --to curser`, 'There is no host "curser".\n  Did you mean "cursor"?'],
    [`add ${url} --to all`, 'There is no host "all".\n  '],
    ["add --to cursor", "Which server? TARGET is missing."],
    [`add ${url} --to cursor --scope team`, 'There is no scope "team".'],
    [
      `add ${url} --to windsurf --name n --no-check --yes --scope project`,
      "Windsurf has no configuration in the scope",
    ],
    [`add ${url} --to claude-desktop --name n --no-check --yes`, "Claude Desktop has no configuration in the scope"],
    [`add ${url} --to cursor --name __proto__ --no-check --yes`, "Cursor does not accept the name"],
    ["add ftp://a --to cursor", 'No host has a server "ftp://a".'],
    [`add ${url} extra --to cursor`, "add accepts one TARGET"],
    [`add ${url} --to cursor --env A=b`, "--env applies to servers that the host starts."],
    ["add --to cursor --header A:b -- node", "--header applies to servers at a URL."],
    ["add --to cursor --", "There is no command after --."],
  ])("%s is refused", async (line, message) => {
    const { code, io } = await run(line);
    expect(`${code} ${io.err()}`).toContain(`1 mcparley: ${message}`);
    expect(readdirSync(home)).toEqual(["project"]);
  });

  test.skipIf(process.platform === "win32")("refuses a file that other users can write", async () => {
    const file = write(".cursor/mcp.json", "{}");
    chmodSync(file, 0o666);
    const { code, io } = await run(`add ${url} --to cursor --name n --no-check --yes`);
    expect(code).toBe(1);
    expect(io.err()).toContain("Other users can write to the file (mode 666)");
    expect(io.err()).toContain("chmod go-w");
    expect(readFileSync(file, "utf8")).toBe("{}");
  });

  test("refuses a file that changes while the user is asked", async () => {
    const file = write(".cursor/mcp.json", "{}");
    const io = fakeIo(optionsOf({ terminal: true }));
    const finished = runClientCommand("add", [url, "--to", "cursor", "--name", "n", "--no-check"], io);
    await io.seen("Write it?");
    writeFileSync(file, '{"other": 1}');
    io.stdin.push("y\n");
    expect(await finished).toBe(1);
    expect(io.err()).toContain("mcp.json");
    expect(readFileSync(file, "utf8")).toBe('{"other": 1}');
  });
});

describe("mcparley remove", () => {
  test("shows the change, asks, and removes the server", async () => {
    const file = write(
      ".cursor/mcp.json",
      '{\n  "mcpServers": {\n    "a": { "url": "https://a/" },\n    "b": { "url": "https://b/" }\n  }\n}\n',
    );
    const { code, io } = await run("remove a --from cursor", { terminal: true, answers: ["y"] });
    expect(code).toBe(0);
    expect(io.err()).toContain(`Remove "a" from Cursor`);
    expect(io.err()).toContain('-     "a": { "url": "https://a/" },\n');
    expect(io.out()).toContain("The previous file is ");
    expect(readFileSync(file, "utf8")).toBe('{\n  "mcpServers": {\n    "b": { "url": "https://b/" }\n  }\n}\n');
  });

  test("finds the scope of the server, and asks for it if there are several", async () => {
    write("project/.gemini/settings.json", { mcpServers: { a: { httpUrl: url } } });
    expect((await run("remove a --from gemini-cli --yes")).code).toBe(0);
    expect(read("project/.gemini/settings.json")).toEqual({ mcpServers: {} });
    write("project/.gemini/settings.json", { mcpServers: { a: { httpUrl: url } } });
    write(".gemini/settings.json", { mcpServers: { a: { httpUrl: url } } });
    const { code, io } = await run("remove a --from gemini-cli --yes");
    expect(code).toBe(1);
    expect(io.err()).toMatch(/gemini-cli has several servers "a"\.\n {2}Add --scope: user \(.*\), project \(/);
    expect((await run("remove a --from gemini-cli --yes --scope user")).code).toBe(0);
    expect(read(".gemini/settings.json")).toEqual({ mcpServers: {} });
  });

  test.each([
    ["remove --from cursor", "Which server? NAME is missing."],
    ["remove a", "Which host? --from is missing."],
    ["remove nots --from cursor", 'cursor has no server "nots".\n  Did you mean "notes"?'],
    ["remove notes --from cursor --scope local", 'cursor has no server "notes" in the scope local.'],
    ["remove notes more --from cursor", "remove accepts one NAME"],
    ["remove notes --from cursor -- node", "remove starts no program."],
  ])("%s is refused", async (line, message) => {
    const file = write(".cursor/mcp.json", { mcpServers: { notes: { url } } });
    const before = readFileSync(file, "utf8");
    const { code, io } = await run(line);
    expect(`${code} ${io.err()}`).toContain(`1 mcparley: ${message}`);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("writes nothing without a terminal, except with --yes", async () => {
    write(".cursor/mcp.json", { mcpServers: { notes: { url } } });
    expect((await run("remove notes --from cursor")).code).toBe(7);
    expect(read(".cursor/mcp.json", "mcpServers")).toHaveProperty("notes");
  });
});
