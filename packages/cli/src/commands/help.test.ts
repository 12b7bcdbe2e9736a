import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { run } from "../command-line.ts";
import { openFolder } from "../serve/live-folder.ts";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { helpTopics } from "./help-topics.ts";
import { clientCommands, declaredCommands } from "./all-commands.ts";
import { readCommand } from "./testing/read-command.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

const names = [...clientCommands.keys()];
const topics = Object.entries(helpTopics);
const optionsOf = (name: string) => Object.values(declaredCommands.get(name)!.options);
/** The options of all commands. Several can have one name. */
const allOptions = [...new Set([...declaredCommands.keys()].flatMap(optionsOf))];
const handbook = fileURLToPath(new URL("../../../../examples/handbook", import.meta.url));

async function helpOf(name: string): Promise<string> {
  const { code, io } = await runWith({ terminal: true }, `${name} --help`);
  expect(code).toBe(0);
  return io.out();
}

/** Returns the help of `mcparley chat` or `mcparley serve`, which have no target in front of their words. */
async function helpOfRoom(name: "chat" | "serve"): Promise<string> {
  const io = fakeIo({ terminal: true });
  expect(await run([name, "--help"], { ...io, onTerminate: () => () => {} })).toBe(0);
  return io.out();
}

test.each([
  ["chat", "mcparley chat [TARGET ...]"],
  ["serve", "mcparley serve DIR"],
] as const)("mcparley %s --help is at most 80 columns wide", async (name, usage) => {
  const lines = (await helpOfRoom(name)).split("\n");
  expect(lines[0]).toBe(usage);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
});

test("mcparley serve --help has the contents of the folder, the exit codes, and no page about targets", async () => {
  const page = await helpOfRoom("serve");
  expect(page).toMatch(/^Contents of the folder\n {2}prompts\/\*\*\/\*\.md +Markdown/m);
  expect(page).toMatch(/^Options\n[^]*^Exit codes\n {2}0 +ended by Ctrl-C/m);
  expect(page).not.toContain("mcparley help");
});

test("the help of a command names a topic exactly if the command has its options", async () => {
  const pages = new Map(await Promise.all(names.map(async (name) => [name, await helpOf(name)] as const)));
  for (const [name, page] of pages.set("chat", await helpOfRoom("chat"))) {
    const [, topics = ""] = /TOPIC is ([^.]*)\./.exec(page.replaceAll("\n", " ")) ?? [];
    for (const topic of ["network", "signing-in"] as const) {
      const hasOptions = optionsOf(name).some((option) => option.topic === topic);
      expect(topics.split(", ").includes(topic), `${name} ${topic}`).toBe(hasOptions);
    }
  }
});

test.each(["servers", "remove", "add", "list"])("the help of %s names the topic about targets", async (name) => {
  expect(await helpOf(name)).toContain("TOPIC is targets, ");
});

