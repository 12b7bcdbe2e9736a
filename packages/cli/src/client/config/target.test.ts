import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "./config-target.ts";
import { resolveTarget } from "./target.ts";

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
): Target {
  const cwd = join(root, options.cwd ?? ".");
  return resolveTarget({ word, command: undefined, headers: {}, env: {} }, { env: {}, ...options, cwd });
}

const words = { word: undefined, command: undefined, headers: {}, env: {} };

describe("resolveTarget", () => {
  test("takes a URL with headers, and a command with variables", () => {
    const url = "https://example.com/mcp";
    const target = resolveTarget({ ...words, word: url, headers: { A: "b" } }, { cwd: root, env: {} });
    expect(target).toEqual({ kind: "url", url, headers: { A: "b" } });
    const started = resolveTarget(
      { ...words, command: ["node", "s.js", "-v"], env: { A: "b" } },
      { cwd: root, env: {} },
    );
    expect(started).toEqual({ kind: "command", command: "node", args: ["s.js", "-v"], env: { A: "b" }, cwd: root });
  });

  test("passes the named variables of this environment with --env, and all with --env-all", () => {
    const at = { cwd: root, env: { KEY: "k", OTHER: "o" } };
    const command = ["node"];
    const passed = (more: object): unknown => resolveTarget({ ...words, command, ...more }, at);
    expect(passed({ env: { KEY: undefined, A: "b" } })).toMatchObject({ env: { KEY: "k", A: "b" } });
    expect(passed({ envAll: true, env: { OTHER: "x" } })).toMatchObject({ env: { KEY: "k", OTHER: "x" } });
    expect(() => passed({ env: { MISSING: undefined } })).toThrow("--env MISSING: this variable is not set here.");
  });

  test("searches up to the home folder, and up to the root outside of it", () => {
    write("mcp.json", '{"mcpServers": {"above": {"url": "https://above/"}}}');
    write("home/mcp.json", '{"mcpServers": {"mine": {"url": "https://mine/"}}}');
    write("home/p/file", "");
    write("other/file", "");
    const env = { HOME: join(root, "home") };
    expect(find("mine", { cwd: "home/p", env })).toMatchObject({ url: "https://mine/" });
    expect(() => find("above", { cwd: "home/p", env })).toThrow('There is no server "above".');
    expect(find("above", { cwd: "other", env })).toMatchObject({ url: "https://above/" });
  });

  test.skipIf(process.platform === "win32")("refuses a file, and an envFile, that other users can write", () => {
    write("mcp.json", '{"servers": {"s": {"command": "a", "envFile": ".env"}}}');
    write(".env", "A=1\n");
    chmodSync(join(root, ".env"), 0o666);
    expect(() => find("s")).toThrow(`${join(root, ".env")} can be written by other users`);
    chmodSync(join(root, "mcp.json"), 0o666);
    expect(() => find("other")).toThrow(`${join(root, "mcp.json")} can be written by other users`);
  });

  test("refuses options that do not apply to the target", () => {
    const at = { cwd: root, env: {} };
    expect(() => resolveTarget({ ...words, word: "http://a/", env: { A: "b" } }, at)).toThrow(
      "--env applies to servers that mcparley starts",
    );
    expect(() => resolveTarget({ ...words, command: ["a"], headers: { A: "b" } }, at)).toThrow(
      "--header applies to servers at a URL",
    );
    expect(() => resolveTarget({ ...words, command: [] }, at)).toThrow("no command after --");
  });

  test.each([
    ["mcp.json", "mcpServers"],
    [".mcp.json", "mcpServers"],
    [".vscode/mcp.json", "servers"],
    [".cursor/mcp.json", "mcpServers"],
  ])("finds a name in %s, from a folder below it", (path, dialect) => {
    write(
      path,
      `// servers\n{ "${dialect}": { "web": { "type": "http", "url": "https://a.example/mcp", "headers": { "X": "y" }, }, } }`,
    );
    write("sub/deep/file", "");
    expect(find("web", { cwd: "sub/deep" })).toMatchObject({
      kind: "url",
      url: "https://a.example/mcp",
      headers: { X: "y" },
    });
  });

  test("uses the nearest file that has the name", () => {
    write("mcp.json", '{"mcpServers": {"a": {"url": "https://outer/"}, "b": {"url": "https://outer-b/"}}}');
    write("sub/mcp.json", '{"mcpServers": {"a": {"url": "https://inner/"}}}');
    expect(find("a", { cwd: "sub" })).toMatchObject({ url: "https://inner/" });
    expect(find("b", { cwd: "sub" })).toMatchObject({ url: "https://outer-b/" });
  });

  test("replaces variables, relative to the folder that the file belongs to", () => {
    const entry = {
      command: "${workspaceFolder}/bin/server",
      args: ["--port", "${PORT:-80}", "${env:NAME}", "${EMPTY:-x}"],
      env: { TOKEN: "${TOKEN}", N: 5, LEFT_OUT: null },
      cwd: "sub",
    };
    write(".vscode/mcp.json", JSON.stringify({ servers: { s: entry } }));
    expect(find("s", { env: { NAME: "n", TOKEN: "t", EMPTY: "" } })).toMatchObject({
      kind: "command",
      command: `${root}/bin/server`,
      args: ["--port", "80", "n", "x"],
      env: { TOKEN: "t", N: "5" },
      cwd: join(root, "sub"),
    });
  });

  test("reads an envFile, and overrides it with env", () => {
    write("mcp.json", '{"servers": {"s": {"command": "a", "envFile": "${workspaceFolder}/.env", "env": {"B": "2"}}}}');
    write(".env", "A=1\nB=1\n");
    expect(find("s")).toMatchObject({ env: { A: "1", B: "2" } });
  });

  test.each([
    ['{"mcpServers": {\n"s": {"command": "a" "b": 1}}}', ":2:22: expected"],
    ['{"mcpServers": {\n"s": {}}}', ':2: the server "s" needs a "command" to start or a "url"'],
    ['{"mcpServers": {"s": {"command": "a", "url": "https://a"}}}', ':1: the server "s" has both'],
    ['{"mcpServers": {"s": {\n"url": "ftp://a"}}}', ':2: the server "s" has the "url" "ftp://a"'],
    [
      '{"mcpServers": {"s": {"command": "a",\n"args": "b"}}}',
      ':2: the server "s" must have an array of strings as its "args"',
    ],
    [
      '{"mcpServers": {"s": {"command": "a",\n"args": [\n{}]}}}',
      ':3: the server "s" must have a string as its "args.0"',
    ],
    [
      '{"mcpServers": {"s": {"command": "a",\n"env": {"A":\n"${MISSING}"}}}}',
      ':3: "env.A" of the server "s" uses ${MISSING}, and that',
    ],
    ['{"mcpServers": {"s": {"command": "${input:key}"}}}', "${input:key}, which only an editor can ask for"],
    ['{"mcpServers": {"s": {"command": "${what ever}"}}}', "${what ever}, which is not a known variable"],
    ['{"mcpServers": []}', ':1: "mcpServers" must be an object'],
    ["[]", ":1: the file must contain a JSON object"],
    ['{"mcpServers": {"s": 5}}', ':1: the server "s" must be an object'],
  ])("refuses %j with file and line", (text, message) => {
    write("mcp.json", text);
    expect(() => find("s")).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringContaining(message) }),
    );
    expect(() => find("s")).toThrow(join(root, "mcp.json"));
  });

  test.each([["${TOKEN}${MISSING}"], ["ftp://${TOKEN}"]])("does not show the value of a variable in %s", (text) => {
    write("mcp.json", JSON.stringify({ mcpServers: { s: { url: text } } }));
    expect(() => find("s", { env: { TOKEN: "secret" } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("secret") }),
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
    ["127.0.0.1:3333/mcp", "Did you mean http://127.0.0.1:3333/mcp?"],
  ])("refuses the unknown target %s with a suggestion", (word, hint) => {
    write("mcp.json", '{"mcpServers": {"handbook": {"url": "https://a/"}}}');
    write("server.js", "");
    write("folder/file", "");
    write("program", "");
    expect(() => find(word)).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
  });

  test.each([
    [true, "-- node server.ts"],
    [false, "-- npx tsx server.ts"],
  ])("suggests a program that runs TypeScript here (Node runs it: %s)", (runsTypeScript, hint) => {
    for (const word of ["server.ts", "server.mts"])
      expect(() => find(word, { runsTypeScript })).toThrow(
        expect.objectContaining({ hint: expect.stringContaining(hint.replace("server.ts", word)) }),
      );
  });

  test("shows the known names if TARGET is missing", () => {
    write("mcp.json", '{"mcpServers": {"one": {}, "two": {}}}');
    expect(() => resolveTarget(words, { cwd: root, env: {} })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("Names known here: one, two.") }),
    );
  });

  test("finds a server called constructor only if a file names it", () => {
    write("mcp.json", '{"mcpServers": {"constructor": {"url": "https://a/"}}}');
    expect(find("constructor")).toMatchObject({ url: "https://a/" });
    expect(() => find("toString")).toThrow('There is no server "toString".');
  });
});
