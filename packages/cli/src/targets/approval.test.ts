import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addFiles, temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { exampleServer } from "../commands/testing/example-server.ts";
import { shellWord } from "./ask-trust.ts";
import { type FakeIo, type FakeOptions, runWith } from "../commands/testing/fake-io.ts";

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
  test("is shown before its first start with everything that its entry says, and remembered after a yes", async () => {
    const { folder, list } = await project(entry);
    const first = await list(["y"]);
    expect(first.code).toBe(0);
    // Lines are broken at the width of the terminal.
    const squeeze = (text: string): string => text.replaceAll(/\s+/g, "");
    const shown = squeeze(first.io.err());
    for (const fact of [
      `File ${shellWord(join(folder, "p", "mcp.json"))} Command node server.js 'a b'`,
      `Folder ${shellWord(join(folder, "p"))} Variable KEY='\${env:TOKEN}'`,
      "Variable NODE_OPTIONS='--require ./x' Receives your values of TOKEN",
    ]) {
      expect(shown).toContain(squeeze(fact));
    }
    expect(shown).not.toContain("secret");
    const again = await list();
    expect(again.code).toBe(0);
    expect(again.io.err()).toBe("");
  });

  test("is stored as HMACs that only the user can read", async () => {
    const { folder, list } = await project(entry);
    await list(["y"]);
    const place = (name: string): string => join(folder, "home/.local/state/mcparley", name);
    const [key, servers] = [place("identity-key"), place("trusted-servers")] as const;
    for (const file of [key, servers]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(key, "utf8")).toMatch(/^[0-9a-f]{64}$/);
    expect(readFileSync(servers, "utf8")).toMatch(/^(?:[0-9a-f]{64}\n){2}$/);
    // With another key, the same entry is not trusted.
    await addFiles(folder, { "home/.local/state/mcparley/identity-key": "0".repeat(64) });
    expect((await list(["n"])).code).toBe(7);
  });

  test("is not asked for again if only the value of a reference changes", async () => {
    const { folder, list } = await project(entry);
    await list(["y"]);
    const env = { HOME: join(folder, "home"), NO_COLOR: "1", TOKEN: "renewed" };
    expect((await list([], "", { env })).code).toBe(0);
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
    ["the envFile", { ...entry, envFile: ".env" }],
    ["a member that has no meaning here", { ...entry, autoApprove: ["*"] }],
    ["the kind of the server", { url: "https://notes.example/mcp" }],
  ])("is asked for again when %s changes under the same name", async (_what, changed) => {
    const { folder, list, configure } = await project(entry);
    await addFiles(folder, { "p/.env": "LD_PRELOAD=./x.so\n" });
    await list(["y"]);
    await configure(changed);
    const { code, io } = await list(["n"]);
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain('! You trusted a server "notes" of this file before.');
  });

  test("is asked for again when the content of its envFile changes, also a value", async () => {
    const { folder, list } = await project({ ...entry, envFile: ".env" });
    await addFiles(folder, { "p/.env": "GIT_SSH_COMMAND=ssh\n" });
    expect((await list(["y"])).code).toBe(0);
    expect((await list()).code).toBe(0);
    await addFiles(folder, { "p/.env": "GIT_SSH_COMMAND=./evil\n" });
    const { code, io } = await list(["n"]);
    expect(code).toBe(7);
    expect(io.err()).toContain("Variables of  .env\n");
    expect(io.err()).toContain("Variable      GIT_SSH_COMMAND=./evil\n");
  });

  test("is asked for again in another folder", async () => {
    const { folder, list } = await project(entry);
    await list(["y"]);
    await addFiles(folder, { "q/mcp.json": JSON.stringify({ mcpServers: { notes: entry } }) });
    expect((await list(["n"], "", { cwd: join(folder, "q") })).code).toBe(7);
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
    expect(text).toContain(`is not trusted, and ${why}.`);
    expect(text).toContain("Trust it once at a terminal, or add --trust to start it.");
  });

  test.each(["--trust", "--yes"])("starts without a question with %s, which is not remembered", async (option) => {
    const { list } = await project(entry);
    const { code, io } = await list([], ` ${option}`, { terminal: false });
    expect(code).toBe(0);
    expect(io.err().includes("--yes will be removed. Use --trust")).toBe(option === "--yes");
    expect((await list([], "", { terminal: false })).code).toBe(7);
  });
});

