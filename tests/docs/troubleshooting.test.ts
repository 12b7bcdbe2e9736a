import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readSections } from "../../packages/cli/src/terminal/error-help.ts";
import { exitCodes } from "../../packages/cli/src/terminal/exit-codes.ts";
import { parseFolder } from "../../scripts/house/syntax.mjs";
import { hintsOfCommand, textsIn } from "./hints.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(path.join(root, "docs/reference/troubleshooting.md"), "utf8");
const sources = ["mcparley", "cli", "config"].flatMap((name) => parseFolder(path.join(root, "packages", name, "src")));
const texts = [...new Set(sources.flatMap(({ program }) => textsIn(program)))];
const sections = readSections(page);
const names = sections.flatMap((section) => section.names);

describe("docs/reference/troubleshooting.md", () => {
  test("has a heading for each code of LocalError, and for no other word below that title", () => {
    const errors = sources.find(({ name }) => name === "rpc/errors.ts");
    const [, union = ""] = /export type LocalErrorCode =([^;]*);/.exec(errors?.text ?? "") ?? [];
    const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(20);
    const [, part = ""] = /^## Codes of LocalError\n([^]*?)^## /m.exec(page) ?? [];
    const headings = readSections(part).flatMap((section) => section.names.filter((name) => /^[a-z_]+$/.test(name)));
    expect(headings.toSorted()).toEqual(codes.toSorted());
  });

  test("has a heading for each exit code, except success and a signal to the process", () => {
    const notExplained: readonly number[] = [exitCodes.ok, exitCodes.terminated];
    const codes = Object.values(exitCodes).filter((code) => !notExplained.includes(code));
    expect(codes.filter((code) => !names.includes(`exit ${code}`))).toEqual([]);
  });

  test("has one heading for each name", () => {
    expect(sections.length).toBeGreaterThan(90);
    const lower = names.map((name) => name.toLowerCase());
    expect(lower.filter((name, index) => lower.indexOf(name) !== index)).toEqual([]);
  });

  test.each(sections.map(({ names: [name = ""], text }) => ({ name, text })))(
    "$name is explained in at most 12 lines",
    ({ text }) => {
      expect(text.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(12);
      expect(text.split("\n\n")[0]).toMatch(/\.$/);
      // A section tells what to do, has hints that tell it, refers to another section, or says that nothing is wrong.
      expect(text).toMatch(/^What to do:\n\n1\. |^Hints:\n\n- |\]\(#|This is intended\./m);
    },
  );

  test("has each hint of the command", () => {
    const hints = hintsOfCommand();
    expect(hints.length).toBeGreaterThan(50);
    const listed = quotes(/^Hints?: .*$|^Hints:\n\n(?:- .*\n)+/gm).map(plain);
    expect(hints.filter((hint) => !listed.includes(plain(hint)))).toEqual([]);
  });

  test("quotes only texts that occur in the sources", () => {
    const quoted = quotes(/^(?:Message|Messages|Hint): .*$|^Hints:\n\n(?:- .*\n)+/gm);
    expect(quoted.length).toBeGreaterThan(300);
    const known = texts.map(plain);
    expect(quoted.filter((quote) => !known.some((text) => text.includes(plain(quote))))).toEqual([]);
  });
});

/** The code spans in the parts of the page that match a pattern. Of an item of a list, those before a colon and an explanation. */
function quotes(pattern: RegExp): string[] {
  const lines = [...page.matchAll(pattern)].flatMap(([part]) => part.split("\n"));
  const spans = lines.map((line) => line.replace(/(`): [a-z`].*$/, "$1"));
  return spans.flatMap((line) => [...line.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , quote = ""]) => quote));
}

/** A text without what differs between the source and Markdown: backticks, escaped bars, and space at the ends. */
function plain(text: string): string {
  return text
    .replaceAll("`", "")
    .replaceAll(String.raw`\|`, "|")
    .trim();
}
