import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { shippedTexts } from "../../scripts/guides.mjs";
import { publishedPackages } from "../../scripts/packages.mjs";
import { placeholdersIn } from "../../scripts/release/project.mjs";

/* `npm run check -- artifact` does the same with every packed file. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = publishedPackages();
const files = [
  ...readdirSync(root).filter((name) => /\.(md|json)$/.test(name) && name !== "package-lock.json"),
  ...filesBelow(".github"),
  ...filesBelow("docs"),
  ...filesBelow("examples"),
  "site/home.md",
  ...packages.flatMap(({ folder }) => ["package.json", "README.md", "CHANGELOG.md"].map((name) => `${folder}/${name}`)),
  ...filesBelow("packages/create-mcparley/templates"),
  ...filesBelow("packages/mcparley/skills"),
];

/** The files of a folder that readers open, relative to the repository. */
function filesBelow(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(md|json|ya?ml|ts|mjs)$/.test(name) && !/node_modules|workflows/.test(name))
    .map((name) => path.join(folder, name));
}

test("the files that readers open are many", () => {
  expect(files.length).toBeGreaterThan(200);
});

test.each(files)("%s has no placeholder of an address", (file) => {
  expect(placeholdersIn(readFileSync(path.join(root, file), "utf8"))).toEqual([]);
});

test.each(packages)("the guides and examples of $name have no placeholder of an address", ({ name }) => {
  for (const text of shippedTexts(name, undefined).values()) expect(placeholdersIn(text)).toEqual([]);
});

test.each([
  "https://github.com/OWNER/mcparley/issues",
  "git+https://gitlab.com/ann/mcparley.git",
  "https://www.npmjs.com/package/@mcparley/cli",
  "https://example.com/mcparley",
  "https://forge.test/your-name/project",
])("%s is a placeholder", (address) => {
  expect(placeholdersIn(`See [this](${address}).`)).toEqual([address.replace("git+", "")]);
});

test.each([
  "https://example.com/mcp",
  "https://github.com/someone/other",
  "env.ORG_TOKEN",
  "node_modules/mcparley/docs",
])("%s is no placeholder", (text) => {
  expect(placeholdersIn(text)).toEqual([]);
});
