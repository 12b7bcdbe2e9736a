import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { shippedGuides } from "../../scripts/guides.mjs";
import { entryPoints, publishedPackages } from "../../scripts/packages.mjs";
import { isPlaceholder, projectMembers, repository, withAddress } from "../../scripts/release/project.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (...names: string[]): string => readFileSync(path.join(root, ...names), "utf8");
const packages = publishedPackages().map((published) => ({
  ...published,
  members: JSON.parse(textOf(published.folder, "package.json")) as Record<string, unknown>,
}));

test("a package comes after the packages that it depends on", () => {
  const names = packages.map(({ name }) => name);
  expect(names.indexOf("mcparley")).toBeLessThan(names.indexOf("@mcparley/redis"));
  expect(names.indexOf("@mcparley/redis")).toBeLessThan(names.indexOf("@mcparley/cli"));
});

describe.each(packages)("$name", ({ name, version, folder, manifest, members }) => {
  test("names its repository, homepage and bugs as scripts/release/project.mjs does", () => {
    const { homepage, bugs, repository } = members;
    expect({ homepage, bugs, repository }).toEqual(projectMembers(folder));
  });

  test("has a description, keywords, a license, and the Node versions of the repository", () => {
    const { engines } = JSON.parse(textOf("package.json")) as { engines: object };
    expect(members).toMatchObject({ description: expect.stringMatching(/\w{4}/) as string, license: "MIT", engines });
    expect(members["keywords"]).toEqual(expect.arrayContaining(["mcp", "model-context-protocol"]));
  });

  test("has the license of the repository", () => {
    expect(textOf(folder, "LICENSE")).toBe(textOf("LICENSE"));
  });

  test("has a README with its name, its installation and links", () => {
    const readme = textOf(folder, "README.md");
    expect(readme.split("\n")[0]).toBe(`# ${name}`);
    expect(readme).toMatch(/npm (install|create) /);
    expect(readme).toContain(`${repository}/blob/main/`);
  });

  test("has a changelog with an entry for its version", () => {
    expect(textOf(folder, "CHANGELOG.md").split("\n")).toContain(`## ${version}`);
  });

  test("exports existing files, and types for each entry point", () => {
    const targets = Object.entries(manifest.exports ?? {}).filter(([subpath]) => subpath !== "./package.json");
    expect(targets.length).toBe(entryPoints(manifest).length);
    const files = targets.flatMap(([, target]) => Object.values(target as Record<string, string>));
    expect(files.filter((file) => !existsSync(path.join(root, folder, file)))).toEqual([]);
  });
});

describe("the address of the repository", () => {
  test("is a placeholder as long as its owner is OWNER", () => {
    expect(isPlaceholder("https://github.com/OWNER/mcparley")).toBe(true);
    expect(isPlaceholder("https://github.com/someone/mcparley")).toBe(false);
  });

  test("replaces the address of any owner in a text, and no other address", () => {
    const given =
      "https://github.com/OWNER/mcparley/issues https://github.com/OWNER/mcparley.git https://github.com/x/mcparley-other https://github.com/x/y";
    expect(withAddress(given, "https://github.com/a/mcparley")).toBe(
      "https://github.com/a/mcparley/issues https://github.com/a/mcparley.git https://github.com/x/mcparley-other https://github.com/x/y",
    );
  });

  test.each(["README.md", "SECURITY.md", ...packages.map(({ folder }) => `${folder}/README.md`)])(
    "is the one in %s",
    (page) => {
      expect(withAddress(textOf(page))).toBe(textOf(page));
    },
  );
});

describe("the guides in the package", () => {
  const guides = shippedGuides();

  test("are the guides of the repository without decision records", () => {
    expect(guides.size).toBeGreaterThan(50);
    expect([...guides.keys()].filter((file) => file.startsWith("adr/"))).toEqual([]);
  });

  test.each([...guides.keys()])("%s links only files in the package, or addresses", (file) => {
    const text = (guides.get(file) ?? "").replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
    const targets = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = ""]) => target);
    const relative = targets.filter((target) => !/^[a-z]+:/i.test(target));
    expect(relative.filter((target) => !guides.has(path.posix.join(path.posix.dirname(file), target)))).toEqual([]);
  });
});
