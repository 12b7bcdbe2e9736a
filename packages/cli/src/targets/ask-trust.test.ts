import type { EntryIdentity } from "@mcparley/config";
import { describe, expect, test } from "vitest";
import { hostile, plainView, scriptedPrompter } from "../terminal/testing/scripted-prompter.ts";
import { styleFor } from "../terminal/text.ts";
import { askTrust, shellWord } from "./ask-trust.ts";

const files: EntryIdentity = {
  digest: "0".repeat(64),
  kind: "command",
  file: "/home/ann/project/.mcp.json",
  command: ["./files-server", "--root", "/home/ann/my notes", "--token", "abcdef0123456789"],
  executable: "/home/ann/project/files-server",
  cwd: "/home/ann/project",
  environment: { LANG: "C", TOKEN: "${env:FILES_TOKEN}", API_KEY: "12345" },
  sends: ["FILES_TOKEN"],
};

const wiki: EntryIdentity = {
  digest: "0".repeat(64),
  kind: "url",
  file: "/home/ann/project/mcp.json",
  url: "https://wiki.example.com/mcp?key=k&a=b",
  headers: { Authorization: "Bearer ${env:WIKI_TOKEN}" },
  sends: ["WIKI_TOKEN"],
};

/** Asks about an entry, and returns the answer and the screen. */
async function ask(
  answers: readonly string[],
  entry: EntryIdentity,
  { name = "files", hasChanged = false, view = plainView } = {},
): Promise<{ answer: boolean; screen: string }> {
  const { prompter, screen } = scriptedPrompter(answers);
  const answer = await askTrust({ name, entry, hasChanged }, { prompter, view });
  return { answer, screen: screen() };
}

test("shows the whole entry of a program, and that it has changed", async () => {
  const { answer, screen } = await ask(["yes"], files, { hasChanged: true });
  expect(answer).toBe(true);
  expect(screen).toMatchInlineSnapshot(`
    "
    Start the server "files"?
    It is a program on this computer, and can do everything that you can do.
    The files that it runs, such as those of its folder, can change without
      another question.
      File          /home/ann/project/.mcp.json
      Command       ./files-server --root '/home/ann/my notes' --token '***'
      Executable    /home/ann/project/files-server
      Folder        /home/ann/project
      Variable      LANG=C
      Variable      TOKEN='\${env:FILES_TOKEN}'
      Variable      API_KEY=(5 characters, not shown)
      Receives      your values of FILES_TOKEN
    ! You trusted a server "files" of this file before. Its entry has changed.
    A yes is remembered until something in this entry changes.
    Start it? [y]es, [n]o? yes
    "
  `);
});

test("shows the whole entry of a URL", async () => {
  const { answer, screen } = await ask(["n"], wiki, { name: "wiki" });
  expect(answer).toBe(false);
  expect(screen).toMatchInlineSnapshot(`
    "
    Connect to the server "wiki"?
    It is a server at a URL. It receives what the model and you send to it.
      File          /home/ann/project/mcp.json
      URL           https://wiki.example.com/mcp?key=***&a=***
      Header        Authorization: 'Bearer \${env:WIKI_TOKEN}'
      Receives      your values of WIKI_TOKEN
    A yes is remembered until something in this entry changes.
    Connect? [y]es, [n]o? n
    "
  `);
});

test.each([
  [String.raw`https://evil.example\@good.example/mcp`, "https://evil.example/@good.example/mcp"],
  ["https://evil.example?@good.example/mcp", "https://evil.example/?@good.example/mcp"],
  ["https://evil.example#@good.example/mcp", "https://evil.example/"],
  ["https://good.example@evil.example/mcp", "https://***@evil.example/mcp"],
  [
    String.raw`https://evil.example\@good.example/${"${env:A}"}`,
    String.raw`https://evil.example\@good.example/${"${env:A}"}`,
  ],
  ["https://evil.example?@good.example/${env:A}", "https://evil.example?@good.example/${env:A}"],
  ["https://\u0430pple.example/mcp", "https://xn--pple-43d.example/mcp"],
])("shows the host of %j", async (url, shown) => {
  const { screen } = await ask(["n"], { ...wiki, url });
  expect(screen).toContain(`  URL           ${shown}\n`);
  expect(screen.includes("! The host has letters that can look like other letters.")).toBe(shown.includes("xn--"));
});