test("mcparley --help has the words of each command, and explains TARGET and HOST", async () => {
  const io = fakeIo({ terminal: true });
  expect(await run(["--help"], io)).toBe(0);
  const page = io.out();
  for (const words of [
    "serve DIR",
    "chat [TARGET ...]",
    "call TARGET TOOL ...",
    "complete TARGET ...",
    "add TARGET --to HOST",
  ])
    expect(page).toContain(`  mcparley ${words}  `);
  expect(page).toContain("TARGET is a URL");
  expect(page.replaceAll("\n", " ")).toContain("HOST is a program with MCP servers, such as claude-code");
  expect(page).toMatch(/^ {2}-h, --help +show this$/m);
  for (const line of page.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
});

test("no line of the help ends between an option and its value", async () => {
  for (const name of ["call", "list"]) expect(await helpOf(name)).toContain('-H, --header "NAME: VALUE"   ');
});

describe.each(names)("mcparley %s --help", (name) => {
  test("is at most 50 lines of 80 columns", async () => {
    const lines = (await helpOf(name)).split("\n");
    const usesTarget = clientCommands.get(name)!.kind !== "other";
    expect(lines[0]).toContain(`mcparley ${name} ${usesTarget ? "TARGET" : ""}`);
    expect(lines.length).toBeLessThanOrEqual(50);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("shows only options of the command", async () => {
    const shown = new Set((await helpOf(name)).match(/--[a-z-]+(?=[ ,\n])/g));
    expect(shown).toContain("--json");
    const names = new Set(optionsOf(name).map((option) => option.name));
    for (const option of allOptions) {
      const words = [`--${option.name}`, ...(option.value === undefined ? [] : [valueOf(option.name)])];
      const read = (): unknown => readCommand(words, { name, options: clientCommands.get(name)!.options });
      if (names.has(option.name)) expect(read).not.toThrow();
      else {
        expect(shown).not.toContain(`--${option.name}`);
        expect(read).toThrow(`mcparley ${name} has no option --${option.name}.`);
      }
    }
  });
});

function valueOf(option: string): string {
  const values: Record<string, string> = {
    timeout: "1s",
    header: "a: b",
    env: "A=b",
    answer: "a=b",
    revision: "2025-11-25",
    "log-level": "info",
    "max-reply": "1MiB",
  };
  return values[option] ?? "value";
}

test("describes each option in one place", async () => {
  const pages = await Promise.all([...names.map(helpOf), helpOfRoom("chat"), helpOfRoom("serve")]);
  const texts = topics.map(([, topic]) => topic(80));
  for (const { name, description } of allOptions) {
    const start = description.slice(0, 20);
    const inTopics = texts.filter((page) => page.includes(start)).length;
    const inCommands = pages.filter((page) => page.includes(start)).length;
    expect(inTopics + inCommands, name).toBeGreaterThan(0);
    if (inTopics === 0) expect(inCommands, name).toBeLessThanOrEqual(3);
  }
});

describe("mcparley help", () => {
  test.each(topics.map(([name]) => name))("%s fits 80 columns", async (topic) => {
    const io = fakeIo({ terminal: true });
    expect(await run(["help", topic], { ...io, onTerminate: () => () => {} })).toBe(0);
    for (const line of io.out().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("shows the help of a command, and suggests a topic for an unknown word", async () => {
    const io = fakeIo({ terminal: true });
    expect(await run(["help", "call"], { ...io, onTerminate: () => () => {} })).toBe(0);
    expect(io.out()).toBe(await helpOf("call"));
    expect(await run(["help", "option"], { ...io, onTerminate: () => () => {} })).toBe(1);
    expect(io.err()).toContain('There is no help for "option".\n  Did you mean "options"?');
  });

  test("describes each option once", () => {
    for (const [topic, page] of topics) {
      const options = page(80).match(/(?<=^ {2}(?:-\w, | {4}))--[a-z-]+/gm) ?? [];
      expect(options, topic).toEqual([...new Set(options)]);
    }
  });

  test("lists each exit code", () => {
    expect(helpTopics["exit-codes"](80)).toMatch(/\n {2}130 +ended with Ctrl-C/);
  });
});

test("has examples that work with the handbook", async () => {
  const cwd = await temporaryFolder({
    "main.ts": "export const one = 1;\n",
    "mcp.json": '{ "mcpServers": { "handbook": { "url": "http://127.0.0.1:1/mcp" } } }',
  });
  const { server } = await openFolder(handbook, {});
  const examples = [...clientCommands.values()].flatMap((command) => command.examples);
  const tried = examples.filter((line) => line.includes(" handbook") && !line.startsWith("mcparley watch"));
  expect(tried.length).toBeGreaterThan(6);
  for (const line of tried) {
    const words = line.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ""));
    const { code, io } = await runWith({ server, cwd }, [...words.slice(1), "--trust"]);
    expect(`${line}: ${code} ${io.err()}`).toBe(`${line}: 0 ${io.err()}`);
  }
  for (const uri of examples.flatMap((line) => line.match(/handbook:\/\/\S+/g) ?? [])) {
    expect((await runWith({ server, cwd }, ["read", "handbook", uri, "--trust"])).code, uri).toBe(0);
  }
  await server.close();
});

test("the page about questions has each option that answers one in advance", () => {
  const page = helpTopics.questions(80);
  for (const option of ["answer", "send-answers", "sample", "allow", "trust", "no-input"]) {
    expect(page).toMatch(new RegExp(`^ .*--${option}\\b`, "m"));
  }
});
