import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { rmSync } from "node:fs";
import { compileDeclarations, makeProject, resolutions } from "./declaration-project.mjs";

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

test.each(Object.keys(resolutions) as (keyof typeof resolutions)[])(
  "the declarations of programs that export what the library returns compile with %s",
  (resolution) => {
    const errors = programs.map(({ entry }) => compileDeclarations(tsc, { folder, entry, resolution }));
    expect(errors.filter((error) => error !== "")).toEqual([]);
  },
  120_000,
);
