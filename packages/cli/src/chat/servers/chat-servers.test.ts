import type { ServerEntry, ServerSettings } from "@mcparley/host";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { UsageError } from "../../terminal/io.ts";
import { readChat } from "../../commands/testing/read-command.ts";
import { readRoot } from "../../targets/roots.ts";
import { Screen } from "../../terminal/screen.ts";
import { Stop } from "../../terminal/stop.ts";
import { fakeIo } from "../../commands/testing/fake-io.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type ChatServer, chatServers } from "./chat-servers.ts";

interface Surroundings {
  readonly files?: Record<string, string>;
  /** The current folder in the home folder. Default: the home folder. */
  readonly folder?: string;
  readonly env?: Record<string, string>;
  /** The answers of a user at a terminal. Default: no terminal. */
  readonly answers?: string[];
}

interface Found {
  readonly servers: readonly ChatServer[];
  readonly home: string;
  /** The parts of stderr that the servers wrote, with their names. */
  readonly outputs: string[];
  /** The text on stderr before the chat is shown. */
  readonly notes: string;
}

/** Returns the servers of a command line. */
async function serversOf(
  line: readonly string[],
  { files = {}, folder = "", env = {}, answers }: Surroundings = {},
): Promise<Found> {
  const home = await temporaryFolder(files);
  const io = fakeIo({
    cwd: join(home, folder),
    env: { HOME: home, ...env },
    terminal: answers !== undefined,
    ...(answers && { answers }),
  });
  const { positionals, command, options } = readChat(line);
  const setting = { io, screen: new Screen(io, () => {}), options, stop: new Stop(io, () => {}) };
  const outputs: string[] = [];
  const onStderr = (name: string, chunk: string): void => void outputs.push(`${name}: ${chunk}`);
  const servers = await chatServers({ targets: positionals, command }, setting, onStderr);
  return { servers, home, outputs, notes: io.err() };
}

const namesOf = ({ servers }: Found): string[] => servers.map(({ name }) => name);

/** Returns the target of an entry with settings. */
function targetOf(entry: ServerEntry | undefined): Record<string, unknown> {
  if (typeof entry !== "object" || !("target" in entry)) throw new Error("The entry has no settings.");
  return { ...(entry.target as object) };
}

const config = (servers: Record<string, object>): string => JSON.stringify({ mcpServers: servers });
const url = (name: string): object => ({ url: `https://${name}.example.com/mcp` });

test("a URL and a command become servers with short names", async () => {
  const found = await serversOf(["https://mcp.wiki.example.com/mcp", "--", "node", "notes-server.js", "--flag"]);
  expect(namesOf(found)).toEqual(["wiki", "notes-server"]);
  expect(targetOf(found.servers[0]?.entry)).toMatchObject({ url: "https://mcp.wiki.example.com/mcp", headers: {} });
  expect(targetOf(found.servers[1]?.entry)).toMatchObject({ command: "node", args: ["notes-server.js", "--flag"] });
});

test("servers with the same name are numbered in their order", async () => {
  const found = await serversOf([
    "https://a.example.com/one",
    "https://a.example.com/two",
    "https://a.example.com/three",
  ]);
  expect(namesOf(found)).toEqual(["a", "a-2", "a-3"]);
  expect(targetOf(found.servers[1]?.entry).url).toBe("https://a.example.com/two");
});

test("without words the servers of the nearest configuration file are used", async () => {
  const files = {
    "mcp.json": config({ outer: url("outer") }),
    "project/mcp.json": config({ near: url("near"), other: url("other") }),
    "project/.vscode/mcp.json": JSON.stringify({ servers: { editor: url("editor") } }),
    "project/src/readme.md": "",
  };
  const inner = await serversOf(["--trust"], { files, folder: "project/src" });
  expect(namesOf(inner).toSorted()).toEqual(["editor", "near", "other"]);
  expect(namesOf(await serversOf(["--trust"], { files }))).toEqual(["outer"]);
});

