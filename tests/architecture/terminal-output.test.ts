import path from "node:path";
import { expect, test } from "vitest";
import { withoutComments } from "../../scripts/house/functions.mjs";
import { parseFolder } from "../../scripts/house/syntax.mjs";
import { root, sourceFiles } from "./source-files.ts";

/** Code that writes to a standard stream, or passes one on to code that does. */
const writing =
  /(?<![-\w])console\s*[.[]|std(?:out|err)!?\s*\.\s*(?:write|end)\b|\.pipe\(|output:\s*\w+\.std\w+|\bstdio:\s*"inherit"/g;

function writersIn(files: readonly { name: string; code: string }[]): string[] {
  const found = files.flatMap(({ name, code }) => [...code.matchAll(writing)].map(([match]) => `${name}: ${match}`));
  return [...new Set(found)].toSorted();
}

test("the command writes to the terminal only through terminal/output.ts", () => {
  const sources = parseFolder(path.join(root, "packages/cli/src"))
    .filter(({ name }) => !name.includes("testing/"))
    .map((source) => ({ name: source.name, code: withoutComments(source) }));
  expect(sources.length).toBeGreaterThan(50);
  expect(writersIn(sources)).toEqual([
    // The protocol, and the prompts of readline, which `forTerminal` escapes.
    "serve/serve.ts: output: io.stdout",
    "terminal/questions/prompter.ts: output: io.stderr",
  ]);
  const writers = sources.filter(({ code }) => /\bwriteExactly\(/.test(code)).map(({ name }) => name);
  expect(writers.toSorted()).toEqual([
    "terminal/interactive/plain-terminal.ts",
    "terminal/output.ts",
    "terminal/screen.ts",
  ]);
});

test("the library writes to the console only in the listed files", () => {
  expect(writersIn(sourceFiles())).toEqual([
    "node/workers/processes.ts: console.",
    "server/observe/logging.ts: console.",
    "server/observe/observers.ts: console.",
    "stdio/child-process.ts: stderr.write",
    "stdio/serve-stdio.ts: stderr.write",
    "stdio/serve-stdio.ts: stdout.write",
  ]);
});
