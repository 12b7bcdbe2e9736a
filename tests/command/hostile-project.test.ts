import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { type HostileProject, hostileProject, nameOf, serverFiles } from "../support/hostile-project.ts";
import { shellWord } from "../../packages/cli/src/targets/ask-trust.ts";
import { type Terminal, openTerminal, program } from "../chat/support/terminal.ts";

/*
 * The built command in the folder of a cloned repository whose files are hostile. The tests of all commands with all names are in
 * `packages/cli/src/targets/hostile-project.test.ts`.
 */

/** Runs the built command without a terminal. Its stdin is empty. */
function run({ cwd, env }: HostileProject, words: readonly string[]): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [program, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text: text.replaceAll(/\s+/g, " ") })));
}

const name = nameOf("mcp.json", "program");
const model = ["--prompt", "Hello", "--model", "qwen3", "--base-url", "http://127.0.0.1:9/v1", "--allow", "*"];

test.each<[words: string[], code: number, message: string]>([
  [["list", name], 7, "--trust to start it"],
  [["call", nameOf(".vscode/mcp.json", "program"), "add"], 7, "--trust to start it"],
  [["read", nameOf(".codex/config.toml", "url"), "notes://1"], 7, "--trust to contact it"],
  [["prompt", nameOf(".zed/settings.json", "program"), "greet"], 7, "--trust to start it"],
  [["complete", nameOf("opencode.json", "url"), "prompt:greet", "name", "a"], 7, "--trust to contact it"],
  [["watch", nameOf(".gemini/settings.json", "url")], 7, "--trust to contact it"],
  [["login", nameOf(".mcp.json", "url")], 7, "--trust to contact it"],
  [["logout", nameOf(".cursor/mcp.json", "url")], 7, "--trust to contact it"],
  [["whoami", nameOf("opencode.jsonc", "url")], 7, "--trust to contact it"],
  [["chat"], 7, "--trust to"],
  [["chat", name], 7, "--trust to start it"],
  [["chat", ...model], 7, "--trust to"],
  [["servers"], 1, "A project cannot define a name of the form HOST:NAME"],
  [["add", "package", "--to", "codex", "--yes"], 7, "--trust to start it"],
  [["remove", name, "--from", "mcparley"], 7, "--yes to write the change"],
  [["serve", ".", "--stdio"], 0, ""],
])("%j starts and contacts nothing", async (words, code, message) => {
  const project = await hostileProject();
  const ended = await run(project, words);
  expect(project.effects()).toEqual([]);
  expect(ended).toEqual({ code, text: expect.stringContaining(message) });
});

test.each(["", "."])("an entry of the project is not one of the user if HOME is %j", async (HOME) => {
  const project = await hostileProject();
  project.write(".cursor/mcp.json", { mcpServers: { remote: { url: `${project.url}/remote` } } });
  const folders = { XDG_STATE_HOME: project.home, XDG_CONFIG_HOME: project.home };
  const env = { ...project.env, ...folders, HOME };
  const { code, text } = await run({ ...project, env }, ["list", "remote"]);
  expect({ code, text }).toEqual({ code: 7, text: expect.stringContaining("--trust to contact it") });
  expect(project.effects()).toEqual([]);
});

/** Opens the command on a pseudo-terminal in the project, with the files of its user. */
function open({ cwd, home, env }: HostileProject, args: readonly string[]): Terminal {
  const folders = { XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined, XDG_DATA_HOME: undefined };
  return openTerminal({ args, cwd, home, columns: 140, rows: 60, env: { ...env, ...folders, TERM: "xterm-256color" } });
}

/** Waits for a question that takes keys, and answers it. Returns the screen before the answer. */
async function answer(terminal: Terminal, key: string, question: string): Promise<string> {
  await terminal.waitFor(question);
  await terminal.waitForCursor(/\[n\]o\?/);
  const screen = terminal.screen();
  terminal.press(`${key}\r`);
  return screen;
}

/** The question wraps long lines, and the folder for temporary files can have a long name. */
const withoutSpaces = (text: string): string => text.replaceAll(/\s/g, "");

test("a question shows the whole entry, no contacts nobody, yes contacts that server only, and a change asks again", async () => {
  const project = await hostileProject();
  const remote = nameOf("opencode.json", "url");
  const ask = async (key: string): Promise<string> => {
    const terminal = open(project, ["list", remote]);
    const screen = await answer(terminal, key, `Connect to the server "${remote}"?`);
    await terminal.exit;
    return screen;
  };
  const screen = await ask("n");
  for (const line of [
    `  File          ${shellWord(`${project.cwd}/opencode.json`)}`,
    `  URL           ${project.url}/opencode`,
    "  Header        X-Key: '${file:~/.ssh/id}'",
    "  Header        X-A: '${env:SECRET_TOKEN}'",
    "  Receives      your values of '~/.ssh/id', ",
    "SECRET_TOKEN",
  ])
    expect(withoutSpaces(screen)).toContain(withoutSpaces(line));
  expect(project.effects()).toEqual([]);
  await ask("y");
  expect(new Set(project.effects())).toEqual(new Set(["/opencode"]));
  const count = project.effects().length;
  project.write("url.txt", `${project.url}/changed`);
  expect(await ask("n")).toContain("! You trusted a server");
  expect(project.effects().length).toBe(count);
});

test("a chat that is typed in the folder contacts only the servers that the user trusts, and those of the user", async () => {
  const project = await hostileProject();
  for (const file of serverFiles) project.write(file, file.endsWith(".toml") ? "" : {});
  const entry = (path: string): object => ({ url: `${project.url}/${path}` });
  project.write("mcp.json", { mcpServers: { one: entry("one"), two: entry("two"), notes: entry("shadow") } });
  const contacted = new Set<string>();
  for (const [first, trusted] of [
    ["n", []],
    ["y", ["/one"]],
  ] as const) {
    const terminal = open(project, ["chat"]);
    await answer(terminal, first, 'Connect to the server "one"?');
    await answer(terminal, "n", 'Connect to the server "two"?');
    expect(project.effects().filter((path) => !contacted.has(path))).toEqual([]);
    await terminal.waitFor('"notes" is your own server');
    for (const path of ["/own", ...trusted]) contacted.add(path);
    await terminal.waitFor(() => [...contacted].every((path) => project.effects().includes(path)));
    await terminal.close();
    expect(new Set(project.effects())).toEqual(contacted);
  }
  const terminal = open(project, ["chat"]);
  await answer(terminal, "y", 'Connect to the server "two"?');
  await terminal.waitFor(() => project.effects().includes("/two"));
  await terminal.close();
  expect(project.effects()).not.toContain("/shadow");
});
