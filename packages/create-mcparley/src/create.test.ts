import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { help, nextSteps, readArguments } from "./arguments.js";
import { ask } from "./ask.js";
import { run } from "./main.js";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), "create mcparley-"));
});
afterEach(() => {
  rmSync(parent, { recursive: true, force: true });
});

/** Runs the command, and returns what it prints and its exit code. */
async function command(...words: string[]): Promise<{ code: number; printed: string; errors: string }> {
  let [printed, errors] = ["", ""];
  const io = {
    print: (text: string) => void (printed += text),
    printError: (text: string) => void (errors += text),
    isTerminal: false,
  };
  return { code: await run(words, io), printed, errors };
}

function json(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, file), "utf8"));
}

describe("the command", () => {
  test.each(["stdio", "http"])("writes a project for %s with the name of its folder", async (transport) => {
    const folder = path.join(parent, "my-notes");
    const { code, printed, errors } = await command(folder, `--${transport}`);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(printed).toContain(`Wrote my-notes to ${folder}`);
    expect(readdirSync(folder).toSorted()).toEqual([
      ".cursor",
      ".dockerignore",
      ...(transport === "http" ? [".env.example"] : []),
      ".github",
      ".gitignore",
      ".mcp.json",
      ".vscode",
      "AGENTS.md",
      "Dockerfile",
      "README.md",
      "package.json",
      "src",
      "tsconfig.json",
    ]);
    const sources = ["main.ts", "server.test.ts", "server.ts"];
    expect(readdirSync(path.join(folder, "src")).toSorted()).toEqual(
      transport === "http" ? sources : ["dev.ts", ...sources],
    );
    expect(json(folder, "package.json")).toMatchObject({ name: "my-notes", type: "module" });
    const entry = transport === "http" ? { url: "http://127.0.0.1:3000/mcp" } : { command: "node" };
    expect(json(folder, ".mcp.json")).toMatchObject({ mcpServers: { "my-notes": entry } });
    expect(json(folder, ".vscode/mcp.json")).toMatchObject({ servers: { "my-notes": { ...entry, type: transport } } });
    expect(json(folder, ".cursor/mcp.json")).toMatchObject({ mcpServers: { "my-notes": entry } });
  });

  test("leaves no placeholder in any file", async () => {
    for (const transport of ["stdio", "http"]) {
      const folder = path.join(parent, transport);
      await command(folder, `--${transport}`);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      const texts = files.map((file) => readFileSync(path.join(file.parentPath, file.name), "utf8"));
      expect(texts.filter((text) => text.includes("{{"))).toEqual([]);
    }
  });

  test("refuses a folder that is not empty, and changes nothing in it", async () => {
    writeFileSync(path.join(parent, "package.json"), "mine");
    const { code, errors } = await command(parent, "--name", "notes");
    expect(code).toBe(1);
    expect(errors).toBe(`create-mcparley: ${parent} is not empty: it has package.json. Choose another folder.\n`);
    expect(readdirSync(parent)).toEqual(["package.json"]);
    expect(readFileSync(path.join(parent, "package.json"), "utf8")).toBe("mine");
  });

  test("accepts an empty repository of Git", async () => {
    mkdirSync(path.join(parent, ".git"));
    expect(await command(parent, "--name", "notes")).toMatchObject({ code: 0, errors: "" });
  });

  test("refuses a path that is a file", async () => {
    const file = path.join(parent, "notes");
    writeFileSync(file, "");
    expect(await command(file)).toMatchObject({
      code: 1,
      errors: `create-mcparley: ${file} is a file. Choose another folder.\n`,
    });
  });

  test("explains that a folder cannot be made", async () => {
    writeFileSync(path.join(parent, "file"), "");
    const { code, errors } = await command(path.join(parent, "file", "notes"));
    expect(code).toBe(1);
    expect(errors).toContain("The project cannot be written to");
  });

  test.each(["Notes", "my notes", "../x", "-x", "", "node_modules", "a".repeat(65)])(
    "refuses the name %j",
    async (name) => {
      const { code, errors } = await command(path.join(parent, "x"), `--name=${name}`);
      expect(code).toBe(1);
      expect(errors).toContain(`${JSON.stringify(name)} is not a valid name`);
      expect(readdirSync(parent)).toEqual([]);
    },
  );

  test("accepts a name of 64 characters", async () => {
    expect(await command(path.join(parent, "a".repeat(64)))).toMatchObject({ code: 0 });
  });

  test.each([
    [["--htp"], "Unknown option '--htp'. Options: --stdio, --http, --name, --ask, --help."],
    [["a", "b"], "One folder is needed; got a, b."],
    [["--http", "--stdio"], "Choose one of --stdio and --http."],
    [["--ask"], "--ask needs a terminal."],
  ])("refuses %j", async (words, message) => {
    const { code, errors } = await command(...words);
    expect(code).toBe(1);
    expect(errors).toContain(message);
  });

  test("prints help with every option", async () => {
    expect(await command("--help")).toEqual({ code: 0, printed: help, errors: "" });
    for (const option of ["FOLDER", "--stdio", "--http", "--name", "--ask"]) expect(help).toContain(option);
  });
});

test("without words, the folder and the name are mcp-server, and the transport is stdio", () => {
  expect(readArguments([])).toMatchObject({ folder: "mcp-server", name: "mcp-server", transport: "stdio", ask: false });
});

test.each([
  ["stdio", "  npx mcparley add --name x --to claude-code -- node dist/main.js\n"],
  ["http", "  npx mcparley add http://127.0.0.1:3000/mcp --name x --to claude-code"],
] as const)("the next steps for %s end with the command that adds the server to a host", (transport, line) => {
  expect(nextSteps({ name: "x", transport, folder: "/a" }, "/")).toContain(line);
});

test("the next steps quote a folder with a space, and omit the current one", () => {
  const project = { name: "x", transport: "stdio" } as const;
  expect(nextSteps({ ...project, folder: "/a/b c" }, "/a")).toContain('  cd "b c"\n');
  expect(nextSteps({ ...project, folder: "/a" }, "/a")).not.toContain("cd ");
  expect(nextSteps({ ...project, folder: "/b" }, "/a")).toContain("  cd /b\n");
});

describe("questions", () => {
  const answer = async (...lines: string[]): Promise<object> => {
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    const given = readArguments(["first"]);
    return ask(given, Readable.from(lines.map((line) => `${line}\n`)), output);
  };

  test("take the answers", async () => {
    expect(await answer("notes", "my-notes", "http")).toEqual({ folder: "notes", name: "my-notes", transport: "http" });
  });

  test("take the shown values after Enter, and the name of the new folder", async () => {
    expect(await answer("", "", "")).toEqual({ folder: "first", name: "first", transport: "stdio" });
    expect(await answer("notes", "", "")).toEqual({ folder: "notes", name: "notes", transport: "stdio" });
  });
});