test.each([
  ["token=x; run ./evil", "'token=x; run ./evil'"],
  ["token=x&./evil", "'token=x&./evil'"],
  ["--password=$(./evil)", "'--password=$(./evil)'"],
  ['curl -H "Authorization: Bearer `./evil`"', `'curl -H "Authorization: Bearer \`./evil\`"'`],
])("shows program text that looks like a secret: %s", async (code, shown) => {
  const command = ["sh", "-c", code, "--token=abcdef0123456789"];
  const { screen } = await ask(["n"], { ...files, command, environment: { API_KEY: code, TOKEN: "x" } });
  expect(screen).toContain(`Command       sh -c ${shown} '--token=***'\n`);
  expect(screen).toContain(`Variable      API_KEY=${shown}\n`);
  expect(screen).toContain("TOKEN=(1 characters, not shown)");
});

test("emphasizes the host with colours", async () => {
  const { screen } = await ask(["n"], wiki, { view: { ...plainView, style: styleFor(true, {}) } });
  expect(screen).toContain("https://\u001b[7mwiki.example.com\u001b[27m/mcp?key=***&a=***\n");
});

test("cuts a very long command, which can be viewed", async () => {
  const command = ["run", ...Array.from({ length: 600 }, (_, index) => `word${index}`)];
  const { answer, screen } = await ask(["v", "y"], { ...files, command });
  expect(answer).toBe(true);
  const [cut = "", whole = ""] = screen.split("[v]iew? v\n");
  expect(cut).toMatch(/ {2}… \d+ lines are not shown\n/);
  expect(cut).not.toContain("word300");
  expect(whole).toContain("word300");
});

describe("shellWord", () => {
  test.each([
    ["--root=/a.b", "--root=/a.b"],
    ["", "''"],
    ["a b", "'a b'"],
    ["a  b", "'a  b'"],
    ["it's", String.raw`'it'\''s'`],
    ["$HOME;rm", "'$HOME;rm'"],
    ["größe", "'größe'"],
    ["a\nb\t'\\", String.raw`$'a\nb\t\'\\'`],
    ["a\u00a0b\u200b\u{e0041}\u001b", String.raw`$'a\u00a0b\u200b\U000e0041\u001b'`],
  ])("%j is written as %s", (word, shown) => {
    expect(shellWord(word)).toBe(shown);
  });
});

test("words of an entry and names cannot look like lines of the command", async () => {
  const entry = { ...files, command: [hostile], cwd: hostile, environment: { [hostile]: hostile }, envFile: hostile };
  for (const shown of [entry, { ...wiki, url: hostile, headers: { [hostile]: hostile }, sends: [hostile] }]) {
    const { screen } = await ask(["n"], shown, { name: hostile, hasChanged: true });
    expect(screen).not.toMatch(/[^ -~\n…]/);
    expect(screen).not.toMatch(/^(The server|Call it)/m);
  }
});

test.each([
  [["bash", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"], "bash ghp_abcdefghijklmnopqrstuvwxyz0123456789"],
  [["node", "--import", "./ghp_abcdefghijklmnopqrstuvwxyz0123456789.mjs"], /--import \.\/ghp_\w+\.mjs/],
  [["xargs", "--token", "sh", "-c", "evil"], "xargs --token sh -c evil"],
  [
    ["node", "--token", "./evil.js", "--password=abcdef0123456789.js"],
    "--token ./evil.js --password=abcdef0123456789.js",
  ],
])("shows the program in %j, whose name has the form of a secret", async (command, shown) => {
  const { screen } = await ask(["n"], { ...files, command });
  const text = screen.replaceAll(/\s+/g, " ");
  if (typeof shown === "string") expect(text).toContain(shown);
  else expect(text).toMatch(shown);
});

test("shows the value of a variable that selects a program, also if it has the form of a secret", async () => {
  const value = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  const { screen } = await ask(["n"], {
    ...files,
    environment: { BASH_ENV: value, LD_PRELOAD: value, API_TOKEN: value },
  });
  expect(screen).toContain(`BASH_ENV=${value}`);
  expect(screen).toContain(`LD_PRELOAD=${value}`);
  expect(screen).toContain("API_TOKEN=(40 characters, not shown)");
});