test("without words an invalid or disabled entry of the nearest file is left out, and an invalid file is refused", async () => {
  const disabled = { ...url("off"), disabled: true };
  const files = {
    "mcp.json": config({ outer: url("outer") }),
    "p/mcp.json": config({ bad: {}, both: { ...disabled, enabled: true }, off: disabled, good: url("good") }),
    "q/mcp.json": "[",
    "r/mcp.json": config({ off: disabled }),
  };
  const found = await serversOf(["--trust"], { files, folder: "p" });
  expect(namesOf(found)).toEqual(["good"]);
  expect(found.notes).toContain('p/mcp.json:1:16: Server "bad": The entry needs a "command" to start or a "url"');
  expect(found.notes).toContain('Server "both": The entry has both "disabled" and "enabled"; keep one.');
  await expect(serversOf(["--trust", "bad"], { files, folder: "p" })).rejects.toThrow('p/mcp.json:1:16: Server "bad"');
  await expect(serversOf(["--trust"], { files, folder: "q" })).rejects.toThrow("q/mcp.json:1:");
  expect(namesOf(await serversOf(["--trust"], { files, folder: "r" }))).toEqual([]);
});

test("without words and configurations there are no servers", async () => {
  expect(namesOf(await serversOf([]))).toEqual([]);
});

test("--config reads the servers of one file, without disabled ones", async () => {
  const files = {
    "mcp.json": config({ outer: url("outer") }),
    "team.json": config({ wiki: url("wiki"), old: { ...url("old"), disabled: true } }),
  };
  expect(namesOf(await serversOf(["--trust", "--config", "team.json"], { files }))).toEqual(["wiki"]);
  expect(namesOf(await serversOf(["--trust", "--config", "team.json", "wiki"], { files }))).toEqual(["wiki"]);
  await expect(serversOf(["--trust", "--config", "team.json", "outer"], { files })).rejects.toThrow(UsageError);
  await expect(serversOf(["--config", "missing.json"], { files })).rejects.toThrow("missing.json");
});

test("a word that names no server is refused", async () => {
  const files = { "mcp.json": config({ wiki: url("wiki") }) };
  await expect(serversOf(["wikki"], { files })).rejects.toThrow("wikki");
});

test("a command of a configuration needs the approval of the user", async () => {
  const files = { "mcp.json": config({ notes: { command: "notes-server" } }) };
  await expect(serversOf([], { files })).rejects.toThrow();
  expect(namesOf(await serversOf(["--trust"], { files }))).toEqual(["notes"]);
});

test("--header is sent to the only server at a URL, also beside a command", async () => {
  const header = ["--header", "X-Team: search"];
  const found = await serversOf([...header, "https://a.example.com/mcp", "--", "notes-server"]);
  expect(targetOf(found.servers[0]?.entry).headers).toEqual({ "X-Team": "search" });
  const two = serversOf([...header, "https://a.example.com/mcp", "https://b.example.com/mcp"]);
  await expect(two).rejects.toThrow("--header needs exactly one server at a URL; there are 2.");
  await expect(serversOf([...header, "--", "notes-server"])).rejects.toThrow("there are 0.");
});

test("--env and --env-all are for the only server that is started", async () => {
  const found = await serversOf(["--env", "TEAM=search", "https://a.example.com/mcp", "--", "notes-server"]);
  expect(targetOf(found.servers[1]?.entry).env).toMatchObject({ TEAM: "search" });
  const files = { "mcp.json": config({ notes: { command: "notes-server" } }) };
  const both = serversOf(["--trust", "--env", "TEAM=search", "notes", "--", "other-server"], { files });
  await expect(both).rejects.toThrow("--env needs exactly one server that is started; there are 2.");
  await expect(serversOf(["--env-all", "https://a.example.com/mcp"])).rejects.toThrow("there are 0.");
});

