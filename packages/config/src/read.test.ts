import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HostId } from "./model.ts";
import { readConfigFile, readServers } from "./read.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const json = (servers: object, member = "mcpServers"): string => JSON.stringify({ [member]: servers });
const node = { command: "node" };

describe("readServers", () => {
  test("lists the servers of all hosts with scope, file and line, and reports a broken file beside them", () => {
    const home = temporaryFolder({
      ".cursor/mcp.json": json({ a: node }),
      ".codex/config.toml": 'x = 1\n[mcp_servers.b]\ncommand = "node"\n',
      ".gemini/settings.json": '{ "mcpServers": {\n  "c": sk-secret } }',
      "project/.vscode/mcp.json": json({ d: node }, "servers"),
      "project/.mcp.json": json({ e: { url: "https://u:secret@h.example", command: "x" }, f: node }),
      "project/sub/.mcp.json": json({ g: node }),
    });
    const { servers, problems } = readServers({ home, env: {}, platform: "linux", folder: `${home}/project/sub` });
    const shown = servers.map(({ host, name, scope, file, line, folder }) =>
      [host, name, scope, file.slice(home.length), line, folder?.slice(home.length)].join(" "),
    );
    expect(shown).toEqual([
      "claude-code g project /project/sub/.mcp.json 1 /project/sub",
      "claude-code e project /project/.mcp.json 1 /project",
      "claude-code f project /project/.mcp.json 1 /project",
      "vscode d project /project/.vscode/mcp.json 1 /project",
      "cursor a user /.cursor/mcp.json 1 ",
      "codex b user /.codex/config.toml 2 ",
    ]);
    expect(problems).toEqual([
      {
        file: `${home}/.gemini/settings.json`,
        position: { line: 2, column: 8 },
        message: `${home}/.gemini/settings.json:2:8: Expected a value but found another token. Correct the file by hand.`,
        cure: "Correct the file by hand.",
        host: "gemini-cli",
        scope: "user",
      },
    ]);
    expect(servers[1]?.target).toBeUndefined();
    expect(servers[1]?.problems[0]?.message).toMatch(
      /:1:\d+: Server "e": The entry has both "command" and "url"; keep one\.$/,
    );
    expect(JSON.stringify({ servers, problems })).not.toContain("secret");
  });

  test("reads the file of the user once if the project is the home folder", () => {
    const home = temporaryFolder({ ".cursor/mcp.json": json({ a: node }) });
    const { servers } = readServers({ home, env: {}, folder: home });
    expect(servers.map(({ scope }) => scope)).toEqual(["user"]);
  });

  test("reads only the given hosts and scopes", () => {
    const home = temporaryFolder({ ".cursor/mcp.json": json({ a: node }), "p/.cursor/mcp.json": json({ b: node }) });
    const names = (options: object): string[] =>
      readServers({ home, env: {}, folder: `${home}/p`, ...options }).servers.map(({ name }) => name);
    expect(names({ hosts: ["cursor"], scopes: ["project"] })).toEqual(["b"]);
    expect(names({ hosts: ["codex"] })).toEqual([]);
  });
});

