import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../command-line.ts";
import { configFolder, stateFolder } from "../terminal/user-folders.ts";
import { type FakeIo, type FakeOptions, fakeIo } from "../commands/testing/fake-io.ts";
import {
  type HostileProject,
  hostileProject,
  nameOf,
  projectNames,
  serverFiles,
  urlName,
} from "mcparley-tests/support/hostile-project.ts";

/*
 * Each command in the folder of a cloned repository whose files are hostile. Nothing is started or contacted before a yes.
 */

interface Ended {
  readonly code: number;
  readonly io: FakeIo;
  /** Its stderr on one line. */
  readonly text: string;
}

/** Runs a command in the project. */
async function runIn(
  { cwd, env }: Pick<HostileProject, "cwd" | "env">,
  words: readonly string[],
  options: FakeOptions = {},
): Promise<Ended> {
  const io = fakeIo({ cwd, env: { ...env }, ...options });
  const code = await run(words, { ...io, onTerminate: () => () => {} });
  return { code, io, text: io.err().replaceAll(/\s+/g, " ") };
}

/** Each command that uses a server, with a word for the server. */
const commands: readonly (readonly string[])[] = [
  ["list", "NAME"],
  ["call", "NAME", "add", "a=1", "--allow", "*"],
  ["read", "NAME", "notes://1"],
  ["prompt", "NAME", "greet", "--send-answers"],
  ["complete", "NAME", "prompt:greet", "name", "a"],
  ["watch", "NAME"],
  ["login", "NAME"],
  ["logout", "NAME"],
  ["add", "NAME", "--to", "codex", "--yes"],
  ["chat", "NAME"],
  ["chat", "NAME", "--prompt", "Hello", "--model", "qwen3", "--base-url", "http://127.0.0.1:9/v1", "--allow", "*"],
];

test.each(commands.map((words) => [words.join(" "), words]))(
  "%s refuses each server of a project, and names --trust",
  async (_line, words) => {
    const project = await hostileProject();
    for (const name of projectNames) {
      const given = words.map((word) => (word === "NAME" ? name : word));
      const { code, text } = await runIn(project, given);
      expect(`${name}: ${project.effects().join()}`).toBe(`${name}: `);
      expect(`${name}: ${code} ${text}`).toMatch(
        /: 7 mcparley: The server .* is not trusted, and there is no terminal to ask at\. .*add --trust to (?:start|contact) it\./s,
      );
    }
  },
);

test("whoami NAME starts and contacts nothing, and only asks about programs and URLs that contain values of the user", async () => {
  const project = await hostileProject();
  const codes = new Map<string, number>();
  for (const name of projectNames) {
    const { code, io, text } = await runIn(project, ["whoami", name]);
    codes.set(name, code);
    expect(text).toMatch(/applies to servers at a URL|You are not signed in to|is not trusted/);
    expect(io.err() + io.out()).not.toContain(project.env.SECRET_TOKEN);
  }
  expect(project.effects()).toEqual([]);
  expect(codes.get(nameOf("mcp.json", "url"))).toBe(3);
  expect(codes.get(nameOf("mcp.json", "program"))).toBe(7);
  expect(codes.get("variables")).toBe(7);
});

