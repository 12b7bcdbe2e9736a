import { describe, expect, test } from "vitest";
import { fakeIo } from "./commands/testing/fake-io.ts";
import { declaredCommands } from "./commands/all-commands.ts";
import { topicNames } from "./commands/help.ts";
import { helpPage } from "./commands/help-topics.ts";
import { run } from "./command-line.ts";

function io() {
  return { ...fakeIo(), onTerminate: () => () => {} };
}

const help = helpPage([], 80);

test("the help names each command and each topic, and is at most 80 columns wide", () => {
  for (const name of declaredCommands.keys()) expect(help).toContain(`  mcparley ${name} `);
  for (const topic of topicNames) expect(help.replaceAll(/\s+/g, " ")).toContain(` ${topic}`);
  expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

describe("mcparley without a command", () => {
  test.each([["--help"], ["-h"], ["help"]])("%s shows the help", async (word) => {
    const world = io();
    expect(await run([word], world)).toBe(0);
    expect(world.out()).toBe(`${help}\n`);
  });

  test("shows the help without any word, and is a usage error", async () => {
    const world = io();
    expect(await run([], world)).toBe(1);
    expect(world.out()).toBe(`${help}\n`);
  });

  test("prints --version as one line", async () => {
    const world = io();
    expect(await run(["--version"], world)).toBe(0);
    expect(world.out()).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });
});

test("reports an unknown command and a usage error on stderr with a cure, and exits with 1", async () => {
  const unknown = io();
  expect(await run(["serv"], unknown)).toBe(1);
  expect(unknown.err()).toBe('mcparley: There is no command "serv".\n  Did you mean "serve"?\n');
  const wrong = io();
  expect(await run(["serve", "."], { ...wrong, cwd: "/no/such/place" })).toBe(1);
  expect(wrong.err()).toBe(
    'mcparley: There is no folder ".".\n  Name the folder that contains prompts/, resources/ or tools/.\n',
  );
  expect(unknown.out() + wrong.out()).toBe("");
});

test("breaks the lines of a usage error at the width of the terminal", async () => {
  const terminal = { ...fakeIo({ terminal: true }), onTerminate: () => () => {} };
  expect(await run(["help", "zzzzzzzz"], terminal)).toBe(1);
  expect(terminal.err()).toMatch(
    /^mcparley: There is no help for "zzzzzzzz"\.\n {2}Available, among others: serve, chat/,
  );
  expect(
    Math.max(
      ...terminal
        .err()
        .split("\n")
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(80);
  const pipe = io();
  expect(await run(["help", "zzzzzzzz"], pipe)).toBe(1);
  expect(pipe.err().trimEnd().split("\n")).toHaveLength(2);
});

test("shows the help of each command", async () => {
  for (const name of declaredCommands.keys()) {
    const world = io();
    expect(await run([name, "--help"], world), name).toBe(0);
    expect(world.out(), name).toContain(`mcparley ${name} `);
  }
});

test.each([
  [["--json", "servers"], '"servers": []'],
  [["--config", "list", "list", "x"], undefined],
])("options can precede the command: %j", async (argv, text) => {
  const world = io();
  const code = await run(argv, world);
  if (text === undefined) expect(world.err()).toContain("--config list: the file does not exist");
  else expect(`${code} ${world.out()}`).toContain(text);
});

test("options without a command are a usage error that names the form", async () => {
  const world = io();
  expect(await run(["--verbose", "x", "--", "list"], world)).toBe(1);
  expect(world.err()).toContain('Which command? "--verbose" is an option, and no command follows.');
  expect(world.err()).toContain("Such as: mcparley list TARGET --json.");
});

test.each([
  [["--json"]],
  [["--config", "x", "--json"]],
  [["--json", "--", "list"]],
  [["-v", "--json", "x"]],
  [["--json", "--odd"]],
])("%j without a command prints the usage error as a document", async (argv) => {
  const world = io();
  expect(await run(argv, world)).toBe(1);
  expect(JSON.parse(world.out())).toMatchObject({ error: { code: "usage", exitCode: 1 } });
  expect(world.out()).toContain(`Which command? \\"${argv[0]}\\" is an option, and no command follows.`);
  expect(world.err()).toBe("");
});

test("an option of other commands after serve names these commands", async () => {
  const world = io();
  expect(await run(["serve", ".", "--json"], world)).toBe(1);
  expect(world.err()).toContain("mcparley serve has no option --json.");
  expect(world.err()).toContain("It is an option of mcparley chat, mcparley list");
  const misspelled = io();
  expect(await run(["serve", ".", "--prot", "1"], misspelled)).toBe(1);
  expect(misspelled.err()).toContain("Did you mean --port?");
});