test("--revision and --max-reply apply to each server", async () => {
  const words = ["--revision", "2025-06-18", "--max-reply", "1MiB", "https://a.example.com/mcp", "--", "notes-server"];
  const { servers } = await serversOf(words);
  expect(servers.map(({ entry }) => (entry as { revision?: string }).revision)).toEqual(["2025-06-18", "2025-06-18"]);
  expect(targetOf(servers[0]?.entry).limits).toEqual({ message: 1_048_576 });
  expect(targetOf(servers[1]?.entry).maxLineBytes).toBe(1_048_576);
});

test("the stderr of a command is passed on with the name of the server", async () => {
  const { servers, outputs } = await serversOf(["--", "notes-server"]);
  const { stderr } = targetOf(servers[0]?.entry) as { stderr: (chunk: string) => void };
  stderr("starting");
  expect(outputs).toEqual(["notes-server: starting"]);
});

test("a root is a folder that exists", async () => {
  const cwd = await temporaryFolder({ "src/a.ts": "" });
  expect(readRoot("src", { cwd })).toEqual({ uri: pathToFileURL(join(cwd, "src")).href, name: "src" });
  expect(readRoot("/", { cwd })).toEqual({ uri: "file:///", name: "/" });
  expect(() => readRoot("lib", { cwd })).toThrow("lib does not exist.");
  expect(() => readRoot("src/a.ts", { cwd })).toThrow("src/a.ts is a file, not a folder.");
});

test("at a terminal, a server that is not trusted or has no value for a reference is left out", async () => {
  const servers = {
    one: url("one"),
    two: url("two"),
    three: { command: "x", args: ["${MISSING}"] },
    four: url("four"),
  };
  const files = { "p/mcp.json": config(servers) };
  const found = await serversOf([], { files, folder: "p", answers: ["n", "y", "y"] });
  expect(namesOf(found)).toEqual(["two", "four"]);
  const notes = found.notes.replaceAll(/\s+/g, " ");
  expect(notes).toContain('The server "one" of');
  expect(notes).toContain("was not trusted. It is not a part of this chat.");
  expect(notes).toMatch(/refers to \$\{env:MISSING\}, and .* It is not a part of this chat\./);
  // A server that the user has named is not left out.
  await expect(serversOf(["one"], { files, folder: "p", answers: ["n"] })).rejects.toThrow("was not trusted");
  await expect(serversOf(["three"], { files, folder: "p", answers: [] })).rejects.toThrow("refers to ${env:MISSING}");
  // Without a terminal, nothing is left out.
  await expect(serversOf([], { files, folder: "p" })).rejects.toThrow("add --trust to contact it.");
});

test("a server of the user is used in place of one of the project with its name, which is stated", async () => {
  const files = { ".cursor/mcp.json": config({ notes: url("own") }), "p/mcp.json": config({ notes: url("project") }) };
  const found = await serversOf([], { files, folder: "p" });
  expect(targetOf(found.servers[0]?.entry)).toMatchObject(url("own"));
  const file = join(found.home, ".cursor/mcp.json");
  expect(found.notes.replaceAll(/\s+/g, " ")).toContain(`"notes" is your own server of ${file}.`);
  const given = await serversOf(["--trust", "--config", "mcp.json"], { files, folder: "p" });
  expect(targetOf(given.servers[0]?.entry)).toMatchObject(url("project"));
  expect(given.notes).toBe("");
});

test("the entry of a configuration is passed on for consent, and a target of the command line has none", async () => {
  const files = { "mcp.json": config({ notes: url("notes") }) };
  const found = await serversOf(["--trust", "notes", "https://a.example.com/mcp"], { files });
  const [notes, other] = found.servers.map(({ entry }) => (entry as ServerSettings).entry);
  expect(notes).toMatchObject({
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    url: "https://notes.example.com/mcp",
  });
  expect(other).toBeUndefined();
});
