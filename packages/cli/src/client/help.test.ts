import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { run } from "../command-line.ts";
import { openFolder } from "../serve/live-folder.ts";
import { temporaryFolder } from "../serve/testing/temporary-folder.ts";
import { helpTopics } from "./help.ts";
import { hasOption, optionDefinitions } from "./option-definitions.ts";
import { readWords } from "./options.ts";
import { clientCommands } from "./run.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

const names = [...clientCommands.keys()];
const handbook = fileURLToPath(new URL("../../../../examples/handbook", import.meta.url));

async function helpOf(name: string): Promise<string> {
  const { code, io } = await runWith({ terminal: true }, `${name} --help`);
  expect(code).toBe(0);
  return io.out();
}

/** Returns the help of `mcparley chat`, which has no target in front of its words. */
async function helpOfChat(): Promise<string> {
  const io = fakeIo({ terminal: true });
  expect(await run(["chat", "--help"], { ...io, onTerminate: () => () => {} })).toBe(0);
  return io.out();
}

test("mcparley chat --help is at most 80 columns wide", async () => {
  const lines = (await helpOfChat()).split("\n");
  expect(lines[0]).toBe("mcparley chat [TARGET ...]");
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
});

test("the help of a command names a topic exactly if the command has its options", async () => {
  const pages = new Map(await Promise.all(names.map(async (name) => [name, await helpOf(name)] as const)));
  for (const [name, page] of pages.set("chat", await helpOfChat())) {
    const [, topics = ""] = /TOPIC is ([^.]*)\./.exec(page.replaceAll("\n", " ")) ?? [];
    for (const [topic, word] of [
      ["network", "network"],
      ["sign-in", "signing-in"],
    ] as const) {
      const hasOptions = optionDefinitions.some((one) => one.topic === topic && hasOption(name, one));
      expect(topics.split(", ").includes(word), `${name} ${word}`).toBe(hasOptions);
    }
  }
});

test("no line of the help ends between an option and its value", async () => {
  for (const name of ["call", "list"]) expect(await helpOf(name)).toContain('-H, --header "NAME: VALUE"   ');
});

describe.each(names)("mcparley %s --help", (name) => {
  test("is at most 50 lines of 80 columns", async () => {
    const lines = (await helpOf(name)).split("\n");
    const usesTarget = !("edit" in clientCommands.get(name)!);
    expect(lines[0]).toContain(`mcparley ${name} ${usesTarget ? "TARGET" : ""}`);
    expect(lines.length).toBeLessThanOrEqual(50);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("shows only options of the command", async () => {
    const shown = new Set((await helpOf(name)).match(/--[a-z-]+(?=[ ,\n])/g));
    expect(shown).toContain("--json");
    for (const definition of optionDefinitions) {
      const words = [`--${definition.name}`, ...(definition.value === undefined ? [] : [valueOf(definition.name)])];
      // The same name can be another option in other commands.
      const isOption = optionDefinitions.some((one) => one.name === definition.name && hasOption(name, one));
      if (isOption) expect(() => readWords(words, name)).not.toThrow();
      else {
        expect(shown).not.toContain(`--${definition.name}`);
        expect(() => readWords(words, name)).toThrow(`mcparley ${name} has no option --${definition.name}.`);
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
  const pages = await Promise.all([...names.map(helpOf), helpOfChat()]);
  const topics = [...helpTopics.values()].map((topic) => topic(80));
  for (const { name, description } of optionDefinitions) {
    const start = description.slice(0, 20);
    const inTopics = topics.filter((page) => page.includes(start)).length;
    const inCommands = pages.filter((page) => page.includes(start)).length;
    expect(inTopics + inCommands, name).toBeGreaterThan(0);
    if (inTopics === 0) expect(inCommands, name).toBeLessThanOrEqual(3);
  }
});

describe("mcparley help", () => {
  test.each([...helpTopics.keys()])("%s fits 80 columns", async (topic) => {
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
    for (const [topic, page] of helpTopics) {
      const options = page(80).match(/(?<=^ {2}(?:-\w, | {4}))--[a-z-]+/gm) ?? [];
      expect(options, topic).toEqual([...new Set(options)]);
    }
  });

  test("lists each exit code", () => {
    expect(helpTopics.get("exit-codes")!(80)).toMatch(/\n {2}130 +ended with Ctrl-C/);
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
  const page = helpTopics.get("questions")?.(80) ?? "";
  for (const option of ["answer", "send-answers", "sample", "allow", "trust", "no-input"]) {
    expect(page).toMatch(new RegExp(`^ .*--${option}\\b`, "m"));
  }
});
