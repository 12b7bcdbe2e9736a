import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../examples/", import.meta.url));
const examples = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");

/** The main program of an example: the file that its README shows first. */
function mainOf(example: string): string | undefined {
  return ["main.ts", "main.mjs", "server.ts"].find((file) => existsSync(path.join(folder, example, file)));
}

test("examples/README.md links every example", () => {
  const linked = [...read("README.md").matchAll(/\]\(([\w-]+)\/?\)/g)].map(([, name]) => name);
  expect(examples.filter((name) => !linked.includes(name))).toEqual([]);
  expect(linked.filter((name) => !examples.includes(name!))).toEqual([]);
});

test.each(examples)(
  "%s has a page that says how to run it, how to try it, and what to change for production",
  (name) => {
    const headings = [...read(`${name}/README.md`).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(expect.arrayContaining(["Run it", "In production"]));
    expect(read(`${name}/README.md`)).toMatch(/\bmcparley\b/);
  },
);

test.each(examples.filter((name) => mainOf(name)))("the main file of %s has at most 80 lines", (name) => {
  expect(read(`${name}/${mainOf(name)}`).split("\n").length).toBeLessThanOrEqual(81);
});
