import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addFiles, temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { exampleServer } from "../testing/example-server.ts";
import { type FakeIo, type FakeOptions, runWith } from "../testing/fake-io.ts";

const server = exampleServer();

interface Project {
  folder: string;
  /** Runs `list notes`, and answers the question with these words. */
  readonly list: (answers?: string[], more?: string, options?: FakeOptions) => Promise<{ code: number; io: FakeIo }>;
  readonly configure: (entry: object, name?: string) => Promise<void>;
}

async function project(entry: object): Promise<Project> {
  const folder = await temporaryFolder();
  const env = { HOME: join(folder, "home"), NO_COLOR: "1", TOKEN: "secret" };
  const configure = (given: object, name = "notes"): Promise<void> =>
    addFiles(folder, { "p/mcp.json": JSON.stringify({ mcpServers: { [name]: given } }) });
  await configure(entry);
  return {
    folder,
    configure,
    list: (answers = [], more = "", options = {}) =>
      runWith(
        { server, cwd: join(folder, "p"), env, terminal: true, platform: "linux", answers, ...options },
        `list notes tools${more}`,
      ),
  };
}

const entry = { command: "node", args: ["server.js", "a b"], env: { KEY: "${TOKEN}", NODE_OPTIONS: "--require ./x" } };

describe("a command of a configuration file", () => {
  test("is shown before its first start with its folder and variables, and remembered after a yes", async () => {
    const { folder, list } = await project(entry);
    const first = await list(["y"]);
    expect(first.code).toBe(0);
    expect(first.io.err()).toContain(`${join(folder, "p", "mcp.json")} starts a program, "notes":`);
    expect(first.io.err()).toContain('Command   node server.js "a b"\n');
    expect(first.io.err()).toContain(`Folder    ${join(folder, "p")}\n`);
    expect(first.io.err()).toContain("Variables KEY, NODE_OPTIONS=--require ./x\n");
    expect(first.io.err()).not.toContain("secret");
    const again = await list();
    expect(again.code).toBe(0);
    expect(again.io.err()).toBe("");
    const file = statSync(join(folder, "home/.local/state/mcparley/approved-commands"));
    expect(file.mode & 0o777).toBe(0o600);
  });

  test("is not started if the user declines, and asked for again", async () => {
    const { list } = await project(entry);
    for (const answer of ["n", "^D"]) {
      const { code, io } = await list([answer]);
      expect(code).toBe(7);
      expect(io.targets).toEqual([]);
    }
  });

  test.each([
    ["the command", { ...entry, command: "deno" }],
    ["an argument", { ...entry, args: ["other.js"] }],
    ["the name of a variable", { ...entry, env: { ...entry.env, LD_PRELOAD: "./x.so" } }],
    ["the value of a variable", { ...entry, env: { ...entry.env, NODE_OPTIONS: "--require ./y" } }],
    ["the folder", { ...entry, cwd: "sub" }],
    ["a variable of the envFile", { ...entry, envFile: ".env" }],
  ])("is asked for again when %s changes under the same name", async (_what, changed) => {
    const { folder, list, configure } = await project(entry);
    await addFiles(folder, { "p/.env": "LD_PRELOAD=./x.so\n" });
    await list(["y"]);
    await configure(changed);
    const { code, io } = await list(["n"]);
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
  });

  test("is not asked for again under another name", async () => {
    const { list, configure } = await project(entry);
    await list(["y"]);
    await configure({}, "other");
    await configure(entry);
    expect((await list()).code).toBe(0);
  });

  test.each([
    ["without a terminal", {}, { terminal: false }, "there is no terminal to ask at"],
    ["with --no-input", " --no-input", {}, "--no-input was given"],
  ])("is refused with exit code 7 and the cure %s", async (_how, more, options, why) => {
    const { list } = await project(entry);
    const { code, io } = await list([], typeof more === "string" ? more : "", options);
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
    const text = io.err().replaceAll(/\s+/g, " ");
    expect(text).toContain(`node server.js "a b" was not approved, and ${why}.`);
    expect(text).toContain("once at a terminal, or add --yes.");
  });

  test("starts without a question with --yes, which is not remembered", async () => {
    const { list } = await project(entry);
    expect((await list([], " --yes", { terminal: false })).code).toBe(0);
    expect((await list([], "", { terminal: false })).code).toBe(7);
  });
});

test("asks for approval of a configured URL only if it receives variables of the environment", async () => {
  const { list, configure } = await project({ url: "https://a.example/mcp", headers: { Accept: "text/plain" } });
  expect((await list()).code).toBe(0);
  await configure({ url: "https://a.example/mcp", headers: { Authorization: "Bearer ${TOKEN}" } });
  const { code, io } = await list(["n"]);
  expect(code).toBe(7);
  expect(io.targets).toEqual([]);
  expect(io.err()).toContain("sends variables of this environment to a server");
  expect(io.err()).toContain("URL       https://a.example/mcp\n");
  expect(io.err()).toContain("Variables TOKEN\n");
});

test("starts a command of the command line without a question", async () => {
  const { code } = await runWith({ server, terminal: true }, "list tools -- node server.js");
  expect(code).toBe(0);
});
