import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { compileDeclarations, makeProject } from "./declaration-project.mjs";

const folder = fileURLToPath(new URL("./.generated/declarations/", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const programs = makeProject(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(programs)("the program of $entry exports the result of each public function", async ({ entry, text }) => {
  const exported = (await import(entry === "index" ? "mcparley" : `mcparley/${entry}`)) as object;
  const functions = Object.entries(exported).filter(([, value]) => typeof value === "function");
  const names = functions.flatMap(([name, value]) => (throwsAlways(value as () => unknown) ? [] : [name]));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b.*[(;]`).test(text))).toEqual([]);
});

/** Whether a function only names the right import, as those of `mcp/other-imports.ts` do. */
function throwsAlways(value: () => unknown): boolean {
  return /^function\s*\(\) \{\s*throw new TypeError\(message\);\s*\}$/.test(value.toString());
}

const all = programs.map(({ entry }) => entry);

// The declarations of the library are the same for each program. They are checked once for each resolution, below.
const compileAlone = (entry: string): string =>
  compileDeclarations(tsc, { folder, entries: [entry], resolution: "nodenext", isLibraryChecked: false });

test.each(all)("the program of %s compiles alone with declarations", (entry) => {
  expect(compileAlone(entry)).toBe("");
});

test.each(["nodenext", "node16", "bundler"] as const)(
  "the programs compile with declarations and the resolution %s",
  (resolution) => {
    expect(compileDeclarations(tsc, { folder, entries: all, resolution })).toBe("");
  },
);

test("a declaration has the types of values and not those of the schemas that they come from", () => {
  expect(compileAlone("server")).toBe("");
  const text = readFileSync(path.join(folder, "types/nodenext-server/server.d.ts"), "utf8").replaceAll(/\s+/g, " ");
  expect(text).toContain(
    'promptWithPlainArgument: import("mcparley/server").Prompt<{ language?: string | undefined; }',
  );
  expect(text).toMatch(/toolOfAnyValue: [^;]*[^}]*value\?: unknown;/);
});

test("the declarations of the client and the server need no types of Node", () => {
  expect(compileDeclarations(tsc, { folder, entries: ["client", "server"], resolution: "bundler", types: [] })).toBe(
    "",
  );
});