describe("readConfigFile", () => {
  const read = (text: string | Uint8Array, name = "mcp.json"): ReturnType<typeof readConfigFile> =>
    readConfigFile(`${temporaryFolder({ [name]: text })}/${name}`, { host: "claude-code" });

  test("reads a file with another table of servers", () => {
    const folder = temporaryFolder({ "mcp.json": json({ a: node }, "servers") });
    const { servers } = readConfigFile(`${folder}/mcp.json`, { host: "vscode", path: ["servers"], folder });
    expect(servers).toMatchObject([{ name: "a", scope: "project", folder }]);
  });

  test.each<[string, string | Uint8Array, string]>([
    ["an array", "[]", ":1:1: The file must contain an object."],
    ["another type of table", '{\n "mcpServers": []}', ':2:2: "mcpServers" must contain an object.'],
    ["other bytes than UTF-8", new Uint8Array([0x22, 0xff]), "mcp.json: The file is not UTF-8."],
    ["a string without an end", '{ "a": "sk-secret', ":1:8: This string has no end on its line."],
    ["deep nesting", "[".repeat(100), "More than 64 levels of nesting."],
  ])("reports %s", (_title, text, message) => {
    const { servers, problems } = read(text);
    expect(servers).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain(message);
  });

  test.each<[object | string, string]>([
    ["text", "The entry must be an object."],
    [{}, 'The entry needs a "command" to start or a "url" to connect to.'],
    [{ command: ["secret"] }, '"command" must be a string.'],
    [{ command: "x", args: "secret" }, '"args" must be an array of strings.'],
    [{ command: "x", args: [{ secret: 1 }] }, '"args.0" must be a string.'],
    [{ command: "x", env: { K: ["secret"] } }, '"env.K" must be a string.'],
    [{ url: "file:///secret" }, '"url" must be an http or https URL.'],
    [{ url: "https://a.example", disabled: "secret" }, '"disabled" must be true or false.'],
  ])("reports the entry %j and keeps the next one", (entry, message) => {
    const { servers, problems } = read(json({ bad: entry, good: node }));
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      { name: "bad", target: undefined },
      { name: "good", problems: [] },
    ]);
    expect(servers[0]?.problems[0]?.message).toContain(message);
    expect(servers[0]?.problems[0]?.message).not.toContain("secret");
  });

  test("reports a file that other users can write, and one that is too large", () => {
    const folder = temporaryFolder({
      "mcp.json": json({ a: node }),
      "large.json": " ".repeat(1024 * 1024 + 1),
      "fits.json": " ".repeat(1024 * 1024),
    });
    chmodSync(`${folder}/mcp.json`, 0o666);
    const problemOf = (name: string): string | undefined =>
      readConfigFile(`${folder}/${name}`, { host: "cursor" }).problems[0]?.message;
    if (process.platform !== "win32")
      expect(problemOf("mcp.json")).toContain("Other users can write to the file (mode 666)");
    expect(problemOf("large.json")).toContain("The file is larger than 1 MiB.");
    expect(problemOf("fits.json")).toBeUndefined();
  });

  // With quadratic time, the test would end by its timeout.
  test.each<[HostId, (index: number) => string, string, string]>([
    ["cursor", (index) => `"n${index}":{"command":[]}`, '{"mcpServers":{', "}}"],
    ["codex", (index) => `n${index}={command=1}`, "[mcp_servers]\n", ""],
    ["goose", (index) => `  n${index}: {cmd: 1}`, "extensions:\n", ""],
  ])("reads a full file of invalid entries for %s in linear time", (host, entry, head, tail) => {
    const size = host === "goose" ? 10_000 : 35_000;
    const entries = Array.from({ length: size }, (_, index) => entry(index)).join(host === "cursor" ? ",\n" : "\n");
    const folder = temporaryFolder({ file: head + entries + tail });
    const { servers, problems } = readConfigFile(`${folder}/file`, { host });
    expect(problems).toEqual([]);
    expect(servers).toHaveLength(size);
    expect(servers.at(-1)?.line).toBe(host === "cursor" ? size : size + 1);
  });

  test("is empty for a missing file, a folder and a link to nothing", () => {
    const folder = temporaryFolder({ "folder/x": "" });
    symlinkSync("nothing", `${folder}/link`);
    for (const name of ["missing", "folder", "link", "folder/x/y"]) {
      expect(readConfigFile(`${folder}/${name}`, { host: "cursor" })).toEqual({ servers: [], problems: [] });
    }
  });

  test("never throws, whatever the bytes and the entries are", () => {
    const folder = temporaryFolder({});
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({ command: fc.jsonValue(), args: fc.jsonValue(), env: fc.jsonValue() }, { requiredKeys: [] }),
      fc.record({ url: fc.jsonValue(), type: fc.jsonValue() }),
    );
    const text = fc.oneof(
      fc.uint8Array(),
      fc.dictionary(fc.string(), entry).map((servers) => Buffer.from(json(servers))),
    );
    fc.assert(
      fc.property(text, (bytes) => {
        const file = temporaryFile(folder, bytes);
        for (const host of ["cursor", "codex", "goose", "opencode", "zed"] as const) {
          const { servers } = readConfigFile(file, { host, path: ["mcpServers"] });
          for (const { line, target, problems } of servers) {
            expect(line).toBeGreaterThan(0);
            expect(problems).toHaveLength(target ? 0 : 1);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

function temporaryFile(folder: string, bytes: Uint8Array): string {
  const file = `${folder}/config`;
  writeFileSync(file, bytes, { mode: 0o600 });
  return file;
}
