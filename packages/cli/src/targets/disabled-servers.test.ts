import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readChat } from "../commands/testing/read-command.ts";
import { Screen } from "../terminal/screen.ts";
import { Stop } from "../terminal/stop.ts";
import { chatServers } from "../chat/servers/chat-servers.ts";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { exampleServer } from "../commands/testing/example-server.ts";
import { type FakeIo, fakeIo, runWith } from "../commands/testing/fake-io.ts";

let home: string;
let cwd: string;

beforeEach(async () => {
  home = await temporaryFolder();
  cwd = join(home, "project");
  mkdirSync(cwd);
});

/** Writes a file below the home folder, and returns its path. */
function write(path: string, content: unknown): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

async function run(line: string | string[]): Promise<{ code: number; io: FakeIo; text: string }> {
  const { code, io } = await runWith({ cwd, env: { HOME: home }, server: exampleServer() }, line);
  return { code, io, text: io.err().replaceAll(/\s+/g, " ") };
}

const url = "https://notes.example/mcp";

/** Each command that uses a server, with a word for the server. */
const commands = [
  "list NAME",
  "call NAME add a=1 b=2",
  "read NAME notes://1",
  "prompt NAME greet",
  "complete NAME prompt:greet name a",
  "watch NAME",
  "login NAME",
  "logout NAME",
  "whoami NAME",
  "add NAME --to codex",
  "add NAME --to codex --no-check",
];

/** Files in which "notes" is disabled: the place that the error names, and the start of the cure. */
const files: readonly (readonly [what: string, content: Record<string, unknown>, place: string, cure: string])[] = [
  ...["mcp.json", ".mcp.json", ".cursor/mcp.json"].flatMap(
    (file): [string, Record<string, unknown>, string, string][] => [
      [
        `"disabled": true in ${file}`,
        { [`project/${file}`]: `{"mcpServers": {"notes": {"url": "${url}",\n"disabled": true}}}` },
        `/project/${file}:2:1: `,
        'Set "disabled" to false, or remove it.',
      ],
      [
        `"enabled": false in ${file}`,
        { [`project/${file}`]: `{"mcpServers": {"notes": {"url": "${url}",\n"enabled": false}}}` },
        `/project/${file}:2:1: `,
        'Set "enabled" to true, or remove it.',
      ],
    ],
  ),
  [
    '"disabled": true in .vscode/mcp.json',
    { "project/.vscode/mcp.json": `{"servers": {"notes": {"url": "${url}",\n"disabled": true}}}` },
    "/project/.vscode/mcp.json:2:1: ",
    'Set "disabled" to false, or remove it.',
  ],
  [
    "enabled = false in .codex/config.toml",
    { "project/.codex/config.toml": `[mcp_servers.notes]\nurl = "${url}"\nenabled = false\n` },
    "/project/.codex/config.toml:3:1: ",
    'Set "enabled" to true, or remove it.',
  ],
  [
    "a list of .claude/settings.local.json",
    {
      "project/.mcp.json": { mcpServers: { notes: { url } } },
      "project/.claude/settings.local.json": '{\n"disabledMcpjsonServers": ["other",\n"notes"]}',
    },
    "/project/.claude/settings.local.json:3:1: ",
    'Remove it from "disabledMcpjsonServers".',
  ],
  [
    "a list of .gemini/settings.json",
    {
      "project/.gemini/settings.json": {
        mcpServers: { notes: { httpUrl: url } },
        mcp: { excluded: ["notes"] },
      },
    },
    "/project/.gemini/settings.json:1:",
    'Remove it from "excluded".',
  ],
];

describe.each(files)("a server that is disabled by %s", (_what, content, place, cure) => {
  const writeAll = (): string[] => Object.entries(content).map(([path, text]) => write(path, text));

  test.each(commands)("is refused by %s, also with --trust, HOST:NAME and --config", async (command) => {
    const [file = ""] = writeAll();
    const wordsFor = (name: string): string[] => command.replace("NAME", name).split(" ");
    const { io } = await run("servers --json");
    const [listed] = (JSON.parse(io.out()) as { servers: { host: string; disabled: boolean }[] }).servers;
    expect(listed?.disabled).toBe(true);
    for (const words of [
      wordsFor("notes"),
      [...wordsFor("notes"), "--trust"],
      [...wordsFor(`${listed?.host}:notes`), "--trust"],
      [...wordsFor("notes"), "--trust", "--config", file],
    ]) {
      const { code, io, text } = await run(words);
      expect(`${words.join(" ")}: ${code} ${text}`).toContain(`${words.join(" ")}: 1 mcparley: ${home}${place}`);
      expect(text).toContain('The server "notes" is disabled');
      expect(text).toContain(cure);
      expect(io.targets).toEqual([]);
    }
  });

  test("is refused by chat, and left out without words", async () => {
    writeAll();
    const io = fakeIo({ cwd, env: { HOME: home } });
    const serversOf = (words: readonly string[]): Promise<unknown> => {
      const { positionals, command, options } = readChat(words);
      const setting = { io, screen: new Screen(io, () => {}), options, stop: new Stop(io, () => {}) };
      return chatServers({ targets: positionals, command }, setting, () => {});
    };
    await expect(serversOf(["--trust", "notes"])).rejects.toThrow(`${home}${place}`);
    expect(await serversOf(["--trust"])).toEqual([]);
  });
});

test("lists the servers of an mcp.json, of which each command uses the name", async () => {
  const file = write("project/mcp.json", { mcpServers: { notes: { url } }, servers: { wiki: { url } } });
  const { code, io } = await run("servers");
  expect(code).toBe(0);
  expect(
    io
      .out()
      .split("\n")
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ["Name", "Host", "Scope", "Target", "Place"],
    ["notes", "mcparley", "project", url, "~/project/mcp.json:1"],
    ["wiki", "mcparley", "project", url, "~/project/mcp.json:1"],
    [""],
  ]);
  for (const word of ["notes", "mcparley:notes", "wiki"]) {
    expect((await run(`list ${word} --trust`)).io.targets).toEqual([expect.objectContaining({ url })]);
  }
  expect((await run("remove notes --from mcparley --yes")).io.out()).toContain(`Wrote ${file}.`);
  expect((await run("list notes")).text).toContain('There is no server "notes".');
  expect((await run("list wiki --trust")).code).toBe(0);
});