describe("a URL of a configuration file", () => {
  const url = "https://notes.example/mcp";

  test("of a project is asked for before the first contact, with its headers and what it receives", async () => {
    const headers = { Authorization: "Bearer ${TOKEN}", "X-Key": "abcdef0123456789abcdef" };
    const { list } = await project({ url: `${url}?token=hidden`, headers });
    const { code, io } = await list(["n"]);
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
    expect(io.err()).toContain("It receives what the model and you send to it.");
    expect(io.err()).toContain(`URL           ${url}?token=***\n`);
    expect(io.err()).toContain("Header        Authorization: 'Bearer ${env:TOKEN}'\n");
    expect(io.err()).toContain("Header        X-Key: (22 characters, not shown)\n");
    expect(io.err()).toContain("Receives      your values of TOKEN\n");
    expect((await list(["y"])).code).toBe(0);
    expect((await list()).code).toBe(0);
  });

  test("of a project is refused without a terminal, and contacted with --trust", async () => {
    const { list } = await project({ url });
    const { code, io } = await list([], "", { terminal: false });
    expect(code).toBe(7);
    expect(io.targets).toEqual([]);
    expect(io.err().replaceAll(/\s+/g, " ")).toContain("or add --trust to contact it.");
    expect((await list([], " --trust", { terminal: false })).code).toBe(0);
  });

  test("of the user is asked for only if it receives values of the user", async () => {
    const { folder, list, configure } = await project({ url });
    await configure({ url }, "other");
    const own = (headers: object): Promise<void> =>
      addFiles(folder, { "home/.cursor/mcp.json": JSON.stringify({ mcpServers: { notes: { url, headers } } }) });
    await own({ Accept: "text/plain" });
    expect((await list([], "", { terminal: false })).code).toBe(0);
    await own({ Authorization: "Bearer ${env:TOKEN}" });
    expect((await list([], "", { terminal: false })).code).toBe(7);
  });

  test.each([
    ["the URL", { url: "https://notes.example/${TOKEN}" }],
    ["the URL, with a default", { url: "https://notes.example/${TOKEN:-x}" }],
    ["the URL, with an empty default", { url: "https://notes.example/${TOKEN:-}" }],
    ["the URL, with the prefix of editors", { url: "https://notes.example/${env:TOKEN}" }],
    ["the query", { url: "https://notes.example/mcp?key=${TOKEN:-x}" }],
    ["a header", { url, headers: { "X-Key": "${TOKEN}" } }],
    ["a header, with a default", { url, headers: { "X-Key": "${TOKEN:-x}" } }],
    ["the second header", { url, headers: { Accept: "text/plain", "X-Key": "a ${TOKEN:-x}" } }],
  ])("of the user and of a project is asked for if a variable is in %s", async (_where, given) => {
    const { folder, list, configure } = await project(given);
    const asked = async (): Promise<void> => {
      const { code, io } = await list(["n"]);
      expect(code).toBe(7);
      expect(io.targets).toEqual([]);
      expect(io.err()).toContain("Receives      your values of TOKEN\n");
    };
    await asked();
    // A variable that is not set sends the default, and would send its value later.
    expect((await list([], "", { terminal: false, env: { HOME: join(folder, "home"), TOKEN: "" } })).code).toBe(7);
    await configure({ url }, "other");
    await addFiles(folder, { "home/.claude.json": JSON.stringify({ mcpServers: { notes: given } }) });
    await asked();
    const whoami = { server, cwd: join(folder, "p"), env: { HOME: join(folder, "home"), TOKEN: "secret" } };
    expect((await runWith(whoami, "whoami notes")).code).toBe(7);
  });
});

test("starts a command of the command line without a question", async () => {
  const { code } = await runWith({ server, terminal: true }, "list tools -- node server.js");
  expect(code).toBe(0);
});
