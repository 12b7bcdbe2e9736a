import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Unit, unitsOf } from "./page-units.ts";

/*
 * Each promise of the pages about security, limits and consent is paired with the tests that fail if it is broken.
 *
 * `<page>.txt` lists the promises of a page: a sentence, a row of a table, or a part of one, as a reader sees it. Each indented line
 * below has the file and the name of a test, or "none:" and the reason why there is nothing to test.
 */

interface Promised {
  says: string;
  tests: readonly { file: string; name: string }[];
  excuse: string;
}

const pages = [
  "operate/security.md",
  "internals/security-model.md",
  "reference/limits.md",
  "hosts/consent.md",
  "reference/consent-rules.md",
];

/** A sentence with one of these words or a figure states a behaviour. So does each row of a table. */
const signals =
  /\b(?:never|no|not|nothing|none|nobody|only|alone|cannot|must|always|each|every|all|any|at most|at once|again|until|refused|rejected|denied|checked|compared|limits?|bound|encrypted|inherited|sent|stored|receives?|reports|applies|escaped)\b|\d/i;

describe.each(pages)("docs/%s", (page) => {
  const units = unitsOf(page);
  const promises = readPromises(page);

  test("has each listed promise word by word", () => {
    const missing = promises.filter(({ says }) => !units.some(({ text }) => text.includes(says)));
    expect(missing.map(({ says }) => says)).toEqual([]);
  });

  test("has no promise without a test", () => {
    expect(units.flatMap((unit) => unlistedParts(unit, promises))).toEqual([]);
    expect(promises.filter(({ tests, excuse }) => tests.length === 0 && excuse.length < 30)).toEqual([]);
  });

  test("is paired with tests that exist", () => {
    const named = promises.flatMap(({ tests }) => tests);
    expect(named.filter(({ file, name }) => !hasTest(file, name))).toEqual([]);
  });
});

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8");
}

function readPromises(page: string): Promised[] {
  return read(path.basename(page).replace(/md$/, "txt"))
    .trimEnd()
    .split(/\n(?=\S)/)
    .map((block) => {
      const [says = "", ...lines] = block.split("\n").map((line) => line.trim());
      const pairs = lines.map((line) => {
        const [, file = "", name = ""] = /^(.*?): (.*)$/.exec(line) ?? [];
        return { file, name };
      });
      const excuse = pairs.find(({ file }) => file === "none")?.name ?? "";
      return { says, tests: pairs.filter(({ file }) => file !== "none"), excuse };
    });
}

/** Returns the clauses of a unit that state a behaviour and are in no listed promise. */
function unlistedParts({ text, isRow }: Unit, promises: readonly Promised[]): string[] {
  let rest = text;
  // The longest first, because one can be a part of another one.
  const listed = promises.toSorted((a, b) => b.says.length - a.says.length);
  for (const { says } of listed) rest = rest.replace(says, ";");
  return rest.split(/[;|]|[.,:] /).filter((clause) => (isRow ? /\w/ : signals).test(clause));
}

const sources = new Map<string, string>();

/** Whether a file has a test or a proof of a requirement with this name, as it is written in the source, and runs it. */
function hasTest(file: string, name: string): boolean {
  const source = sources.get(file) ?? read(`../../../${file}`);
  sources.set(file, source);
  const literal = name.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<!\b(?:describe|skip|todo)(?:\.each)?)\(\s*(["'\`])${literal}\1`).test(source);
}
