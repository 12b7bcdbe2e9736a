import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { rmSync } from "node:fs";
import { compileDeclarations, makeProject } from "./declaration-project.mjs";

const folder = fileURLToPath(new URL("./.generated/declarations/", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const programs = makeProject(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(programs)("the program of $entry exports the result of each public function", async ({ entry, text }) => {
  const exported = (await import(entry === "index" ? "mcparley" : `mcparley/${entry}`)) as object;
  const names = Object.entries(exported).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b.*[(;]`).test(text))).toEqual([]);
});

const all = programs.map(({ entry }) => entry);

test.each(all)("the program of %s compiles with declarations, when it is alone", (entry) => {
  expect(compileDeclarations(tsc, { folder, entries: [entry], resolution: "nodenext" })).toBe("");
});

test.each(["node16", "bundler"] as const)(
  "the programs compile with declarations and the resolution %s",
  (resolution) => {
    expect(compileDeclarations(tsc, { folder, entries: all, resolution })).toBe("");
  },
);

test("the declarations of the client and the server need no types of Node", () => {
  expect(compileDeclarations(tsc, { folder, entries: ["client", "server"], resolution: "bundler", types: [] })).toBe(
    "",
  );
});
