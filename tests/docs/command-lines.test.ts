import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { declaredCommands } from "../../packages/cli/src/commands/all-commands.ts";
import { command } from "../interop/handbook.ts";
import { documents } from "./extract-samples.ts";

/*
 * The subcommands and options of `mcparley` in the guides exist, also in blocks that are not run and in the text.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [...documents(), "examples/handbook/README.md"];
const help = (...args: string[]): string => execFileSync(process.execPath, [command, ...args], { encoding: "utf8" });
const subcommands = new Set(
  [...help("--help").matchAll(/^ {2}(?:mcparley )?([a-z]+)\b/gm)].map(([, name = ""]) => name),
);
const optionNames = [...declaredCommands.values()].flatMap(({ options }) =>
  Object.values(options).map(({ name }) => name),
);

/** Options of npm, of vLLM and of `/save` of a chat that these guides name. */
const foreign: ReadonlySet<string> = new Set(["global", "enable-auto-tool-choice", "tool-call-parser", "overwrite"]);

interface CommandLine {
  page: string;
  subcommand: string;
  options: string[];
}

/** The options in a text, without the dashes: `no-watch` of `--no-watch`. */
function optionsIn(text: string): Set<string> {
  return new Set([...text.matchAll(/(?<=^|[\s`[,(])--([a-z][\w-]*)/g)].map(([, name = ""]) => name));
}

/** The command lines of a page: lines of its blocks, and code in its text. */
function commandLines(page: string): CommandLine[] {
  const text = readFileSync(path.join(root, page), "utf8").replaceAll("\\\n", " ");
  const found = text.matchAll(/(?:^|`)\s*(?:\$ )?(?:npx (?:-y )?)?mcparley ([a-z][a-z-]*)([^`\n]*)/gm);
  return [...found].map(([, subcommand = "", rest = ""]) => {
    // Words after `--` belong to the program that the command starts, and words after `#` are a comment.
    const [own = ""] = rest.replace(/ # .*$/, "").split(/ -- /);
    return { page, subcommand, options: [...optionsIn(own.replaceAll(/"[^"]*"/g, '""'))] };
  });
}

function isKnownOption(subcommand: string, option: string): boolean {
  if (option === "help") return true;
  return Object.values(declaredCommands.get(subcommand)?.options ?? {}).some(({ name }) => name === option);
}

const lines = pages.flatMap(commandLines);

test("the guides have command lines, and the command has subcommands and options", () => {
  expect(lines.length).toBeGreaterThan(40);
  expect([...subcommands]).toEqual(expect.arrayContaining(["list", "call", "serve", "login"]));
  expect(optionNames).toEqual(expect.arrayContaining(["stdio", "port", "store"]));
});

test("each subcommand in the guides exists", () => {
  expect(lines.filter(({ subcommand }) => !subcommands.has(subcommand))).toEqual([]);
});

test("each option in a command line belongs to its subcommand", () => {
  const wrong = lines.flatMap(({ page, subcommand, options }) =>
    options
      .filter((option) => !isKnownOption(subcommand, option))
      .map((option) => `${page}: ${subcommand} --${option}`),
  );
  expect(wrong).toEqual([]);
});

test("each option in the text of a guide for the command exists", () => {
  const known = new Set(["help", ...optionNames]);
  const guides = pages.filter((page) => /\/cli\/|(command|folder)[\w-]*\.md$/.test(page));
  expect(guides.length).toBeGreaterThan(5);
  const wrong = guides.flatMap((page) => {
    const text = readFileSync(path.join(root, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
    const named = [...text.matchAll(/`--([a-z][\w-]*)/g)].map(([, name = ""]) => name);
    return named.filter((name) => !known.has(name) && !foreign.has(name)).map((name) => `${page}: --${name}`);
  });
  expect(wrong).toEqual([]);
});

test("the page of the options lists each option of each command but serve, and no other", () => {
  const text = readFileSync(path.join(root, "docs/reference/command-options.md"), "utf8");
  const cells = [...text.matchAll(/^\| ([^|]*)/gm)].map(([, cell = ""]) => cell);
  const listed = cells.flatMap((cell) => [...cell.matchAll(/--([a-z][\w-]*)/g)].map(([, name = ""]) => name));
  const declared = [...declaredCommands].flatMap(([command, { options }]) =>
    command === "serve" ? [] : Object.values(options).map(({ name }) => name),
  );
  expect([...new Set(listed)].toSorted()).toEqual([...new Set([...declared, "json"])].toSorted());
});
