import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "./target.ts";
import { resolveTarget } from "./find-target.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mcparley-target-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function find(
  word: string,
  options: { cwd?: string; env?: Record<string, string>; runsTypeScript?: boolean } = {},
): Promise<Target> {
  const cwd = join(root, options.cwd ?? ".");
  const env = { HOME: root, ...options.env };
  return resolveTarget({ word, command: undefined, headers: {}, env: {} }, { ...options, env, cwd });
}

const words = { word: undefined, command: undefined, headers: {}, env: {} };

describe("resolveTarget", () => {
  test("takes a URL with headers, and a command with variables", async () => {
    const url = "https://example.com/mcp";
    const target = await resolveTarget(
      { ...words, word: url, headers: { A: "b" } },
      { cwd: root, env: { HOME: root } },
    );
    expect(target).toEqual({ kind: "url", url, headers: { A: "b" } });
    const started = await resolveTarget(
      { ...words, command: ["node", "s.js", "-v"], env: { A: "b" } },
      { cwd: root, env: { HOME: root } },
    );
    expect(started).toEqual({ kind: "command", command: "node", args: ["s.js", "-v"], env: { A: "b" }, cwd: root });
  });

  test("passes the named variables of this environment with --env, and all with --env-all", async () => {
    const at = { cwd: root, env: { HOME: root, KEY: "k", OTHER: "o" } };
    const command = ["node"];
    const passed = (more: object): Promise<Target> => resolveTarget({ ...words, command, ...more }, at);
    expect(await passed({ env: { KEY: undefined, A: "b" } })).toMatchObject({ env: { KEY: "k", A: "b" } });
    expect(await passed({ envAll: true, env: { OTHER: "x" } })).toMatchObject({ env: { KEY: "k", OTHER: "x" } });
    await expect(passed({ env: { MISSING: undefined } })).rejects.toThrow(
      "--env MISSING: this variable is not set here.",
    );
  });

  test("searches up to the home folder, and up to the root outside of it", async () => {
    write("mcp.json", '{"mcpServers": {"above": {"url": "https://above/"}}}');
    write("home/mcp.json", '{"mcpServers": {"mine": {"url": "https://mine/"}}}');
    write("home/p/file", "");
    write("other/file", "");
    const env = { HOME: join(root, "home") };
    expect(await find("mine", { cwd: "home/p", env })).toMatchObject({ url: "https://mine/" });
    await expect(find("above", { cwd: "home/p", env })).rejects.toThrow('There is no server "above".');
    expect(await find("above", { cwd: "other", env })).toMatchObject({ url: "https://above/" });
  });

  test.skipIf(process.platform === "win32")("refuses a file, and an envFile, that other users can write", async () => {
    write("mcp.json", '{"servers": {"s": {"command": "a", "envFile": ".env"}}}');
    write(".env", "A=1\n");
    chmodSync(join(root, ".env"), 0o666);
    await expect(find("s")).rejects.toThrow(`${join(root, ".env")}: Other users can write to the file`);
    chmodSync(join(root, "mcp.json"), 0o666);
    await expect(find("other")).rejects.toThrow(`${join(root, "mcp.json")}: Other users can write to the file`);
  });

  test("refuses options that do not apply to the target", async () => {
    const at = { cwd: root, env: { HOME: root } };
    await expect(resolveTarget({ ...words, word: "http://a/", env: { A: "b" } }, at)).rejects.toThrow(
      "--env applies to servers that mcparley starts",
    );
    await expect(resolveTarget({ ...words, command: ["a"], headers: { A: "b" } }, at)).rejects.toThrow(
      "--header applies to servers at a URL",
    );
    await expect(resolveTarget({ ...words, command: [] }, at)).rejects.toThrow("no command after --");
  });

  test.each([
    ["mcp.json", "mcpServers"],
    [".mcp.json", "mcpServers"],
    [".vscode/mcp.json", "servers"],
    [".cursor/mcp.json", "mcpServers"],
  ])("finds a name in %s, from a folder below it", async (path, dialect) => {
    write(
      path,
      `// servers\n{ "${dialect}": { "web": { "type": "http", "url": "https://a.example/mcp", "headers": { "X": "y" }, }, } }`,
    );
    write("sub/deep/file", "");
    expect(await find("web", { cwd: "sub/deep" })).toMatchObject({
      kind: "url",
      url: "https://a.example/mcp",
      headers: { X: "y" },
    });
  });

  test("uses the nearest file that has the name", async () => {
    write("mcp.json", '{"mcpServers": {"a": {"url": "https://outer/"}, "b": {"url": "https://outer-b/"}}}');
    write("sub/mcp.json", '{"mcpServers": {"a": {"url": "https://inner/"}}}');
    expect(await find("a", { cwd: "sub" })).toMatchObject({ url: "https://inner/" });
    expect(await find("b", { cwd: "sub" })).toMatchObject({ url: "https://outer-b/" });
  });

  test("replaces variables, relative to the folder that the file belongs to", async () => {
    const entry = {
      command: "${workspaceFolder}/bin/server",
      args: ["--port", "${PORT:-80}", "${env:NAME}", "${EMPTY:-x}"],
      env: { TOKEN: "${TOKEN}", N: 5, LEFT_OUT: null },
      cwd: "sub",
    };
    write(".vscode/mcp.json", JSON.stringify({ servers: { s: entry } }));
    expect(await find("s", { env: { NAME: "n", TOKEN: "t", EMPTY: "" } })).toMatchObject({
      kind: "command",
      command: `${root}/bin/server`,
      args: ["--port", "80", "n", "x"],
      env: { TOKEN: "t", N: "5" },
      cwd: join(root, "sub"),
    });
  });

  test("reads an envFile, and overrides it with env", async () => {
    write("mcp.json", '{"servers": {"s": {"command": "a", "envFile": "${workspaceFolder}/.env", "env": {"B": "2"}}}}');
    write(".env", "A=1\nB=1\n");
    expect(await find("s")).toMatchObject({ env: { A: "1", B: "2" } });
  });

  test.each([
    ['{"mcpServers": {\n"s": {"command": "a" "b": 1}}}', ":2:22: Expected"],
    ['{"mcpServers": {\n"s": {}}}', ':2:1: Server "s": The entry needs a "command" to start or a "url"'],
    ['{"mcpServers": {"s": {"command": "a", "url": "https://a"}}}', ':1:39: Server "s": The entry has both'],
    ['{"mcpServers": {"s": {\n"url": "ftp://a"}}}', ':2:1: Server "s": "url" must be an http or https URL'],
    ['{"mcpServers": {"s": {"command": "a",\n"args": "b"}}}', ':2:1: Server "s": "args" must be an array of strings'],
    ['{"mcpServers": {"s": {"command": "a",\n"args": [\n{}]}}}', ':3:1: Server "s": "args.0" must be a string'],
    [
      '{"mcpServers": {"s": {"command": "a",\n"env": {\n"A": "${MISSING}"}}}}',
      ':3:1: "env.A" of the server "s" refers to ${env:MISSING}, and that',
    ],
    ['{"mcpServers": {"s": {"command": "${input:key}"}}}', "${input:key}, which only the host asks for"],
    ['{"mcpServers": {"s": {"command": "${what ever}"}}}', "${what ever}, which is not a known reference"],
    ['{"mcpServers": []}', ':1:2: "mcpServers" must contain an object'],
    ["[]", ":1:1: The file must contain an object"],
    ['{"mcpServers": {"s": 5}}', ':1:17: Server "s": The entry must be an object'],
  ])("refuses %j with file and line", async (text, message) => {
    write("mcp.json", text);
    await expect(find("s")).rejects.toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(message) }),
    );
    await expect(find("s")).rejects.toThrow(join(root, "mcp.json"));
  });

  test.each([["${TOKEN}${MISSING}"], ["ftp://${TOKEN}"]])(
    "does not show the value of a variable in %s",
    async (text) => {
      write("mcp.json", JSON.stringify({ mcpServers: { s: { url: text } } }));
      await expect(find("s", { env: { TOKEN: "secret" } })).rejects.toThrow(
        expect.objectContaining({ message: expect.not.stringContaining("secret") }),
      );
    },
  );

  test("lists each name once for an unknown one, and suggests a name of a host", async () => {
    write("mcp.json", '{"mcpServers": {"wiki": {"url": "https://a/"}, "notes": {"url": "https://a/"}}}');
    write(".cursor/mcp.json", '{"mcpServers": {"notes": {"url": "https://b/"}}}');
    await expect(find("zzzzzz")).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Available: (notes, wiki|wiki, notes)\.$/) }),
    );
    await expect(find("cursor:nots")).rejects.toThrow(
      expect.objectContaining({ hint: 'Did you mean "cursor:notes"?' }),
    );
    await expect(find("mcparley:wik")).rejects.toThrow(
      expect.objectContaining({ hint: 'Did you mean "mcparley:wiki"?' }),
    );
  });

  test.each([
    ["handbok", 'Did you mean "handbook"?'],
    ["localhost:3333/mcp", "Did you mean http://localhost:3333/mcp?"],
    ["example.com/mcp", "Did you mean https://example.com/mcp?"],
    ["ftp://example.com", "Only http and https URLs"],
    ["server.js", "-- node server.js"],
    ["folder", "-- mcparley serve folder --stdio"],
    ["./server.js", "last: -- node ./server.js"],
    ["./missing.js", "There is no file ./missing.js here."],
    ["missing.js", "-- node missing.js"],
    ["../tools/missing.py", "-- python ../tools/missing.py"],
    ["./bin/missing", "-- ./bin/missing"],
    ["program", "-- ./program"],
    ["server.sh", "-- sh server.sh"],
    ["it's a.js", String.raw`-- node 'it'\''s a.js'`],
    ["a folder", "-- mcparley serve 'a folder' --stdio"],
    ["./bin/a program", "-- './bin/a program'"],
    ["127.0.0.1:3333/mcp", "Did you mean http://127.0.0.1:3333/mcp?"],
  ])("refuses the unknown target %s with a suggestion", async (word, hint) => {
    write("mcp.json", '{"mcpServers": {"handbook": {"url": "https://a/"}}}');
    write("server.js", "");
    write("folder/file", "");
    write("a folder/file", "");
    write("program", "");
    await expect(find(word)).rejects.toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
  });

  test.each([
    [true, "-- node server.ts"],
    [false, "-- npx tsx server.ts"],
  ])("suggests a program that runs TypeScript here (Node runs it: %s)", async (runsTypeScript, hint) => {
    for (const word of ["server.ts", "server.mts"])
      await expect(find(word, { runsTypeScript })).rejects.toThrow(
        expect.objectContaining({ hint: expect.stringContaining(hint.replace("server.ts", word)) }),
      );
  });

  test("shows the known names if TARGET is missing", async () => {
    write("mcp.json", '{"mcpServers": {"one": {}, "two": {}}}');
    await expect(resolveTarget(words, { cwd: root, env: { HOME: root } })).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringContaining("Names known here: one, two.") }),
    );
  });

  test("finds a server called constructor only if a file names it", async () => {
    write("mcp.json", '{"mcpServers": {"constructor": {"url": "https://a/"}}}');
    expect(await find("constructor")).toMatchObject({ url: "https://a/" });
    await expect(find("toString")).rejects.toThrow('There is no server "toString".');
  });
});
