import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { withoutComments } from "../../scripts/house/functions.mjs";
import { parseFolder } from "../../scripts/house/syntax.mjs";
import { root } from "./source-files.ts";

/** The sources of all packages, without tests and comments. */
const sources = readdirSync(path.join(root, "packages")).flatMap((name) => {
  const files = parseFolder(path.join(root, "packages", name, "src"));
  return files.map((source) => ({ name: `${name}/${source.name}`, code: withoutComments(source) }));
});

function filesWith(pattern: RegExp): string[] {
  return sources.filter(({ code }) => pattern.test(code)).map(({ name }) => name);
}

test("no package uses AbortSignal.any, because Node 20 keeps an entry in each of its signals", () => {
  expect(sources.length).toBeGreaterThan(500);
  expect(filesWith(/\bAbortSignal\s*\.\s*any\b/)).toEqual([]);
});

test("each abort has a reason, because the default one is an exception with a stack", () => {
  expect(filesWith(/(?<!\bthis)\.abort\(\s*(?:undefined\s*)?\)/)).toEqual([]);
});
