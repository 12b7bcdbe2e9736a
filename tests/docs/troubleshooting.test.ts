import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseFolder } from "../../scripts/house/syntax.mjs";
import { hintsOfCommand, textsIn } from "./hints.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string): string => readFileSync(path.join(root, "docs", name), "utf8");
const page = read("reference/troubleshooting.md");
const hintsPage = read("reference/command-hints.md");
const sources = ["mcparley", "cli", "config"].flatMap((name) => parseFolder(path.join(root, "packages", name, "src")));
const texts = [...new Set(sources.flatMap(({ program }) => textsIn(program)))];

describe("docs/reference/troubleshooting.md and docs/reference/command-hints.md", () => {
  test("have a heading for each code of LocalError", () => {
    const errors = sources.find(({ name }) => name === "rpc/errors.ts");
    const [, union = ""] = /export type LocalErrorCode =([^;]*);/.exec(errors?.text ?? "") ?? [];
    const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(20);
    const headings = [...page.matchAll(/^### (.*)$/gm)].flatMap(([, heading = ""]) => heading.split(", "));
    expect(headings.toSorted()).toEqual(codes.toSorted());
  });

  test("have a row for each hint of the command", () => {
    const hints = hintsOfCommand();
    expect(hints.length).toBeGreaterThan(50);
    const listed = quotesIn(hintsPage, "Hint").map(plain);
    expect(hints.filter((hint) => !listed.includes(plain(hint)))).toEqual([]);
  });

  test("quote only texts that occur in the sources", () => {
    const quotes = [...quotesIn(page, "Message"), ...quotesIn(hintsPage, "Hint")];
    expect(quotes.length).toBeGreaterThan(100);
    const known = texts.map(plain);
    expect(quotes.filter((quote) => !known.some((text) => text.includes(plain(quote))))).toEqual([]);
  });
});

/** The code spans in the first cells of all tables of a text whose first column has this heading. */
function quotesIn(text: string, column: string): string[] {
  const tables = text.split(/\n\n+/).filter((block) => new RegExp(`^\\| ${column} +\\|`).test(block));
  const rows = tables.flatMap((table) => table.split("\n").slice(2));
  const cells = rows.map((row) => row.split(/(?<!\\)\|/)[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , quote = ""]) => quote));
}

/** A text without what differs between the source and Markdown: backticks, escaped bars, and space at the ends. */
function plain(text: string): string {
  return text
    .replaceAll("`", "")
    .replaceAll(String.raw`\|`, "|")
    .trim();
}