/** Commands that read or write the configurations, and those of a chat without a name. */
test.each<[string, number, string]>([
  ["servers", 1, "A project cannot define a name of the form HOST:NAME"],
  ["servers --json", 1, ""],
  ["list", 1, "Which server? TARGET is missing."],
  ["chat", 7, "add --trust to"],
  ["chat --no-input", 7, "add --trust to"],
  ["chat --prompt Hello --model qwen3 --base-url http://127.0.0.1:9/v1 --allow *", 7, "add --trust to"],
  ["chat --provider @ai-sdk/hostile#x --model a", 1, "The code of the provider"],
  ["chat --resume last", 1, "There is no stored conversation."],
  ["add package --to codex --no-pin --yes", 7, "add --trust to start it"],
  ["add package --to codex --no-check --yes", 7, "add --trust to start it"],
  ["add mcp-json-program --to codex --no-check", 7, "add --yes"],
  ["add mcp-json-url --to codex --no-check --scope project", 7, "add --yes"],
  ["remove mcp-json-url --from mcparley", 7, "add --yes"],
  ["remove codex-config-toml-url --from codex", 7, "add --yes"],
])("%s starts and contacts nothing", async (line, exitCode, message) => {
  const project = await hostileProject();
  const { code, io, text } = await runIn(project, line.split(" "));
  expect(project.effects()).toEqual([]);
  expect({ code, text }).toEqual({
    code: exitCode,
    text: expect.stringMatching(new RegExp(message.replaceAll("?", "."), "i")),
  });
  // No text of a file controls the terminal.
  // eslint-disable-next-line no-control-regex
  expect(io.err() + io.out()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
});

test("a written change starts no program in the folder of the project, and no check that starts its servers", async () => {
  const project = await hostileProject();
  for (const host of ["codex", "opencode", "gemini-cli", "claude-code"]) {
    const scopes = ["user", "project"].map((scope) =>
      runIn(project, [
        "add",
        `${project.url}/typed`,
        "--name",
        "typed",
        "--to",
        host,
        "--scope",
        scope,
        "--no-check",
        "--yes",
      ]),
    );
    await Promise.all(scopes);
    await runIn(project, ["remove", "typed", "--from", host, "--scope", "user", "--yes"]);
    const { text, io } = await runIn(project, ["remove", "typed", "--from", host, "--scope", "project", "--yes"]);
    expect(text + io.out()).toContain("was not run: it can start other servers of this folder.");
  }
  const inHome = ["codex", "opencode", "gemini", "claude"].map((name) => `${name} in ${project.home}`);
  expect(project.effects()).toEqual(inHome);
});

test("a package that the user types is looked for without the settings of the project", async () => {
  const project = await hostileProject();
  for (const runner of ["npx", "uvx"])
    await runIn(project, ["add", "--to", "codex", "--name", "x", "--no-check", "--yes", "--", runner, "some-package"]);
  expect(project.effects()).toEqual(["npm", "uv", "pip"].map((name) => `${name} in ${project.home}`));
});

test("the servers of the user win over those of the project", async () => {
  const project = await hostileProject();
  const list = (name: string): Promise<Ended> => runIn(project, ["list", name, "--trust"]);
  /** The last request of a command. */
  const requested = async (name: string): Promise<string | undefined> => {
    expect((await list(name)).code).not.toBe(0);
    return project.effects().findLast((effect) => effect.startsWith("/"));
  };
  expect(await requested("notes")).toBe("/own");
  expect(await requested("codex:notes")).toBe("/notes");
  expect(await requested(urlName(project.url))).toBe("/name");
  await list("tools");
  expect(project.effects().at(-1)).toBe("own");
});

test.each<[what: string, user: Record<string, unknown>, files: Record<string, unknown>]>([
  [
    "a list",
    { ".gemini/settings.json": { mcpServers: { mine: { httpUrl: "https://mine.example/mcp" } } } },
    { ".gemini/settings.json": { mcp: { excluded: ["mine"] } } },
  ],
  [
    "a list of the others",
    { ".gemini/settings.json": { mcpServers: { mine: { httpUrl: "https://mine.example/mcp" } } } },
    { ".gemini/settings.json": { mcp: { allowed: ["MINE2"] } } },
  ],
  [
    "an entry without a server",
    { ".config/opencode/opencode.json": { mcp: { mine: { type: "remote", url: "https://mine.example/mcp" } } } },
    { "opencode.json": { mcp: { mine: { enabled: false } } } },
  ],
  [
    "an entry",
    { ".gemini/settings.json": { mcpServers: { mine: { httpUrl: "https://mine.example/mcp" } } } },
    { ".gemini/settings.json": { mcpServers: { mine: { url: "http://127.0.0.1:9/", enabled: false } } } },
  ],
])("a project that disables a server of the user by %s cannot define its name", async (_what, user, files) => {
  const project = await hostileProject();
  for (const [file, content] of Object.entries(user)) project.write(join("../..", file), content);
  for (const [file, content] of Object.entries(files)) project.write(file, content);
  project.write(".mcp.json", { mcpServers: { mine: { url: `${project.url}/mine` } } });
  project.write("mcp.json", {});
  for (const words of [["list", "mine"], ["chat", "mine"], ["chat"]]) {
    const { code, text } = await runIn(project, [...words, "--trust"]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('The server "mine" is disabled') });
  }
  expect(project.effects()).toEqual([]);
  expect((await runIn(project, ["list", "claude-code:mine"])).text).toContain("add --trust to contact it");
});

test("a chat without words asks for a server whose name is a URL", async () => {
  const project = await hostileProject();
  for (const file of serverFiles) project.write(file, file.endsWith(".toml") ? "" : {});
  project.write("mcp.json", { mcpServers: { [urlName(project.url)]: { url: `${project.url}/other` } } });
  const { code, text } = await runIn(project, ["chat"]);
  expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining("add --trust to contact it") });
  expect(project.effects()).toEqual([]);
});

test("a server of a project has not the name in a chat that a rule for a server of the user has", async () => {
  const project = await hostileProject();
  for (const file of serverFiles) project.write(file, file.endsWith(".toml") ? "" : {});
  for (const name of ["notes.", "notes"]) {
    project.write("mcp.json", { mcpServers: { [name]: { url: `${project.url}/other` } } });
    const words = ["chat", name === "notes" ? "mcparley:notes" : name, "--trust"];
    const { io } = await runIn(project, words, { stdin: "/servers" });
    expect(io.out() + io.err()).toContain("notes-2");
  }
});

test("a file of the user that cannot be read may have the name of a server of a project", async () => {
  const project = await hostileProject();
  project.write("../../.cursor/mcp.json", "{");
  for (const name of ["notes", "cursor:notes", nameOf("mcp.json", "url")]) {
    const { code, text } = await runIn(project, ["list", name, "--trust"]);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining(".cursor/mcp.json:1:2: ") });
  }
  expect(project.effects()).toEqual([]);
});

test.each(["", ".", "work"])("the files of the user are not those of the current folder if HOME is %j", (HOME) => {
  for (const folder of [stateFolder, configFolder]) {
    expect(folder({ env: { HOME }, platform: "linux" })).toMatch(/^\//);
  }
});
